"""The automata of formats, which come with the package as data: to make them takes up to some 30 ms each.

In: the name of a format. Out: the automaton of its pattern. ``tests/frontends/json_schema/make_formats.py`` writes the
file, and a test holds it against what is made of the patterns.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pdacon._native import _core
from pdacon.regular import Dfa

FILE = Path(__file__).with_name("formats.npz")
ARRAYS = ("firsts", "numbers", "table", "accepting")
"""The arrays of an automaton in the file, each as ``NAME.ARRAY``; see ``Dfa``."""
_MOST_BYTES = 1 << 24


@lru_cache(maxsize=1)
def _arrays() -> dict[str, NDArray[np.int32]]:
    with np.load(FILE, allow_pickle=False) as stored:
        return dict(stored)


def made_format(name: str) -> Dfa:
    """The automaton of a format."""
    stored = _arrays()
    firsts, numbers, table, accepting = (stored[f"{name}.{array}"].astype(np.int32) for array in ARRAYS)
    return Dfa(_core.CharacterDfa.make(firsts, numbers, table, accepting.astype(np.uint8), _MOST_BYTES))
