"""Guarded automata -> Programs: look-around, anchors, word boundaries and atomic groups become plain threads.

A guarded automaton is what a pattern is lowered to first. Besides byte states and ordered splits it has states that
look at the text on either side of a point. They are taken away by a product:

- A *look-ahead* is an obligation that a thread carries along: a set of threads of its body, which reads the same bytes.
  One that must hold is met when a thread of the set matches, and broken when none is left; one that must not hold, the
  other way round. A thread with a broken obligation dies. Obligations of a body's own threads nest.
- A *look-behind* is decided by a tracker: the set of threads of its body, started anew at every byte of the text.
  Trackers run from the start of the text, so a lexeme begins in one of several entries (``Program.behind``). A body
  that looks ahead, as ``\\b`` does, has threads with obligations; where they match with some that are still open,
  whoever asked goes on with the obligation that one of them is met (or that none is).
- An *atomic group* is an ordered list of the threads of its body in one state. Where one of them leaves the group,
  what follows is obliged that no thread before it does; the threads behind it are cut.

A thread that matches while it still has obligations is *pending*: the lexeme ends there if what follows says so.
The end of the text meets ``$`` and decides everything that is open.

Sources: A. Miyazaki and Y. Minamide, "Derivatives of Regular Expressions with Lookahead" (2019), for look-ahead as a
conjunction; R. Cox, "Regular Expression Matching: the Virtual Machine Approach" (2009), for ordered threads;
M. Berglund et al., "Regular Expressions with Lookahead" (2021), for atomic groups by negative look-ahead.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from pdacon.cancelling import CancelEvent, stop_if_set
from pdacon.errors import LimitExceededError
from pdacon.lexer.program import BYTES, MATCH, PENDING, PENDING_OR_END, SPLIT, Program, pack
from pdacon.lexer.utf8 import continuations

AHEAD, NOT_AHEAD, BEHIND, NOT_BEHIND, ATOMIC, EXIT, BEGIN = range(10, 17)
"""Kinds of guards. The first two edges of a look-ahead lead to its body and on; a look-behind has its tracker in place
of the body; an atomic group's edges lead to its body and to where each of its exits goes on; an exit has its number;
BEGIN, in trackers only, passes at the start of the text."""

_LOOK_AROUND = frozenset({AHEAD, NOT_AHEAD, BEHIND, NOT_BEHIND})

MATCH_STATE = 0
"""Where every guarded automaton, and every body of a look-around, has its match."""

END_OF_TEXT = 256
"""The byte that stands for the end of the text in the body of a look-ahead."""

Edge: TypeAlias = tuple[int, int, int]
Edges: TypeAlias = tuple[Edge, ...]


@dataclass(slots=True)
class Guarded:
    """An automaton with guards: for each state its kind and its edges; for each tracker its entry, inner ones first.

    ``use_bytes``: what is read need not be UTF-8.
    """

    kinds: list[int]
    edges: list[Edges]
    trackers: list[int] = field(default_factory=list)
    use_bytes: bool = False


class _Interned:
    """What a product makes once and knows by its number: threads within threads within threads are a graph, and as a
    tree they can be exponentially many.

    ``states``: those of the guarded automaton that it consists of, all levels together.
    """

    __slots__ = ("_number", "states")

    def __init__(self, number: int, states: frozenset[int]) -> None:
        self._number, self.states = number, states

    def __hash__(self) -> int:
        return self._number


class Obligation(_Interned):
    """What the text from here on must (or must not) start with: a match by any of the threads.

    ``holds_at_end``: whether the end of the text meets it.
    """

    __slots__ = ("holds_at_end", "must", "threads")

    def __init__(
        self, number: int, states: frozenset[int], must: bool, threads: frozenset[Thread], holds_at_end: bool
    ) -> None:
        super().__init__(number, states)
        self.must, self.threads, self.holds_at_end = must, threads, holds_at_end


class Atomic(_Interned):
    """The threads inside an atomic group, in order, and where its exits lead to."""

    __slots__ = ("exits", "threads")

    def __init__(
        self, number: int, states: frozenset[int], threads: tuple[Thread, ...], exits: tuple[int, ...]
    ) -> None:
        super().__init__(number, states)
        self.threads, self.exits = threads, exits


Obligations: TypeAlias = frozenset[Obligation]
Position: TypeAlias = int | Atomic
Thread: TypeAlias = tuple[Position, Obligations]
Tracked: TypeAlias = frozenset[Thread]
Behind: TypeAlias = tuple[Tracked | None, ...]
"""The threads of each tracker; None where no guard will ask."""

_NOTHING: Obligations = frozenset()
_ROW = 16
"""For how many states one counts that has a row of 256 bytes."""
_THREADS = 8
"""How many threads that are remembered count for a state."""


def expand(guarded: Guarded, entry: int, limit: int, cancel: CancelEvent | None = None) -> Program:
    """The Program of a guarded automaton; `cancel` stops the work when it is set.

    Raises
    ------
    LimitExceededError
        More than ``limit`` states.
    """
    return _Product(guarded, limit, cancel).program(entry)


class _Product:
    """The threads with their obligations and what lies behind them, numbered as states of a Program."""

    def __init__(self, guarded: Guarded, limit: int, cancel: CancelEvent | None) -> None:
        self._kinds, self._edges, self._trackers = guarded.kinds, guarded.edges, guarded.trackers
        self._limit = limit
        self._cancel = cancel
        self._distance = _distances_to_trackers(guarded)
        self._longest = _longest_matches(guarded)
        self._use_bytes = guarded.use_bytes
        self._cuts = [tuple(cut for lo, hi, _ in edges for cut in (lo, hi + 1)) for edges in guarded.edges]
        self._moves: dict[tuple[Thread, int, Behind], list[Thread]] = {}
        self._closures: dict[tuple[int, Obligations, Behind], list[Thread]] = {}
        self._obligations: dict[tuple[bool, frozenset[Thread]], Obligation] = {}
        self._atomics: dict[tuple[tuple[Thread, ...], tuple[int, ...]], Atomic] = {}
        self._threads_made = 0
        self._number: dict[tuple[Thread, Behind] | tuple[int, ...], int] = {}
        self._out_kinds: list[int] = []
        self._out_edges: list[Edges] = []
        self._fresh: list[tuple[int, Thread, Behind]] = []

    def program(self, entry: int) -> Program:
        """Explore everything that can follow the entry, whatever was read before it."""
        states, step = self._what_lies_behind(entry)
        entries = [self._choice(self._closure(entry, _NOTHING, behind), behind) for behind in states]
        while self._fresh:
            stop_if_set(self._cancel)
            self._expand(*self._fresh.pop())
        edges = _without_dead_ends(self._out_kinds, self._out_edges)
        return pack(self._out_kinds, edges, *_merged(entries, step))

    # What lies behind the start of a lexeme.

    def _what_lies_behind(self, entry: int) -> tuple[list[Behind], list[list[int]]]:
        """The tracker states that any text before the lexeme can lead to, and how bytes lead from one to another."""
        distance = self._distance[entry]
        start = _relevant(self._track_all(None, -1, distance), distance, self._longest)
        number = {start: 0}
        states = [start]
        step: list[list[int]] = []
        for behind in states:  # grows
            row = [0] * 256
            for first, last in _intervals(self._tracker_cuts(behind)):
                after = _relevant(self._track_all(behind, first, distance), distance, self._longest)
                if after not in number:
                    number[after] = len(states)
                    states.append(after)
                    self._check(_ROW * len(states))
                row[first : last + 1] = [number[after]] * (last + 1 - first)
            step.append(row)
        return states, step

    def _track_all(self, before: Behind | None, byte: int, wanted: Container[int]) -> Behind:
        """The wanted trackers after one byte; at the start of the text if there is nothing before."""
        now: Behind = ()
        for index, start in enumerate(self._trackers):
            if index not in wanted:
                now += (None,)
                continue
            moved: list[Thread] = [(start, _NOTHING)]
            for thread in (before[index] or ()) if before is not None else ():
                moved += self._tracked_on(thread, byte, now)
            now += (self._tracker_closure(moved, now, at_begin=before is None),)
        return now

    def _tracked_on(self, thread: Thread, byte: int, inner: Behind) -> Iterator[Thread]:
        """A thread of a tracker after one byte; ``inner`` trackers have read it."""
        position, owed = thread
        assert isinstance(position, int)  # in a body of one length an atomic group is any group
        left = self._owed_after(owed, byte, inner)
        if left is not None:
            yield from ((target, left) for target in self._stepped(position, byte))

    def _stepped(self, state: int, byte: int) -> Iterator[int]:
        for lo, hi, target in self._edges[state]:
            if lo <= byte <= hi:
                yield target

    def _tracker_closure(self, threads: list[Thread], inner: Behind, *, at_begin: bool) -> Tracked:
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
            elif (guarded := self._guarded(state, owed, inner)) is not None:
                threads.append((edges[1][2], guarded))
        return frozenset(found)

    def _guarded(self, state: int, owed: Obligations, behind: Behind) -> Obligations | None:
        """What is owed past a look-around; None where it is known not to hold."""
        kind, subject = self._kinds[state], self._edges[state][0][2]
        if kind in (AHEAD, NOT_AHEAD):
            threads = self._closure(subject, _NOTHING, behind)
        else:
            threads = [thread for thread in behind[subject] or () if thread[0] == MATCH_STATE]
        met = self._settle(kind in (AHEAD, BEHIND), threads)
        if isinstance(met, bool):
            return owed if met else None
        return owed | {met}

    def _tracker_cuts(self, behind: Behind) -> set[int]:
        return {
            cut
            for threads in behind
            for thread in threads or ()
            for state in self._states_in(thread)
            for cut in self._cuts[state]
        }

    # Threads.

    def _closure(self, position: int, owed: Obligations, behind: Behind) -> list[Thread]:
        """The threads that a state stands for at a point of the text, in order, up to a match without obligations."""
        key = (position, owed, behind)
        found = self._closures.get(key)
        if found is None:
            found = self._closures[key] = self._closed(position, owed, behind)
            self._count(found)
        return found

    def _closed(self, position: int, owed: Obligations, behind: Behind) -> list[Thread]:
        out: list[Thread] = []
        seen: dict[int, list[Obligations]] = {}
        open_ = [(position, owed)]
        while open_:
            state, owed = open_.pop()
            visits = seen.setdefault(state, [])
            if any(earlier <= owed for earlier in visits):  # it comes first, and succeeds whenever this one does
                continue
            visits.append(owed)
            kind, edges = self._kinds[state], self._edges[state]
            if not edges and kind == BYTES:  # nothing matches from here
                continue
            if kind == SPLIT:
                open_ += [(target, owed) for _, _, target in reversed(edges)]
            elif kind in _LOOK_AROUND:
                guarded = self._guarded(state, owed, behind)
                if guarded is not None:
                    open_.append((edges[1][2], guarded))
            else:
                if kind == ATOMIC:
                    body = self._closure(edges[0][2], _NOTHING, behind)
                    out += self._leave(body, tuple(target for _, _, target in edges[1:]), owed, behind)
                else:
                    out.append((state, owed))
                if out and self._is_end(out[-1]):
                    break
        return out

    def _leave(self, body: Iterable[Thread], exits: tuple[int, ...], owed: Obligations, behind: Behind) -> list[Thread]:
        """What threads of an atomic group become: those that go on inside, and what follows the exits."""
        inside: list[Thread] = []
        out: list[Thread] = []
        for position, duties in body:
            kind = BYTES if isinstance(position, Atomic) else self._kinds[position]
            if kind == EXIT and isinstance(position, int):
                first = {self._obligation(False, frozenset(inside))} if inside else _NOTHING
                out += self._closure(exits[self._edges[position][0][2]], owed | duties | first, behind)
                position = MATCH_STATE  # it has left; whether it was to is still open
            if kind in (EXIT, MATCH) and not duties:
                break
            inside.append((position, duties))
        if any(isinstance(position, Atomic) or self._kinds[position] == BYTES for position, _ in inside):
            out.insert(0, (self._atomic(tuple(inside), exits), owed))
        return out

    def _is_end(self, thread: Thread) -> bool:
        """A match or an exit without obligations: what comes behind it is cut."""
        position, owed = thread
        return not owed and isinstance(position, int) and self._kinds[position] in (MATCH, EXIT)

    def _settle(self, must: bool, threads: list[Thread], byte: int = 0) -> Obligation | bool:
        """An obligation, or whether it is met where that is known."""
        if any(self._is_end(thread) or self._is_certain(thread, byte) for thread in threads):
            return must
        return self._obligation(must, frozenset(threads)) if threads else not must

    def _obligation(self, must: bool, threads: frozenset[Thread]) -> Obligation:
        made = self._obligations.get((must, threads))
        if made is None:
            holds_at_end = any(map(self._ends, threads)) == must
            made = Obligation(len(self._obligations), self._states_of(threads), must, threads, holds_at_end)
            self._obligations[must, threads] = made
            self._count(threads)
        return made

    def _atomic(self, threads: tuple[Thread, ...], exits: tuple[int, ...]) -> Atomic:
        made = self._atomics.get((threads, exits))
        if made is None:
            made = Atomic(len(self._atomics), self._states_of(threads).union(exits), threads, exits)
            self._atomics[threads, exits] = made
            self._count(threads)
        return made

    def _is_certain(self, thread: Thread, lead: int) -> bool:
        """Whether a thread matches with the character that this byte begins, whichever it is."""
        position, owed = thread
        if owed or self._use_bytes or isinstance(position, Atomic):
            return False
        ways = [position]
        for low, high in continuations(lead):
            following: set[int] = set()
            for state in ways:
                edges = [
                    (max(lo, low), min(hi, high), to) for lo, hi, to in self._edges[state] if lo <= high and low <= hi
                ]
                if self._kinds[state] != BYTES or sum(hi - lo + 1 for lo, hi, _ in edges) <= high - low:
                    return False
                following.update(to for _, _, to in edges)
            ways = list(following)
        return all(self._kinds[state] == MATCH for state in ways)

    def _move(self, thread: Thread, byte: int, behind: Behind) -> list[Thread]:
        """What one byte makes of a thread; ``behind`` is after it."""
        key = (thread, byte, behind)
        moved = self._moves.get(key)
        if moved is None:
            moved = self._moves[key] = self._moved(thread, byte, behind)
            self._count(moved)
        return moved

    def _moved(self, thread: Thread, byte: int, behind: Behind) -> list[Thread]:
        position, before = thread
        owed = self._owed_after(before, byte, behind)
        if owed is None:
            return []
        if isinstance(position, Atomic):
            body: dict[Thread, None] = {}
            for inner in position.threads:
                body.update(dict.fromkeys(self._move(inner, byte, behind)))
                if body and self._is_end(next(reversed(body))):
                    break
            return self._leave(body, position.exits, owed, behind)
        if self._kinds[position] in (MATCH, EXIT):
            return [(position, owed)]
        for target in self._stepped(position, byte):
            return self._closure(target, owed, behind)
        return []

    def _owed_after(self, owed: Obligations, byte: int, behind: Behind) -> Obligations | None:
        """What one byte leaves of obligations; None where it breaks one."""
        left: set[Obligation] = set()
        for obligation in owed:
            moved = [after for inner in obligation.threads for after in self._move(inner, byte, behind)]
            self._count(obligation.threads)
            met = self._settle(obligation.must, moved, byte)
            if met is False:
                return None
            if met is not True:
                left.add(met)
        return frozenset(left)

    def _holds_at_end(self, owed: Obligations) -> bool:
        """Whether the end of the text meets all obligations."""
        return all(obligation.holds_at_end for obligation in owed)

    def _ends(self, thread: Thread) -> bool:
        position, owed = thread
        if isinstance(position, Atomic) or not self._holds_at_end(owed):
            return False
        return self._kinds[position] in (MATCH, EXIT) or any(lo == END_OF_TEXT for lo, _, _ in self._edges[position])

    # States of the Program.

    def _choice(self, threads: list[Thread], behind: Behind) -> int:
        states = dict.fromkeys(self._state(thread, behind) for thread in threads)
        key = tuple(states)
        if len(key) == 1:
            return key[0]
        number = self._number.get(key)
        if number is None:
            number = self._number[key] = self._add(SPLIT, tuple((0, 0, state) for state in key))
        return number

    def _state(self, thread: Thread, behind: Behind) -> int:
        distance: dict[int, int] = {}
        for inner in self._states_in(thread):
            for tracker, bytes_ in self._distance[inner].items():
                distance[tracker] = min(bytes_, distance.get(tracker, bytes_))
        behind = _relevant(behind, distance, self._longest)
        number = self._number.get((thread, behind))
        if number is None:
            position, owed = thread
            if isinstance(position, int) and self._kinds[position] == MATCH:
                kind = (PENDING_OR_END if self._holds_at_end(owed) else PENDING) if owed else MATCH
            else:
                kind = BYTES
            number = self._number[thread, behind] = self._add(kind, ())
            if kind != MATCH:
                self._fresh.append((number, thread, behind))
        return number

    def _add(self, kind: int, edges: Edges) -> int:
        self._out_kinds.append(kind)
        self._out_edges.append(edges)
        self._check(len(self._out_kinds))
        return len(self._out_kinds) - 1

    def _check(self, states: int) -> None:
        if states > self._limit:
            raise LimitExceededError("states", states, self._limit)

    def _count(self, threads: Collection[Thread]) -> None:
        """Threads that are kept; they can be very many more than the states that come of them."""
        self._threads_made += 1 + len(threads)
        if self._threads_made > _THREADS * self._limit:
            detail = "look-around, atomic groups and possessive quantifiers that are nested or repeated multiply them"
            raise LimitExceededError("states", self._threads_made // _THREADS, self._limit, detail)
        stop_if_set(self._cancel)

    def _expand(self, state: int, thread: Thread, behind: Behind) -> None:
        wanted = [index for index, states in enumerate(behind) if states is not None]
        cuts = self._tracker_cuts(behind).union(*(self._cuts[inner] for inner in self._states_in(thread)))
        edges: list[Edge] = []
        for first, last in _intervals(cuts):
            after = self._track_all(behind, first, wanted)
            threads = self._move(thread, first, after)
            if not threads:
                continue
            target = self._choice(threads, after)
            if edges and edges[-1][1] == first - 1 and edges[-1][2] == target:
                edges[-1] = (edges[-1][0], last, target)
            else:
                edges.append((first, last, target))
        self._out_edges[state] = tuple(edges)

    def _states_in(self, thread: Thread) -> set[int]:
        """The states of the guarded automaton that a thread and its obligations consist of."""
        position, owed = thread
        own = {position} if isinstance(position, int) else position.states
        return set().union(own, *(obligation.states for obligation in owed))

    def _states_of(self, threads: Iterable[Thread]) -> frozenset[int]:
        return frozenset().union(*map(self._states_in, threads))


def _intervals(cuts: Iterable[int]) -> Iterator[tuple[int, int]]:
    """The ranges of bytes between cuts, first and last."""
    bounds = sorted({0, 256}.union(cut for cut in cuts if 0 < cut < 256))
    return ((first, last - 1) for first, last in pairwise(bounds))


def _relevant(behind: Behind, distance: Mapping[int, int], longest: list[int]) -> Behind:
    """What of the trackers can still matter: a thread that is over before its guard asks cannot."""
    return tuple(
        None
        if threads is None or index not in distance
        else frozenset(
            thread for thread in threads if isinstance(thread[0], int) and longest[thread[0]] >= distance[index]
        )
        for index, threads in enumerate(behind)
    )


def _distances_to_trackers(guarded: Guarded) -> list[dict[int, int]]:
    """For each state the fewest bytes after which a guard may ask a tracker, for each tracker that may be asked.

    A tracker whose guard is part of another tracker is asked at every byte.
    """
    predecessors: list[list[int]] = [[] for _ in guarded.kinds]
    guards: list[list[int]] = [[] for _ in guarded.trackers]
    for state, (kind, edges) in enumerate(zip(guarded.kinds, guarded.edges, strict=True)):
        targets = [] if kind == EXIT else [target for _, _, target in edges]
        if kind in (BEHIND, NOT_BEHIND):
            guards[targets.pop(0)].append(state)
        for target in targets:
            predecessors[target].append(state)
    distances: list[dict[int, int]] = [{} for _ in guarded.kinds]
    for tracker in range(len(guarded.trackers)):
        open_ = deque((guard, 0) for guard in guards[tracker])
        while open_:
            state, distance = open_.popleft()
            if distances[state].get(tracker, distance + 1) <= distance:
                continue
            distances[state][tracker] = distance
            for source in predecessors[state]:
                if guarded.kinds[source] == BYTES:
                    open_.append((source, distance + 1))
                else:
                    open_.appendleft((source, distance))
        inner = distances[guarded.trackers[tracker]]
        for distance_of in distances:
            if tracker in distance_of:
                distance_of.update((index, 0) for index in inner if index != tracker)
    return distances


def _longest_matches(guarded: Guarded) -> list[int]:
    """For each state of a tracker the most bytes up to its match; trackers have no loops, and targets come first."""
    longest: list[int] = []
    for kind, edges in zip(guarded.kinds, guarded.edges, strict=True):
        onward = edges[1:] if kind in _LOOK_AROUND else edges
        ahead = [longest[target] for _, _, target in onward if target < len(longest)]
        longest.append(max(ahead, default=0) + (kind == BYTES))
    return longest


def _without_dead_ends(kinds: list[int], edges: list[Edges]) -> list[Edges]:
    """The edges less those that lead where no match can be reached."""
    predecessors: list[list[int]] = [[] for _ in kinds]
    for state, targets in enumerate(edges):
        for _, _, target in targets:
            predecessors[target].append(state)
    alive = [False] * len(kinds)
    open_ = [state for state, kind in enumerate(kinds) if kind in (MATCH, PENDING_OR_END)]
    while open_:
        state = open_.pop()
        if not alive[state]:
            alive[state] = True
            open_ += predecessors[state]
    return [tuple(edge for edge in targets if alive[edge[2]]) for targets in edges]


def _merged(entries: list[int], step: list[list[int]]) -> tuple[list[int], list[list[int]]]:
    """What lies behind, with states merged that no entry tells apart (Moore's partition refinement)."""
    table = np.array(step, np.int32)
    _, block = np.unique(np.array(entries), return_inverse=True)
    count = 0
    while count < (count := int(block.max()) + 1):
        _, block = np.unique(np.column_stack([block, block[table]]), axis=0, return_inverse=True)
        block = block.reshape(-1)
    order = {int(b): None for b in block}  # the start of the text stays first
    first = {b: int(np.flatnonzero(block == b)[0]) for b in order}
    number = {b: index for index, b in enumerate(order)}
    return [entries[first[b]] for b in order], [[number[int(block[t])] for t in step[first[b]]] for b in order]
