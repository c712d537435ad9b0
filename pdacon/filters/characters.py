"""Sets of code points: general categories, white space, case.

In: names of properties as the regexes of tokenizers have them. Out: boolean arrays over all code points. The Unicode
version is that of this Python; a tokenizer's own may be another one, see docs/tokenization.md.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import cache

import numpy as np
from numpy.typing import NDArray

Set = NDArray[np.bool_]

NUM_CODE_POINTS = 0x110000

_WHITE_SPACE = (*range(9, 14), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000)
"""The property White_Space, which has not changed since Unicode 6.3; `str.isspace` counts four separators more."""


@cache
def _categories() -> tuple[dict[str, int], NDArray[np.uint8]]:
    """The number of each general category, and that of each code point."""
    names = list(map(unicodedata.category, map(chr, range(NUM_CODE_POINTS))))
    numbers = {name: number for number, name in enumerate(sorted(set(names)))}
    return numbers, np.fromiter(map(numbers.__getitem__, names), np.uint8, NUM_CODE_POINTS)


@cache
def category(name: str) -> Set | None:
    """The code points of a general category, or of a class of categories such as ``L``; None: there is no such."""
    numbers, categories = _categories()
    meant = [number for known, number in numbers.items() if name in (known, known[0])]
    return np.isin(categories, meant) if meant else None


@cache
def white_space() -> Set:
    return of(_WHITE_SPACE)


def of(codes: Iterable[int]) -> Set:
    made = np.zeros(NUM_CODE_POINTS, np.bool_)
    made[list(codes)] = True
    return made


def between(first: int, last: int) -> Set:
    """The code points from one to another, both included."""
    made = np.zeros(NUM_CODE_POINTS, np.bool_)
    made[first : last + 1] = True
    return made


@cache
def _folded() -> dict[str, tuple[int, ...]]:
    """The code points by their case folding, where there is more than one of them or it is another one."""
    by_fold: dict[str, list[int]] = {}
    for code in range(NUM_CODE_POINTS):
        folded = chr(code).casefold()
        if len(folded) == 1 and ord(folded) != code:
            by_fold.setdefault(folded, [ord(folded)]).append(code)
    return {folded: tuple(codes) for folded, codes in by_fold.items()}


def ignoring_case(codes: Set) -> Set:
    """The set with all code points that differ from its own by case alone."""
    made = codes.copy()
    for members in _folded().values():
        if codes[list(members)].any():
            made[list(members)] = True
    return made


def partition(sets: Iterable[Set]) -> tuple[NDArray[np.uint8], list[frozenset[int]]]:
    """The coarsest partition of all code points of which each set is a union.

    Returns ``classes`` (uint8[0x110000]): the class of each code point. ``members``: for each of the sets its classes.
    Raises ValueError: there are more than 255 classes.
    """
    sets = list(sets)
    classes = np.zeros(NUM_CODE_POINTS, np.uint16)
    for codes in sets:
        classes = classes * 2 + codes
        present = np.bincount(classes) > 0
        classes = (np.cumsum(present, dtype=np.uint16) - 1).astype(np.uint16)[classes]
        if classes.max() > 254:
            raise ValueError("more than 255 classes of characters")
    members = [frozenset(np.flatnonzero(np.bincount(classes[codes])).tolist()) for codes in sets]
    return classes.astype(np.uint8), members
