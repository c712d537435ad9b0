"""The rules that a parser is in, as far as its stack says for certain.

In: a stack of LR states. Out: the kernel items of its top, and the names of the rules around it. An LR state is a set
of items, of which one is the right one; a rule is certain where all of them agree.
"""

from __future__ import annotations

from collections.abc import Iterator

from pdacon.base.graphs import reachable
from pdacon.grammar import GrammarData
from pdacon.lalr import Tables
from pdacon.pda import Stack

_MOST_ENCLOSING = 8


class Enclosing:
    """Says which rules enclose a place in a text, for one grammar."""

    def __init__(self, grammar: GrammarData, tables: Tables) -> None:
        self._grammar = grammar
        self._tables = tables

    def kernel(self, state: int) -> list[tuple[int, int]]:
        """The items that say how a state was reached."""
        count = len(self._grammar.productions)
        return [item for item in self._tables.items(state) if item[1] > 0 or item[0] >= count]

    def rules(self, stack: Stack) -> Iterator[str]:
        """The rules around the one on top of a stack, by their names, as far as they are certain."""
        count = len(self._grammar.productions)
        items = {item for item in self.kernel(stack.state) if item[0] < count}
        previous = self._rule(stack.state)
        for _ in range(_MOST_ENCLOSING):
            origins = {(dot, self._grammar.productions[production].lhs) for production, dot in items}
            if len(origins) != 1:
                return
            dot, symbol = origins.pop()
            stack = stack.pop(dot)
            rule = self._rule_of(symbol)
            if rule != previous:
                yield rule
            previous = rule
            items = {item for item in self._users(stack.state, symbol) if item[0] < count}

    def _users(self, state: int, symbol: int) -> set[tuple[int, int]]:
        """The kernel items of a state that wait for a symbol, at once or through rules that begin with it."""
        productions = self._grammar.productions
        by_next: dict[int, list[tuple[int, int]]] = {}
        for production, dot in self._tables.items(state):
            if production < len(productions) and dot < len(rhs := productions[production].rhs):
                by_next.setdefault(rhs[dot], []).append((production, dot))

        def begun(wanted: int) -> Iterator[int]:
            return (productions[production].lhs for production, dot in by_next.get(wanted, ()) if not dot)

        return {item for wanted in reachable([symbol], begun) for item in by_next.get(wanted, ()) if item[1]}

    def _rule(self, state: int) -> str | None:
        """The rule that the items of a state are shown to be of: not that of a repetition, which has no name there."""
        shown = {self._grammar.productions[k].lhs for k, _ in self.kernel(state) if k < len(self._grammar.productions)}
        named = [lhs for lhs in shown if not self._grammar.nonterminals[lhs - self._grammar.end - 1].repeats]
        return self._rule_of(named[0]) if len(named) == len(shown) == 1 else None

    def _rule_of(self, symbol: int) -> str:
        return next(p.rule for p in self._grammar.productions if p.lhs == symbol)
