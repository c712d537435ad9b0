"""Trackers: what of the text before a point its look-behinds can ask.

In: a `Guarded` automaton and its threads. Out: for each tracker the set of its threads after a byte, and every such
state that a text before the lexeme can lead to. A thread that is over before its guard asks is left out, which is what
keeps the states few.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from itertools import pairwise

from pdacon.errors import LimitExceededError
from pdacon.regular.ordered.guarded import BEGIN, Guarded, distances_to_trackers, longest_matches
from pdacon.regular.ordered.program import BYTES, MATCH, SPLIT
from pdacon.regular.ordered.threads import NOTHING, LookBehind, Thread, Threads, Tracked

_ROW = 16
"""For how many states one counts that has a row of 256 bytes."""


class Trackers:
    """The trackers of a guarded automaton, all of which read every byte of the text."""

    def __init__(self, guarded: Guarded, threads: Threads, limit: int) -> None:
        self._kinds, self._edges, self._trackers = guarded.kinds, guarded.edges, guarded.trackers
        self._threads = threads
        self._limit = limit
        self._distance = distances_to_trackers(guarded)
        self._longest = longest_matches(guarded)
        self._after: dict[tuple[int, bool, Tracked | None, int, LookBehind], Tracked] = {}
        self._closed: dict[tuple[bool, LookBehind, tuple[Thread, ...]], Tracked] = {}
        self._cuts = [tuple(cut for lo, hi, _ in edges for cut in (lo, hi + 1)) for edges in guarded.edges]

    def reachable(self, entry: int) -> tuple[list[LookBehind], list[list[int]]]:
        """The tracker states that any text before the lexeme can lead to, and how bytes lead from one to another."""
        distance = self._distance[entry]
        start = self._relevant(self.after(None, -1, distance), distance)
        number = {start: 0}
        number_after: dict[LookBehind, int] = {}
        states = [start]
        step: list[list[int]] = []
        for look_behind in states:  # grows
            row = [0] * 256
            for first, last in intervals(self.cuts(look_behind)):
                after = self.after(look_behind, first, distance)
                target = number_after.get(after)
                if target is None:
                    relevant = self._relevant(after, distance)
                    target = number_after[after] = number.setdefault(relevant, len(states))
                    if target == len(states):
                        states.append(relevant)
                        if _ROW * len(states) > self._limit:
                            raise LimitExceededError("states", _ROW * len(states), self._limit)
                row[first : last + 1] = [target] * (last + 1 - first)
            step.append(row)
        return states, step

    def after(self, before: LookBehind | None, byte: int, wanted: Container[int]) -> LookBehind:
        """The wanted trackers after one byte; at the start of the text if there is nothing before."""
        now: LookBehind = ()
        for index, start in enumerate(self._trackers):
            if index not in wanted:
                now += (None,)
                continue
            threads = None if before is None else before[index]
            key = (index, before is None, threads, byte, now)
            after = self._after.get(key)
            if after is None:
                moved: list[Thread] = [(start, NOTHING)]
                for thread in threads or ():
                    moved += self._tracked_on(thread, byte, now)
                after = self._after[key] = self._closure_of(tuple(moved), now, at_begin=before is None)
            now += (after,)
        return now

    def _tracked_on(self, thread: Thread, byte: int, inner: LookBehind) -> list[Thread]:
        """A thread of a tracker after one byte; ``inner`` trackers have read it."""
        position, owed = thread
        assert isinstance(position, int)  # in a body of one length an atomic group is any group
        left = self._threads.owed_after(owed, byte, inner) if owed else owed
        return [] if left is None else [(target, left) for target in self._threads.successors(position, byte)]

    def _closure_of(self, threads: tuple[Thread, ...], inner: LookBehind, *, at_begin: bool) -> Tracked:
        """The closure of threads, found once: most bytes lead to the same few."""
        key = (at_begin, inner, threads)
        closed = self._closed.get(key)
        if closed is None:
            closed = self._closed[key] = self._tracker_closure(list(threads), inner, at_begin=at_begin)
        return closed

    def _tracker_closure(self, threads: list[Thread], inner: LookBehind, *, at_begin: bool) -> Tracked:
        found: set[Thread] = set()
        seen: set[Thread] = set()
        while threads:
            thread = threads.pop()
            if thread in seen:
                continue
            seen.add(thread)
            state, owed = thread
            assert isinstance(state, int)
            kind, edges = self._kinds[state], self._edges[state]
            if kind in (BYTES, MATCH):
                found.add(thread)
            elif kind == SPLIT:
                threads += [(target, owed) for _, _, target in edges]
            elif kind == BEGIN:
                threads += [(target, owed) for _, _, target in edges] if at_begin else []
            elif (guarded := self._threads.pass_guard(state, owed, inner)) is not None:
                threads.append((edges[1][2], guarded))
        return frozenset(found)

    def cuts(self, look_behind: LookBehind) -> set[int]:
        """The bytes at which what the trackers do can change."""
        return set().union(*(self.cuts_of(thread) for threads in look_behind for thread in threads or ()))

    def relevant(self, look_behind: LookBehind, thread: Thread) -> LookBehind:
        """What of the trackers a thread, or one that comes of it, can still ask."""
        distance: dict[int, int] = {}
        for inner in self._threads.states_in(thread):
            for tracker, bytes_ in self._distance[inner].items():
                distance[tracker] = min(bytes_, distance.get(tracker, bytes_))
        return self._relevant(look_behind, distance)

    def _relevant(self, look_behind: LookBehind, distance: Mapping[int, int]) -> LookBehind:
        """What of the trackers can still matter: a thread that is over before its guard asks cannot."""
        return tuple(
            None
            if threads is None or index not in distance
            else frozenset(
                thread
                for thread in threads
                if isinstance(thread[0], int) and self._longest[thread[0]] >= distance[index]
            )
            for index, threads in enumerate(look_behind)
        )

    def cuts_of(self, thread: Thread) -> set[int]:
        """The bytes at which what a thread does can change."""
        return {cut for state in self._threads.states_in(thread) for cut in self._cuts[state]}


def intervals(cuts: Iterable[int]) -> Iterator[tuple[int, int]]:
    """The ranges of bytes between cuts, first and last."""
    bounds = sorted({0, 256}.union(cut for cut in cuts if 0 < cut < 256))
    return ((first, last - 1) for first, last in pairwise(bounds))
