"""A count that is too large for a grammar is named with its place in the schema, and the way out."""

from __future__ import annotations

from typing import Any

import pytest

from pdacon import Grammar, UnsupportedSchemaError, Vocabulary, compile

A_LIST = {"type": "array", "items": {"type": "integer"}, "maxItems": 100_000}


@pytest.mark.parametrize(
    ("schema", "pointer", "keyword"),
    [
        ({"properties": {"a": A_LIST}}, "#/properties/a", "maxItems"),
        ({"type": "object", "maxProperties": 100_000}, "#", "maxProperties"),
        ({"items": {"contains": {"const": 1}, "maxContains": 100_000}}, "#/items", "maxContains"),
        ({"properties": {"a/b": A_LIST, "c": {**A_LIST, "maxItems": 2000}}}, "#/properties/a~1b", "maxItems"),
    ],
)
def test_a_count_is_named_with_its_place(schema: Any, pointer: str, keyword: str) -> None:
    with pytest.raises(UnsupportedSchemaError) as refusal:
        compile(Grammar.from_json_schema(schema), Vocabulary.bytes())
    assert (refusal.value.pointer, refusal.value.keyword) == (pointer, keyword)
    assert "100,000 is its largest count" in refusal.value.why
    assert "make it smaller, or leave it out" in refusal.value.why
