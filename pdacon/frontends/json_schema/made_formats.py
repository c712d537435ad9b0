"""The automata of formats, which come with the package as data: to make them takes up to some 30 ms each.

In: the name of a format. Out: the automaton of its pattern. ``tests/frontends/json_schema/make_formats.py`` writes the
file, and a test holds it against what is made of the patterns.
"""

from __future__ import annotations

import json
import zlib
from functools import lru_cache
from pathlib import Path

import numpy as np

from pdacon._native import _core
from pdacon.regular import Dfa

FILE = Path(__file__).with_name("formats.bin")
"""A line of JSON, and behind it the arrays: of each format where they begin and end, and the length of each. They are
numbers of 32 bits, little end first, one array after the other and compressed together."""
ARRAYS = ("firsts", "numbers", "table", "accepting")
"""The arrays of an automaton in the file; see ``Dfa``."""


@lru_cache(maxsize=1)
def _stored() -> tuple[dict[str, tuple[int, int, list[int]]], bytes]:
    head, _, stored = FILE.read_bytes().partition(b"\n")
    return json.loads(head), stored


def made_format(name: str) -> Dfa:
    """The automaton of a format."""
    places, stored = _stored()
    begin, end, lengths = places[name]
    numbers = np.frombuffer(zlib.decompress(stored[begin:end]), "<i4")
    firsts, classes, table, accepting = np.split(numbers, np.cumsum(lengths[:-1]))
    return Dfa(_core.CharacterDfa.make(firsts, classes, table, accepting.astype(np.uint8), is_least=True))
