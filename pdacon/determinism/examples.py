"""Shortest examples: which terminals lead to an LALR state, and what a nonterminal can stand for.

Source: Knuth 1977, "A generalization of Dijkstra's algorithm" (cheapest yields of a context-free grammar); Dijkstra
over the LR automaton, a nonterminal edge weighing as much as its cheapest yield.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from functools import cached_property

import numpy

from pdacon.grammar import GrammarData
from pdacon.lalr import Tables

# A cheapest yield can be exponentially long in the size of the grammar (a: b b, b: c c, ...): past this it is not
# spelt out.
SPELL_OUT = 24


@dataclass(frozen=True, slots=True)
class Yields:
    """For each nonterminal its production with the fewest terminals, and how many those are.

    ``production[k]`` is -1 and ``length[k]`` is -1 where nonterminal k derives no string of terminals at all.
    """

    production: tuple[int, ...]
    length: tuple[int, ...]


def shortest_yields(grammar: GrammarData) -> Yields:
    """O(size of the grammar x log): each nonterminal is settled once, cheapest first."""
    first = grammar.end + 1
    length = [-1] * len(grammar.nonterminals)
    chosen = [-1] * len(grammar.nonterminals)
    cost = [0] * len(grammar.productions)
    waiting = [0] * len(grammar.productions)
    users: dict[int, list[int]] = {}
    heap: list[tuple[int, int]] = []
    for k, production in enumerate(grammar.productions):
        for symbol in production.rhs:
            if symbol < first:
                cost[k] += 1
            else:
                waiting[k] += 1
                users.setdefault(symbol, []).append(k)
        if not waiting[k]:
            heapq.heappush(heap, (cost[k], k))
    while heap:
        total, k = heapq.heappop(heap)
        lhs = grammar.productions[k].lhs
        if length[lhs - first] >= 0:
            continue
        length[lhs - first], chosen[lhs - first] = total, k
        for user in users.get(lhs, ()):
            cost[user] += total
            waiting[user] -= 1
            if not waiting[user]:
                heapq.heappush(heap, (cost[user], user))
    return Yields(tuple(chosen), tuple(length))


class Examples:
    """Shortest prefixes of one grammar's LR states. The first one asked for costs one Dijkstra over the tables."""

    def __init__(self, grammar: GrammarData, tables: Tables) -> None:
        self._grammar = grammar
        self._tables = tables

    @cached_property
    def _yields(self) -> Yields:
        return shortest_yields(self._grammar)

    def prefix(self, state: int) -> tuple[str, ...] | None:
        """The fewest terminals after which the parser is in ``state``; None if no string of terminals leads there.

        Symbols are as the author writes them. A nonterminal whose cheapest yield is longer than ``SPELL_OUT``
        terminals is left as it is.
        """
        symbols = self._symbols(state)
        return None if symbols is None else tuple(name for symbol in symbols for name in self._spell(symbol))

    def way(self, state: int) -> tuple[int, ...] | None:
        """The same as terminals; None also where a nonterminal would be left as it is."""
        symbols = self._symbols(state)
        spelt = None if symbols is None else [self._terminals(symbol) for symbol in symbols]
        if spelt is None or any(some is None for some in spelt):
            return None
        return tuple(symbol for some in spelt for symbol in some or ())

    def _symbols(self, state: int) -> list[int] | None:
        symbols: list[int] = []
        while True:
            step = self._came_from.get(state)
            if step is None:
                return None
            state, symbol = step
            if symbol < 0:
                return symbols[::-1]
            symbols.append(symbol)

    @cached_property
    def _came_from(self) -> dict[int, tuple[int, int]]:
        """For each state the state before it on a shortest way, and the symbol between them; -1 at a start."""
        tables = self._tables
        came_from: dict[int, tuple[int, int]] = {}
        heap = [(0, state, state, -1) for state in tables.start_states]
        heapq.heapify(heap)
        while heap:
            distance, state, previous, symbol = heapq.heappop(heap)
            if state in came_from:
                continue
            came_from[state] = (previous, symbol)
            for terminal in numpy.flatnonzero(tables.action[state] > 0).tolist():
                target = int(tables.action[state, terminal]) - 1
                heapq.heappush(heap, (distance + 1, target, state, terminal))
            for k, target in tables.goto.row(state).items():
                if self._yields.length[k] >= 0:
                    heapq.heappush(heap, (distance + self._yields.length[k], target, state, self._grammar.end + 1 + k))
        return came_from

    def _spell(self, symbol: int) -> list[str]:
        terminals = self._terminals(symbol)
        return [self._grammar.describe_symbol(k) for k in ((symbol,) if terminals is None else terminals)]

    def _terminals(self, symbol: int) -> list[int] | None:
        """What a symbol stands for; None if that is too long."""
        first = self._grammar.end + 1
        if symbol >= first and self._yields.length[symbol - first] > SPELL_OUT:
            return None
        spelt: list[int] = []
        pending = [symbol]
        while pending:
            top = pending.pop()
            if top < first:
                spelt.append(top)
            elif self._yields.length[
                top - first
            ]:  # empty yields are dropped whole: their trees can be exponentially large
                pending.extend(reversed(self._grammar.productions[self._yields.production[top - first]].rhs))
        return spelt
