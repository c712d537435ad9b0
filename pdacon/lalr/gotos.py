"""The transitions of LR states on nonterminals.

Each state has few of them, so that they are kept by state; as a matrix they would grow with the square of the grammar.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Gotos:
    """Where the G transitions of S states on N nonterminals lead; ``gotos[state, nonterminal]`` is one of them.

    Attributes
    ----------
    offset : int32[S + 1], read-only
        Those of state s are the entries from ``offset[s]`` to ``offset[s + 1]``.
    nonterminal : int32[G], read-only
        Counted from 0; ascending for each state.
    target : int32[G], read-only
        The next state.
    num_nonterminals : int
        N.
    """

    offset: NDArray[np.int32]
    nonterminal: NDArray[np.int32]
    target: NDArray[np.int32]
    num_nonterminals: int

    @classmethod
    def of(cls, triples: Sequence[tuple[int, int, int]], num_states: int, num_nonterminals: int) -> Gotos:
        """From (state, nonterminal, next state), in ascending order."""
        columns = np.array(triples, np.int32).reshape(-1, 3).T
        return cls.by_source(columns[0], columns[1], columns[2], num_states, num_nonterminals)

    @classmethod
    def by_source(
        cls,
        source: NDArray[np.integer[Any]],
        nonterminal: NDArray[np.integer[Any]],
        target: NDArray[np.integer[Any]],
        num_states: int,
        num_nonterminals: int,
    ) -> Gotos:
        """The same from arrays."""
        offset = np.concatenate([[0], np.cumsum(np.bincount(source, minlength=num_states))]).astype(np.int32)
        made = cls(offset, nonterminal.astype(np.int32), target.astype(np.int32), num_nonterminals)
        for array in (made.offset, made.nonterminal, made.target):
            array.flags.writeable = False
        return made

    def __getitem__(self, at: tuple[int, int]) -> int:
        """The state that a state and a nonterminal lead to, or -1. Logarithmic in the state's transitions."""
        state, nonterminal = at
        begin, end = self.offset[state], self.offset[state + 1]
        found = begin + np.searchsorted(self.nonterminal[begin:end], nonterminal)
        return int(self.target[found]) if found < end and self.nonterminal[found] == nonterminal else -1

    def source(self) -> NDArray[np.int32]:
        """int32[G]: the state of each transition."""
        return np.repeat(np.arange(len(self.offset) - 1, dtype=np.int32), np.diff(self.offset))

    def row(self, state: int) -> dict[int, int]:
        """The transitions of one state: the next state by nonterminal, ascending."""
        begin, end = self.offset[state], self.offset[state + 1]
        return dict(zip(self.nonterminal[begin:end].tolist(), self.target[begin:end].tolist(), strict=True))

    def rows(self) -> list[dict[int, int]]:
        """The same for every state."""
        nonterminal, target = self.nonterminal.tolist(), self.target.tolist()
        ends = self.offset.tolist()
        return [dict(zip(nonterminal[begin:end], target[begin:end], strict=True)) for begin, end in pairwise(ends)]

    def states_of(self, nonterminal: int) -> list[int]:
        """The states that have a transition on a nonterminal, ascending."""
        found: list[int] = self.source()[self.nonterminal == nonterminal].tolist()
        return found

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        return self.offset.nbytes + self.nonterminal.nbytes + self.target.nbytes
