"""One sentence with two derivations, which a parser cannot tell apart at a conflict.

A reading of a conflict is a derivation tree in which the conflict's item is complete (reduce) or its terminal comes
next (shift). Left of the decision both readings must have the same symbols: an example is wanted with one prefix. So a
pair of readings grows from the conflict outwards, by A* (`bounds`). Its moves, with the paper's names: *back* over one
symbol in both (reverse transition), *out* on one side, from an item with the dot at the left end to one with the dot
before its left side (reverse production step), *match* the first pending symbols of both (transition), *expand* the
first pending symbol of one side (production step). Pending is what is right of the decision and not matched yet. When
nothing is pending and both sides derive the same symbol from the same place, the grammar is ambiguous, and the pair is
a *unifying* counterexample.

A pair does not fix the left context: it has the set of all LR states that have both items and lead from
here to the conflict.

Source: Isradisaikul and Myers 2015, "Finding counterexamples from parsing conflicts" (PLDI). Their pairs of item
sequences record the states to the right of the decision too; derivations do not need them.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush
from typing import TypeAlias

from pdacon.base.bit_sets import members
from pdacon.base.once import memoized
from pdacon.determinism.conflicts.bounds import NOTHING, Bounds
from pdacon.determinism.conflicts.derivations import Example, Reading
from pdacon.determinism.conflicts.items import Item, Items
from pdacon.determinism.deadline import Deadline

# What a step costs: a leaf, a production around, a production within. They decide which example is the simplest.
LEAF = 1
AROUND = 2
WITHIN = 4

# With more pending than that, most of it is forgotten: there is no example to be had any more, but the pairs that
# recursion goes on making become equal, so that a search can still end and prove that there is none.
_LONGEST = 32
_REMEMBERED = 8

_MATCH, _EXPAND, _OUT, _BACK = range(4)

_Pair: TypeAlias = tuple[int, "Item", "Item", tuple[int, ...], tuple[int, ...], int]
"""States, both ends of the spines, what is pending on both sides, and the symbol that was matched first."""

_NOT_BEGUN = -1
"""Nothing was matched: what comes next has to begin with a terminal of the conflict."""

_Move: TypeAlias = tuple[int, int, int]
"""What was done, on which side, and with which production or item."""


class UnifyingSearch:
    """The search for sentences with two derivations, for the conflicts of a state on some terminals.

    For each of some ``terminals`` an example is wanted, which explains one of some ``pairs`` of items of the conflict.
    For shift/reduce the item to shift comes first: a kernel item with the dot before a symbol whose texts can begin
    with the terminal, or before it.
    """

    def __init__(
        self, items: Items, bounds: Bounds, state: int, terminals: Iterable[int], pairs: Iterable[tuple[Item, Item]]
    ) -> None:
        self._items = items
        self._bounds = bounds
        self._wanted = self._open = sum(1 << terminal for terminal in terminals)
        self._nodes: list[tuple[_Pair, int, _Move | None]] = []
        self._best: dict[_Pair, int] = {}
        self._heap: list[tuple[int, int, int]] = []
        self.examples: dict[int, Example] = {}  # what was found, by terminal
        self.exhausted = False  # whether it is certain that there is none for the other terminals
        self._cut = False
        self._anything = (items.anything,)
        self._shift = False
        for first, second in pairs:
            pending = items.rest(first)
            self._shift = bool(pending)
            self._add((items.copies(state), first, second, pending, (), _NOT_BEGUN), 0, -1, None)

    def run(self, steps: int, deadline: Deadline) -> int:
        """Go on for so many steps, or until all is decided. Returns how many steps were not needed."""
        heap, nodes, best = self._heap, self._nodes, self._best
        for step in range(steps):
            if not heap or not self._open:
                self.exhausted = not self._cut
                return steps - step
            if not step & 3 and deadline.passed():  # where many operators meet, a step takes a millisecond
                return 0
            _, cost, index = heappop(heap)
            pair = nodes[index][0]
            if best[pair] < cost or not (pair[5] == _NOT_BEGUN or self._covers(pair[5]) & self._open):
                continue
            for terminal in members(self._unified(pair)):
                self.examples[terminal] = self._replay(index, terminal)
                self._open &= ~(1 << terminal)
            self._grow(pair, cost, index)
        return 0

    def _unified(self, pair: _Pair) -> int:
        """The terminals for which this pair is an example."""
        items = self._items
        states, first, second, pending_first, pending_second, begun = pair
        if pending_first or pending_second or items.dot[first] != items.dot[second]:
            return 0
        if items.left(first) != items.left(second):
            return 0
        if begun != _NOT_BEGUN:
            return self._covers(begun) & self._open
        if self._shift:
            return 0
        return sum(1 << t for t in members(self._open) if items.can_follow(first, states, t))

    @memoized
    def _covers(self, symbol: int) -> int:
        """The wanted terminals that can come next where a symbol does: to shift them, nothing may be reduced before."""
        distance = self._items.distance
        return sum(1 << t for t in members(self._wanted) if distance(symbol, t, leftmost=self._shift) is not None)

    def _grow(self, pair: _Pair, cost: int, index: int) -> None:
        items = self._items
        states, first, second, pending_first, pending_second, begun = pair
        if pending_first and pending_second:
            symbol = pending_first[0]
            if symbol == pending_second[0] and (begun != _NOT_BEGUN or self._covers(symbol) & self._open):
                matched = symbol if begun == _NOT_BEGUN else begun
                after = (states, first, second, pending_first[1:], pending_second[1:], matched)
                self._add(after, cost + LEAF, index, (_MATCH, 0, 0))
            self._expand(pair, 0, cost, index)
            self._expand(pair, 1, cost, index)
            return
        if pending_first and (begun != _NOT_BEGUN or not self._shift):
            self._expand(pair, 0, cost, index)
        if pending_second:
            self._expand(pair, 1, cost, index)
        back = min(items.dot[first], items.dot[second])
        if back:
            for _ in range(back):
                states = items.predecessors(states)
            after = (states, first - back, second - back, pending_first, pending_second, begun)
            self._add(after, cost + LEAF * back, index, (_BACK, 0, 0))
            return
        # A side goes out where it has nothing pending, or where the other cannot go back before it does.
        if not items.dot[first] and (not pending_first or items.dot[second]):
            self._step_out(pair, 0, cost, index)
        if not items.dot[second] and (not pending_second or items.dot[first]):
            self._step_out(pair, 1, cost, index)

    def _expand(self, pair: _Pair, side: int, cost: int, index: int) -> None:
        items = self._items
        (symbol, *rest), other = (pair[4], pair[3]) if side else (pair[3], pair[4])
        leftmost = self._shift and not side and pair[5] == _NOT_BEGUN
        for k in items.expansions.get(symbol, ()):
            rhs = items.sides[k][1]
            if leftmost and not (rhs and self._covers(rhs[0]) & self._open):
                continue
            if other or all(items.empty[s] for s in rhs):
                pending = (*rhs, *rest)
                after = (*pair[:3], pending, other) if side == 0 else (*pair[:3], other, pending)
                self._add((*after, pair[5]), cost + WITHIN, index, (_EXPAND, side, k))

    def _step_out(self, pair: _Pair, side: int, cost: int, index: int) -> None:
        items = self._items
        states, first, second, pending_first, pending_second, begun = pair
        own, other = (pending_second, pending_first) if side else (pending_first, pending_second)
        unknown = own[-1:] == self._anything
        wanted = -1 if begun != _NOT_BEGUN else self._open
        if not own:
            begins, empty = items.can_begin(other)
            wanted &= -1 if empty else begins
        for parent, those in items.parents(items.left(second if side else first), states):
            behind, begins, empty = items.behind(parent)
            if not own and not empty and not begins & wanted:
                continue
            pending = own if unknown else own + behind
            after = (
                (those, first, parent, pending_first, pending, begun)
                if side
                else (those, parent, second, pending, pending_second, begun)
            )
            self._add(after, cost + AROUND, index, (_OUT, side, parent))

    def _add(self, pair: _Pair, cost: int, origin: int, move: _Move | None) -> None:
        items = self._items
        _, first, second, pending_first, pending_second, begun = pair
        if pending_first and pending_second and pending_first[0] == pending_second[0] < items.nonterminal:
            settled = self._settled(pair)
            if settled is None:
                return
            matched, pair = settled
            cost += LEAF * matched
            _, _, _, pending_first, pending_second, begun = pair
        begins_first, empty_first, leaves_first = items.about(pending_first)
        begins_second, empty_second, leaves_second = items.about(pending_second)
        wanted = self._open if begun == _NOT_BEGUN else -1
        if not empty_first:
            wanted &= begins_first
        if not empty_second:
            wanted &= begins_second
        if not wanted:
            return
        if len(pending_first) > _LONGEST or len(pending_second) > _LONGEST:
            pending_first, pending_second = _shortened(pending_first, items), _shortened(pending_second, items)
            leaves_first, leaves_second = items.about(pending_first)[2], items.about(pending_second)[2]
            pair = (*pair[:3], pending_first, pending_second, begun)
        if pending_first[:1] == self._anything or pending_second[:1] == self._anything:
            self._cut = True
        elif cost < self._best.get(pair, cost + 1):
            self._best[pair] = cost
            self._nodes.append((pair, origin, move))
            least = LEAF * (leaves_first if leaves_first > leaves_second else leaves_second) + self._bounds.least(
                items.lefts[first],
                items.lefts[second],
                pending_first[0] if pending_first else NOTHING,
                pending_second[0] if pending_second else NOTHING,
            )
            heappush(self._heap, (cost + least, cost, len(self._nodes) - 1))

    def _settled(self, pair: _Pair) -> tuple[int, _Pair] | None:
        """Match the terminals that both pending strings begin with: how many, and the pair afterwards.

        None if nothing was matched before and the first of them is no terminal that an example is still wanted for.
        """
        states, first, second, pending_first, pending_second, begun = pair
        if begun == _NOT_BEGUN:
            begun = pending_first[0]
            if not self._open >> begun & 1:
                return None
        most = min(len(pending_first), len(pending_second))
        matched = 0
        while matched < most and pending_first[matched] == pending_second[matched] < self._items.nonterminal:
            matched += 1
        return matched, (states, first, second, pending_first[matched:], pending_second[matched:], begun)

    def _replay(self, index: int, terminal: int) -> Example:
        items = self._items
        moves: list[_Move] = []
        while True:
            pair, index, move = self._nodes[index]
            if move is None:
                break
            moves.append(move)
        readings = (Reading(items, pair[1]), Reading(items, pair[2]))
        begun = _match(readings, items)
        for kind, side, argument in reversed(moves):
            if kind == _MATCH:
                for reading in readings:
                    reading.match(None if begun else terminal, leftmost=self._shift)
                begun = True
            elif kind == _EXPAND:
                readings[side].expand(argument)
            elif kind == _OUT:
                readings[side].step_out(argument)
            begun |= _match(readings, items)
        return Example.of(*readings, unifying=True)


def _shortened(pending: tuple[int, ...], items: Items) -> tuple[int, ...]:
    return pending if len(pending) <= _REMEMBERED else (*pending[:_REMEMBERED], items.anything)


def new_bounds(items: Items) -> Bounds:
    """The bounds that searches in one grammar share."""
    return Bounds(items, AROUND, WITHIN)


def _match(readings: tuple[Reading, Reading], items: Items) -> bool:
    """Match what is the same terminal on both sides; whether there was any."""
    first, second = readings
    matched = False
    while first.pending and second.pending and first.pending[0].symbol == second.pending[0].symbol < items.nonterminal:
        first.match()
        second.match()
        matched = True
    return matched
