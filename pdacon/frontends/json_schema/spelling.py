"""How JSON values are written: what a schema leaves open.

In: automata over code points, words and names. Out: byte automata of JSON texts, and the texts between values.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pdacon._native import _core
from pdacon.lexer.program import BYTES, MATCH, PENDING_OR_END, SPLIT, Edges, Program, pack
from pdacon.lexer.utf8 import FINAL, byte_trie
from pdacon.regular import ANY, Dfa
from pdacon.regular.characters import Ranges, complement, intersection

Whitespace: TypeAlias = Literal["json.dumps", "compact", "any"]

_MOST_STATES = 1_000_000  # of an automaton for names, or strings
_MOST_BYTES = 256 << 20
_NEEDED = 0  # the escapes that a string cannot do without, in the core

SHORT = {0x22: '\\"', 0x5C: "\\\\", 0x08: "\\b", 0x0C: "\\f", 0x0A: "\\n", 0x0D: "\\r", 0x09: "\\t"}
ESCAPED: Ranges = ((0x00, 0x1F), (0x22, 0x22), (0x5C, 0x5C))
PLAIN = intersection(complement(ESCAPED), ANY)
"""The characters that stand for themselves in a string; those of ``ESCAPED`` do not, ``SHORT`` has short escapes."""
CHARACTER = r'(?:[^"\\\x00-\x1f\ud800-\udfff]|\\(?:["\\bfnrt]|u00(?:0[0-7be-f]|1[0-9a-f])))'
"""One character of a string, as a pattern of Python's ``re``."""
ANY_STRING = f'"{CHARACTER}*"'
"""Every string, as a pattern of Python's ``re``."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """How values are written.

    Attributes
    ----------
    whitespace : {"json.dumps", "compact", "any"}
        One space behind ``,`` and ``:``, as ``json.dumps`` writes; none; or up to ``max_blanks`` blanks wherever JSON
        allows them.
    max_blanks : int
    order : {"schema", "any"}
        The members that a schema lists come in its order, or in any, in objects for which it lists at most
        ``max_unordered``. Members that it does not list may always come anywhere.
    max_unordered : int
        Each name more doubles what such an object takes.
    """

    whitespace: Whitespace = "json.dumps"
    max_blanks: int = 16
    order: Literal["schema", "any"] = "schema"
    max_unordered: int = 6

    def __post_init__(self) -> None:
        if self.whitespace not in ("json.dumps", "compact", "any"):
            raise ValueError(f'whitespace is "json.dumps", "compact" or "any", not {self.whitespace!r}')
        if self.order not in ("schema", "any"):
            raise ValueError(f'order is "schema" or "any", not {self.order!r}')
        for name in ("max_blanks", "max_unordered"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise ValueError(f"{name} is a number, 0 or more, not {value!r}")

    @property
    def colon(self) -> str:
        """What stands between a name and its value, if that is fixed."""
        return ":" if self.whitespace == "compact" else ": "

    @property
    def comma(self) -> str:
        """What stands between two members or items, if that is fixed."""
        return "," if self.whitespace == "compact" else ", "

    @property
    def blanks(self) -> str | None:
        """Where blanks are free, a pattern for them."""
        return rf"[ \t\r\n]{{0,{self.max_blanks}}}" if self.whitespace == "any" else None


def spelled(text: str) -> str:
    """A string as ``json.dumps(text, ensure_ascii=False)`` writes it."""
    return json.dumps(text, ensure_ascii=False)


class _Writer:
    """States and edges of a program that is being made; state 0 is MATCH."""

    def __init__(self) -> None:
        self.kinds = [MATCH]
        self.edges: list[Edges] = [()]
        self._known: dict[tuple[int, Edges], int] = {}

    def reserve(self) -> int:
        self.kinds.append(BYTES)
        self.edges.append(())
        return len(self.kinds) - 1

    def state(self, edges: Edges, kind: int = BYTES) -> int:
        key = kind, edges
        number = self._known.get(key)
        if number is None:
            number = self._known[key] = self.reserve()
            self.kinds[number], self.edges[number] = kind, edges
        return number

    def text(self, text: bytes, then: int) -> int:
        for byte in reversed(text):
            then = self.state(((byte, byte, then),))
        return then

    def character(self, ranges: Ranges, then: int) -> Edges:
        """The edges that read one of a set of characters in UTF-8."""
        nodes = byte_trie(ranges).nodes
        placed: list[int] = []
        for k, node in enumerate(nodes):
            edges = tuple((lo, hi, then if to == FINAL else placed[to]) for lo, hi, to in node)
            if k == len(nodes) - 1:
                return edges
            placed.append(self.state(edges))
        return ()

    def escapes(self, points: Iterable[tuple[int, int]]) -> Edges:
        """The edges behind a backslash, for characters with the states that each leads to."""
        short: list[tuple[int, int, int]] = []
        by_digit: dict[int, list[tuple[int, int, int]]] = {}
        for point, then in points:
            if point in SHORT:
                byte = ord(SHORT[point][1])
                short.append((byte, byte, then))
            else:
                byte = ord(f"{point:02x}"[1])
                by_digit.setdefault(0x30 + (point >> 4), []).append((byte, byte, then))
        if by_digit:
            last = [(digit, digit, self.state(_joined(edges))) for digit, edges in by_digit.items()]
            zero = self.state(((0x30, 0x30, self.state(_joined(last))),))
            short.append((0x75, 0x75, self.state(((0x30, 0x30, zero),))))
        return _joined(short)


def _joined(edges: Iterable[tuple[int, int, int]]) -> Edges:
    """Edges in ascending order, neighbours with one target as one."""
    joined: list[tuple[int, int, int]] = []
    for lo, hi, to in sorted(edges):
        if joined and joined[-1][1] == lo - 1 and joined[-1][2] == to:
            joined[-1] = joined[-1][0], hi, to
        else:
            joined.append((lo, hi, to))
    return tuple(joined)


def string_program(content: Dfa, behind: bytes = b"") -> Program:
    """The JSON strings whose content an automaton accepts, each followed by fixed bytes."""
    offset, lo, hi, target = _core.json_strings(content.native, _NEEDED, behind, _MOST_STATES, _MOST_BYTES)
    return Program(
        kind=np.where(np.diff(offset) == 0, MATCH, BYTES).astype(np.uint8),
        offset=offset,
        lo=lo,
        hi=hi,
        target=target,
        entries=np.zeros(1, np.int32),
        behind=np.zeros((1, 256), np.int32),
    )


@lru_cache(maxsize=64)
def counted_program(least: int, most: int | None, opening: bytes = b'"', closing: bytes = b'"') -> Program:
    """So many characters of JSON strings, as they are written, between fixed bytes.

    Every position has the same states, so that they are laid out at once. Without ``closing`` the numbers are equal.
    """
    writer = _Writer()
    after = writer.reserve()
    escapes = writer.state(writer.escapes([(point, after) for point in (*range(0x20), 0x22, 0x5C)]))
    own = writer.state(_joined((*writer.character(PLAIN, after), (0x5C, 0x5C, escapes))))
    inside = [own, *(state for state in range(2, len(writer.kinds)) if state != own)]
    place = {state: k for k, state in enumerate(inside)}
    width = len(inside)
    counted = least if most is None else most
    first = len(opening)
    last = first + counted * width  # the position behind the last one that is counted
    tail = last + (width if most is None else 1)  # behind the first byte that closes
    rows: list[NDArray[np.int64]] = []  # columns: lo, hi, target
    sizes: list[NDArray[np.int64]] = []

    def add(edges: list[tuple[int, int, int]], counts: list[int]) -> None:
        rows.append(np.array(edges, np.int64).reshape(-1, 3))
        sizes.append(np.array(counts, np.int64))

    def position(*, closes: bool, start: int = 0, number: int = 1, onwards: int = width) -> None:
        """The states of some positions in a row; ``onwards``: how far the next position is from each."""
        begin = _joined((*writer.edges[own], *([(closing[0], closing[0], -1)] if closes else [])))
        groups = [begin, *(writer.edges[state] for state in inside[1:])]
        edges = np.array([edge for group in groups for edge in group], np.int64)
        bases = np.repeat(first + width * np.arange(start, start + number), len(edges))
        relative = np.array([place.get(int(to), onwards) for to in edges[:, 2]])
        block = np.tile(edges, (number, 1))
        block[:, 2] = np.where(np.tile(edges[:, 2] == -1, number), tail, bases + np.tile(relative, number))
        rows.append(block)
        sizes.append(np.tile([len(group) for group in groups], number))

    for k, byte in enumerate(opening):
        add([(byte, byte, k + 1)], [1])
    if least:
        position(closes=False, number=least)
    if counted > least:
        position(closes=True, start=least, number=counted - least)
    if most is None:
        position(closes=True, start=counted, onwards=0)
    elif closing:
        add([(closing[0], closing[0], tail)], [1])
    for k, byte in enumerate(closing[1:]):
        add([(byte, byte, tail + k + 1)], [1])
    add([], [0])
    table = np.concatenate(rows)
    offset = np.concatenate([[0], np.cumsum(np.concatenate(sizes))])
    kind = np.full(len(offset) - 1, BYTES, np.uint8)
    kind[-1] = MATCH
    return Program(
        kind=kind,
        offset=offset.astype(np.int32),
        lo=table[:, 0].astype(np.uint8),
        hi=table[:, 1].astype(np.uint8),
        target=table[:, 2].astype(np.int32),
        entries=np.zeros(1, np.int32),
        behind=np.zeros((1, 256), np.int32),
    )


@lru_cache(maxsize=256)
def other_names_program(names: frozenset[str], behind: bytes) -> Program:
    """Every JSON string but some, each followed by fixed bytes."""
    every = _every_name_program(behind)
    if not names:
        return every
    words = [spelled(name).encode() for name in names]
    offset, lo, hi, target = _core.all_but_words(
        every.offset,
        every.lo,
        every.hi,
        every.target,
        np.frombuffer(b"".join(words), np.uint8),
        np.array([*map(len, words)], np.int32),
        _MOST_STATES,
    )
    made = len(offset) - 1
    return Program(
        kind=np.concatenate([np.full(made, BYTES, np.uint8), every.kind]),
        offset=np.concatenate([offset, every.offset[1:] + offset[-1]]),
        lo=np.concatenate([lo, every.lo]),
        hi=np.concatenate([hi, every.hi]),
        target=np.concatenate([target, every.target + made]),
        entries=every.entries,
        behind=every.behind,
    )


@lru_cache(maxsize=16)
def _every_name_program(behind: bytes) -> Program:
    writer = _Writer()
    quote = writer.text(behind, 0)
    loop = writer.reserve()
    escapes = writer.state(writer.escapes([(point, loop) for point in range(0x20)] + [(0x22, loop), (0x5C, loop)]))
    free = (*writer.character(PLAIN, loop), (0x5C, 0x5C, escapes))
    writer.edges[loop] = _joined((*free, (0x22, 0x22, quote)))
    return pack(writer.kinds, writer.edges, [writer.state(((0x22, 0x22, loop),))])


_Trie: TypeAlias = "dict[int, _Trie]"
"""By byte what follows; a word ends where -1 is a key."""


def _trie(words: Iterable[bytes]) -> _Trie:
    trie: _Trie = {}
    for word in words:
        node = trie
        for byte in word:
            node = node.setdefault(byte, {})
        node[-1] = {}
    return trie


def words_program(words: Iterable[str], *, guarded: bool = False) -> Program:
    """Some texts, the longest of those that match; ``guarded``: where no number goes on behind it."""
    writer = _Writer()
    trie = _trie(word.encode() for word in words)
    order = [trie]
    for node in order:  # grows
        order += [child for byte, child in node.items() if byte >= 0]
    end = _end(writer, guarded)
    placed: dict[int, int] = {}
    for node in reversed(order):
        edges = _joined((byte, byte, placed[id(child)]) for byte, child in node.items() if byte >= 0)
        placed[id(node)] = _accepting(writer, edges, end) if -1 in node else writer.state(edges)
    return pack(writer.kinds, writer.edges, [placed[id(trie)]])


def number_program(spellings: Dfa, *, guarded: bool) -> Program:
    """The numbers that an automaton over characters accepts, the longest that matches."""
    writer = _Writer()
    end = _end(writer, guarded)
    states = [writer.reserve() for _ in range(len(spellings))]
    accepting = spellings.accepting()
    for k, (state, row) in enumerate(zip(states, spellings.edges(), strict=True)):
        edges = _joined((first, last, states[target]) for target, ranges in row.items() for first, last in ranges)
        if not accepting[k]:
            writer.edges[state] = edges
        elif edges:
            writer.kinds[state] = SPLIT
            writer.edges[state] = ((0, 0, writer.state(edges)), (0, 0, end))
        else:
            writer.kinds[state], writer.edges[state] = SPLIT, ((0, 0, end),)
    return pack(writer.kinds, writer.edges, [states[0] if states else writer.reserve()])


def _end(writer: _Writer, guarded: bool) -> int:
    if not guarded:
        return 0
    goes_on = {*b"0123456789.eE+-"}
    edges = _joined((byte, byte, 0) for byte in range(256) if byte not in goes_on)
    return writer.state(edges, PENDING_OR_END)


def _accepting(writer: _Writer, edges: Edges, end: int) -> int:
    return writer.state(((0, 0, writer.state(edges)), (0, 0, end)), SPLIT) if edges else end
