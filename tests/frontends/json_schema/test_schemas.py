"""What a schema's grammar accepts beyond what random schemas reach: order, spelling, references, hostile schemas."""

from __future__ import annotations

import itertools
import json
import re
import sys
import time
from functools import partial
from threading import Event
from typing import Any

import jsonschema
import pytest

import pdacon
from pdacon import (
    CancelledError,
    EmptyLanguageError,
    Grammar,
    LimitExceededError,
    Spelling,
    UnsupportedSchemaError,
    Vocabulary,
)

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0, "maximum": 120}},
    "required": ["name"],
}


def constraint(schema: Any, **options: Any) -> pdacon.Constraint:
    return pdacon.compile(Grammar.from_json_schema(schema, **options), Vocabulary.bytes())


def test_members_come_in_the_order_of_the_schema_and_others_anywhere() -> None:
    accepts = constraint(PERSON).accepts
    assert accepts('{"name": "Ann", "age": 34}')
    assert accepts('{"x": 1, "name": "Ann", "y": {}, "age": 34, "z": null}')
    assert not accepts('{"age": 34, "name": "Ann"}')
    assert not accepts('{"name": "Ann", "name": "Bob"}')
    assert not accepts('{"name": "Ann", "age": 121}')
    assert not accepts('{"name": "Ann", "age": 34, "age": 35}')


def test_in_any_order_no_listed_name_comes_twice() -> None:
    accepts = constraint(PERSON, spelling=Spelling(order="any")).accepts
    assert accepts('{"age": 34, "name": "Ann"}')
    assert accepts('{"age": 34, "x": 0, "name": "Ann"}')
    assert not accepts('{"age": 34}')
    assert not accepts('{"name": "Ann", "age": 34, "name": "Bob"}')


def test_names_that_are_only_required_come_anywhere_and_once() -> None:
    accepts = constraint({"type": "object", "required": ["b", "a"], "properties": {"c": {}, "d": {}}}).accepts
    for names in itertools.permutations("abcd"):
        text = ", ".join(f'"{name}": 0' for name in names)
        assert accepts(f"{{{text}}}") == (names.index("c") < names.index("d"))
    assert not accepts('{"b": 1, "a": 2, "b": 1}')
    assert not accepts('{"b": 1, "c": 2}')


def test_two_schemas_in_different_orders_are_merged() -> None:
    one = {"properties": {"type": {"const": 1}, "x": {}}, "required": ["type", "x"]}
    other = {"properties": {"y": {}, "type": {"const": 2}}, "required": ["y", "type"]}
    accepts = constraint({"type": "object", "oneOf": [one, other]}).accepts
    assert accepts('{"type": 1, "x": 0}')
    assert accepts('{"y": 0, "type": 2}')


@pytest.mark.parametrize(
    ("spelling", "text"),
    [
        (Spelling(), '{"name": "Ann", "age": 34}'),
        (Spelling(whitespace="compact"), '{"name":"Ann","age":34}'),
        (Spelling(whitespace="any"), '{\n  "name": "Ann",\n  "age" :34\n}'),
    ],
)
def test_whitespace(spelling: Spelling, text: str) -> None:
    accepts = constraint(PERSON, spelling=spelling).accepts
    assert accepts(text)
    assert accepts('{"name": "Ann", "age": 34}') is (spelling.whitespace != "compact")
    assert not accepts('{ "name":"Ann"}') or spelling.whitespace == "any"
    assert not accepts('{"name"' + " " * 17 + ':"Ann"}')


@pytest.mark.parametrize("options", [{"whitespace": "tabs"}, {"order": "random"}, {"max_blanks": -1}])
def test_a_spelling_says_what_it_takes(options: Any) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        Spelling(**options)


