"""What `explain` says of a text that a schema refuses: which places of the schema speak of it."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from pdacon import Grammar
from pdacon.frontends.json_schema.places import schema_lines
from pdacon.frontends.json_schema.positions import open_values, path_of

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
    assert path_of(open_values(text.rstrip("]}"))) == path


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


ORDERED = {
    "type": "object",
    "properties": {"version": {}, "services": {"$ref": "#/$defs/services"}, "volumes": {"type": "null"}},
    "required": ["version", "volumes"],
    "additionalProperties": False,
    "$defs": {
        "services": {"type": "object", "patternProperties": {"^x-": {}}, "unevaluatedProperties": False},
    },
}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            '{"version": 1, "volumes": null, "services": {}}',
            '"services" comes before "volumes" in #/properties, and members are written in that order; '
            'Spelling(order="any") takes any order',
        ),
        ('{"services": {}}', '"version" is required by # and comes before "services"'),
        ('{"version": 1, "version": 2', '"version" has come before, and a member that the schema lists comes once'),
        ("{}", '"version" and "volumes" are missing, which #/required asks for'),
        ('{"version": 1}', '"volumes" is missing, which #/required asks for'),
        ('{"version": 1, "volume": 1', '# has no member "volume", and its additionalProperties is false'),
        (
            '{"version": 1, "services": {"x-a": 1, "y": 2',
            '#/$defs/services has no member "y", and its unevaluatedProperties is false',
        ),
        ('{"version": 1, "volumes": null, "volumes": ', '"volumes" has come before'),
    ],
)
def test_why_a_member_is_refused(text: str, why: str) -> None:
    explanation = Grammar.from_json_schema(ORDERED).explain(text)
    assert not explanation.allowed
    assert explanation.reason.startswith(why)


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"properties": {"a": {"minLength": 3}}, "required": ["b"]}, '{"a": "x", "b": 1}'),
        ({"properties": {"a": {"minimum": 3}}, "additionalProperties": False}, '{"a": 1}'),
        ({"anyOf": [{"required": ["a"]}, {"required": ["b"]}], "type": "object"}, "{}"),
        ({"items": {"maxItems": 1}, "type": "array"}, "[[1, 2]]"),
        ({"properties": {"a": {}}, "dependentRequired": {"b": ["a", "c"]}, "maxProperties": 1}, '{"a": 1, "b": 2}'),
    ],
)
def test_what_is_not_about_members_keeps_its_reason(schema: Any, text: str) -> None:
    explanation = Grammar.from_json_schema(schema).explain(text)
    assert not explanation.allowed
    assert not any(word in explanation.reason for word in ("required", "missing", "comes before", "no member"))


@pytest.mark.parametrize(
    ("keyword", "draft"),
    [
        ("dependentRequired", "https://json-schema.org/draft/2020-12/schema"),
        ("dependencies", "http://json-schema.org/draft-07/schema#"),
    ],
)
def test_a_member_that_another_one_asks_for(keyword: str, draft: str) -> None:
    schema = {"$schema": draft, "properties": {"a/b": {}}, keyword: {"a/b": ["c", "d"]}}
    grammar = Grammar.from_json_schema(schema)
    assert grammar.accepts('{"a/b": 1, "c": 2, "d": 3}')
    assert grammar.explain('{"a/b": 1}').reason.startswith(f'"c" and "d" are missing, which #/{keyword}/a~1b asks for')
    assert grammar.accepts('{"d": 3, "a/b": 1, "c": 2}')
    said = f'"c" is missing, which #/{keyword}/a~1b asks for'
    assert grammar.explain('{"a/b": 1, "d": 2}').reason == said


def test_why_without_a_name_that_is_whole() -> None:
    assert "cannot continue" in Grammar.from_json_schema(ORDERED).explain('{"version": 1, "volx').reason
