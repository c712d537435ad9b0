"""Sets of characters: sorted tuples of disjoint, inclusive ranges of code points, without surrogates."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import TypeAlias

import numpy as np

Ranges: TypeAlias = tuple[tuple[int, int], ...]

ANY: Ranges = ((0, 0xD7FF), (0xE000, sys.maxunicode))
"""Every character that a text can have."""
_SURROGATES = 0xD800

DIGITS: Ranges = ((0x30, 0x39),)
WORD: Ranges = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
LINE_ENDS: Ranges = ((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029))
BLANKS: Ranges = (
    (0x09, 0x0D),
    (0x20, 0x20),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
    (0xFEFF, 0xFEFF),
)
"""What ``\\s`` is in ECMA-262: white space and line terminators."""


def union(*sets: Iterable[tuple[int, int]]) -> Ranges:
    """What is in any of the sets; ranges may be in any order and overlap. Surrogates are left out."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(piece for one in sets for piece in one):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = merged[-1][0], max(merged[-1][1], last)
        else:
            merged.append((first, last))
    return tuple(merged) if not merged or merged[-1][1] < _SURROGATES else intersection(merged, ANY)


def intersection(one: Iterable[tuple[int, int]], other: Iterable[tuple[int, int]]) -> Ranges:
    left, right = list(one), list(other)
    i = j = 0
    common: list[tuple[int, int]] = []
    while i < len(left) and j < len(right):
        first, last = max(left[i][0], right[j][0]), min(left[i][1], right[j][1])
        if first <= last:
            common.append((first, last))
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return tuple(common)


def complement(ranges: Iterable[tuple[int, int]]) -> Ranges:
    rest: list[tuple[int, int]] = []
    at = 0
    for first, last in ranges:
        if at < first:
            rest.append((at, first - 1))
        at = last + 1
    if at <= sys.maxunicode:
        rest.append((at, sys.maxunicode))
    return intersection(rest, ANY)


def difference(ranges: Iterable[tuple[int, int]], removed: Iterable[tuple[int, int]]) -> Ranges:
    """What is in the first set and not in the second."""
    return intersection(ranges, complement(removed))


@lru_cache(maxsize=1)
def _categories() -> list[tuple[int, int, str]]:
    """The first and the last of code points that follow one another and have one general category. Some 100 ms."""
    names = "".join(map(unicodedata.category, map(chr, range(sys.maxunicode + 1))))
    pairs = np.frombuffer(names.encode(), np.uint16)
    firsts = [0, *(np.flatnonzero(np.diff(pairs)) + 1).tolist()]
    lasts = [*(first - 1 for first in firsts[1:]), sys.maxunicode]
    return [(first, last, names[2 * first : 2 * first + 2]) for first, last in zip(firsts, lasts, strict=True)]


@lru_cache(maxsize=64)
def category(name: str) -> Ranges | None:
    """The characters of a general category of Unicode, such as ``L`` or ``Nd``; None if there is no such category."""
    wanted = {"Any": "", "ASCII": None}.get(name, name)
    if wanted is None:
        return ((0, 0x7F),)
    return union((first, last) for first, last, name in _categories() if name.startswith(wanted)) or None


def character_class(ranges: Iterable[tuple[int, int]]) -> str:
    """A set as Python's ``re`` writes it: one character, or a class."""
    merged = union(ranges)
    if len(merged) == 1 and merged[0][0] == merged[0][1]:
        return _escaped(merged[0][0])
    pieces = [
        _escaped(first) + (f"{'-' if last > first + 1 else ''}{_escaped(last)}" if last > first else "")
        for first, last in merged
    ]
    return f"[{''.join(pieces)}]"


def _escaped(point: int) -> str:
    character = chr(point)
    if point < 0x20 or point == 0x7F:
        return f"\\x{point:02x}"
    if character.isascii():
        return character if character.isalnum() or character in " \"'<>,:;=@_`!%" else "\\" + character
    if character.isprintable():
        return character
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"
