"""What a file is written in, by how its name ends."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

from pdacon.grammar.reading import read_source

DIALECTS = {".gbnf": "from_gbnf", ".ebnf": "from_ebnf", ".json": "from_json_schema"}
"""The ways in of files with these endings; others are in Lark's language."""


_LLGUIDANCE = re.compile(r"(?:\s|(?://|#)[^\n]*\n)*%llguidance\b")


def is_llguidance(text: str) -> bool:
    """Whether a text says that it is for llguidance: its first statement is ``%llguidance``."""
    return _LLGUIDANCE.match(text) is not None


def read_file(kind: Any, path: str | os.PathLike[str], options: Mapping[str, Any]) -> Any:
    """See `Grammar.from_file`; ``kind`` is `Grammar`."""
    ending = PurePath(path).suffix.lower()
    if ending not in DIALECTS:
        text = read_source(path)
        if is_llguidance(text) and not options:
            return kind.from_llguidance(text, source_path=path)
        return kind.from_lark(text, **{"source_path": path, **options})
    if options:
        raise TypeError(
            f"Grammar.from_file: {next(iter(options))} is an option of a grammar in Lark's language, not of {ending} "
            f"files; Grammar.{DIALECTS[ending]} has what they can have"
        )
    if ending == ".json":
        return replace(kind.from_json_schema(Path(path)), source_path=os.fspath(path))
    return getattr(kind, DIALECTS[ending])(read_source(path), source_path=path)
