"""Which terminals the rules put after which: FOLLOW sets, and the places in the rules that they come from.

What derives no text, needs a terminal that is never read, or is not reached from a start counts for nothing: so each
pair is in some sentential form without such terminals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pdacon.base.graphs import reachable
from pdacon.grammar import GrammarData
from pdacon.grammar.first_follow import Rule, Side, first_sets, following, rule_of


class FollowSets:
    """For each terminal of a grammar, those that the rules put after it. Sets are integers: bit k is terminal k.

    ``never``: the terminals, as a set, that are never read: as if no rule had an alternative with one.
    Cost: linear in the productions for each round, of which there is one without circles, times the width of a set.
    """

    def __init__(self, grammar: GrammarData, never: int = 0) -> None:
        rules = [rule_of(grammar, p.lhs, p.rhs) for p in grammar.productions]
        self._starts = {rule_of(grammar, start, ())[0] for start in grammar.starts}
        self._used = _used(rules, self._starts, never)
        own = list(self._used.values())
        self._first, self._empty = first_sets(own)
        self._last, _ = first_sets([(lhs, side[::-1]) for lhs, side in own])
        self._after = following(own)

    def at_start(self) -> int:
        """The terminals that a text can begin with, by the rules."""
        terminals = 0
        for start in self._starts:
            terminals |= self._first.get(start, 0)
        return terminals

    def after(self, terminal: int) -> int:
        """The terminals that can come after one, by the rules."""
        return self._after.get(terminal, 0)

    def origins(self, before: int, terminal: int) -> Iterator[tuple[int, int]]:
        """The productions and dots where the rules put a terminal after another one; ``before`` -1: at the start."""
        for number, (lhs, side) in self._used.items():
            if before < 0:
                if lhs in self._starts and self._begins(side, self._first) >> terminal & 1:
                    yield number, 0
                continue
            for dot in range(1, len(side)):
                ends = self._begins(side[dot - 1 :: -1], self._last) >> before & 1
                if ends and self._begins(side[dot:], self._first) >> terminal & 1:
                    yield number, dot

    def _begins(self, symbols: Side, first: Mapping[int, int]) -> int:
        """The terminals that symbols begin with, or, by the sets of the last ones, that they end with."""
        terminals = 0
        for symbol in symbols:
            terminals |= 1 << symbol if symbol >= 0 else first.get(symbol, 0)
            if symbol not in self._empty:
                break
        return terminals


def _used(rules: Sequence[Rule], starts: set[int], never: int) -> dict[int, Rule]:
    """By number the rules that derive something of the terminals that are read, and that a start leads to."""
    productive = sorted(_productive(rules, never))
    sides: dict[int, list[int]] = {}
    for number in productive:
        lhs, side = rules[number]
        sides.setdefault(lhs, []).extend(symbol for symbol in side if symbol < 0)
    reached = set(reachable(starts, lambda lhs: sides.get(lhs, ())))
    return {number: rules[number] for number in productive if rules[number][0] in reached}


def _productive(rules: Sequence[Rule], never: int) -> set[int]:
    """The rules that derive something of the terminals that are read, by number."""
    users: dict[int, list[int]] = {}  # of each nonterminal, once for each time it stands there
    missing = []
    for number, (_, side) in enumerate(rules):
        inner = [symbol for symbol in side if symbol < 0]
        dead = any(symbol >= 0 and never >> symbol & 1 for symbol in side)
        missing.append(-1 if dead else len(inner))
        for symbol in [] if dead else inner:
            users.setdefault(symbol, []).append(number)

    def completed(number: int) -> Iterator[int]:
        for user in users.pop(rules[number][0], ()):
            missing[user] -= 1
            if not missing[user]:
                yield user

    return set(reachable([number for number, count in enumerate(missing) if not count], completed))
