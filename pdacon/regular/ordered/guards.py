"""Guarded automata -> Programs: look-around, anchors, word boundaries and atomic groups become plain threads.

A guarded automaton is what a pattern is lowered to first. Besides byte states and ordered splits it has states that
look at the text on either side of a point. They are taken away by a product:

- A *look-ahead* is an obligation that a thread carries along: a set of threads of its body, which reads the same bytes.
  One that must hold is met when a thread of the set matches, and broken when none is left; one that must not hold, the
  other way round. A thread with a broken obligation dies. Obligations of a body's own threads nest.
- A *look-behind* is decided by a tracker: the set of threads of its body, started anew at every byte of the text.
  Trackers run from the start of the text, so a lexeme begins in one of several entries (``Program.look_behind``). A
  body that looks ahead, as ``\b`` does, has threads with obligations; where they match with some that are still open,
  whoever asked goes on with the obligation that one of them is met (or that none is).
- An *atomic group* is an ordered list of the threads of its body in one state. Where one of them leaves the group,
  what follows is obliged that no thread before it does; the threads after it are cut.

A thread that matches while it still has obligations is *pending*: the lexeme ends there if what follows says so.
The end of the text meets ``$`` and decides everything that is open.

Sources: A. Miyazaki and Y. Minamide, "Derivatives of Regular Expressions with Lookahead" (2019), for look-ahead as a
conjunction; R. Cox, "Regular Expression Matching: the Virtual Machine Approach" (2009), for ordered threads;
M. Berglund et al., "Regular Expressions with Lookahead" (2021), for atomic groups by negative look-ahead.

`threads` and `trackers` are the two parts of the product; it is numbered here.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np
from numpy.typing import NDArray

from pdacon.base.cancelling import look
from pdacon.errors import LimitExceededError
from pdacon.regular.ordered.guarded import Edge, Edges, Guarded
from pdacon.regular.ordered.program import BYTES, MATCH, PENDING, PENDING_OR_END, SPLIT, Program, pack
from pdacon.regular.ordered.threads import NOTHING, LookBehind, Thread, Threads
from pdacon.regular.ordered.trackers import Trackers, intervals


def expand(guarded: Guarded, entry: int, limit: int) -> Program:
    """The Program of a guarded automaton.

    Raises LimitExceededError: more than ``limit`` states.
    """
    return _Product(guarded, limit).program(entry)


class _Product:
    """The threads with their obligations and their left context, numbered as states of a Program."""

    def __init__(self, guarded: Guarded, limit: int) -> None:
        self._kinds = guarded.kinds
        self._limit = limit
        self._threads = Threads(guarded, limit)
        self._trackers = Trackers(guarded, self._threads, limit)
        self._number: dict[tuple[Thread, LookBehind] | tuple[int, ...], int] = {}
        self._known: dict[LookBehind, dict[Thread, int]] = {}  # with the whole left context
        self._chosen: dict[tuple[int, LookBehind], int] = {}  # by the identity of a list that `Threads` keeps
        self._out_kinds: list[int] = []
        self._out_edges: list[Edges] = []
        self._fresh: list[tuple[int, Thread, LookBehind]] = []

    def program(self, entry: int) -> Program:
        """Explore everything that can follow the entry, whatever was read before it."""
        states, step = self._trackers.reachable(entry)
        entries = [
            self._choice(self._threads.closure(entry, NOTHING, look_behind), look_behind) for look_behind in states
        ]
        while self._fresh:
            look()
            self._expand(*self._fresh.pop())
        edges = _without_dead_ends(self._out_kinds, self._out_edges)
        return pack(self._out_kinds, edges, *_merged(entries, step))

    def _choice(self, threads: list[Thread], look_behind: LookBehind) -> int:
        chosen = self._chosen.get((id(threads), look_behind))
        if chosen is None:
            chosen = self._chosen[id(threads), look_behind] = self._made_choice(threads, look_behind)
        return chosen

    def _made_choice(self, threads: list[Thread], look_behind: LookBehind) -> int:
        known = self._known.setdefault(look_behind, {})
        states: dict[int, None] = {}
        for thread in threads:
            state = known.get(thread)
            if state is None:
                state = known[thread] = self._relevant_state(thread, self._trackers.relevant(look_behind, thread))
            states[state] = None
        key = tuple(states)
        if len(key) == 1:
            return key[0]
        number = self._number.get(key)
        if number is None:
            number = self._number[key] = self._add(SPLIT, tuple((0, 0, state) for state in key))
        return number

    def _relevant_state(self, thread: Thread, look_behind: LookBehind) -> int:
        number = self._number.get((thread, look_behind))
        if number is None:
            position, owed = thread
            if isinstance(position, int) and self._kinds[position] == MATCH:
                kind = (PENDING_OR_END if self._threads.holds_at_end(owed) else PENDING) if owed else MATCH
            else:
                kind = BYTES
            number = self._number[thread, look_behind] = self._add(kind, ())
            if kind != MATCH:
                self._fresh.append((number, thread, look_behind))
        return number

    def _add(self, kind: int, edges: Edges) -> int:
        self._out_kinds.append(kind)
        self._out_edges.append(edges)
        if len(self._out_kinds) > self._limit:
            raise LimitExceededError("states", len(self._out_kinds), self._limit)
        return len(self._out_kinds) - 1

    def _expand(self, state: int, thread: Thread, look_behind: LookBehind) -> None:
        wanted = [index for index, states in enumerate(look_behind) if states is not None]
        cuts = self._trackers.cuts(look_behind) | self._trackers.cuts_of(thread)
        read = self._threads.bytes_read(thread)
        edges: list[Edge] = []
        for first, last in intervals(cuts):
            if not read[first]:
                continue
            after = self._trackers.after(look_behind, first, wanted)
            threads = self._threads.move(thread, first, after)
            if not threads:
                continue
            target = self._choice(threads, after)
            if edges and edges[-1][1] == first - 1 and edges[-1][2] == target:
                edges[-1] = (edges[-1][0], last, target)
            else:
                edges.append((first, last, target))
        self._out_edges[state] = tuple(edges)


def _without_dead_ends(kinds: list[int], edges: list[Edges]) -> list[Edges]:
    """The edges less those that lead where no match can be reached."""
    predecessors: list[list[int]] = [[] for _ in kinds]
    for state, targets in enumerate(edges):
        for _, _, target in targets:
            predecessors[target].append(state)
    coaccessible = [False] * len(kinds)
    open_ = [state for state, kind in enumerate(kinds) if kind in (MATCH, PENDING_OR_END)]
    while open_:
        state = open_.pop()
        if not coaccessible[state]:
            coaccessible[state] = True
            open_ += predecessors[state]
    return [tuple(edge for edge in targets if coaccessible[edge[2]]) for targets in edges]


def _merged(entries: list[int], step: list[list[int]]) -> tuple[list[int], list[list[int]]]:
    """The automaton of the left context, minimized by Moore's partition refinement."""
    table = np.array(step, np.int32)
    block = _numbered(entries)
    count = 0
    while count < (count := int(block.max()) + 1):
        block = _numbered(row.tobytes() for row in np.column_stack([block, block[table]]))
    first = [block.tolist().index(number) for number in range(count)]  # the start of the text stays first
    return [entries[state] for state in first], block[table[first]].tolist()


def _numbered(values: Iterable[Hashable]) -> NDArray[np.int32]:
    """The same number for equal values, in the order in which they come first."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values], np.int32)
