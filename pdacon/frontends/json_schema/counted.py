"""Strings of a language and of so many characters -> lexemes that read them in turn.

In: the automaton of a language, and counts. Out: programs of one family: chunks of so many characters, and what is left
up to the closing quote. The parser counts chunks. In one lexeme each state of the automaton would be there once for
each count; in chunks it is there once for each count within a chunk, and what is known of the string where one ends is
left to the next one, so that it need not be said by the parser either.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pdacon.base.cancelling import every
from pdacon.frontends.json_schema.programs import string_program
from pdacon.frontends.json_schema.strings import Shape, string_automaton
from pdacon.regular import Dfa
from pdacon.regular.ordered.escaping import Escapes
from pdacon.regular.ordered.program import BYTES, MATCH, Program

_Flags = NDArray[np.bool_]
_LARGEST = 20_000  # states of a chunk, which all are states of the lexing automaton


def chunk_length(most: int, states: int) -> int:
    """How many characters a chunk has, for strings of at most so many and an automaton over bytes of so many states."""
    return max(4, min(math.isqrt(most) // 4, _LARGEST // states))


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """The strings that an automaton accepts, in lexemes.

    Attributes
    ----------
    one : Program
        The strings and the quote after them.
    inside : int
        How many of its states, the first ones, stand between characters; in which of them a chunk ends is left behind.
    family : str
        The name of the programs' family; that of another automaton or of other escapes is another one.
    """

    one: Program
    inside: int
    family: str

    @classmethod
    def of(cls, contents: Dfa, escapes: Escapes) -> Counted:
        """Of what an automaton accepts, as characters are written. Raises LimitExceededError."""
        return cls.in_notation(contents, escapes, string_program(contents, escapes, before=b""))

    @classmethod
    def in_notation(cls, contents: Dfa, notation: str, one: Program) -> Counted:
        """The same in any notation, which has a name, by the program of it; its first states are the automaton's."""
        native = contents.native
        digest = sha256(notation.encode())
        for array in (native.firsts, native.numbers, native.table, native.accepting):
            digest.update(np.ascontiguousarray(array).tobytes())
        return cls(one, len(contents), digest.hexdigest()[:24])

    def chunk(self, length: int) -> Program:
        """So many characters within a string. Raises LimitExceededError."""
        return self._program(length, None)

    def rest(self, least: int, most: int) -> Program:
        """From so many to so many characters up to the end of a string, and the quote. Raises LimitExceededError."""
        return self._program(most, least)

    def _program(self, most: int, least: int | None) -> Program:
        """A copy of the automaton over bytes for each count up to ``most``; a character leads to the next one.

        What leads nowhere in time is left out.
        """
        one, inside = self.one, self.inside
        states = len(one)
        source = np.repeat(np.arange(states), np.diff(one.offset))
        target = one.target.astype(np.int64)
        ends = one.kind[target] == MATCH
        ends_character = target < inside
        within = ~ends & ~ends_character
        layers = np.arange(most + 1)
        may_end = np.zeros(most + 1, bool) if least is None else layers >= least

        live = np.zeros((most + 1, states), bool)
        if least is None:
            live[most, :inside] = True
        for layer in every(layers[::-1]):
            row = live[layer]
            if layer < most:
                row[source[ends_character][live[layer + 1][target[ends_character]]]] = True
            if may_end[layer]:
                row[source[ends]] = True
            _close(row, target[within], source[within])
        met = np.zeros((most + 1, states), bool)
        met[0, :inside] = True
        for layer in every(layers):
            row = met[layer]
            _close(row, source[within], target[within])
            if layer < most:
                met[layer + 1, target[ends_character][row[source[ends_character]]]] = True
        kept = live & met

        number = np.full(kept.shape, -1, np.int64)
        number[kept] = np.arange(kept.sum())
        dead = not live[0, :inside].all()  # then a state from which nothing goes on is an entry
        end = int(kept.sum())
        size = end + (least is not None) + dead
        goes_to = np.where(ends_character, number[np.minimum(layers + 1, most)][:, target], number[:, target])
        goes_to = np.where(ends, np.where(may_end, end, -1)[:, None], goes_to)
        goes_to[most, ends_character] = -1
        comes_from = number[:, source]
        right = (goes_to >= 0) & (comes_from >= 0)
        kind = np.full(size, BYTES, np.uint8)
        leaves = np.zeros(size, np.int32)
        if least is not None:
            kind[end] = MATCH
        else:
            last = number[most, :inside]
            kind[last[last >= 0]] = MATCH
            leaves[last[last >= 0]] = np.flatnonzero(last >= 0) + 1
        entries = np.where(live[0, :inside], number[0, :inside], size - 1).astype(np.int32)
        counts = np.bincount(comes_from[right], minlength=size)
        return Program(
            kind=kind,
            offset=np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
            lo=np.broadcast_to(one.lo, right.shape)[right],
            hi=np.broadcast_to(one.hi, right.shape)[right],
            target=goes_to[right].astype(np.int32),
            entries=np.concatenate([entries[:1], entries]),
            look_behind=np.zeros((inside + 1, 256), np.int32),
            family=self.family,
            leaves=leaves,
        )


Arrays: TypeAlias = tuple[bytes, bytes, bytes, bytes, bytes, int, int]
"""Those of an automaton, the state where it starts, and how many states, the first ones, stand between characters."""


@lru_cache(maxsize=64)
def counted_strings(contents: Shape, escapes: Escapes) -> Arrays:
    """The strings for which a formula holds, from their opening quote on, for a reader that counts characters.

    Raises
    ------
    LimitExceededError
    """
    content = string_automaton(contents)
    one = string_program(content, escapes, before=b"")
    return (
        one.kind.tobytes() + bytes([BYTES]),
        np.append(one.offset, one.offset[-1] + 1).astype("<i4").tobytes(),
        one.lo.tobytes() + b'"',
        one.hi.tobytes() + b'"',
        np.append(one.target, 0).astype("<i4").tobytes(),
        len(one),
        len(content),
    )


def _close(row: _Flags, source: NDArray[np.int64], target: NDArray[np.int64]) -> None:
    """Mark what edges lead to from marked states, again and again."""
    while True:
        reached = target[row[source]]
        if row[reached].all():
            return
        row[reached] = True
