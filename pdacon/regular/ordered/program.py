"""Program: an ordered nondeterministic automaton over bytes, the lexer's form of one terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pdacon.regular.records import Automaton

BYTES, SPLIT, MATCH, PENDING, PENDING_OR_END = range(5)
"""Kinds of states: consume one byte, try successors in order, the pattern has matched, it has matched if what follows
leads on to MATCH, the same or the text ends."""

Edges: TypeAlias = tuple[tuple[int, int, int], ...]
"""Of one state: first byte, last byte, target; the bytes are 0 for a ``SPLIT`` state."""


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A Pike-VM program over the UTF-8 bytes of the text.

    Threads run in order of priority. The epsilon closure of a thread is a depth-first preorder walk that enters
    each state once, and the first visit wins; a MATCH cuts every thread after it. What is left when no thread
    remains is the match that Python's ``re`` finds. There is no epsilon cycle, so a walk without the
    visited set ends too and finds the same match.

    A thread that enters a pending state has matched there on a condition: the text that follows must lead it to
    ``MATCH``, through further pending states, which consume nothing of the lexeme. It cuts nothing before it is there.

    Attributes
    ----------
    kind : uint8[n]
        One of the kinds for each state. At most one state is ``MATCH``, but in a family, and it has no edges.
    offset : int32[n + 1]
        The edges of state i are ``offset[i]`` to ``offset[i + 1]``.
    lo, hi : uint8[m]
        The inclusive byte range of an edge; the ranges of one state are disjoint and ascending. 0 for an edge of a
        ``SPLIT`` state.
    target : int32[m]
        The state an edge leads to. The edges of a ``SPLIT`` state are in order, highest priority first.
    entries : int32[k]
        The state to start in, by what was read before: state 0 of ``look_behind`` at the start of the text.
    look_behind : int32[k, 256]
        A deterministic automaton that reads the whole text from its start, whatever the lexemes; only look-behind (and
        ``\\b``, ``^``, ``\\A``) at the start of a lexeme needs it. Otherwise k is 1.

    family : str
        Programs that read one text in turn, each from where the one before has left it, have the same one. The entries
        after the first are then for what was left; no byte leads there.
    leaves : int32[n]
        In a family: for each ``MATCH`` state, of which there may be several, the entry in which the family's next
        lexeme begins; 0 for the others. Otherwise empty. What leads to such a state reads a byte.

    Every state is reachable from an entry and can reach a match, with one exception: an entry from which no text
    matches is a ``BYTES`` state without edges. The arrays are read-only.
    """

    kind: NDArray[np.uint8]
    offset: NDArray[np.int32]
    lo: NDArray[np.uint8]
    hi: NDArray[np.uint8]
    target: NDArray[np.int32]
    entries: NDArray[np.int32]
    look_behind: NDArray[np.int32]
    family: str = ""
    leaves: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))

    def __post_init__(self) -> None:
        edges = int(self.offset[-1])
        if len(self.offset) != len(self.kind) + 1 or not len(self.lo) == len(self.hi) == len(self.target) == edges:
            raise ValueError("a Program's arrays do not fit together")
        if self.look_behind.shape != (len(self.entries), 256):
            raise ValueError("a Program needs an entry for each state of what lies behind")
        if len(self.leaves) != (len(self.kind) if self.family else 0):
            raise ValueError("a Program of a family says for each state what it leaves")
        arrays = self.kind, self.offset, self.lo, self.hi, self.target, self.entries, self.look_behind, self.leaves
        for array in arrays:
            array.flags.writeable = False

    def states(self) -> list[tuple[int, Edges]]:
        """The kind and the edges of each state, as Python objects."""
        edges = list(zip(self.lo.tolist(), self.hi.tolist(), self.target.tolist(), strict=True))
        bounds = pairwise(self.offset.tolist())
        return [
            (kind, tuple(edges[first:last])) for kind, (first, last) in zip(self.kind.tolist(), bounds, strict=True)
        ]

    def __len__(self) -> int:
        """Number of states."""
        return len(self.kind)

    @property
    def looks_ahead_only(self) -> bool:
        """Whether the program begins with its state 0 whatever the left context."""
        return len(self.entries) == 1 and self.entries[0] == 0


def nothing() -> Program:
    """The program that matches no text."""
    offset, none, numbers = np.zeros(2, np.int32), np.zeros(0, np.uint8), np.zeros(0, np.int32)
    entries, look_behind = np.zeros(1, np.int32), np.zeros((1, 256), np.int32)
    return Program(np.full(1, BYTES, np.uint8), offset, none, none.copy(), numbers, entries, look_behind)


