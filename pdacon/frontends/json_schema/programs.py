"""Byte automata of texts of JSON, and of YAML: strings, names, words and numbers.

In: automata over code points, words. Out: programs, the lexer's form of a terminal.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pdacon._native import _core
from pdacon.base.cancelling import every
from pdacon.base.limits import Limits
from pdacon.regular import Dfa
from pdacon.regular.ordered.escaping import Escapes
from pdacon.regular.ordered.program import BYTES, MATCH, PENDING_OR_END, SPLIT, Edges, Program, ProgramWriter
from pdacon.regular.records import Automaton
from pdacon.regular.string_programs import words_program as longest_word

Numbers: TypeAlias = NDArray[np.int32]
Bytes: TypeAlias = NDArray[np.uint8]

_MOST_STATES = 1_000_000
_MOST_BYTES = 256 << 20
_LIMITS = Limits(states=_MOST_STATES, bytes=_MOST_BYTES)
_ESCAPES: tuple[Escapes, ...] = ("needed", "ascii", "any")  # as the core numbers them
_UTF8, _YAML = 3, 4  # how it calls text without escapes, and double quotes of YAML


def _joined(edges: Iterable[tuple[int, int, int]]) -> Edges:
    """Edges in ascending order, neighbours with one target as one."""
    joined: list[tuple[int, int, int]] = []
    for lo, hi, to in sorted(edges):
        if joined and joined[-1][1] == lo - 1 and joined[-1][2] == to:
            joined[-1] = joined[-1][0], hi, to
        else:
            joined.append((lo, hi, to))
    return tuple(joined)


def string_program(content: Dfa, escapes: Escapes, before: bytes = b'"', after: bytes = b'"') -> Program:
    """What an automaton accepts as JSON writes it in a string, between fixed bytes.

    Raises
    ------
    LimitExceededError
    """
    return _spelled(content, _ESCAPES.index(escapes), before, after)


def plain_program(content: Dfa, after: bytes) -> Program:
    """The same without any quotes or escapes: where the strings end is told by what comes after."""
    return _spelled(content, _UTF8, b"", after)


def yaml_quoted_program(content: Dfa, before: bytes, after: bytes) -> Program:
    """The same as YAML writes it in double quotes."""
    return _spelled(content, _YAML, before, after)


def _spelled(content: Dfa, escapes: int, before: bytes, after: bytes) -> Program:
    return _program(*_core.json_strings(content.native, escapes, before, after, _MOST_STATES, _MOST_BYTES))


def _program(offset: Numbers, lo: Bytes, hi: Bytes, target: Numbers) -> Program:
    return Program(
        kind=np.where(np.diff(offset) == 0, MATCH, BYTES).astype(np.uint8),
        offset=offset,
        lo=lo,
        hi=hi,
        target=target,
        entries=np.zeros(1, np.int32),
        look_behind=np.zeros((1, 256), np.int32),
    )


def all_but_automaton(whole: Program, words: Iterable[bytes]) -> Automaton:
    """The texts of a program that begin with none of some words."""
    words = list(words)
    offset, lo, hi, target = _core.all_but_words(
        whole.offset,
        whole.lo,
        whole.hi,
        whole.target,
        np.frombuffer(b"".join(words), np.uint8),
        np.array([*map(len, words)], np.int32),
        _MOST_STATES,
    )
    count = len(offset) - 1
    offset = np.concatenate([offset, whole.offset[1:] + offset[-1]])
    kind = np.where(offset[1:] == offset[:-1], np.uint8(MATCH), np.uint8(BYTES))
    return Automaton(
        kind.tobytes(),
        offset.astype("<i4").tobytes(),
        lo.tobytes() + whole.lo.tobytes(),
        hi.tobytes() + whole.hi.tobytes(),
        np.concatenate([target, whole.target + count]).astype("<i4").tobytes(),
    )


def words_program(words: Iterable[str], *, guarded: bool = False) -> Program:
    """Some texts, the longest of those that match; ``guarded``: where no number goes on after it.

    Raises LimitExceededError.
    """
    program, _ = longest_word([*every(words)], _LIMITS)
    if program is None:
        raise ValueError("words_program is given words, none of them empty")
    return _guarded(program) if guarded else program


def _guarded(program: Program) -> Program:
    """The same where no number goes on after the match, which is the last state of what reads the longest word."""
    match, pending = len(program) - 1, len(program)
    ends = _end_edges(match)
    low, high, to = zip(*ends, strict=True)
    return Program(
        kind=np.append(program.kind, np.uint8(PENDING_OR_END)),
        offset=np.append(program.offset, np.int32(len(program.target) + len(ends))),
        lo=np.append(program.lo, np.array(low, np.uint8)),
        hi=np.append(program.hi, np.array(high, np.uint8)),
        target=np.append(np.where(program.target == match, np.int32(pending), program.target), np.array(to, np.int32)),
        entries=program.entries,
        look_behind=program.look_behind,
    )


def number_program(spellings: Dfa, *, guarded: bool) -> Program:
    """The numbers that an automaton over characters accepts, the longest that matches."""
    writer = ProgramWriter()
    end = _end(writer, guarded)
    states = [writer.reserve(BYTES) for _ in range(len(spellings))]
    accepting = spellings.accepting()
    for k, (state, row) in enumerate(every(zip(states, spellings.edges(), strict=True))):
        edges = _joined((first, last, states[target]) for target, ranges in row.items() for first, last in ranges)
        if not accepting[k]:
            writer.edges[state] = edges
        elif edges:
            writer.kinds[state] = SPLIT
            writer.edges[state] = ((0, 0, writer.state(BYTES, edges)), (0, 0, end))
        else:
            writer.kinds[state], writer.edges[state] = SPLIT, ((0, 0, end),)
    return writer.packed(states[0] if states else writer.reserve(BYTES))


def _end(writer: ProgramWriter, guarded: bool) -> int:
    return writer.state(PENDING_OR_END, _end_edges(0)) if guarded else 0


def _end_edges(match: int) -> Edges:
    """The bytes with which no number goes on, to the match."""
    goes_on = {*b"0123456789.eE+-"}
    return _joined((byte, byte, match) for byte in range(256) if byte not in goes_on)
