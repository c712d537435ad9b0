"""What a file or a text is written in, by how its name ends or the text begins."""

from __future__ import annotations

import re

DIALECTS = {".gbnf": "from_gbnf", ".ebnf": "from_ebnf", ".json": "from_json_schema"}
"""The ways in of files with these endings; others are in Lark's language."""

_LLGUIDANCE = re.compile(r"(?:\s|(?://|#)[^\n]*\n)*%llguidance\b")


def is_llguidance(text: str) -> bool:
    """Whether a text says that it is for llguidance: its first statement is ``%llguidance``."""
    return _LLGUIDANCE.match(text) is not None
