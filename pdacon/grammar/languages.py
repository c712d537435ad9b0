"""What a file or a text is written in, by how its name ends or the text begins."""

from __future__ import annotations

import re

DIALECTS = {".gbnf": "from_gbnf", ".ebnf": "from_ebnf", ".json": "from_json_schema"}
"""The ways in of files with these endings; others are in Lark's language."""

OPTIONS_OF_DIALECTS = {".gbnf": ("conflicts",), ".ebnf": ("conflicts",), ".json": ()}
"""The options of `Grammar.from_lark` that the ways in of these files have, too."""
OPTIONS_OF_LLGUIDANCE = ("conflicts", "lookahead")

_LLGUIDANCE = re.compile(r"(?:\s|(?://|#)[^\n]*\n)*%llguidance\b")


def is_llguidance(text: str) -> bool:
    """Whether a text says that it is for llguidance: its first statement is ``%llguidance``."""
    return _LLGUIDANCE.match(text) is not None
