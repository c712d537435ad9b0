"""What to say of a conflict, and what to write instead: one paragraph for each cause, in the author's names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pdacon.determinism.conflicts import causes
from pdacon.determinism.conflicts.repair.rewrites import make_ladder, write_out
from pdacon.determinism.conflicts.repair.rule_texts import is_written, ladder_lines, together
from pdacon.determinism.conflicts.settling import is_still_read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pdacon.determinism.conflicts.causes import Cause
    from pdacon.determinism.conflicts.explanations import Explanation
    from pdacon.determinism.conflicts.items import Items
    from pdacon.grammar import Grammar
    from pdacon.lalr import Conflict

_SHARE_A_RULE = "write the rules so that both ways share one rule up to this point and part only after it."


@dataclass(frozen=True, slots=True)
class Advice:
    """Sentences about one finding.

    Attributes
    ----------
    message : str
        What is wrong.
    repair : str
        What to write instead; lines of a grammar are indented.
    settled : str
        What Lark's choice, to shift, means; empty if nothing can be shifted.
    """

    message: str
    repair: str
    settled: str = ""


def give_advice(
    items: Items,
    cause: Cause | None,
    conflict: Conflict,
    lookaheads: str,
    explanation: Explanation | None,
    named: Grammar,
) -> Advice:
    """Advice on a conflict; ``explanation`` has the example that is shown, ``named`` the names to use."""
    if cause is None:
        return Advice("The next symbol does not tell what to do here:", _SHARE_A_RULE, "the first")
    adviser = _Adviser(items, cause, conflict, lookaheads, explanation, named)
    by_slug = {
        causes.DANGLING: adviser.dangling,
        causes.OPERATORS: adviser.operators,
        causes.JUXTAPOSED: adviser.juxtaposed,
        causes.OPTIONAL: adviser.optional,
        causes.NESTED: adviser.nested,
        causes.DUPLICATE: adviser.duplicate,
        causes.CYCLE: adviser.cycle,
        causes.AMBIGUOUS: adviser.ambiguous,
        causes.MERGE: adviser.merge,
        causes.LOOKAHEAD: adviser.lookahead,
        causes.LARK_ONLY: adviser.lark_only,
        causes.UNREACHABLE: adviser.unreachable,
    }
    return by_slug[cause.slug]()


class _Adviser:
    def __init__(
        self,
        items: Items,
        cause: Cause,
        conflict: Conflict,
        lookaheads: str,
        explanation: Explanation | None,
        named: Grammar,
    ) -> None:
        self._items = items
        self._grammar = named
        self._cause = cause
        self._conflict = conflict
        self._next = lookaheads
        self._explanation = explanation
        self._example = None if explanation is None else explanation.example
        self._reduced = conflict.productions[0]
        self._rule = self._name(items.sides[self._reduced][0])

    def dangling(self) -> Advice:
        rule, lhs = self._rule, self._items.sides[self._reduced][0]
        can_be_pasted = is_written(self._items, {symbol for side in self._bodies(lhs) for symbol in (lhs, *side)})
        example = f", for example\n  {rule}: {' | '.join(self._closed())}" if can_be_pasted else "."
        return Advice(
            f"{self._next} can belong to the inner {rule} or to the one around it: the rules allow both.",
            f"if {rule} ends with a word of its own, it is plain what is inside{example}",
            f"{self._next} belongs to the nearest {rule}",
        )

    def _closed(self) -> list[str]:
        """The alternatives of the rule; those that begin like the reduced one have a word at their end."""
        lhs, begun = self._items.sides[self._reduced]
        literals = {terminal.literal for terminal in self._grammar.terminals}
        word = next(word for word in ('"end"', '"fi"', '"end_of_it"') if word not in literals or word == '"end_of_it"')
        shown = []
        for k in self._items.expansions[lhs]:
            rhs = self._items.sides[k][1]
            alias = self._grammar.productions[k].alias
            words = [*self._words(rhs), *([word] if rhs[: len(begun)] == begun else [])]
            shown.append(" ".join([*words, *([] if alias is None else ["->", alias])]))
        return list(dict.fromkeys(shown))

    def operators(self) -> Advice:
        operand = self._name(self._cause.symbol)
        made = make_ladder(self._items, self._cause.symbol, self._conflict, operand)
        ladder = [] if made is None else ladder_lines(self._items, made, self._grammar)
        order = "as is usual in arithmetic" if made and made.usual else "in the order in which they stand now"
        if made and not made.usual and sum(rhs[0] == rhs[-1] for rhs in self._operators()) > 1:
            order += " (those that bind alike belong together in one rule)"
        if self._has_unary():
            order = f"infix operators {order}, and then those with one operand, so that all can stand on their right"
        if len(ladder) == 2:
            return self._chain(ladder)
        return Advice(
            f"Nothing says which of the operators of {operand} binds first.",
            "give each level of binding a rule of its own, "
            + (
                f"from the loosest to the tightest; {order}:\n" + "\n".join(ladder)
                if ladder
                else f"so that {operand} does not stand on both sides of an operator. What stands in front of its "
                "operand has to be allowed on the right of each operator, and what stands behind it on the left."
            ),
            "all operators bind alike and group to the right",
        )

    def _chain(self, ladder: list[str]) -> Advice:
        operand, operators = self._name(self._cause.symbol), self._operators()
        chain = (
            together(list(map(self._words, operators)), [operand])[0]
            if len(operators) > 1
            else self._sequence(operators[0])
        )
        return Advice(
            f"Nothing says whether a chain of {chain} groups to the left or to the right.",
            f"let {operand} stand at one end only; at the left end, it groups to the left:\n" + "\n".join(ladder),
            "it groups to the right",
        )

    def juxtaposed(self) -> Advice:
        rule = self._name(self._cause.symbol)
        made = make_ladder(self._items, self._cause.symbol, self._conflict, rule)
        ladder = [] if made is None else ladder_lines(self._items, made, self._grammar)
        if len(self._operators()) == 1 and ladder:
            return self._chain(ladder)
        pair = self._sequence(self._items.sides[self._reduced][1])
        return Advice(
            f"Of three {rule} side by side nothing says which two are one {rule}.",
            f"drop the alternative {pair} where another one repeats {rule} already; else let {rule} stand at one of "
            "its ends only.",
            "the last two are one, and so on to the left",
        )

    def optional(self) -> Advice:
        ambiguity = self._ambiguity()
        empty = [k for k in self._conflict.productions if not self._items.sides[k][1]]
        if empty:
            rule = self._name(self._items.sides[empty[0]][0])
            so_can = "so can what is around it" if empty[0] == self._reduced else "it can be left out there too"
            return Advice(
                f"{rule} can be empty where {self._next} comes next, and {so_can}: {ambiguity}",
                f"let it be left out in one place only: drop the empty alternative of {rule} or what repeats it "
                "(`*`, `+`) or makes it optional (`?`, `[ ]`).",
                f"{rule} is not empty there",
            )
        end = causes.optional_end(self._items, self._conflict)
        if end is not None:
            name = self._name(end)
            return Advice(
                f"{name} may stand at the end of {self._rule}, and behind it too: {ambiguity}",
                f"let {name} stand in one of the two places only: leave it out at the end of {self._rule} (and so for "
                f"each rule that is marked), or where {self._rule} is used. Or put something between the two.",
                f"{self._rule} takes as much as it can, and a text in which it has to take less is refused",
            )
        if self._ends_both():
            around = self._name(self._cause.symbol)
            return Advice(
                f"Two parts of {around} can take the same text, and {self._next} comes behind either: {ambiguity}",
                f"let one part of {around} alone take what both can; for items with a separator that may come last "
                'too, write `(item ("," item)* ","?)?`.',
                "the first of the two readings is taken",
            )
        return Advice(
            f"{self._next} can go on with {self._rule} or begin what comes behind it: {ambiguity}",
            "put something between the two, such as a comma, or let one of them take all there is.",
            f"{self._rule} takes as much as it can, and a text in which it has to take less is refused",
        )

    def _ends_both(self) -> bool:
        """Whether the next symbol belongs to the rule around in both readings: what they part differently is before."""
        if self._example is None or self._conflict.kind != "shift/reduce":
            return False
        first, second = self._example.first, self._example.second
        shift = self._items.production[self._example.spine[0]]
        direct = (child.symbol for child in second.children)
        return first.symbol == second.symbol and first.production == shift and self._conflict.terminal in direct

    def nested(self) -> Advice:
        outer = self._name(self._cause.symbol)
        return Advice(
            f"A repetition of a repetition, {outer}: nothing says where one of the inner ends and the next begins.",
            "repeat once: leave out the inner or the outer `*` or `+`, or put something between the inner ones.",
            "the first of the inner repetitions takes all",
        )

    def duplicate(self) -> Advice:
        if self._conflict.kind == "shift/reduce":
            around = self._name(self._cause.symbol)
            body = self._sequence(self._items.sides[self._reduced][1])
            return Advice(
                f"{around} has {body} itself, and again as {self._rule}.",
                f"keep one of the two alternatives of {around}.",
                f"{body} is not read as {self._rule} there",
            )
        names = [self._rule_of(k) for k in self._conflict.productions]
        body = self._sequence(self._items.sides[self._reduced][1])
        return Advice(
            f"{' and '.join(dict.fromkeys(names))} are both {body}, and nothing says which is meant.",
            f"write one rule for both, or give one of them a higher priority, {names[0]}.1 for example.",
        )

    def cycle(self) -> Advice:
        culprits = causes.cyclic_productions(self._items)
        torn = [k for k in self._conflict.productions if k in culprits]
        rules = dict.fromkeys(self._name(self._items.sides[k][0]) for k in torn or culprits)
        dropped = (torn or culprits)[-1]
        lhs = self._items.sides[dropped][0]
        alternative = self._sequence(self._items.sides[dropped][1])
        return Advice(
            f"{' and '.join(rules)} can stand for itself: each text has infinitely many readings.",
            f"drop the alternative {alternative} of {self._name(lhs)}, by which it leads back to itself.",
        )

    def ambiguous(self) -> Advice:
        return Advice(
            self._ambiguity().capitalize(),
            "decide which reading is meant, and write the rules so that they have only that one.",
            "the first of the two readings is taken, and a text that needs the other one here is refused",
        )

    def merge(self) -> Advice:
        names = list(dict.fromkeys(self._rule_of(k) for k in self._conflict.productions))
        return Advice(
            "No text has both readings: what comes before tells which is meant. LALR(1) forgets it, because it "
            "merges what looks alike at this point; canonical LR(1) would not.",
            f"write one of the rules twice under two names ({names[0]} and {names[0]}_2 for example), and use each "
            "in one of the two places.",
            "the reduce is never taken here",
        )

    def lookahead(self) -> Advice:
        complete = self._explanation is not None and self._explanation.complete
        found = "No text has both readings" if complete else "No text with both readings was found"
        message = f"{found}, but one symbol is not enough to choose: what tells them apart comes later."
        settled = f"{self._next} always goes on with the first reading{self._lost()}"
        if self._conflict.kind == "reduce/reduce":
            return Advice(message, self._part_later(), settled)
        return Advice(message, self._middle() or self._written_out() or self._joined() or self._ended(), settled)

    def _middle(self) -> str | None:
        """What does where a rule is around itself, as in palindromes, and nothing says that its middle has come."""
        lhs, reduced = self._items.sides[self._reduced]
        terminal = self._conflict.terminal
        around = [rhs for k in self._items.expansions[lhs] if lhs in (rhs := self._items.sides[k][1])[1:-1]]
        ends = [rhs for rhs in around if self._items.can_begin(rhs[rhs.index(lhs) + 1 :])[0] >> terminal & 1]
        if lhs in reduced or not any(self._items.can_begin(rhs)[0] >> terminal & 1 for rhs in ends):
            return None
        return (
            f"let the middle of {self._rule} be a word or sign that stands nowhere else in it: what goes on inside and "
            "what closes begin alike, and no parser that reads from left to right without going back knows which it is."
        )

    def _ended(self) -> str:
        """What does where no rewriting is known to do: a list without an end had better have one."""
        sides = [self._items.sides[k][1] for k in self._items.expansions[self._items.sides[self._reduced][0]]]
        if not any(self._repeats(body[-1]) for body in sides if body):
            return _SHARE_A_RULE
        return (
            f"let a word or sign of its own, such as a semicolon, end {self._rule}, so that it is plain where it ends; "
            f"or {_SHARE_A_RULE}"
        )

    def _part_later(self) -> str:
        """What to do about rules that are complete before anything tells which it is."""
        names = " and ".join(dict.fromkeys(self._rule_of(k) for k in self._conflict.productions))
        symbols = {self._items.sides[k][0] for k in self._conflict.productions}
        if len({frozenset(self._items.sides[k][1] for k in self._items.expansions[s]) for s in symbols}) == 1:
            return f"write one rule instead of {names}, and let the ways part behind it."
        return (
            f"{names} cannot be told apart before {self._next}: parse what they have in common with one rule, and tell "
            "them apart later, by what follows or in the tree."
        )

    def _lost(self) -> str:
        read = None if self._example is None else is_still_read(self._items, self._example.second)
        if read is None:
            return ""
        return ", and both sentences are read" if read else ", and the second sentence is not read any more"

    def lark_only(self) -> Advice:
        return Advice(
            "It exists in Lark's tables only: Lark's `includes` relation has edges that LALR(1) lacks.",
            f"no text needs the choice. Write {self._rule} out where it is used, or give one of the places a rule of "
            "its own.",
            "which is right here",
        )

    def unreachable(self) -> Advice:
        return Advice(
            "No text leads here, because rules that it needs derive none.",
            "mend the rules without text first, or drop them.",
            "it makes no difference",
        )

    def _ambiguity(self) -> str:
        root = None if self._example is None else self._example.first.symbol
        where = "" if root is None else f" of {self._name(root)}"
        return f"the same text{where} has two readings."

    def _written_out(self) -> str | None:
        """The production in which the reduced symbol is followed by the lookahead, with its body in its place."""
        around, at = (None, 0) if self._example is None else self._example.around
        lhs = self._items.sides[self._reduced][0]
        if around is None or self._items.sides[around.production][1][at - 1] != lhs:
            return None
        written = write_out(self._items, around.production, at - 1, self._conflict)
        if written is None or not is_written(self._items, {s for side, rhs in written for s in (side, *rhs)}):
            return None
        old = self._grammar.describe_production(around.production)
        new = [f"  {self._name(symbol)}: {self._sequence(rhs)}" for symbol, rhs in written]
        why = f"write {self._rule} out where {self._next} follows it, so that the choice comes later:"
        return "\n".join([why, *new, "instead of", f"  {old}"])

    def _joined(self) -> str | None:
        """One terminal of the lookahead and the next, if that one decides."""
        if self._example is None:
            return None
        first, second = (
            [leaf.symbol for leaf in tree.leaves()][at : at + 2]
            for tree, at in (
                (self._example.first, self._example.position),
                (self._example.second, self._example.second_position),
            )
        )
        if len(first) < 2 or len(second) < 2 or first[0] != second[0] or second[0] != self._conflict.terminal:
            return None
        begins, empty = self._items.can_begin((first[1],))
        if second[1] >= self._grammar.end or empty or begins >> second[1] & 1:
            return None
        both = " and ".join(self._words(second))
        return f"make one terminal of {both} where they come one behind the other: then one symbol decides."

    def _has_unary(self) -> bool:
        """Whether an operator of the operand stands only before it or only behind it."""
        operand = self._cause.symbol
        return any((rhs[0] == operand) != (rhs[-1] == operand) for rhs in self._operators())

    def _operators(self) -> list[tuple[int, ...]]:
        """The alternatives of the operand that begin or end with it."""
        operand = self._cause.symbol
        return [rhs for rhs in self._bodies(operand) if operand in (*rhs[:1], *rhs[-1:])]

    def _bodies(self, symbol: int) -> list[tuple[int, ...]]:
        return [self._items.sides[k][1] for k in self._items.expansions[symbol]]

    def _words(self, symbols: Sequence[int]) -> list[str]:
        return [self._name(symbol) for symbol in symbols]

    def _sequence(self, symbols: Sequence[int]) -> str:
        return " ".join(self._words(symbols))

    def _name(self, symbol: int) -> str:
        return self._grammar.describe_symbol(symbol)

    def _rule_of(self, production: int) -> str:
        return self._grammar.describe_name(self._grammar.productions[production].rule)

    def _repeats(self, symbol: int) -> bool:
        return causes.repeats(self._items, symbol)
