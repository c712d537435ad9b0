"""Tables with which SentencePiece rewrites texts: which strings of characters they replace.

The table is a double-array trie of Darts-clone, with the replacements after it. At each place of a text the longest
string that the trie has is replaced; where there is none, one character stays.

Source: normalizer.cc of google/sentencepiece 0.2 (``DecodePrecompiledCharsMap``), darts.h of Darts-clone 0.32.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

_LABELS = np.arange(1, 256, dtype=np.uint32)
_LEAF, _LABEL = 1 << 8, (1 << 31) | 0xFF


def replacements(table: bytes) -> dict[str, str]:
    """What becomes of each string that a table replaces by something else, and that begins with no other one.

    Parameters
    ----------
    table : bytes
        ``precompiled_charsmap`` of a SentencePiece model; empty: it replaces nothing.

    Raises
    ------
    ValueError
        It is no such table.
    """
    if not table:
        return {}
    try:
        (size,) = struct.unpack_from("<I", table)
        units = np.frombuffer(table, "<u4", size // 4, 4)
        texts = table[4 + size :]
        found = {}
        for key, at in _entries(units):
            key_text, value = key.decode(), texts[at : texts.index(0, at)].decode()
            if key_text != value:
                found[key_text] = value
        return found
    except (struct.error, ValueError, IndexError) as error:
        raise ValueError(f"the table of normalization cannot be read: {error}") from error


def _entries(units: NDArray[np.uint32]) -> Iterator[tuple[bytes, int]]:
    """The strings of a trie with their values, but for those that begin with another one."""
    waiting = [(b"", _offset(int(units[0])))]
    while waiting:
        key, base = waiting.pop()
        places = base ^ _LABELS
        found = _LABELS[(places < len(units)) & ((units[np.minimum(places, len(units) - 1)] & _LABEL) == _LABELS)]
        for label in found.tolist():
            place = base ^ label
            unit = int(units[place])
            longer, below = key + bytes([label]), place ^ _offset(unit)
            if unit & _LEAF:
                yield longer, int(units[below]) & 0x7FFFFFFF
            else:
                waiting.append((longer, below))


def _offset(unit: int) -> int:
    return (unit >> 10) << ((unit & (1 << 9)) >> 6)
