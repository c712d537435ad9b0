"""The sets behind ``\\w``, ``\\d``, ``\\s`` and IGNORECASE, for the Unicode version of the running Python.

Asking ``re`` about every code point takes some 20 ms per set, so the sets of the versions that Python 3.10 to 3.13
use are shipped in ``unicode_data/``. For another version they are computed, once per process. To write the file of the
running Python's version (standard library only, so any interpreter will do)::

    python pdacon/regular/ordered/unicode_sets.py
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

SetName: TypeAlias = Literal["word", "digit", "space", "cased"]

# Matching what is between the members as one piece is faster than searching it for the next member.
_CATEGORIES: dict[SetName, str] = {"word": r"(\w+)|\W+", "digit": r"(\d+)|\D+", "space": r"(\s+)|\S+"}
_DATA = Path(__file__).with_name("unicode_data")
_BLOCK = 256


@cache
def unicode_set(name: SetName) -> tuple[tuple[int, int], ...]:
    """Ranges of a set: ``\\w``, ``\\d``, ``\\s``, or ``cased``: every character whose case can matter to ``re``.

    Returns: ascending, disjoint, inclusive. 0.3 ms the first time in a process where the version's table is shipped.
    """
    table = _DATA / f"{unicodedata.unidata_version}.txt"
    if not table.exists():
        return scan(name)
    for line in table.read_text(encoding="ascii").splitlines():
        if line.startswith(name):
            borders = [int(word, 16) for word in line.split()[1:]]
            return tuple(zip(borders[::2], borders[1::2], strict=True))
    raise KeyError(name)


def scan(name: SetName) -> tuple[tuple[int, int], ...]:
    """Compute a set by asking the running interpreter about every code point (some 20 ms)."""
    text = _all_code_points()
    if name != "cased":
        return tuple((m.start(), m.end() - 1) for m in re.finditer(_CATEGORIES[name], text) if m.lastindex)
    cased: list[int] = []
    for start in range(0, len(text), _BLOCK):
        block = text[start : start + _BLOCK]
        if block.lower() != block or block.upper() != block:
            cased += [ord(c) for c in block if c.lower() != c or c.upper() != c]
    return runs(cased)


def _all_code_points() -> str:
    """U+0000 to U+10FFFF, surrogates included; written byte by byte, as joining characters takes 20 times as long."""
    units = bytearray(4 * 0x110000)
    units[0::4] = bytes(range(0x100)) * 0x1100
    units[1::4] = b"".join(bytes([row]) * 0x100 for row in range(0x100)) * 0x11
    units[2::4] = b"".join(bytes([plane]) * 0x10000 for plane in range(0x11))
    return units.decode("utf-32-le", "surrogatepass")


def runs(code_points: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Ascending code points as inclusive ranges."""
    ranges: list[tuple[int, int]] = []
    for point in code_points:
        if ranges and ranges[-1][1] == point - 1:
            ranges[-1] = (ranges[-1][0], point)
        else:
            ranges.append((point, point))
    return tuple(ranges)


def _write_table() -> None:
    _DATA.mkdir(exist_ok=True)
    names: tuple[SetName, ...] = ("word", "digit", "space", "cased")
    lines = (" ".join([name, *(f"{first:x} {last:x}" for first, last in scan(name))]) for name in names)
    path = _DATA / f"{unicodedata.unidata_version}.txt"
    path.write_text("\n".join(lines) + "\n", encoding="ascii")


if __name__ == "__main__":
    _write_table()
