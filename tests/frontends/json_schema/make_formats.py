"""Write the automata of the formats into the package: ``python tests/frontends/json_schema/make_formats.py``.

Run it in the source tree, with that version installed, after a pattern of ``string_formats`` has changed.
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import numpy as np

from pdacon.frontends.json_schema.facts import Matches
from pdacon.frontends.json_schema.made_formats import ARRAYS, FILE
from pdacon.frontends.json_schema.string_formats import CARD_NUMBER, PATTERNS
from pdacon.frontends.json_schema.strings import determinized_pattern
from pdacon.regular import Dfa


def automata() -> dict[str, Dfa]:
    """What the file has to hold, made of the patterns."""
    patterns = {name: pattern for name, pattern in PATTERNS.items() if name != CARD_NUMBER}
    return {name: determinized_pattern(Matches(pattern, whole=True)) for name, pattern in patterns.items()}


def written(made: dict[str, Dfa]) -> bytes:
    """The file of some automata."""
    places, stored = {}, b""
    for name, automaton in made.items():
        arrays = [np.array(getattr(automaton.native, array), "<i4") for array in ARRAYS]
        packed = zlib.compress(b"".join(array.tobytes() for array in arrays), 9)
        places[name] = len(stored), len(stored) + len(packed), [len(array) for array in arrays]
        stored += packed
    return json.dumps(places).encode() + b"\n" + stored


if __name__ == "__main__":
    package = Path(__file__).resolve().parents[3] / "pdacon"
    (package / "frontends" / "json_schema" / FILE.name).write_bytes(written(automata()))
