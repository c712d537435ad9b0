"""Programs of a text -> programs of that text as it stands within a string of JSON.

What is read between the quotes is a sequence of units, each of which stands for one character: the character itself,
``\\n``, ``\\u00e9``, two escapes for a surrogate pair. No unit is the beginning of another one, so that a text is cut
into units in one way only. A thread of the new program reads a unit and goes where the old one goes with the UTF-8 of
its character. So threads, their order and what matches where are those of the text that is meant; look-ahead sees that
text, too, and its end in the quote after it. In the field's words, the new program is the preimage of the old one under
the transducer that decodes JSON's strings.

Source: for JSON's strings, RFC 8259, section 7.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pdacon.base.arguments import require_bool
from pdacon.base.cancelling import look
from pdacon.base.graphs import Numbering
from pdacon.base.once import memoized
from pdacon.errors import LimitExceededError
from pdacon.regular.ordered.program import (
    BYTES,
    MATCH,
    PENDING,
    PENDING_OR_END,
    SPLIT,
    Edges,
    Program,
    epsilon_closure,
    pack,
)
from pdacon.regular.ordered.utf8 import continuations

Escapes: TypeAlias = Literal["needed", "ascii", "any"]
"""How characters are written: as they are where that is possible; if they are not ASCII, with an escape; in any way."""
ESCAPES: tuple[Escapes, ...] = ("needed", "ascii", "any")
"""In the order in which the core numbers them."""

_QUOTE, _BACKSLASH = b'"\\'
_SHORT = {"b": 8, "t": 9, "n": 10, "f": 12, "r": 13, '"': _QUOTE, "\\": _BACKSLASH}
"""The letters after a backslash that are written, with their characters."""
_SHORT_READ = {**_SHORT, "/": 0x2F}
"""Those that JSON reads."""
_NEEDED = (*range(0x20), _QUOTE, _BACKSLASH)
"""Characters that do not stand for themselves."""
_HIGH, _LOW = 0xD800, 0xDC00
"""The first high and the first low surrogate."""
_FIRST_OF_PAIRS = 0x10000
"""The first character that UTF-16 spells by a surrogate pair."""

_Targets: TypeAlias = tuple[int, ...]
"""States of the old program that a character leads to, in order."""
_Pieces: TypeAlias = tuple[tuple[int, int, "_Targets | _Pieces"], ...]
"""A map from numbers: disjoint ranges, ascending, and where each of them leads. The numbers are code points or UTF-16's
code units; a high surrogate leads to the map of the low ones after it."""
_Key: TypeAlias = tuple[Any, ...]
"""What a state of the new program stands for; the first member is its kind."""


def check_escapes(notation: object, escapes: object, quotes: object) -> None:
    """Refuse, with ValueError or TypeError, a notation that there is not, or a way to write its strings."""
    if notation != "json":
        raise ValueError(f'escaped: the notation is "json", not {notation!r:.40}')
    if escapes not in ESCAPES:
        raise ValueError(f"escaped: escapes is one of {', '.join(map(repr, ESCAPES))}, not {escapes!r:.40}")
    require_bool("escaped", "quotes", quotes)


def escaped_program(program: Program, escapes: Escapes, limit: int) -> Program:
    """The program that reads what a program reads, as it stands between the quotes of a JSON string.

    ``program``: over UTF-8. What it sees behind itself is the text that is meant, from the quote on. Raises
    LimitExceededError: more than ``limit`` states.
    """
    made = _Escaping(program, escapes, limit)
    look_behind, places = _escaped_behind(program) if len(program.entries) > 1 and not program.family else (None, None)
    starts = program.entries.tolist()
    keys: list[_Key] = [("at", entry) for entry in starts]
    if places is not None:
        # Where a character has been begun no lexeme begins.
        keys = [("at", starts[place]) if place >= 0 else ("nothing",) for place in places]
    entries = [made.number(key) for key in keys]
    made.finish()
    return made.packed(program, entries, look_behind)


def whole_characters(program: Program) -> Program | None:
    """A program for lexemes that begin between characters, if it begins alike whatever comes before them; else None.

    Look-behind can tell apart the bytes within a character, where no lexeme begins.
    """
    if program.family or program.looks_ahead_only:
        return program
    table = program.look_behind.tolist()
    met, pending = {0}, [0]
    while pending:
        state = pending.pop()
        for lead in (*range(0x80), *range(0xC2, 0xF5)):
            after = {table[state][lead]}
            for first, last in continuations(lead):
                after = {table[one][byte] for one in after for byte in range(first, last + 1)}
            pending += after - met
            met |= after
    (entry, *others) = {int(program.entries[state]) for state in met}
    if others:
        return None
    kinds, edges = zip(*program.states(), strict=True)
    return pack(kinds, edges, [entry])


def _escaped_behind(program: Program) -> tuple[NDArray[np.int32], list[int]]:
    """`Program.behind` over escaped text; and of each of its states the old one, or -1 within an escape.

    A quote that is not escaped begins the text anew: it is the one before the string, where backslashes before it come
    in pairs. Keys are those of `_Escaping`, of which there are no ``kind`` and no "within" here.
    """
    table = program.look_behind.tolist()

    @cache
    def tail(state: int, left: int) -> _Pieces:
        """Where the last `left` bytes of a character lead, by the number that their bits make up."""
        if not left:
            return ((0, 0, (state,)),)
        size = 64 ** (left - 1)
        return _joined(
            [
                (byte * size + lo, byte * size + hi, to)
                for byte in range(64)
                for lo, hi, to in tail(table[state][0x80 + byte], left - 1)
            ]
        )

    def characters(state: int) -> _Pieces:
        found: list[tuple[int, int, _Targets | _Pieces]] = [(k, k, (table[state][k],)) for k in range(0x80)]
        for lead in range(0xC2, 0xF5):
            found += _spellable(lead, tail(table[state][lead], _bytes_after(lead)))
        return _joined(found)

    start: _Key = ("at", 0)
    keys = Numbering[_Key](start)
    rows: list[list[int]] = []
    for key in keys:
        what, *of = key
        following: dict[int, _Key] = {}
        if what == "at":
            (state,) = of
            following = {byte: ("at", table[state][byte]) for byte in range(256)}
            following |= {_BACKSLASH: ("escape", state), _QUOTE: start}
        elif what == "escape":
            (state,) = of
            pieces = characters(state)
            following = {ord(letter): ("at", table[state][point]) for letter, point in _SHORT_READ.items()}
            following[ord("u")] = ("digits", 4, _by_code_units(pieces))
        elif what == "pair":
            following = {_BACKSLASH: ("pair's u", *of)}
        elif what == "pair's u":
            following = {ord("u"): ("digits", 4, *of)}
        else:
            width, pieces = of
            for digit in range(16):
                part = _part(pieces, digit * 16 ** (width - 1), 16 ** (width - 1))
                if part:
                    to = part[0][2]
                    after: _Key = ("pair", to) if _is_pair(to) else ("at", to[0])
                    for letter in {f"{digit:x}", f"{digit:X}"}:
                        following[ord(letter)] = ("digits", width - 1, part) if width > 1 else after
        rows.append([keys[following.get(byte, start)] for byte in range(256)])
    return np.array(rows, np.int32), [key[1] if key[0] == "at" else -1 for key in keys]


class _Escaping:
    """States of the new program: each is a state of the old one, and how much of a unit has been read.

    ``("at", state)``: between two units. ``("within", state, left)``: within a character that stands for itself, with
    so many of its bytes still to be read. ``("one of", targets)``: as ``at``, for several threads. ``("match",)``:
    the one state that has matched. ``("nothing",)``: no text matches.

    Within an escape, `pieces` say where the characters lead that it may still stand for, and `kind` is that of its
    state: ``("escape", kind, pieces)`` after the backslash; ``("digits", kind, n, pieces)`` with n hexadecimal digits
    still to be read; ``("pair", kind, pieces)`` after a high surrogate, ``("pair's u", kind, pieces)`` after the
    backslash of the low one.
    """

    def __init__(self, program: Program, escapes: Escapes, limit: int) -> None:
        self._old = program.states()
        self._leaves = program.leaves.tolist()
        self._escapes, self._limit = escapes, limit
        self._known: dict[_Key, int] = {}
        self._open: list[_Key] = []
        self._kinds: list[int] = []
        self._edges: list[Edges] = []
        self._new_leaves: list[int] = []

    def number(self, key: _Key) -> int:
        """A state of the new program, which is made when `finish` comes to it."""
        if key[0] in ("at", "within") and not self._leaves and self._old[key[1]][0] == MATCH:
            key = ("match",)
        if key not in self._known:
            self._known[key] = len(self._kinds)
            self._kinds.append(BYTES)
            self._edges.append(())
            self._new_leaves.append(0)
            self._open.append(key)
            if len(self._kinds) > self._limit:
                raise LimitExceededError("states", len(self._kinds), self._limit)
        return self._known[key]

    def finish(self) -> None:
        while self._open:
            look()
            key = self._open.pop()
            self._make(self._known[key], *key)

    def _make(self, number: int, what: str, *of: Any) -> None:
        if what == "at":
            (state,) = of
            self._kinds[number] = self._old[state][0]
            self._new_leaves[number] = self._leaves[state] if self._leaves else 0
            self._edges[number] = tuple(self._edges_at(state))
        elif what == "within":
            state, left = of
            kind, edges = self._old[state]
            self._kinds[number] = kind
            after = left if kind == SPLIT else left - 1
            self._edges[number] = tuple((lo, hi, self.number(_with_left(to, after))) for lo, hi, to in edges)
        elif what == "one of":
            (targets,) = of
            self._kinds[number] = SPLIT
            self._edges[number] = tuple((0, 0, self.number(("at", to))) for to in targets)
        elif what == "match":
            self._kinds[number] = MATCH
        elif what == "nothing":
            self._edges[number] = ()
        else:
            kind, *rest = of
            self._kinds[number] = kind
            self._edges[number] = tuple(self._edges_within(what, kind, *rest))

    def _edges_at(self, state: int) -> Iterator[tuple[int, int, int]]:
        """What may follow between two characters."""
        kind, edges = self._old[state]
        if kind == SPLIT:
            yield from ((0, 0, self.number(("at", to))) for _, _, to in edges)
        elif kind != MATCH:
            found = []
            for first, last, to in edges:
                for lo, hi in _plain_within(first, min(last, 0x7E if self._escapes == "ascii" else 0x7F)):
                    found.append((lo, hi, self.number(("at", to))))
                if self._escapes != "ascii":
                    for lo, hi, left in ((0xC2, 0xDF, 1), (0xE0, 0xEF, 2), (0xF0, 0xF4, 3)):
                        if max(first, lo) <= min(last, hi):
                            target = self.number(_with_left(to, left))
                            found.append((max(first, lo), min(last, hi), target))
            if kind == PENDING_OR_END:
                found.append((_QUOTE, _QUOTE, self.number(("match",))))
            characters = self._characters(state)
            if characters:
                # Nothing ends within an escape.
                within = PENDING if kind == PENDING_OR_END else kind
                found.append((_BACKSLASH, _BACKSLASH, self.number(("escape", within, characters))))
            yield from sorted(found)

    def _edges_within(self, what: str, kind: int, *rest: Any) -> Iterator[tuple[int, int, int]]:
        """What may follow within an escape."""
        if what == "escape":
            (pieces,) = rest
            short = _SHORT_READ if self._escapes == "any" else _SHORT
            ways: list[tuple[int, _Key]] = []
            for letter, point in short.items():
                targets = next((to for first, last, to in pieces if first <= point <= last), None)
                if targets is not None:
                    ways.append((ord(letter), self._after(targets)))
            by_digits = pieces if self._escapes == "any" else _without(pieces, sorted(short.values()))
            if by_digits:
                ways.append((ord("u"), ("digits", kind, 4, _by_code_units(by_digits))))
            for byte, key in sorted(ways, key=lambda way: way[0]):
                yield byte, byte, self.number(key)
        elif what == "pair":
            yield _BACKSLASH, _BACKSLASH, self.number(("pair's u", kind, *rest))
        elif what == "pair's u":
            yield ord("u"), ord("u"), self.number(("digits", kind, 4, *rest))
        else:
            width, pieces = rest
            yield from self._digits(kind, width, pieces)

    def _digits(self, kind: int, width: int, pieces: _Pieces) -> Iterator[tuple[int, int, int]]:
        """The hexadecimal digits that may follow, of `width` that are still to be read."""
        size = 16 ** (width - 1)
        found: list[tuple[int, int, int]] = []
        for digit in range(16):
            part = _part(pieces, digit * size, size)
            if not part:
                continue
            if width > 1:
                key: _Key = ("digits", kind, width - 1, part)
            elif _is_pair(part[0][2]):
                key = ("pair", kind, part[0][2])
            else:
                key = self._after(part[0][2])
            target = self.number(key)
            letters = {f"{digit:x}", f"{digit:X}"} if self._escapes == "any" else {f"{digit:x}"}
            found += [(ord(letter), ord(letter), target) for letter in letters]
        found.sort()
        while found:
            lo, hi, target = found.pop(0)
            while found and found[0][0] == hi + 1 and found[0][2] == target:
                hi = found.pop(0)[0]
            yield lo, hi, target

    def _after(self, targets: Any) -> _Key:
        """Where a character leads."""
        return ("at", targets[0]) if len(targets) == 1 else ("one of", targets)

    # Characters that a state reads

    def _characters(self, state: int) -> _Pieces:
        """The characters that may follow, of those that may be escaped."""
        found: list[tuple[int, int, _Targets | _Pieces]] = []
        for first, last, to in self._old[state][1]:
            found += [(lo, hi, (to,)) for lo, hi in self._ascii_escaped(first, min(last, 0x7F))]
            if self._escapes != "needed":
                for lead in range(max(first, 0xC2), min(last, 0xF4) + 1):
                    found += _spellable(lead, self._tail((to,), _bytes_after(lead)))
        return _joined(found)

    def _ascii_escaped(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        if self._escapes == "any":
            if first <= last:
                yield first, last
            return
        escaped = (*_NEEDED, 0x7F) if self._escapes == "ascii" else _NEEDED
        yield from ((point, point) for point in escaped if first <= point <= last)

    @memoized
    def _tail(self, states: _Targets, left: int) -> _Pieces:
        """Where the last `left` bytes of a character lead some threads, by the number that their bits make up."""
        if not left:
            return ((0, 0, states),)
        seen: set[int] = set()
        threads = [one for state in states for one in epsilon_closure(self._old, state, seen)]
        # What is pending may be decided before the character ends.
        decided = [(0x80, 0xBF, one) for one in threads if self._old[one][0] == MATCH]
        edges = [
            (max(lo, 0x80), min(hi, 0xBF), to)
            for lo, hi, to in [*(edge for one in threads for edge in self._old[one][1]), *decided]
            if lo <= 0xBF and hi >= 0x80
        ]
        cuts = sorted({*(lo for lo, _, _ in edges), *(hi + 1 for _, hi, _ in edges)})
        found: list[tuple[int, int, _Targets | _Pieces]] = []
        size = 64 ** (left - 1)
        for first, end in pairwise(cuts):
            to = tuple(dict.fromkeys(target for lo, hi, target in edges if lo <= first <= hi))
            if to:
                tail = self._tail(to, left - 1)
                for byte in range(first, end):
                    begin = (byte & 0x3F) * size
                    found += [(begin + lo, begin + hi, of) for lo, hi, of in tail]
        return _joined(found)

    def packed(self, old: Program, entries: list[int], look_behind: NDArray[np.int32] | None) -> Program:
        edges = [edge for some in self._edges for edge in some]
        return Program(
            kind=np.array(self._kinds, np.uint8),
            offset=np.cumsum([0, *map(len, self._edges)], dtype=np.int32),
            lo=np.array([lo for lo, _, _ in edges], np.uint8),
            hi=np.array([hi for _, hi, _ in edges], np.uint8),
            target=np.array([to for _, _, to in edges], np.int32),
            entries=np.array(entries, np.int32),
            look_behind=np.zeros((len(entries), 256), np.int32) if look_behind is None else look_behind,
            family=f"{old.family} in JSON, {self._escapes}" if old.family else "",
            leaves=np.array(self._new_leaves if old.family else [], np.int32),
        )


def _with_left(state: int, left: int) -> _Key:
    """A state of the old program with so many bytes of a character still to be read."""
    return ("within", state, left) if left else ("at", state)


def _plain_within(first: int, last: int) -> Iterator[tuple[int, int]]:
    """The characters of a range of ASCII that may stand for themselves."""
    for lo, hi in ((0x20, _QUOTE - 1), (_QUOTE + 1, _BACKSLASH - 1), (_BACKSLASH + 1, 0x7F)):
        if max(first, lo) <= min(last, hi):
            yield max(first, lo), min(last, hi)


def _bytes_after(lead: int) -> int:
    """How many bytes of a character follow its first one, which is not ASCII."""
    return 1 if lead < 0xE0 else 2 if lead < 0xF0 else 3


def _spellable(lead: int, tail: _Pieces) -> Iterator[tuple[int, int, _Targets | _Pieces]]:
    """The characters that a first byte begins, by where their last bytes lead; without what UTF-8 does not spell so,
    which are surrogates and what has a shorter spelling.
    """
    left = _bytes_after(lead)
    begin = (lead & (0x3F >> left)) << 6 * left
    for lo, hi in [[(0x80, 0x7FF)], [(0x800, 0xD7FF), (0xE000, 0xFFFF)], [(0x10000, 0x10FFFF)]][left - 1]:
        for first, last, to in tail:
            if max(begin + first, lo) <= min(begin + last, hi):
                yield max(begin + first, lo), min(begin + last, hi), to


def _joined(pieces: list[tuple[int, int, _Targets | _Pieces]]) -> _Pieces:
    """Pieces in their order, with neighbours that lead alike as one."""
    found: list[tuple[int, int, _Targets | _Pieces]] = []
    for first, last, to in sorted(pieces, key=lambda piece: piece[0]):
        if found and found[-1][1] == first - 1 and found[-1][2] == to:
            found[-1] = found[-1][0], last, to
        else:
            found.append((first, last, to))
    return tuple(found)


def _part(pieces: _Pieces, begin: int, size: int) -> _Pieces:
    """The pieces within a range, counted from its beginning."""
    return tuple(
        (max(first, begin) - begin, min(last, begin + size - 1) - begin, to)
        for first, last, to in pieces
        if first < begin + size and last >= begin
    )


def _without(pieces: _Pieces, points: list[int]) -> _Pieces:
    """The pieces without some code points."""
    for point in points:
        below = _part(pieces, 0, point)
        above = ((first + point + 1, last + point + 1, to) for first, last, to in _part(pieces, point + 1, 0x110000))
        pieces = (*below, *above)
    return pieces


def _by_code_units(pieces: _Pieces) -> _Pieces:
    """Characters by UTF-16's code units, which follow ``\\u``; those above U+FFFF by their high surrogates."""
    plain = _part(pieces, 0, _FIRST_OF_PAIRS)
    pairs = _part(pieces, _FIRST_OF_PAIRS, 0x100000)
    # High surrogates lead alike but for those in which a piece begins or ends.
    borders = [number >> 10 for first, last, _ in pairs for number in (first, last)]
    cuts = sorted({0, 0x400, *borders, *(border + 1 for border in borders)})
    found: list[tuple[int, int, _Targets | _Pieces]] = []
    for first, end in pairwise(cuts):
        part = _part(pairs, first << 10, 0x400)
        if part:
            low = tuple((_LOW + lo, _LOW + hi, to) for lo, hi, to in part)
            found.append((_HIGH + first, _HIGH + end - 1, low))
    return _joined([*plain, *found])


def _is_pair(to: _Targets | _Pieces) -> bool:
    """Whether a high surrogate leads there: to the low ones, not to states."""
    return isinstance(to[0], tuple)