@pytest.mark.parametrize(
    "open_names",
    [
        {"propertyNames": {"enum": ["b", "a"]}},
        {"patternProperties": {"^[ab]$": True}, "additionalProperties": False},
        {"propertyNames": {"pattern": "^(?:b|a)$"}},
    ],
)
def test_names_that_are_few_come_once(open_names: dict[str, Any]) -> None:
    grammar = Grammar.from_json_schema(
        {"type": "object", **open_names, "minProperties": 2}, spelling=Spelling(order="any")
    )
    assert grammar.accepts('{"a": 1, "b": 2}')
    assert grammar.accepts('{"b": 1, "a": 2}')
    for text in ('{"a": 1, "a": 2}', '{"a": 1}', '{"a": 1, "b": 2, "a": 3}', '{"c": 1, "a": 2}'):
        assert not grammar.accepts(text)
    with pytest.raises(EmptyLanguageError):
        Grammar.from_json_schema({"type": "object", **open_names, "minProperties": 3})


@pytest.mark.parametrize(
    "names",
    [{"propertyNames": {"enum": ["b", "a"]}}, {"patternProperties": {"^(b|a)$": {}}, "additionalProperties": False}],
)
def test_few_names_come_anywhere_and_once(names: dict[str, Any]) -> None:
    accepts = Grammar.from_json_schema({"type": "object", **names}).accepts
    assert accepts('{"b": 1, "a": 2}')
    assert accepts('{"a": 1, "b": 2}')
    assert not accepts('{"a": 1, "b": 2, "a": 3}')
    assert not accepts('{"c": 1}')


MANY = {
    "minProperties": 1,  # so that it is not read on demand
    "anyOf": [
        {"type": "object", "properties": {f"k{k}": {"type": "integer"}}, "required": [f"k{k}"]} for k in range(2_000)
    ],
}


def test_a_schema_can_be_given_up() -> None:
    at_once = Spelling(excludes=["<|"])  # with which no schema is read on demand
    with pytest.raises(LimitExceededError, match="seconds"):
        Grammar.from_json_schema(MANY, spelling=at_once, seconds=0.02)
    with pytest.raises(LimitExceededError, match="seconds"):
        pdacon.CompileCache().compile_schema(
            MANY, Vocabulary.bytes(), spelling=at_once, limits=pdacon.Limits(seconds=0.02)
        )
    event = Event()
    event.set()
    with pytest.raises(CancelledError):
        Grammar.from_json_schema(MANY, cancel=event)
    assert Grammar.from_json_schema({"const": 1}, seconds=60.0, cancel=Event()).accepts("1")


def test_references_recursion_and_a_registry() -> None:
    tree = {
        "$id": "https://example.com/tree",
        "type": "object",
        "properties": {"value": {"$ref": "value#/$defs/small"}, "left": {"$ref": "#"}},
        "additionalProperties": False,
    }
    value = {"$id": "https://example.com/value", "$defs": {"small": {"type": "integer", "maximum": 9}}}
    with pytest.raises(UnsupportedSchemaError, match="in another document; nothing is fetched: give it with registry="):
        Grammar.from_json_schema(tree)
    accepts = constraint(tree, registry={"https://example.com/value": value}).accepts
    assert accepts('{"value": 9, "left": {"left": {}}}')
    assert not accepts('{"value": 10}')
    assert not accepts('{"left": {"right": {}}}')


def test_drafts_differ() -> None:
    old = {"$schema": "http://json-schema.org/draft-04/schema#", "maximum": 5, "exclusiveMaximum": True}
    assert not constraint(old).accepts("5")
    assert constraint({**old, "$schema": "http://json-schema.org/draft-07/schema#", "exclusiveMaximum": 9}).accepts("5")
    with pytest.raises(UnsupportedSchemaError, match="is no draft of JSON Schema that pdacon knows"):
        Grammar.from_json_schema({"$schema": "https://example.com/mine"})


NAMELESS = {"propertyNames": {"const": []}}


@pytest.mark.parametrize(
    "schema",
    [
        NAMELESS,
        {"not": NAMELESS},
        {"anyOf": [NAMELESS, {"required": ["b"]}]},
        {"if": {"required": ["b"]}, "then": NAMELESS},
        {"dependentSchemas": {"a": {"propertyNames": False}}},
        {"additionalProperties": {"not": NAMELESS}},
    ],
)
def test_names_that_no_text_has(schema: Any) -> None:
    """Only the empty object has no name that breaks such a rule."""
    grammar = Grammar.from_json_schema({"type": "object", **schema})
    for value in ({}, {"a": 1}, {"b": {}}, {"b": {"a": 1}}, {"a": 1, "b": 2}):
        assert grammar.accepts(json.dumps(value)) == jsonschema.Draft202012Validator(schema).is_valid(value)


