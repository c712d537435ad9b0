"""Texts as values, where a grammar knows what its sentences stand for: those of JSON Schemas, and built-in ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from pdacon.grammar.model import SourceLanguage

UNKNOWN = "knows no values; those of JSON Schemas do, and those built-in grammars that are JSON"


def reader_of(language: SourceLanguage, builtin_name: str | None) -> Callable[[str], Any] | None:
    """What makes a value of a sentence of a grammar in this language, or of this built-in one; None: it knows none."""
    return json.loads if language == "JSON Schema" else _READERS.get(builtin_name or "")


def _lines(text: str) -> list[Any]:
    return [json.loads(line) for line in text.split("\n") if line]


_READERS: dict[str, Callable[[str], Any]] = {
    "json": json.loads,
    "json_compact": json.loads,
    "json_dumps": json.loads,
    "json_pretty": json.loads,
    "json_pretty4": json.loads,
    "jsonl": _lines,
}
