"""Symbols, items and what is expected, in the author's words.

In: symbol ids, LR items and an `Expectation`. Out: the texts that an `Explanation` is made of.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from pdacon.base.once import memoized
from pdacon.base.quoting import LISTED, listing, tail
from pdacon.grammar import GrammarData
from pdacon.grammar.first_follow import first_sets, rule_of
from pdacon.pda import Expectation


class Names:
    """The names of a grammar's symbols, for one of its start symbols; each is made when it is first asked for."""

    def __init__(self, grammar: GrammarData, start: int) -> None:
        self._grammar = grammar
        self._start = start

    @memoized
    def name(self, symbol: int) -> str:
        return self._grammar.describe_symbol(symbol)

    def names(self, symbols: Iterable[int]) -> tuple[str, ...]:
        return tuple(map(self.name, symbols))

    def begun(self, terminals: Iterable[int], lexeme: bytes) -> str:
        """``STRING '"abc'``, or of a literal ``"tr" (of "true")``; several terminals joined by "or"."""
        names = self.names(terminals)
        if any(not name[:1].isalpha() and name[:1] != "_" for name in names):
            return f"{tail(lexeme)} (of {listing(names)})"
        return " ".join(filter(None, [listing(names), tail(lexeme)]))

    def expected(self, expected: Expectation) -> str:
        """What can come next, or else what is not finished: ``"," or the end``.

        What is ignored is not what is missing, so it is named only where nothing else can come.
        """
        by_parser = [terminal for terminal in expected.next if terminal not in self._grammar.ignore]
        following = [*self.names(by_parser), *(["the end"] if expected.end else [])] or self.names(expected.next)
        return listing(following or self.names(expected.unfinished) or ["nothing"])

    def narrowed(self, symbols: Iterable[int]) -> str:
        """What filters leave of terminals: ``a filter leaves of STRING only the script Hangul``; empty: all."""
        found = [(one, self._grammar.terminals[one].within) for one in symbols if one < len(self._grammar.terminals)]
        of = [f"of {self.name(one)} only {within}" for one, within in found if within is not None]
        return f"a filter leaves {' and '.join(of)}" if of else ""

    def awaited(self, items: Iterable[tuple[int, int]], expected: Expectation) -> str:
        """What is expected at some LR items, with the rule that they all wait for where its beginnings are many.

        ``expected "," or "]"``, or ``after "," a result is expected, which begins with NAME, "(", ... or 18 others``.
        """
        listed = self.expected(expected)
        grammar = self._grammar
        ends = {self._around(production, dot) for production, dot in items}
        by_parser = [terminal for terminal in expected.next if terminal not in grammar.ignore]
        if len(ends) != 1 or len(by_parser) <= LISTED or expected.end:
            return f"expected {listed}"
        before, wanted = ends.pop()
        if wanted is None or wanted <= grammar.end or wanted in self._nullable or not self.name(wanted).isidentifier():
            return f"expected {listed}"
        name = self.name(wanted)
        after = f"after {self.name(before)} " if before is not None and before < grammar.end else ""
        article = "an" if name.lstrip("_")[:1] in "aeiou" else "a"
        return f"{after}{article} {name} is expected, which begins with {listed}"

    def _around(self, production: int, dot: int) -> tuple[int | None, int | None]:
        """The symbols before and after the dot of an item; the start symbol is what the text as a whole waits for."""
        if production >= len(self._grammar.productions):
            return None, self._grammar.starts[self._start] if dot == 0 else None
        rhs = self._grammar.productions[production].rhs
        return rhs[dot - 1] if dot else None, rhs[dot] if dot < len(rhs) else None

    @cached_property
    def _nullable(self) -> set[int]:
        grammar = self._grammar
        _, nullable = first_sets(rule_of(grammar, p.lhs, p.rhs) for p in grammar.productions)
        return {grammar.end - symbol for symbol in nullable}

    def ignored(self, expected: Expectation) -> tuple[str, ...]:
        """Of what can come next, what is ignored."""
        return self.names(terminal for terminal in expected.next if terminal in self._grammar.ignore)

    def item(self, production: int, dot: int) -> str:
        """``expr: expr "+" • expr``"""
        if production >= len(self._grammar.productions):
            start = self._grammar.starts[self._start]
            return " ".join(["•", self.name(start)][:: 1 if dot == 0 else -1])
        return self._grammar.describe_item(production, dot)
