"""Program: an ordered nondeterministic automaton over bytes, the lexer's form of one terminal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BYTES, SPLIT, MATCH = 0, 1, 2
"""Kinds of states: consume one byte, try successors in order, the pattern has matched."""


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A Pike-VM program over the UTF-8 bytes of the text.

    Threads run in order of priority. The epsilon closure of a thread is a depth-first preorder walk that enters
    each state once, and the first visit wins; a MATCH cuts every thread behind it. What is left when no thread
    remains is the match that Python's ``re`` finds. There is no epsilon cycle, so a walk without the
    visited set ends too and finds the same match.

    Attributes
    ----------
    kind : uint8[n]
        ``BYTES``, ``SPLIT`` or ``MATCH`` of each state. At most one state is ``MATCH``, and it has no edges.
    offset : int32[n + 1]
        The edges of state i are ``offset[i]`` to ``offset[i + 1]``.
    lo, hi : uint8[m]
        The inclusive byte range of an edge of a ``BYTES`` state; the ranges of one state are disjoint and ascending.
        0 for an edge of a ``SPLIT`` state.
    target : int32[m]
        The state an edge leads to. The edges of a ``SPLIT`` state are in order, highest priority first.
    entry : int
        The state to start in.

    Every state is reachable from ``entry`` and can reach ``MATCH``, with one exception: a pattern that matches no
    text at all is a single ``BYTES`` state without edges. The arrays are read-only.
    """

    kind: NDArray[np.uint8]
    offset: NDArray[np.int32]
    lo: NDArray[np.uint8]
    hi: NDArray[np.uint8]
    target: NDArray[np.int32]
    entry: int = 0

    def __post_init__(self) -> None:
        edges = int(self.offset[-1])
        if len(self.offset) != len(self.kind) + 1 or not len(self.lo) == len(self.hi) == len(self.target) == edges:
            raise ValueError("a Program's arrays do not fit together")
        for array in (self.kind, self.offset, self.lo, self.hi, self.target):
            array.flags.writeable = False

    def __len__(self) -> int:
        """Number of states."""
        return len(self.kind)
