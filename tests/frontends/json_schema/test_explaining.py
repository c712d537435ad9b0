"""What `explain` says of a text that a schema refuses: which places of the schema speak of it."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from pdacon import Grammar
from pdacon.frontends.json_schema.places import path_at_end, schema_lines

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 20},
        "age": {"$ref": "#/$defs/age"},
        "tags": {"type": "array", "prefixItems": [{"const": 1}], "items": {"enum": ["a", "b"]}, "maxItems": 3},
    },
    "patternProperties": {"^x-": {"type": "boolean"}},
    "additionalProperties": False,
    "required": ["name"],
    "$defs": {"age": {"description": "in years", "allOf": [{"type": "integer"}, {"minimum": 0, "maximum": 120}]}},
}


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", ['#: type "object", additionalProperties false, required ["name"]']),
        ('{"name": ', ['#/properties/name: type "string", maxLength 20']),
        ('{"name": "Ann"', ['#/properties/name: type "string", maxLength 20']),
        ('{"name": "Ann", "age": 12', ['#/$defs/age/allOf/0: type "integer"', "#/$defs/age/allOf/1: minimum 0"]),
        ('{"name": "Ann", "tags": [', ["#/properties/tags/prefixItems/0: const 1"]),
        ('{"name": "Ann", "tags": [1, "a", ', ['#/properties/tags/items: enum ["a", "b"]']),
        ('{"name": "a,b", "x-\\u0061": ', ['#/patternProperties/^x-: type "boolean"']),
    ],
)
def test_the_places_of_a_value(text: str, lines: list[str]) -> None:
    found = schema_lines(json.dumps(PERSON), text)
    for line, expected in zip(found, lines, strict=False):
        assert line.startswith(expected)
    assert len(found) >= len(lines)


def test_what_a_person_sees() -> None:
    shown = str(Grammar.from_json_schema(PERSON).explain('{"name": "Ann", "age": 130'))
    assert '"0" begins nothing that can come here; expected ", " or' in shown
    assert '  schema:   #/$defs/age/allOf/0: type "integer"\n' in shown
    assert "minimum 0, maximum 120" in shown
    assert "stack:" not in shown
    assert "stack:" in Grammar.from_json_schema(PERSON).explain('{"name": "Ann", "age": 130').render(full=True)


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"a": [1, {"b": 2}]}, ("a", 1, "b")), ([[], [0, [7]]], (1, 1, 0)), ({"a": 1, "b": "x, {y"}, ("b",)),
        ({'q"': {"": None}}, ('q"', "")), (5, ()),
    ],
)  # fmt: skip
def test_the_last_value_is_found(value: Any, path: tuple[str | int, ...]) -> None:
    text = json.dumps(value)
    assert path_at_end(text.rstrip("]}")) == path


def test_a_pattern_that_was_left_out_is_passed_over() -> None:
    schema = {"type": "object", "patternProperties": {r"(a)\1": {"type": "integer"}}, "maxProperties": 1}
    grammar = Grammar.from_json_schema(schema, lax=True)
    assert grammar.unenforced
    assert "#: type" in str(grammar.explain('{"aa": 1, '))


@pytest.mark.parametrize("schema", [True, {}, {"$ref": "other.json"}, {"$ref": "#"}, {"properties": 3}, {"not": True}])
def test_strange_schemas_are_passed_over(schema: Any) -> None:
    assert isinstance(schema_lines(json.dumps(schema), '{"a": [1, '), tuple)


def test_the_schemas_that_refuse_a_value_are_among_the_places() -> None:
    """jsonschema names the keyword that a whole value breaks; its schema is among the lines for that value."""
    for value in ({"name": 3}, {"name": "a" * 21}, {"name": "a", "age": -1}, {"name": "a", "tags": [1, "c"]}):
        (error,) = jsonschema.Draft202012Validator(PERSON).iter_errors(value)
        broken = f"{error.validator} {json.dumps(error.validator_value)}"
        text = json.dumps(value).rstrip("]}")
        assert any(broken in line for line in schema_lines(json.dumps(PERSON), text)), (value, broken)
