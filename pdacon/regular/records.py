"""Automata as bytes, which a grammar keeps, a file holds and a set can contain."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Automaton:
    """An ordered automaton over bytes, as :class:`~pdacon.regular.ordered.program.Program` has it."""

    # The arrays of that name, of uint8 (``kind``, ``lo``, ``hi``) and little-endian int32.
    kind: bytes
    offset: bytes
    lo: bytes
    hi: bytes
    target: bytes
    # If it reads a part of a text that several lexemes make up, what those automata have in common; else empty, and it
    # has one entry, unless it looks behind.
    family: str = ""
    # The arrays of that name of a family, and the entries of one that looks behind itself.
    entries: bytes = b""
    leaves: bytes = b""
    look_behind: bytes = b""  # The array of that name, of one that looks behind itself; else empty


@dataclass(frozen=True, slots=True)
class TextSet:
    """A set of texts, as a deterministic automaton over their bytes; state 0 is the start."""

    name: str  # How messages call it
    # The edges of state i are ``offset[i]`` to ``offset[i + 1]``, with the first and the last byte of each, and its
    # target; and whether a text may end in a state. Little-endian int32, and uint8 (``lo``, ``hi``, ``accepting``).
    offset: bytes
    lo: bytes
    hi: bytes
    target: bytes
    accepting: bytes
