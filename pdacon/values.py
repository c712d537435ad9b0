"""Texts as values, where a grammar knows what its sentences stand for: types, schemas, choices, some built-in ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from pdacon.grammar import Grammar

UNKNOWN = (
    "knows no values; types, JSON Schemas, choices, regular expressions and the built-in grammars that are JSON do. "
    "For a tree, parse the text with lark.Lark(grammar.to_lark(), **grammar.lark_options)"
)
_TEXTS = ("choices", "regular expression", "regular set")  # whose sentences stand for themselves


def reader_of(grammar: Grammar | None, builtin_name: str | None) -> Callable[[str], Any] | None:
    """What makes a value of a sentence of a grammar, or of the built-in one of a name; None: it knows none."""
    if grammar is not None and grammar.values is not None:
        return grammar.values.read
    if grammar is not None and grammar.language in _TEXTS:
        return str
    of_schema = grammar is not None and grammar.language == "JSON Schema"
    return json.loads if of_schema else _READERS.get(builtin_name or "")


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
