"""Two sentences that begin alike up to a conflict, each with one of its readings.

The spines of both readings grow outwards in the same states, as in a search for a unifying example, but nothing behind
the decision has to be the same, except that the conflict's terminal comes next. Items are thus walked back with their
precise lookahead: if both cannot have it in one left context, canonical LR(1) has no such conflict, and only the
merging of states in LALR(1) makes it.

Source: the shortest lookahead-sensitive path of Isradisaikul and Myers 2015.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count
from typing import TypeAlias

from pdacon.determinism.conflicts.bounds import NOTHING, Bounds
from pdacon.determinism.conflicts.derivations import Example, Reading
from pdacon.determinism.conflicts.items import AUGMENTED, Item, Items
from pdacon.determinism.conflicts.unifying import AROUND, LEAF, WITHIN
from pdacon.determinism.deadline import Deadline


def find_common_beginning(
    items: Items,
    bounds: Bounds,
    state: int,
    terminal: int,
    first: Item,
    second: Item,
    deadline: Deadline,
    *,
    whole: bool = False,
) -> Example | None:
    """Two sentences that begin alike up to the decision, each with one of the readings; the shortest such beginning.

    None if no left context of the state has ``terminal`` after both items, in the sense of canonical LR(1), or if the
    time is over. With one item twice: a sentence in which it is read. With ``whole``, sentences of a start.

    Cost: time and memory grow with the number of pairs of items that lie around the conflict in some state.
    """
    search = _Beginning(items, bounds, terminal, whole)
    return search.run((items.copies(state), first, not items.at_end(first), second, not items.at_end(second)), deadline)


_Around: TypeAlias = tuple[int, "Item", bool, "Item", bool]
"""States, and for both sides the end of the spine and whether the conflict's terminal is known to come next."""


class _Beginning:
    """A* over the items around a conflict."""

    def __init__(self, items: Items, bounds: Bounds, terminal: int, whole: bool) -> None:
        self._items = items
        self._bounds = bounds
        self._terminal = terminal
        self._whole = whole
        self._nodes: list[tuple[_Around, int, tuple[int, Item, bool] | None]] = []
        self._best: dict[_Around, int] = {}
        self._heap: list[tuple[int, int, int]] = []

    def run(self, root: _Around, deadline: Deadline) -> Example | None:
        heap, nodes = self._heap, self._nodes
        self._add(root, 0, -1, None)
        for step in count():
            if not heap or (step & 127 == 127 and deadline.passed()):
                return None
            _, cost, index = heappop(heap)
            node = nodes[index][0]
            if self._best[node] < cost:
                continue
            if self._parted(node):
                return self._replay(index)
            self._grow(node, cost, index)
        return None

    def _parted(self, node: _Around) -> bool:
        items = self._items
        _, first, first_done, second, second_done = node
        if items.dot[first] != items.dot[second] or items.left(first) != items.left(second):
            return False
        if items.left(first) == AUGMENTED:
            end = self._terminal == items.nonterminal - 1
            return (first_done or end) and (second_done or end)
        return first_done and second_done and not self._whole

    def _grow(self, node: _Around, cost: int, index: int) -> None:
        items = self._items
        states, first, first_done, second, second_done = node
        back = min(items.dot[first], items.dot[second])
        if back:
            for _ in range(back):
                states = items.predecessors(states)
            self._add((states, first - back, first_done, second - back, second_done), cost + back, index, None)
            return
        if not items.dot[first]:
            for parent, those, done, paid in self._around(first, states, first_done):
                self._add((those, parent, done, second, second_done), cost + paid, index, (0, parent, done))
        if not items.dot[second]:
            for parent, those, done, paid in self._around(second, states, second_done):
                self._add((those, first, first_done, parent, done), cost + paid, index, (1, parent, done))

    def _around(self, item: Item, states: int, done: bool) -> Iterator[tuple[Item, int, bool, int]]:
        items = self._items
        for parent, those in items.parents(items.left(item), states):
            behind, begins, empty = items.behind(parent)
            if done:
                yield parent, those, True, AROUND + LEAF * len(behind)
                continue
            if begins >> self._terminal & 1:
                yield parent, those, True, AROUND + LEAF * len(behind) + self._price(behind)
            if empty:
                yield parent, those, False, AROUND

    def _price(self, symbols: tuple[int, ...]) -> int:
        """What it costs to make symbols begin with the conflict's terminal."""
        items = self._items
        for skipped, symbol in enumerate(symbols):
            distance = items.distance(symbol, self._terminal)
            if distance is not None:
                return WITHIN * (distance + skipped)
        raise AssertionError(symbols)

    def _add(self, node: _Around, cost: int, origin: int, move: tuple[int, Item, bool] | None) -> None:
        if cost < self._best.get(node, cost + 1):
            self._best[node] = cost
            self._nodes.append((node, origin, move))
            _, first, _, second, _ = node
            least = self._bounds.least(self._items.left(first), self._items.left(second), NOTHING, NOTHING)
            heappush(self._heap, (cost + least, cost, len(self._nodes) - 1))

    def _replay(self, index: int) -> Example:
        items = self._items
        path = []
        while index >= 0:
            path.append(self._nodes[index])
            index = path[-1][1]
        _, first, _, second, _ = path[-1][0]
        readings = (Reading(items, first), Reading(items, second))
        for reading in readings:
            if reading.pending:
                reading.begin_with(self._terminal, leftmost=True)
        done = [not items.at_end(first), not items.at_end(second)]
        for _, _, move in reversed(path):
            if move is None:
                continue
            side, parent, now = move
            readings[side].step_out(parent)
            if now and not done[side]:
                readings[side].begin_with(self._terminal)
            elif not now:
                readings[side].vanish()
            done[side] = now
        return Example.of(*readings, unifying=False)