def test_a_schema_without_a_value_is_refused() -> None:
    with pytest.raises(EmptyLanguageError, match="no value satisfies the schema"):
        Grammar.from_json_schema({"type": "string", "enum": [1]})


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ('{"type": "string", "const": 123456789.123456789}', "const 123456789.123456789"),
        ('{"type": "string", "const": 1e400}', "const 1e400"),
        ('{"type": "integer", "minimum": 123456789.123456789, "maximum": 1}', "minimum 123456789.123456789, maximum 1"),
        ('{"type": "string", "enum": [[123456789.123456789]]}', "enum [[123456789.12345679]]"),
    ],
)
def test_numbers_that_no_float_is_are_shown(schema: str, said: str) -> None:
    with pytest.raises(EmptyLanguageError) as caught:
        Grammar.from_json_schema(schema)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("schema", "pointer", "keyword"),
    [
        ({"type": "strng"}, "#", "type"),
        ({"properties": {"a": 3}}, "#/properties/a", ""),
        ({"items": {"anyOf": []}}, "#/items", "anyOf"),
        ({"required": "a"}, "#", "required"),
        ({"minLength": -1}, "#", "minLength"),
        ({"$ref": "#/$defs/missing"}, "#", "$ref"),
        ({"$ref": "#"}, "#", ""),
        ({"allOf": [{"$ref": "#"}]}, "#", ""),
        ({"type": "array", "uniqueItems": True}, "#", "uniqueItems"),
        ("{", "#", ""),
    ],
)
def test_what_is_refused_names_the_place(schema: Any, pointer: str, keyword: str) -> None:
    with pytest.raises(UnsupportedSchemaError) as caught:
        Grammar.from_json_schema(schema)
    assert (caught.value.pointer, caught.value.keyword) == (pointer, keyword)


def test_what_is_left_out_is_recorded() -> None:
    grammar = Grammar.from_json_schema({"type": "array", "uniqueItems": True, "maxItems": 2}, lax=True)
    assert [(pointer, keyword) for pointer, keyword, _ in grammar.unenforced] == [("#", "uniqueItems")]
    assert grammar.accepts("[1, 1]")
    assert not grammar.accepts("[1, 1, 1]")


def nested(depth: int) -> Any:
    schema: Any = {"type": "integer"}
    for _ in range(depth):
        schema = {"type": "array", "items": schema}
    return schema


@pytest.mark.parametrize(
    ("schema", "valid", "invalid"),
    [
        (nested(300), "[" * 300 + "1" + "]" * 300, "[1]"),
        ({"enum": [f"value {k}" for k in range(10_000)]}, '"value 9999"', '"value 10000"'),
        (
            {"type": "object", "properties": {f"name_{k}": {"type": "integer"} for k in range(1000)}},
            '{"name_3": 1, "name_999": 2}',
            '{"name_999": 1, "name_3": 2}',
        ),
        (
            {
                "oneOf": [
                    {"properties": {"t": {"const": k}, f"p{k}": {}}, "required": ["t", f"p{k}"]} for k in range(50)
                ]
            },
            '{"t": 47, "p47": null}',
            '{"t": 47, "p48": null}',
        ),
        ({"anyOf": [{"type": "string", "minLength": k} for k in range(50)]}, '""', "3"),
        (
            {"allOf": [{"anyOf": [{"required": [f"a{k}"]}, {"required": [f"b{k}"]}]} for k in range(5)]},
            '{"a0": 1, "b1": 2, "a2": 3, "b3": 4, "a4": 5}',
            '{"a0": 1, "b1": 2, "a2": 3, "b3": 4}',
        ),
    ],
    ids=["deep", "enum", "properties", "oneOf", "anyOf", "combinations"],
)
def test_large_schemas(schema: Any, valid: str, invalid: str) -> None:
    started = time.process_time()
    accepts = constraint(schema).accepts
    assert accepts(valid)
    assert not accepts(invalid)
    assert time.process_time() - started < 30  # minutes are a fault; what it takes is in docs/benchmarks.md


