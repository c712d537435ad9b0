"""Admissible lower bounds for the search for a unifying counterexample (`unifying`), which is an A* search.

In: two partial derivations of a conflict, each as the nonterminal that its spine has come to and the first symbol that
is pending. Out: what it costs at least until both derive the same nonterminal and nothing is pending. The bounds count
productions between symbols of the grammar and know nothing of LR states, so they never exceed the true cost, and the
first counterexample found is the cheapest.
"""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from pdacon.base.graphs import Search
from pdacon.base.once import memoized
from pdacon.determinism.conflicts.items import AUGMENTED, Items

_NEVER = 1 << 20

NOTHING = -1
"""In place of a pending symbol: nothing is pending."""


class Bounds:
    """Lower bounds for one grammar, computed when they are first needed.

    ``around``, ``within``: what it costs to go to a production around, and to expand a symbol.
    """

    def __init__(self, items: Items, around: int, within: int) -> None:
        self._items = items
        self._around, self._within = around, within

    @memoized
    def least(self, first: int, second: int, next_first: int, next_second: int) -> int:
        """For both sides the nonterminal that the spine has come to, and the first pending symbol or `NOTHING`."""
        up = self._around * int((self._heights(first) + self._heights(second)).min())
        if next_first == next_second:
            return up
        if next_first == NOTHING:
            return max(up, self._until_followed(first, next_second))
        if next_second == NOTHING:
            return max(up, self._until_followed(second, next_first))
        return up + self._within * self._meeting(next_first, next_second)

    @memoized
    def _meeting(self, first: int, second: int) -> int:
        """How many expansions it takes at least until two strings that begin with these symbols begin with the same."""
        expansions = int((self._depths(first) + self._depths(second)).min())
        return min(expansions, 1) if self._items.empty[first] or self._items.empty[second] else expansions

    def _until_followed(self, nonterminal: int, symbol: int) -> int:
        """The least cost of going out until what comes after begins like a symbol, or the symbol is gone."""
        cost = self._followed(symbol)[nonterminal - self._items.nonterminal] if nonterminal != AUGMENTED else _NEVER
        return min(cost, self._within) if self._items.empty[symbol] else cost

    @memoized
    def _followed(self, symbol: int) -> list[int]:
        items = self._items
        best = [_NEVER] * len(items.grammar.nonterminals)
        heap: list[tuple[int, int]] = []
        ends_with: dict[int, list[int]] = {}
        for child, uses in items.before.items():
            for item in uses if child >= items.nonterminal else ():
                cost = _NEVER
                for following in items.rest(item)[1:]:
                    cost = min(cost, self._within * self._meeting(following, symbol))
                    if not items.empty[following]:
                        break
                else:
                    ends_with.setdefault(items.left(item), []).append(child)
                if cost < _NEVER:
                    heappush(heap, (cost + self._around, child))
        while heap:
            cost, child = heappop(heap)
            if cost < best[child - items.nonterminal]:
                best[child - items.nonterminal] = cost
                for inner in ends_with.get(child, ()):
                    heappush(heap, (cost + self._around, inner))
        return best

    @memoized
    def _heights(self, nonterminal: int) -> NDArray[np.int32]:
        """For each nonterminal, and at last for the augmented ones, how many productions out it is."""
        items = self._items
        heights = np.full(len(items.grammar.nonterminals) + 1, _NEVER, np.int32)
        search = Search({nonterminal: 0})
        for symbol, height in search:
            heights[-1 if symbol == AUGMENTED else symbol - items.nonterminal] = height
            for item in items.before.get(symbol, ()):
                search.meet(items.left(item), height + 1)
        return heights

    @memoized
    def _depths(self, symbol: int) -> NDArray[np.int32]:
        """For each symbol how many expansions it takes at least until a string begins with it."""
        items = self._items
        depths = np.full(items.anything + 1, _NEVER, np.int32)
        heap = [(0, symbol)]
        while heap:
            depth, at = heappop(heap)
            if depth < depths[at]:
                depths[at] = depth
                for k in items.expansions.get(at, ()):
                    for skipped, corner in enumerate(items.sides[k][1]):
                        heappush(heap, (depth + 1 + skipped, corner))
                        if not items.empty[corner]:
                            break
        return depths
