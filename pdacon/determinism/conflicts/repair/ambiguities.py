"""Advice on conflicts where a text has two readings: the author has to say which one is meant."""

from __future__ import annotations

from pdacon.base.languages import has_bnf_rules
from pdacon.determinism.conflicts import causes
from pdacon.determinism.conflicts.repair.case import Advice, Case
from pdacon.determinism.conflicts.repair.rewrites import close
from pdacon.determinism.conflicts.repair.rule_texts import is_written
from pdacon.determinism.report.accepting import is_larks


def dangling(case: Case) -> Advice:
    """An optional end that an inner rule and the one around it can both have, as an ``else``."""
    rule, lhs = case.rule, case.items.sides[case.reduced][0]
    can_be_pasted = is_written(case.items, {symbol for side in case.bodies(lhs) for symbol in (lhs, *side)})
    longer = close(case.items, case.reduced, case.conflict) if can_be_pasted else None
    example = (
        "."
        if longer is None
        else f", for example\n  {rule}: {' | '.join(_closed(case, longer))}\nTexts without that word are refused then."
    )
    return Advice(
        f"{case.next} can belong to the inner {rule} or to the one around it: the rules allow both.",
        f"if {rule} ends with a word of its own, it is plain what is inside{example}",
        f"{case.next} belongs to the nearest {rule}",
    )


def _closed(case: Case, longer: list[int]) -> list[str]:
    """The alternatives of the rule; some have a word at their end."""
    lhs = case.items.sides[case.reduced][0]
    literals = {terminal.literal for terminal in case.grammar.terminals}
    word = next(word for word in ('"end"', '"fi"', '"end_of_it"') if word not in literals or word == '"end_of_it"')
    shown = []
    for k in case.items.expansions[lhs]:
        rhs = case.items.sides[k][1]
        alias = case.grammar.productions[k].alias
        words = [*case.words(rhs), *([word] if k in longer else [])]
        shown.append(" ".join([*words, *([] if alias is None else ["->", alias])]))
    return list(dict.fromkeys(shown))


def optional(case: Case) -> Advice:
    """Something optional that can stand inside a rule or after it."""
    ambiguity = case.ambiguity()
    empty = [k for k in case.conflict.productions if not case.items.sides[k][1]]
    if empty:
        rule = case.name(case.items.sides[empty[0]][0])
        marks = "`?`" if has_bnf_rules(case.grammar.language) else "`?`, `[ ]`"
        so_can = "so can what is around it" if empty[0] == case.reduced else "it can be left out there too"
        return Advice(
            f"{rule} can be empty where {case.next} comes next, and {so_can}: {ambiguity}",
            f"let it be left out in one place only: drop the empty alternative of {rule} or what repeats it "
            f"(`*`, `+`) or makes it optional ({marks}).",
            f"{rule} is not empty there",
        )
    end = causes.optional_end(case.items, case.conflict)
    if end is not None:
        name = case.name(end)
        return Advice(
            f"{name} may stand at the end of {case.rule}, and after it too: {ambiguity}",
            f"let {name} stand in one of the two places only: leave it out at the end of {case.rule} (and so for "
            f"each rule that is marked), or where {case.rule} is used. Or put something between the two.",
            f"{case.rule} takes as much as it can, and a text in which it has to take less is refused",
        )
    if _ends_both(case):
        around = case.name(case.cause.symbol)
        return Advice(
            f"Two parts of {around} can take the same text, and {case.next} comes after either: {ambiguity}",
            f"let one part of {around} alone take what both can; for items with a separator that may come last "
            'too, write `(item ("," item)* ","?)?`.',
            "the first of the two readings is taken",
        )
    return Advice(
        f"{case.next} can go on with {case.rule} or begin what comes after it: {ambiguity}",
        "put something between the two, such as a comma, or let one of them take all there is.",
        f"{case.rule} takes as much as it can, and a text in which it has to take less is refused",
    )


def _ends_both(case: Case) -> bool:
    """Whether the next symbol belongs to the rule around in both readings: what they part differently is before."""
    if case.example is None or case.conflict.kind != "shift/reduce":
        return False
    first, second = case.example.first, case.example.second
    shift = case.items.production[case.example.spine[0]]
    direct = (child.symbol for child in second.children)
    return first.symbol == second.symbol and first.production == shift and case.conflict.terminal in direct


def nested(case: Case) -> Advice:
    """A repetition of a repetition."""
    outer = case.name(case.cause.symbol)
    return Advice(
        f"A repetition of a repetition, {outer}: nothing says where one of the inner ends and the next begins.",
        "repeat once: leave out the inner or the outer `*` or `+`, or put something between the inner ones.",
        "the first of the inner repetitions takes all",
    )


def duplicate(case: Case) -> Advice:
    """Two productions with one right side."""
    if case.conflict.kind == "shift/reduce":
        around = case.name(case.cause.symbol)
        body = case.sequence(case.items.sides[case.reduced][1])
        return Advice(
            f"{around} has {body} itself, and again as {case.rule}.",
            f"keep one of the two alternatives of {around}.",
            f"{body} is not read as {case.rule} there",
        )
    names = [case.rule_of(k) for k in case.conflict.productions]
    body = case.sequence(case.items.sides[case.reduced][1])
    by_priority = f", or give one of them a higher priority, {names[0]}.1 for example"
    return Advice(
        f"{' and '.join(dict.fromkeys(names))} are both {body}, and nothing says which is meant.",
        f"write one rule for both{by_priority if is_larks(case.grammar) else ''}.",
    )


def cycle(case: Case) -> Advice:
    """A symbol that derives itself."""
    culprits = causes.cyclic_productions(case.items)
    torn = [k for k in case.conflict.productions if k in culprits]
    rules = dict.fromkeys(case.name(case.items.sides[k][0]) for k in torn or culprits)
    dropped = (torn or culprits)[-1]
    lhs = case.items.sides[dropped][0]
    alternative = case.sequence(case.items.sides[dropped][1])
    return Advice(
        f"{' and '.join(rules)} can stand for itself: each text has infinitely many readings.",
        f"drop the alternative {alternative} of {case.name(lhs)}, by which it leads back to itself.",
    )


def ambiguous(case: Case) -> Advice:
    """Any other text with two readings."""
    return Advice(
        case.ambiguity().capitalize(),
        "decide which reading is meant, and write the rules so that they have only that one.",
        "the first of the two readings is taken, and a text that needs the other one here is refused",
    )
