"""Texts as values, where a grammar knows what its sentences stand for: so far the built-in ones that are JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any


def reader_of(builtin_name: str | None) -> Callable[[str], Any] | None:
    """What makes a value of a sentence of this built-in grammar; None where it knows none."""
    return _READERS.get(builtin_name or "")


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
