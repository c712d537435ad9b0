"""The threads of a guarded automaton: where each of them is, and what it owes to the text that follows.

In: a `Guarded` automaton. Out: the threads that a state stands for, and what a byte makes of them, with obligations for
look-aheads and threads within threads for atomic groups. `guards` says what these mean.

Closures, moves, obligations and groups are made once and kept. There can be exponentially many of them in the size of
the pattern, so that what is kept is counted against the limit on states.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TypeAlias

from pdacon.base.cancelling import look
from pdacon.errors import LimitExceededError
from pdacon.regular.ordered.guarded import (
    AHEAD,
    ATOMIC,
    BEHIND,
    END_OF_TEXT,
    EXIT,
    LOOK_AROUND,
    MATCH_STATE,
    NOT_AHEAD,
    Guarded,
)
from pdacon.regular.ordered.program import BYTES, MATCH, SPLIT
from pdacon.regular.ordered.utf8 import continuations


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
LookBehind: TypeAlias = tuple[Tracked | None, ...]
"""The threads of each tracker; None where no guard will ask."""

NOTHING: Obligations = frozenset()
_THREADS = 8
"""How many threads that are remembered count for a state."""


class Threads:
    """What becomes of threads, at a point of the text and after a byte."""

    def __init__(self, guarded: Guarded, limit: int) -> None:
        self._kinds, self._edges, self._use_bytes = guarded.kinds, guarded.edges, guarded.use_bytes
        self._limit = limit
        self._moves: dict[tuple[Thread, int, LookBehind], list[Thread]] = {}
        self._closures: dict[tuple[int, Obligations, LookBehind], list[Thread]] = {}
        self._obligations: dict[tuple[bool, frozenset[Thread]], Obligation] = {}
        self._atomics: dict[tuple[tuple[Thread, ...], tuple[int, ...]], Atomic] = {}
        self._threads_made = 0

    def closure(self, position: int, owed: Obligations, look_behind: LookBehind) -> list[Thread]:
        """The threads that a state stands for at a point of the text, in order, up to a match without obligations."""
        key = (position, owed, look_behind)
        found = self._closures.get(key)
        if found is None:
            found = self._closures[key] = self._closed(position, owed, look_behind)
            self._count(found)
        return found

    def _closed(self, position: int, owed: Obligations, look_behind: LookBehind) -> list[Thread]:
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
            elif kind in LOOK_AROUND:
                guarded = self.pass_guard(state, owed, look_behind)
                if guarded is not None:
                    open_.append((edges[1][2], guarded))
            else:
                if kind == ATOMIC:
                    body = self.closure(edges[0][2], NOTHING, look_behind)
                    out += self._leave(body, tuple(target for _, _, target in edges[1:]), owed, look_behind)
                else:
                    out.append((state, owed))
                if out and self._is_end(out[-1]):
                    break
        return out

    def pass_guard(self, state: int, owed: Obligations, look_behind: LookBehind) -> Obligations | None:
        """What is owed past a look-around; None where it is known not to hold."""
        kind, subject = self._kinds[state], self._edges[state][0][2]
        if kind in (AHEAD, NOT_AHEAD):
            threads = self.closure(subject, NOTHING, look_behind)
        else:
            threads = [thread for thread in look_behind[subject] or () if thread[0] == MATCH_STATE]
        met = self._settle(kind in (AHEAD, BEHIND), threads)
        if isinstance(met, bool):
            return owed if met else None
        return owed | {met}

    def _leave(
        self, body: Iterable[Thread], exits: tuple[int, ...], owed: Obligations, look_behind: LookBehind
    ) -> list[Thread]:
        """What threads of an atomic group become: those that go on inside, and what follows the exits."""
        inside: list[Thread] = []
        out: list[Thread] = []
        for position, duties in body:
            kind = BYTES if isinstance(position, Atomic) else self._kinds[position]
            if kind == EXIT and isinstance(position, int):
                first = {self._obligation(False, frozenset(inside))} if inside else NOTHING
                out += self.closure(exits[self._edges[position][0][2]], owed | duties | first, look_behind)
                position = MATCH_STATE  # it has left; whether it was to is still open
            if kind in (EXIT, MATCH) and not duties:
                break
            inside.append((position, duties))
        if any(isinstance(position, Atomic) or self._kinds[position] == BYTES for position, _ in inside):
            out.insert(0, (self._atomic(tuple(inside), exits), owed))
        return out

    def _is_end(self, thread: Thread) -> bool:
        """A match or an exit without obligations: what comes after it is cut."""
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

    def move(self, thread: Thread, byte: int, look_behind: LookBehind) -> list[Thread]:
        """What one byte makes of a thread; ``look_behind`` is after it."""
        key = (thread, byte, look_behind)
        moved = self._moves.get(key)
        if moved is None:
            moved = self._moves[key] = self._moved(thread, byte, look_behind)
            self._count(moved)
        return moved

    def _moved(self, thread: Thread, byte: int, look_behind: LookBehind) -> list[Thread]:
        position, before = thread
        owed = self.owed_after(before, byte, look_behind)
        if owed is None:
            return []
        if isinstance(position, Atomic):
            body: dict[Thread, None] = {}
            for inner in position.threads:
                body.update(dict.fromkeys(self.move(inner, byte, look_behind)))
                if body and self._is_end(next(reversed(body))):
                    break
            return self._leave(body, position.exits, owed, look_behind)
        if self._kinds[position] in (MATCH, EXIT):
            return [(position, owed)]
        for target in self.successors(position, byte):
            return self.closure(target, owed, look_behind)
        return []

    def bytes_read(self, thread: Thread) -> bytearray:
        """For each byte whether the thread goes on with it, its obligations aside: most states read very few."""
        position, _ = thread
        if isinstance(position, Atomic) or self._kinds[position] != BYTES:
            return bytearray(b"\1" * 256)
        read = bytearray(256)
        for lo, hi, _ in self._edges[position]:
            if lo < 256:  # beyond it is the end of the text
                read[lo : hi + 1] = b"\1" * (hi + 1 - lo)
        return read

    def successors(self, state: int, byte: int) -> Iterator[int]:
        for lo, hi, target in self._edges[state]:
            if lo <= byte <= hi:
                yield target

    def owed_after(self, owed: Obligations, byte: int, look_behind: LookBehind) -> Obligations | None:
        """What one byte leaves of obligations; None where it breaks one."""
        if not owed:
            return NOTHING
        left: set[Obligation] = set()
        for obligation in owed:
            moved = [after for inner in obligation.threads for after in self.move(inner, byte, look_behind)]
            self._count(obligation.threads)
            met = self._settle(obligation.must, moved, byte)
            if met is False:
                return None
            if met is not True:
                left.add(met)
        return frozenset(left)

    def holds_at_end(self, owed: Obligations) -> bool:
        """Whether the end of the text meets all obligations."""
        return all(obligation.holds_at_end for obligation in owed)

    def _ends(self, thread: Thread) -> bool:
        position, owed = thread
        if isinstance(position, Atomic) or not self.holds_at_end(owed):
            return False
        return self._kinds[position] in (MATCH, EXIT) or any(lo == END_OF_TEXT for lo, _, _ in self._edges[position])

    def _count(self, threads: Collection[Thread]) -> None:
        """Threads that are kept; they can be very many more than the states that come of them."""
        self._threads_made += 1 + len(threads)
        if self._threads_made > _THREADS * self._limit:
            detail = "look-around, atomic groups and possessive quantifiers that are nested or repeated multiply them"
            raise LimitExceededError("states", self._threads_made // _THREADS, self._limit, detail)
        look()

    def states_in(self, thread: Thread) -> set[int]:
        """The states of the guarded automaton that a thread and its obligations consist of."""
        position, owed = thread
        own = {position} if isinstance(position, int) else position.states
        return set().union(own, *(obligation.states for obligation in owed))

    def _states_of(self, threads: Iterable[Thread]) -> frozenset[int]:
        return frozenset().union(*map(self.states_in, threads))