def to_automaton(program: Program) -> Automaton:
    """A program as a grammar keeps it."""
    looks_behind = not program.looks_ahead_only and not program.family
    return Automaton(
        program.kind.tobytes(),
        program.offset.astype("<i4", copy=False).tobytes(),
        program.lo.tobytes(),
        program.hi.tobytes(),
        program.target.astype("<i4", copy=False).tobytes(),
        program.family,
        program.entries.astype("<i4").tobytes() if program.family or looks_behind else b"",
        program.leaves.astype("<i4").tobytes(),
        program.look_behind.astype("<i4").tobytes() if looks_behind else b"",
    )


remembered_automaton = lru_cache(maxsize=128)(to_automaton)
"""The same for programs that are asked for again and again: what it gives, and they, are kept."""


def from_automaton(automaton: Automaton) -> Program:
    """The program that `to_automaton` was given."""
    entries = (
        np.frombuffer(automaton.entries, "<i4").astype(np.int32, copy=False)
        if automaton.entries
        else np.zeros(1, np.int32)
    )
    look_behind = np.zeros((len(entries), 256), np.int32)
    if automaton.look_behind:
        look_behind = np.frombuffer(automaton.look_behind, "<i4").astype(np.int32, copy=False).reshape(-1, 256)
    return Program(
        kind=np.frombuffer(automaton.kind, np.uint8),
        offset=np.frombuffer(automaton.offset, "<i4").astype(np.int32, copy=False),
        lo=np.frombuffer(automaton.lo, np.uint8),
        hi=np.frombuffer(automaton.hi, np.uint8),
        target=np.frombuffer(automaton.target, "<i4").astype(np.int32, copy=False),
        entries=entries.astype(np.int32, copy=False),
        look_behind=look_behind,
        family=automaton.family,
        leaves=np.frombuffer(automaton.leaves, "<i4").astype(np.int32, copy=False),
    )


def epsilon_closure(states: Sequence[tuple[int, Edges]], start: int, seen: set[int]) -> Iterator[int]:
    """What a state stands for without a byte, in order of priority: itself, or what a ``SPLIT`` leads to.

    A depth-first preorder walk that enters no state twice, nor one of ``seen``, which grows: walks from several seeds
    share it.

    ``states``: ``Program.states()``.
    """
    pending = [start]
    while pending:
        state = pending.pop()
        if state in seen:
            continue
        seen.add(state)
        kind, edges = states[state]
        if kind == SPLIT:
            pending += [target for _, _, target in reversed(edges)]
        else:
            yield state


def pack(
    kinds: Sequence[int],
    edges: Sequence[Edges],
    entries: Sequence[int],
    look_behind: Sequence[Sequence[int]] | None = None,
) -> Program:
    """Number what the entries reach in depth-first preorder, and lay it out in arrays."""
    number: dict[int, int] = {}
    pending = list(reversed(entries))
    while pending:
        state = pending.pop()
        if state not in number:
            number[state] = len(number)
            pending += [target for _, _, target in reversed(edges[state])]
    offset = [0]
    lo: list[int] = []
    hi: list[int] = []
    target: list[int] = []
    for state in number:
        for first, last, to in edges[state]:
            lo.append(first)
            hi.append(last)
            target.append(number[to])
        offset.append(len(target))
    return Program(
        kind=np.array([kinds[state] for state in number], dtype=np.uint8),
        offset=np.array(offset, dtype=np.int32),
        lo=np.array(lo, dtype=np.uint8),
        hi=np.array(hi, dtype=np.uint8),
        target=np.array(target, dtype=np.int32),
        entries=np.array([number[state] for state in entries], dtype=np.int32),
        look_behind=np.zeros((1, 256), np.int32) if look_behind is None else np.array(look_behind, dtype=np.int32),
    )


class ProgramWriter:
    """States and edges of a program that is being made, each pair of a kind and edges once; state 0 is MATCH."""

    def __init__(self) -> None:
        self.kinds = [MATCH]
        self.edges: list[Edges] = [()]
        self._numbers: dict[tuple[int, Edges], int] = {}

    def reserve(self, kind: int) -> int:
        """A state whose edges come later."""
        self.kinds.append(kind)
        self.edges.append(())
        return len(self.kinds) - 1

    def state(self, kind: int, edges: Edges) -> int:
        """The state of a kind with these edges."""
        number = self._numbers.get((kind, edges))
        if number is None:
            number = self._numbers[kind, edges] = self.reserve(kind)
            self.edges[number] = edges
        return number

    def packed(self, entry: int) -> Program:
        """The program that begins in a state."""
        return pack(self.kinds, self.edges, [entry])
