"""What reads a schema on demand is gone when its constraint is: nothing of it waits for Python's collector.

A full collection walks over all objects of a process. A server that meets a new schema with each request would have one
within a mask of some other request.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from support.on_demand import WORDS

import pdacon
from pdacon import Grammar, UnsupportedSchemaError

SCHEMAS: dict[str, Any] = {
    "members": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"minimum": 3}}, "required": ["b"]},
    "references": {"$ref": "#/$defs/a", "$defs": {"a": {"properties": {"a": {"$ref": "#/$defs/a"}}}}},
    "patterns": {"patternProperties": {"^a": {"type": "null"}, "(?!b)c": {"pattern": r"(x|\by)+$"}}},
    "alternatives": {"oneOf": [{"type": "object", "required": ["a"]}, {"type": "array", "minItems": 2}]},
    "lists": {"enum": [{"a": 1}, [1, 2], "a", 2.5]},
    "formats": {"type": "array", "items": {"type": "string", "format": "date", "maxLength": 20}},
}
TEXTS = ['{"', '{"a": {"', '{"b": 4', '["20', '[{"', '{"ac": "x', '"a"', "[1, "]


def left_over(make: Callable[[], None]) -> Counter[str]:
    """Objects in circles that a call leaves, by the names of their classes."""
    make()  # what is kept for the process
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        make()
        gc.collect()
        return Counter(type(one).__qualname__ for one in gc.garbage)
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


def read(grammar: Grammar) -> None:
    constraint = pdacon.compile(grammar, WORDS)
    assert constraint._nested is not None
    for text in ("", *TEXTS):
        matcher = constraint.matcher()
        if matcher.accept(text):
            matcher.allowed_mask()


@pytest.mark.parametrize("name", SCHEMAS)
def test_constraints_leave_nothing_for_the_collector(name: str) -> None:
    assert not left_over(lambda: read(Grammar.from_json_schema(SCHEMAS[name])))


def test_refusals_leave_nothing_for_the_collector() -> None:
    def refused() -> None:
        try:  # pytest.raises keeps the error, with what it has come through
            Grammar.from_json_schema({**SCHEMAS["formats"], "uniqueItems": True})
        except UnsupportedSchemaError:
            return
        raise AssertionError("was taken")

    assert not left_over(refused)


def test_tools_leave_nothing_for_the_collector() -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": SCHEMAS["members"]}}

    assert not left_over(lambda: read(Grammar.from_tools([tool])))
