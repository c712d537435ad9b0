"""What `explain` says of a text that a schema refuses: which places of the schema speak of it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import date
from typing import Any

import jsonschema
import pytest

from pdacon import Grammar, Vocabulary, compile
from pdacon.frontends.json_schema.places import schema_lines
from pdacon.frontends.json_schema.positions import open_values, path_of
from pdacon.frontends.json_schema.value_words import value_name, value_words

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
        ("", ['#: type "object", additionalProperties false, required ["name"]']),  # as words do not say it all
        ('{"name": ', ["name: a string, at most 20 characters"]),
        ('{"name": "Ann"', ["name: a string, at most 20 characters"]),
        ('{"name": "Ann", "age": 12', ["age: an integer", "#/$defs/age/allOf/1: minimum 0"]),
        ('{"name": "Ann", "tags": [', ["tags[0]: 1"]),
        ('{"name": "Ann", "tags": [1, "a", ', ['tags[]: "a" or "b"']),
        ('{"name": "a,b", "x-\\u0061": ', ['["^x-"]: true or false']),
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
    assert "  schema:   age: an integer\n" in shown
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
    refused = [
        ({"name": 3}, "type", "name: a string, at most 20 characters"),
        ({"name": "a" * 21}, "maxLength", "name: a string, at most 20 characters"),
        ({"name": "a", "age": -1}, "minimum", "#/$defs/age/allOf/1: minimum 0"),
        ({"name": "a", "tags": [1, "c"]}, "enum", 'tags[]: "a" or "b"'),
    ]
    for value, keyword, broken in refused:
        (error,) = jsonschema.Draft202012Validator(PERSON).iter_errors(value)
        assert error.validator == keyword
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
        ('{"services": {}}', '"version" is required by the value and comes before "services"'),
        ('{"version": 1, "version": 2', '"version" has come before, and a member that the schema lists comes once'),
        ("{}", '"version" and "volumes" are missing, which #/required asks for'),
        ('{"version": 1}', '"volumes" is missing, which #/required asks for'),
        ('{"version": 1, "volume": 1', 'the value has no member "volume", and its additionalProperties is false'),
        (
            '{"version": 1, "services": {"x-a": 1, "y": 2',
            'services has no member "y", and its unevaluatedProperties is false',
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


@pytest.mark.parametrize(
    ("node", "words"),
    [
        ({"type": "integer", "minimum": 1, "maximum": 5}, "an integer, 1 to 5"),
        ({"type": "string", "pattern": "^a+$", "title": "row of a"}, "a row of a"),
        ({"type": "string", "pattern": "^a+$"}, "a string, /^a+$/"),
        ({"enum": ["a", 1, None]}, '"a", 1 or null'),
        ({"const": {"a": 1}}, '{"a": 1}'),
        ({"type": "array", "items": {}, "minItems": 2}, "a list, at least 2 items"),
        ({"type": "object", "properties": {}, "required": ["a", "b"]}, "an object with a and b"),
        ({"type": "boolean"}, "true or false"),
        ({"type": "object", "minProperties": 2}, ""),  # which words would not say
        ({"type": ["string", "null"]}, ""),
    ],
)
def test_what_a_value_has_to_be(node: dict[str, Any], words: str) -> None:
    assert value_words(node) == words


@pytest.mark.parametrize(
    ("pointer", "name"),
    [
        ("#", "the value"),
        ("#/properties/a/items/properties/b-c", 'a[]["b-c"]'),
        ("#/$defs/Invoice/properties/items/prefixItems/1", "Invoice.items[1]"),
        ("#/$defs/A/properties/b/anyOf/0", "A.b"),
        ("#/$defs/a~1b/additionalProperties", "a/b[*]"),
    ],
)
def test_what_a_value_is_called(pointer: str, name: str) -> None:
    assert value_name(pointer) == name


@dataclass
class Item:
    name: str
    price: float


@dataclass
class Invoice:
    issued: date
    items: list[Item]
    note: str | None = None


def search(query: str, limit: int = 3) -> None:
    """A tool."""


def test_types_and_tools_are_explained_in_their_author_s_names() -> None:
    grammar = Grammar.from_type(Invoice)
    explained = grammar.explain('{"issued": "2024-x')
    assert explained.schema == ("Invoice.issued: a date", "Invoice: an object with issued and items")
    assert explained.reason == '"x" cannot follow \'"2024-\'; expected a date for Invoice.issued'
    assert "expected a date" in str(grammar.explain('{"issued": 3'))
    assert "STRING_PATTERN" not in str(grammar.explain('{"issued": "2024-01-01", "items": 3'))
    assert grammar.explain('{"issued": "2024-01-01", "items": [{"name": 3').schema[0] == "Item.name: a string"
    assert grammar.explain('{"issued": "2024-01-01", "items": [], "note": 3').schema[0] == (
        "Invoice.note: a string or null"
    )
    other = grammar.explain('{"issued": "2024-01-01", "other": ')
    assert 'Invoice has no member "other"' in other.reason
    assert other.schema[0] == "Invoice: no other member"
    tools = Grammar.from_tools([search])
    assert tools.explain('{"name": "search", "arguments": {"query": 3').schema[0] == "search.query: a string"


def test_a_matcher_says_which_value_it_stands_in() -> None:
    matcher = compile(Grammar.from_type(Invoice), Vocabulary.bytes()).matcher()
    matcher.accept_bytes(b'{"issued": "2024-')
    assert repr(matcher).endswith(", in Invoice.issued>")
    tools = compile(Grammar.from_tools([search]), Vocabulary.bytes()).matcher()
    tools.accept_bytes(b'{"name": "search", "arguments": {"query": "')
    assert repr(tools).endswith(", in search.query>")


def test_a_type_is_drawn_in_its_author_s_names() -> None:
    drawn = str(Grammar.from_type(Invoice).draw())
    for words in ("the type", "Invoice", "Item", ">date<"):
        assert words in drawn
    assert "#/$defs" not in re.sub(r"<title>.*?</title>|<desc.*?</desc>", "", drawn, flags=re.DOTALL)


@pytest.mark.parametrize("pattern", [r"\d", r"^[A-Z]{2}-\d{4}$", r"\x41", r"^\w+\\$", "^\\n$"])
def test_a_pattern_may_have_backslashes(pattern: str) -> None:
    grammar = Grammar.from_json_schema({"properties": {"n": {"type": "string", "pattern": pattern}}})
    explained = grammar.explain('{"n": 1')
    assert explained.schema[0] == f"n: a string, /{pattern}/"
    assert not explained.allowed
    assert not grammar.explain('{"n": [').allowed
