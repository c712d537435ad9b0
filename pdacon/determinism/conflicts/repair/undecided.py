"""Advice on conflicts where no text has two readings, but one symbol of lookahead does not tell which it is."""

from __future__ import annotations

from pdacon.base.languages import has_bnf_rules
from pdacon.determinism.conflicts import causes
from pdacon.determinism.conflicts.repair.case import SHARE_A_RULE, Advice, Case
from pdacon.determinism.conflicts.repair.rewrites import SAME_TEXTS, write_out
from pdacon.determinism.conflicts.repair.rule_texts import is_written
from pdacon.determinism.conflicts.settling import is_still_read
from pdacon.determinism.report.accepting import is_larks


def merge(case: Case) -> Advice:
    """A conflict that LALR(1) has and canonical LR(1) has not."""
    names = list(dict.fromkeys(case.rule_of(k) for k in case.conflict.productions))
    return Advice(
        "No text has both readings: what comes before tells which is meant. LALR(1) forgets it, because it "
        "merges what looks alike at this point; canonical LR(1) would not.",
        f"write one of the rules twice under two names ({names[0]} and {names[0]}_2 for example), and use each "
        "in one of the two places.",
        "the reduce is never taken here",
    )


def lookahead(case: Case) -> Advice:
    """What tells the readings apart comes later than the next symbol."""
    complete = case.explanation is not None and case.explanation.complete
    found = "No text has both readings" if complete else "No text with both readings was found"
    message = f"{found}, but one symbol is not enough to choose: what tells them apart comes later."
    settled = f"{case.next} always goes on with the first reading{_lost(case)}"
    if case.conflict.kind == "reduce/reduce":
        return Advice(message, _part_later(case), settled)
    return Advice(message, _middle(case) or _written_out(case) or _joined(case) or _ended(case), settled)


def _middle(case: Case) -> str | None:
    """What does where a rule is around itself, as in palindromes, and nothing says that its middle has come."""
    lhs, reduced = case.items.sides[case.reduced]
    terminal = case.conflict.terminal
    around = [rhs for k in case.items.expansions[lhs] if lhs in (rhs := case.items.sides[k][1])[1:-1]]
    ends = [rhs for rhs in around if case.items.can_begin(rhs[rhs.index(lhs) + 1 :])[0] >> terminal & 1]
    if lhs in reduced or not any(case.items.can_begin(rhs)[0] >> terminal & 1 for rhs in ends):
        return None
    return (
        f"let the middle of {case.rule} be a word or sign that stands nowhere else in it: what goes on inside and "
        "what closes begin alike, and no parser that reads from left to right without going back knows which it is."
    )


def _ended(case: Case) -> str:
    """What does where no rewriting is known to do: a list without an end had better have one."""
    sides = [case.items.sides[k][1] for k in case.items.expansions[case.items.sides[case.reduced][0]]]
    if not any(causes.repeats(case.items, body[-1]) for body in sides if body):
        return SHARE_A_RULE
    return (
        f"let a word or sign of its own, such as a semicolon, end {case.rule}, so that it is plain where it ends; "
        f"or {SHARE_A_RULE}"
    )


def _part_later(case: Case) -> str:
    """What to do about rules that are complete before anything tells which it is."""
    names = " and ".join(dict.fromkeys(case.rule_of(k) for k in case.conflict.productions))
    symbols = {case.items.sides[k][0] for k in case.conflict.productions}
    if len({frozenset(case.items.sides[k][1] for k in case.items.expansions[s]) for s in symbols}) == 1:
        return f"write one rule instead of {names}, and let the ways part after it."
    return (
        f"{names} cannot be told apart before {case.next}: parse what they have in common with one rule, and tell "
        "them apart later, by what follows or in the tree."
    )


def _lost(case: Case) -> str:
    lost = _is_lost(case)
    if lost is None:
        return ""
    return ", and the second sentence is not read any more" if lost else ", and both sentences are read"


def _is_lost(case: Case) -> bool | None:
    """Whether Lark's choice loses the second sentence; None if that is not known."""
    read = None if case.example is None else is_still_read(case.items, case.example.second)
    return None if read is None else not read


def _written_out(case: Case) -> str | None:
    """The production in which the reduced symbol is followed by the lookahead, with its body in its place."""
    around, at = (None, 0) if case.example is None else case.example.around
    lhs = case.items.sides[case.reduced][0]
    if around is None or case.items.sides[around.production][1][at - 1] != lhs:
        return None
    written = write_out(case.items, around.production, at - 1, case.conflict)
    if written is None or not is_written(case.items, {s for side, rhs in written for s in (side, *rhs)}):
        return None
    old = case.grammar.describe_production(around.production)
    new = [f"  {case.name(symbol)}: {case.sequence(rhs)}" for symbol, rhs in written]
    why = f"write {case.rule} out where {case.next} follows it, so that the choice comes later:"
    refused = "which Lark refuses now" if is_larks(case.grammar) else "which a shift would refuse"
    gained = f"; the second sentence, {refused}, is read then" if _is_lost(case) else ""
    return "\n".join([why, *new, "instead of", f"  {old}", f"{SAME_TEXTS}{gained}."])


def _joined(case: Case) -> str | None:
    """One terminal of the lookahead and the next, if that one decides, where authors write terminals."""
    if case.example is None or has_bnf_rules(case.grammar.language):
        return None
    first, second = (
        [leaf.symbol for leaf in tree.leaves()][at : at + 2]
        for tree, at in (
            (case.example.first, case.example.position),
            (case.example.second, case.example.second_position),
        )
    )
    if len(first) < 2 or len(second) < 2 or first[0] != second[0] or second[0] != case.conflict.terminal:
        return None
    begins, empty = case.items.can_begin((first[1],))
    if second[1] >= case.grammar.end or empty or begins >> second[1] & 1:
        return None
    both = " and ".join(case.words(second))
    return f"make one terminal of {both} where they come one after the other: then one symbol decides."


def lark_only(case: Case) -> Advice:
    """A conflict that Lark's tables have and those of LALR(1) have not."""
    return Advice(
        "It exists in Lark's tables only: Lark's `includes` relation has edges that LALR(1) lacks.",
        f"no text needs the choice. Write {case.rule} out where it is used, or give one of the places a rule of "
        "its own.",
        "which is right here",
    )


def unreachable(case: Case) -> Advice:
    """A conflict in a state that no text leads to."""
    return Advice(
        "No text leads here, because rules that it needs derive none.",
        "mend the rules without text first, or drop them.",
        "it makes no difference",
    )
