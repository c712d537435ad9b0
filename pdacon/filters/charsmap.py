"""Tables with which SentencePiece rewrites texts: which strings of characters they replace.

The table is a double-array trie of Darts-clone, with the replacements after it. At each position of a text the longest
string that the trie has is replaced; where there is none, one character stays. SentencePiece makes no table in which a
string replaces itself, so a text stays as it is if and only if no string of the table occurs in it.

Source: normalizer.cc of google/sentencepiece 0.2 (``DecodePrecompiledCharsMap``), darts.h of Darts-clone 0.32.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

_LABELS = np.arange(1, 256, dtype=np.uint32)
_HAS_LEAF, _LABEL = 1 << 8, (1 << 31) | 0xFF  # bits of a unit: whether a string ends in the node; its label


def replacements(table: bytes) -> dict[str, str]:
    """What becomes of each string of a table, but for those that begin with another one.

    ``table``: ``precompiled_charsmap`` of a SentencePiece model; empty: it replaces nothing.
    Raises ValueError: it is no such table.
    """
    if not table:
        return {}
    try:
        (size,) = struct.unpack_from("<I", table)
        units = np.frombuffer(table, "<u4", size // 4, 4)
        texts = table[4 + size :]
        return {key.decode(): texts[at : texts.index(0, at)].decode() for key, at in _entries(units)}
    except (struct.error, ValueError, IndexError) as error:
        raise ValueError(f"the table of normalization cannot be read: {error}") from error


def _entries(units: NDArray[np.uint32]) -> Iterator[tuple[bytes, int]]:
    """The strings of a trie with their values, but for those that begin with another one."""
    waiting = [(b"", _offset(int(units[0])))]
    while waiting:
        key, base = waiting.pop()
        children = base ^ _LABELS  # where they would be; each is there if its unit has that label
        found = _LABELS[(children < len(units)) & ((units[np.minimum(children, len(units) - 1)] & _LABEL) == _LABELS)]
        for label in found.tolist():
            child = base ^ label
            unit = int(units[child])
            longer, below = key + bytes([label]), child ^ _offset(unit)
            if unit & _HAS_LEAF:
                yield longer, int(units[below]) & 0x7FFFFFFF
            else:
                waiting.append((longer, below))


def _offset(unit: int) -> int:
    """What leads from a node to its children, by exclusive or: ``DoubleArrayUnit::offset`` of Darts-clone."""
    return (unit >> 10) << ((unit & (1 << 9)) >> 6)