@pytest.mark.parametrize(
    "schema",
    [
        nested(5_000),
        {"type": "array", "maxItems": 10**6},
        {"pattern": "^(a|b)*a(a|b){20}$"},
        {"multipleOf": 0.123456789},
        {"allOf": [{"pattern": f"{chr(97 + k % 26)}{k}"} for k in range(200)]},
    ],
    ids=["deep", "items", "pattern", "multiple", "patterns"],
)
def test_what_is_too_large_is_refused_in_time(schema: Any, request: pytest.FixtureRequest) -> None:
    # How deep is too deep is Python's to say, and Hypothesis says otherwise for its own tests.
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    request.addfinalizer(partial(sys.setrecursionlimit, before))
    started = time.process_time()
    with pytest.raises((UnsupportedSchemaError, pdacon.LimitExceededError)):
        constraint(schema)
    assert time.process_time() - started < 30


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "object", "properties": {"a": {"allOf": [{"type": "null"}, {"type": "string"}]}}, "required": ["a"]},
         'the member "a" is required, and no value satisfies #/properties/a(\n|$)'),
        ({"$ref": "#/$defs/x", "$defs": {"x": {"properties": {"b": {"$ref": "#/$defs/y"}}, "required": ["c", "b"],
         "type": "object"}, "y": {"type": "object", "required": ["d"], "properties": {"d": False}}}},
         'the member "d" is required, and no value satisfies #/\\$defs/y/properties/d(\n|$)'),
        (False, "no value satisfies the schema: # is false(\n|$)"),
        ({"type": "array", "minItems": 2, "maxItems": 1},
         "the schema: # asks for type .array., minItems 2, maxItems 1(\n|$)"),
        ({"type": "object", "oneOf": [{}, {}]}, 'asks for type "object", exactly one of the 2 in oneOf(\n|$)'),
        ({"allOf": [{"type": "string"}, {"type": "integer"}]}, "# asks for all of the 2 in allOf(\n|$)"),
        ({"anyOf": [False, False]}, "# asks for any of the 2 in anyOf(\n|$)"),
        ({"not": {"not": {"not": {}}}}, '# asks for not {"not": {"not": {}}}(\n|$)'),
        ({"$ref": "#/$defs/a", "$defs": {"a": False}}, '# asks for \\$ref "#/\\$defs/a"(\n|$)'),
        ({"if": {"type": "string"}, "then": False, "else": {"not": {}}}, "for then false, if ..., else ...(\n|$)"),
    ],
)  # fmt: skip
def test_the_member_that_cannot_be_is_named(schema: Any, said: str) -> None:
    with pytest.raises(EmptyLanguageError, match=said):
        Grammar.from_json_schema(schema)


@pytest.mark.parametrize(
    ("kind", "said"), [("str", "did you mean string?"), ("Object", 'write "object"'), ("x", "null,")]
)
def test_the_type_that_may_be_meant(kind: str, said: str) -> None:
    with pytest.raises(UnsupportedSchemaError, match=re.escape(said)):
        Grammar.from_json_schema({"type": kind})


def test_a_grammar_of_a_schema_says_so() -> None:
    assert repr(Grammar.from_json_schema({})).startswith("<Grammar from a JSON Schema: ")


def test_a_schema_survives_pickling_and_artifacts() -> None:
    import pickle

    grammar = Grammar.from_json_schema(PERSON)
    again = pickle.loads(pickle.dumps(grammar))
    assert again == grammar
    assert again.fingerprint == grammar.fingerprint
    made = pdacon.compile(grammar, Vocabulary.bytes())
    loaded = pdacon.Constraint.from_bytes(made.to_bytes(), Vocabulary.bytes(), grammar=grammar)
    assert loaded.accepts('{"name": "Ann"}')
    assert pdacon.Constraint.from_bytes(made.to_bytes(), Vocabulary.bytes()).grammar == grammar
    assert json.loads(grammar.data.source) == PERSON
