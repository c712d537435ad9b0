"""Write the automata of the formats into the package: ``python tests/frontends/json_schema/make_formats.py``.

Run it in the source tree, with that version installed, after a pattern of ``string_formats`` has changed.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pdacon.frontends.json_schema.facts import Matches
from pdacon.frontends.json_schema.made_formats import ARRAYS, FILE
from pdacon.frontends.json_schema.string_formats import CARD_NUMBER, PATTERNS
from pdacon.frontends.json_schema.strings import determinized_pattern


def arrays() -> dict[str, NDArray[np.int32]]:
    """What the file has to hold, made of the patterns."""
    patterns = {name: pattern for name, pattern in PATTERNS.items() if name != CARD_NUMBER}
    made = {name: determinized_pattern(Matches(pattern, whole=True)).native for name, pattern in patterns.items()}
    return {f"{name}.{array}": np.array(getattr(made[name], array), "<i4") for name in made for array in ARRAYS}


if __name__ == "__main__":
    package = Path(__file__).resolve().parents[3] / "pdacon"
    np.savez_compressed(package / "frontends" / "json_schema" / FILE.name, **arrays())
