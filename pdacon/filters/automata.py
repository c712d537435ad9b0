"""Automata over characters of the simplest filters: texts of some characters only, and texts without some words.

Source: A. Aho and M. Corasick, "Efficient String Matching: An Aid to Bibliographic Search", Communications of the ACM
18(6), 1975.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pdacon._native import _core
from pdacon.filters.characters import NUM_CODE_POINTS
from pdacon.regular import ANY, Dfa, Ranges

_MOST_BYTES = 256 << 20


def of_characters(allowed: Ranges) -> Dfa:
    return _made(_numbered(allowed), [[0]])


def without(words: Iterable[str]) -> Dfa:
    """The texts in which none of some words occurs. None of them is empty."""
    edges: list[dict[str, int]] = [{}]
    ends = {-1}
    for word in words:
        at = 0
        for character in word:
            if character not in edges[at]:
                edges[at][character] = len(edges)
                edges.append({})
            at = edges[at][character]
        ends.add(at)
    letters = sorted({character for row in edges for character in row})
    number = {character: at for at, character in enumerate(letters, 1)}
    of = _numbered(ANY)
    of[list(map(ord, letters))] = list(number.values())
    rows = [[0] * (len(letters) + 1) for _ in edges]
    shorter = [0] * len(edges)  # the longest proper suffix that is a beginning, too
    order = [0]
    for node in order:  # grows, by length
        rows[node] = list(rows[shorter[node]])
        for character, child in edges[node].items():
            order.append(child)
            shorter[child] = rows[shorter[node]][number[character]] if node else 0
            rows[node][number[character]] = child
        if shorter[node] in ends:
            ends.add(node)
    return _made(of, [[-1 if to in ends else to for to in row] for row in rows])


def _numbered(allowed: Ranges) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    """By code point: 0, or -1 for those that no text has."""
    of = np.full(NUM_CODE_POINTS, -1, np.int32)
    for first, last in allowed:
        of[first : last + 1] = 0
    of[0xD800:0xE000] = -1
    return of


def _made(of: np.ndarray[tuple[int], np.dtype[np.int32]], rows: list[list[int]]) -> Dfa:
    """An automaton in which a text may end anywhere; ``of`` has the class of each code point."""
    firsts = np.append(0, np.flatnonzero(np.diff(of)) + 1).astype(np.int32)
    table = np.array(rows, np.int32).reshape(-1)
    accepting = np.ones(len(rows), np.uint8)
    return Dfa(_core.CharacterDfa.make(firsts, of[firsts], table, accepting, _MOST_BYTES))
