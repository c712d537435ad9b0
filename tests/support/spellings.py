"""How characters may be written in strings of JSON."""

from __future__ import annotations

import json
from itertools import product

from pdacon.regular.ordered.escaping import Escapes

_SHORT = {"\n": "\\n", "\t": "\\t", '"': '\\"', "\\": "\\\\", "/": "\\/"}


def spellings(character: str, escapes: Escapes) -> list[str]:
    """All ways in which a character may be written."""
    if escapes != "any":
        return [json.dumps(character, ensure_ascii=escapes == "ascii")[1:-1]]
    written = json.dumps(character)[1:-1] if ord(character) > 0xFFFF else f"\\u{ord(character):04x}"
    cases = [sorted({digit, digit.upper()} if digit != "u" else {digit}) for digit in written]
    found = ["".join(digits) for digits in product(*cases)]
    found += [_SHORT[character]] if character in _SHORT else []
    return found + ([character] if character >= " " and character not in '"\\' else [])
