"""Which terminals the rules put after which: FOLLOW sets, and the places in the rules that they come from.

What derives no text, needs a terminal that is never read, or is not reached from a start counts for nothing: so each
pair is in some sentential form without such terminals.

Source: FIRST and FOLLOW as in Aho, Sethi and Ullman 1986, over sets as integers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pdacon.determinism.examples import shortest_yields
from pdacon.grammar import GrammarData


class FollowSets:
    """For each terminal of a grammar, those that the rules put after it. Sets are integers: bit k is terminal k.

    Parameters
    ----------
    grammar : Grammar
    never : int
        The terminals, as a set, that are never read: as if no rule had an alternative with one.

    Notes
    -----
    Cost: linear in the productions for each round, of which there are as many as the deepest chain of rules that end
    with each other, times the width of a set.
    """

    def __init__(self, grammar: GrammarData, never: int = 0) -> None:
        self._grammar = grammar
        self._first_rule = grammar.end + 1
        self._never = never
        self._used = self._used_productions()
        self._empty = self._nullable()
        self._first = self._edges(forward=True)
        self._last = self._edges(forward=False)
        self._after = self._follow()

    def at_start(self) -> int:
        """The terminals that a text can begin with, by the rules."""
        found = 0
        for start in self._grammar.starts:
            found |= self._first[start]
        return found

    def after(self, terminal: int) -> int:
        """The terminals that can come after one, by the rules."""
        return self._after[terminal]

    def origins(self, before: int, terminal: int) -> Iterator[tuple[int, int]]:
        """The productions and dots where the rules put a terminal after another one; ``before`` -1: at the start."""
        for number in self._used:
            production = self._grammar.productions[number]
            if before < 0:
                if production.lhs in self._grammar.starts and self._first_of(production.rhs) >> terminal & 1:
                    yield number, 0
                continue
            for dot in range(1, len(production.rhs)):
                ends = self._last_of(production.rhs[:dot]) >> before & 1
                if ends and self._first_of(production.rhs[dot:]) >> terminal & 1:
                    yield number, dot

    def _used_productions(self) -> list[int]:
        grammar = self._grammar
        productive = self._productive()
        by_rule: dict[int, list[int]] = {}
        for number in productive:
            by_rule.setdefault(grammar.productions[number].lhs, []).append(number)
        reached = set(grammar.starts)
        pending = list(reached)
        while pending:
            for number in by_rule.get(pending.pop(), ()):
                more = {symbol for symbol in grammar.productions[number].rhs if symbol >= self._first_rule} - reached
                reached |= more
                pending += more
        return [number for number in productive if grammar.productions[number].lhs in reached]

    def _productive(self) -> list[int]:
        """The productions that derive something of the terminals that are read."""
        productions = self._grammar.productions
        users: dict[int, list[int]] = {}  # of each nonterminal, once for each time it stands there
        missing = []
        for number, production in enumerate(productions):
            rules = [symbol for symbol in production.rhs if symbol >= self._first_rule]
            dead = any(symbol < self._first_rule and self._never >> symbol & 1 for symbol in production.rhs)
            missing.append(-1 if dead else len(rules))
            for symbol in [] if dead else rules:
                users.setdefault(symbol, []).append(number)
        pending = [number for number, count in enumerate(missing) if count == 0]
        found = set(pending)
        known: set[int] = set()
        while pending:
            lhs = productions[pending.pop()].lhs
            if lhs in known:
                continue
            known.add(lhs)
            for number in users.get(lhs, ()):
                missing[number] -= 1
                if missing[number] == 0:
                    found.add(number)
                    pending.append(number)
        return sorted(found)

    def _nullable(self) -> set[int]:
        length = shortest_yields(self._grammar).length
        return {self._first_rule + k for k, least in enumerate(length) if least == 0}

    def _edges(self, *, forward: bool) -> list[int]:
        """Of each symbol the terminals that it can begin with; or that it can end with."""
        found = self._of_symbols()
        for symbol in range(self._grammar.end):
            found[symbol] = 1 << symbol
        parts = []
        for number in self._used:
            production = self._grammar.productions[number]
            rhs = production.rhs if forward else production.rhs[::-1]
            seen = next((at + 1 for at, symbol in enumerate(rhs) if symbol not in self._empty), len(rhs))
            parts.append((production.lhs, rhs[:seen]))
        self._saturate(found, ((lhs, symbol) for lhs, symbols in parts for symbol in symbols))
        return found

    def _follow(self) -> list[int]:
        found = self._of_symbols()
        handed: list[tuple[int, int]] = []  # what comes after the second comes after the first
        for number in self._used:
            production = self._grammar.productions[number]
            behind, open_end = 0, True
            for symbol in reversed(production.rhs):
                found[symbol] |= behind
                if open_end:
                    handed.append((symbol, production.lhs))
                if symbol in self._empty:
                    behind |= self._first[symbol]
                else:
                    behind, open_end = self._first[symbol], False
        self._saturate(found, handed)
        return found

    def _of_symbols(self) -> list[int]:
        return [0] * (self._first_rule + len(self._grammar.nonterminals))

    @staticmethod
    def _saturate(found: list[int], inclusions: Iterable[tuple[int, int]]) -> None:
        """Make the first set of each pair include the second."""
        users: dict[int, list[int]] = {}
        for wider, narrower in inclusions:
            if wider != narrower:
                users.setdefault(narrower, []).append(wider)
        pending = list(users)
        while pending:
            symbol = pending.pop()
            for wider in users.get(symbol, ()):
                if found[symbol] & ~found[wider]:
                    found[wider] |= found[symbol]
                    pending.append(wider)

    def _first_of(self, symbols: Sequence[int]) -> int:
        return self._edge_of(symbols, self._first)

    def _last_of(self, symbols: Sequence[int]) -> int:
        return self._edge_of(symbols[::-1], self._last)

    def _edge_of(self, symbols: Sequence[int], edges: list[int]) -> int:
        found = 0
        for symbol in symbols:
            found |= edges[symbol]
            if symbol not in self._empty:
                break
        return found
