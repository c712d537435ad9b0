"""What is said of a schema that is read on demand against what is said of the whole: errors, warnings, their order."""

from __future__ import annotations

import gzip
import json
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.on_demand import WORDS, compare
from support.scaling import scaled

import pdacon
from pdacon import Grammar, Spelling
from pdacon.front.stages import compiled
from pdacon.frontends.json_schema import Schema

CASES = sorted((Path(__file__).parents[4] / "shared" / "data" / "maskbench").glob("*.jsonl.gz"))
DRAFT_4 = {"$schema": "http://json-schema.org/draft-04/schema#"}
DRAFT_7 = {"$schema": "http://json-schema.org/draft-07/schema#"}
DRAFT_2019 = {"$schema": "https://json-schema.org/draft/2019-09/schema"}
NEVER = {"type": "string", "enum": [1]}
OPEN = {"type": "object", "additionalProperties": {"type": "integer"}}


def said(schema: Any, *, at_once: bool, **options: Any) -> tuple[str, list[str]]:
    """The error, if there is one, and the warnings of a schema; all that can be said, or what is said before a text."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            if at_once:
                Schema(schema, **options).grammar()
            else:
                Grammar.from_json_schema(schema, **options)
            error = ""
        except pdacon.PdaconError as refused:
            error = f"{type(refused).__name__}: {refused}"
    return error, [f"{one.category.__name__}: {one.message}" for one in caught]


def is_on_demand(schema: Any, **options: Any) -> bool:
    return Schema(schema, **options).may_be_read_on_demand()


@pytest.mark.skipif(not CASES, reason="the schemas of MaskBench are not here")
def test_the_same_is_said_of_real_schemas() -> None:
    on_demand = count = 0
    for path in CASES:
        with gzip.open(path, "rt") as lines:
            cases = [json.loads(line) for _, line in zip(range(scaled(12)), lines, strict=False)]
        for case in cases:
            schema = case["schema"]
            count += 1
            expected = said(schema, at_once=True)
            if "productions" in expected[0]:  # what is read on demand has no whole to begin with
                assert "productions" not in said(schema, at_once=False)[0], case["name"]
            else:
                assert said(schema, at_once=False) == expected, case["name"]
            on_demand += is_on_demand(schema)
    assert on_demand > 0.9 * count


ON_DEMAND: list[Any] = [
    {"properties": {"a": {"type": "string", "minLength": 2, "maxLength": 3}, "b": {"type": "integer", "minimum": 5,
     "maximum": 5}, "c": {"type": "number", "maximum": 0}, "d": {"maxLength": 2.0}}, "required": ["a", "b"]},
    {"properties": {"a": {"type": "array", "items": {"type": "string", "maxLength": 2}}, "b": {"items": {}}}},
    {"allOf": [{"properties": {"a": {"type": "string", "maxLength": 3}}},
     {"properties": {"a": {"type": "string", "minLength": 3}}, "required": ["a"]}]},
    {"type": "string", "nullable": True},
    {"properties": {"a": {"maxLenght": 3}, "b": {"type": "string", "format": "datetime"}}},
    {"properties": {"a": {"type": "string", "format": "int32"}, "b": {"type": "string", "minimum": "x"}}},
    {**DRAFT_4, "properties": {"a": {"required": True, "type": "string", "format": "date"}}},
    {**DRAFT_7, "definitions": {"a": {"type": "null"}}, "$ref": "#/definitions/a", "minLength": 2},
    {"$defs": {"unused": {"type": "strin", "maxLenght": 1, "$ref": "#/nowhere"}}, "type": "integer"},
    {"type": "string", "properties": {"a": {"maxLenght": 1}}},
    {"properties": {name: {"type": "string", "titel": "x", "maxLenght": 1} for name in "ab"}},
    {"allOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"a": {"maxLength": 3}}, "required": ["a"]}]},
    {"properties": {"a": {"type": "integer"}, "b": {"$ref": "#/properties/a", "minimum": 3}}},
    {"oneOf": [{"type": "null"}, {"type": "object", "properties": {"a": {"type": "string"}}}]},
    {"oneOf": [{"required": ["a"]}, {"required": ["b"]}], "properties": {"a": {}, "b": {"type": "integer"}}},
    {"if": {"properties": {"a": {"const": 1}}}, "then": {"required": ["b"]}, "else": {"required": ["c"]}},
    {"not": {"required": ["a"]}, "type": "object"},
    {"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"b": {"required": ["c"]}}},
    {**DRAFT_7, "dependencies": {"a": ["b"], "b": {"properties": {"c": {"type": "string"}}}}},
    {"dependencies": {"a": ["b"]}},
    {"type": "array", "uniqueItems": True, "items": {"enum": [1, [2], {"a": 3}]}},
    {"minProperties": 1, "type": "object"},
    {"maxProperties": 1, "type": "object"},
    {"minProperties": 2, "required": ["a"], "type": "object"},
    {"multipleOf": 0.25, "maximum": 7.5},
    {"propertyNames": {"pattern": "^[a-c]+$"}, "additionalProperties": {"type": "integer"}},
    {"contains": {"type": "string"}, "minContains": 2, "maxContains": 3},
    {"prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False, "minItems": 1},
    {**DRAFT_7, "items": [{"type": "string"}], "additionalItems": {"type": "null"}},
    {"items": [{"type": "string"}], "additionalItems": {"type": "null"}},
    {"properties": {"a": {}}, "patternProperties": {"^x": {"type": "string"}}, "unevaluatedProperties": False},
    {"prefixItems": [{"type": "string"}], "unevaluatedItems": {"type": "integer"}},
    {"unevaluatedProperties": False, "anyOf": [{"properties": {f"a{k % 5}": {"maximum": k}}} for k in range(12)]},
    {"const": {"a": [1.5, 2]}},
    {"enum": [1.50, [1], {"b": None}, "x"]},
    {"type": "string", "format": "date", "maxLength": 10},
    {"type": "string", "pattern": "^[a-z]+$", "minLength": 3, "maxLength": 9},
    {"type": "string", "maxLength": 5000},
    {"$anchor": "top", "properties": {"a": {"$ref": "#inner"}}, "$defs": {"x": {"$anchor": "inner", "type": "null"}}},
    {"$id": "https://x.y/a", "properties": {"b": {"$id": "b", **DRAFT_4, "exclusiveMinimum": True, "minimum": 1}}},
    {"properties": {"children": {"type": "array", "items": {"$ref": "#"}}, "parent": {"anyOf": [{"type": "null"},
     {"$ref": "#"}]}}},
    {"$dynamicAnchor": "node", "properties": {"next": {"$dynamicRef": "#node"}}},
    {**DRAFT_2019, "$recursiveAnchor": True, "properties": {"next": {"$recursiveRef": "#"}}},
    {"type": ["object", "null"], "discriminator": {"propertyName": "k"},
     "oneOf": [{"properties": {"k": {"type": "string"}}, "required": ["k"]}, {"type": "null"}]},
    {"properties": {"k": {"const": "a"}, "l": {"type": "string", "const": "b"}, "m": {"const": 1}}, "required": ["k"]},
    {"properties": {"a": {"$ref": "#/$defs/a"}}, "required": ["a"], "type": "object", "$defs": {
     "a": {"$ref": "#/$defs/b"}, "b": {"type": "object", "properties": {"c": {"const": "x"}, "d": {"type": "object",
     "properties": {"e": {"$ref": "#/$defs/c"}}, "required": ["e"]}}, "required": ["c", "d"]}, "c": {"enum": ["y"]}}},
]  # fmt: skip
AT_ONCE: list[Any] = [
    False,
    {"type": "string", "enum": [1]},
    {"properties": {"a": NEVER}},
    {"properties": {"a": NEVER}, "required": ["a"]},
    {"allOf": [{"properties": {"a": {"type": "null"}}}, {"properties": {"a": {"type": "integer"}}}]},
    {"allOf": [{"properties": {"a": {"properties": {"b": {"type": "null"}}}}},
               {"properties": {"a": {"properties": {"b": {"type": "integer"}}}}}]},
    {"properties": {"a": {"properties": {"b": {"minimum": 1, "type": "string"}, "c": {"type": "string",
     "pattern": "^x$", "minLength": 3}}}}},
    {"anyOf": [{"type": "null"}, {"properties": {"a": {"type": "integer"}}, "type": "object"}],
     "properties": {"a": {"type": "string"}}},
    {"$ref": "#/nowhere"},
    {"properties": {"a": {"type": "strin"}}},
    {"properties": {"a": 3}},
    {"items": {"minLength": -1}},
    {"anyOf": []},
    {"enum": "a"},
    {"pattern": "("},
    {"pattern": "^(a|b)*a(a|b){20}$"},
    {"properties": {"a": {"type": "string", "pattern": "(?<=x)y"}}},
    {"patternProperties": {"^(a|b)*a(a|b){20}$": {}}},
    {"type": "string", "format": "idn-hostname"},
    {"type": "string", "maxLength": 20_000_000},
    {"type": "array", "maxItems": 1_000_000},
    {"multipleOf": 0.123456789},
    {"uniqueItems": True},
    {"type": "array", "uniqueItems": True, "items": {"type": "object"}},
    {"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "null"}]}}},
    {"allOf": [{"$ref": "#"}]},
    {"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"type": "array", "items": {"$ref": "#/$defs/a"},
     "minItems": 1}}},
    {**OPEN, "minProperties": 2},
    {"items": {"not": {"maxProperties": 1}, "type": "object"}},
    {"if": {"maxProperties": 1}, "then": {"required": ["a"]}, "else": {"type": "object"}},
    {"contains": {**OPEN, "maxProperties": 2}},
    {"items": {"type": "object", "maxProperties": 2, "properties": {"a": NEVER}}, "contains": {"type": "object"}},
    {"dependentRequired": {"a": "b"}},
    {"prefixItems": {"type": "integer"}},
    {"properties": {"a": {"type": "string", "minLength": 3, "maxLength": 2}}, "required": ["a"]},
    {"properties": {"a": {"type": "integer", "minimum": 3, "maximum": 2}}},
    {"properties": {"a": {"type": "string", "minLength": "x"}}},
    {"properties": {"a": {"type": "string", "maxLength": 20_000_000}}},
    {"properties": {"a": {"type": "array", "items": {"type": "integer", "minimum": "1"}}}},
    {"properties": {"a": {"type": "array", "items": {"type": "array", "items": {"type": "strin"}}}}},
    {"properties": {"a": {"enum": ["x"], "format": "date"}}, "required": ["a"]},
    {"properties": {"a": {"type": "string", "maxLength": True}}},
    {"properties": {"a": {"type": "integer", "const": "x"}}, "required": ["a"]},
    {**DRAFT_4, "properties": {"a": {"type": "integer", "const": "x"}, "b": {"const": "x", "type": "strin"}}},
    {"properties": {"a": {"$ref": "#/$defs/a"}}, "required": ["a"], "type": "object", "$defs": {"a": {"type": "object",
     "properties": {"b": {"type": "object", "properties": {"c": {"$ref": "#/$defs/a"}}, "required": ["c"]}},
     "required": ["b"]}}},
    {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "required": ["a"], "$defs": {"a": {"type": "object",
     "properties": {"b": NEVER}, "required": ["b"]}}},
    {"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {}}, "required": ["c"],
     "additionalProperties": False}}, "required": ["a"]},
]  # fmt: skip


@pytest.mark.parametrize("schema", ON_DEMAND)
def test_the_same_is_said_on_demand(schema: Any) -> None:
    assert said(schema, at_once=False) == said(schema, at_once=True)
    assert is_on_demand(schema)


@pytest.mark.parametrize("options", [{}, {"closed": True}, {"formats": False}, {"lax": True}], ids=str)
@pytest.mark.filterwarnings("ignore::pdacon.GrammarWarning")
def test_the_same_is_read_on_demand(options: dict[str, Any]) -> None:
    compared = 0
    for schema in ON_DEMAND:
        try:
            grammar = Grammar.from_json_schema(schema, **options)
        except pdacon.PdaconError:
            continue
        constraint = pdacon.compile(grammar, WORDS)
        if constraint.matcher()._is_nested():
            whole = compiled(grammar.data, WORDS)
            compared += sum(compare(constraint, whole, Random(seed), 20) for seed in range(8))
    assert compared > 30 * len(ON_DEMAND)


def test_other_documents_are_read_on_demand() -> None:
    schema = {"properties": {"a": {"$ref": "https://x.y/z#/$defs/b"}}, "required": ["a"]}
    registries = [{"https://x.y/z": {"$defs": {"b": {"type": kind}}}} for kind in ("integer", "string")]
    cache = pdacon.CompileCache()
    for _ in range(2):
        first, second = (
            cache.compile(Grammar.from_json_schema(schema, registry=registry), WORDS) for registry in registries
        )
        assert first.matcher()._is_nested()
        assert [first.accepts(text) for text in ('{"a": 1}', '{"a": "x"}')] == [True, False]
        assert [second.accepts(text) for text in ('{"a": 1}', '{"a": "x"}')] == [False, True]
    assert cache.statistics()["misses"] == 2


def test_a_cache_tells_ways_of_reading_apart() -> None:
    cache, schema = pdacon.CompileCache(), {"properties": {"a": {"type": "string", "format": "date"}}}
    texts = ['{"b": 1}', '{"a": "x"}', '{"a": "2024-01-31"}']
    for options, taken in (({}, [1, 0, 1]), ({"closed": True}, [0, 0, 1]), ({"formats": False}, [1, 1, 1])):
        constraint = cache.compile(Grammar.from_json_schema(schema, **options), WORDS)  # type: ignore[arg-type]
        assert [constraint.accepts(text) for text in texts] == list(map(bool, taken))


def test_threads_may_share_a_grammar() -> None:
    """Doubts are settled once, and what settled them is handed to one compilation only."""
    for _ in range(20):
        schema = {"oneOf": [{"required": [name], "properties": {name: {"pattern": "^a+$", "maxLength": 9}}}
                            for name in "abc"], "type": "object"}  # fmt: skip
        grammar = Grammar.from_json_schema(schema)
        with ThreadPoolExecutor(4) as threads:
            made = list(threads.map(lambda _, own=grammar: pdacon.compile(own, WORDS), range(4)))  # type: ignore[misc]
        assert all(one.accepts('{"b": "aa"}') and not one.accepts('{"b": "ab"}') for one in made)


@pytest.mark.parametrize("schema", AT_ONCE)
def test_what_is_to_be_said_is_said_at_once(schema: Any) -> None:
    error, told = said(schema, at_once=True)
    assert error or told
    assert said(schema, at_once=False) == (error, told)
    assert said({"items": schema}, at_once=False) == said({"items": schema}, at_once=True)


@pytest.mark.parametrize("schema", [*ON_DEMAND, *AT_ONCE])
@pytest.mark.parametrize(
    "options",
    [
        {"lax": True}, {"closed": True}, {"formats": False}, {"spelling": Spelling("any")},
        {"spelling": Spelling(order="any")}, {"spelling": Spelling("indent")},
        {"spelling": Spelling(escapes="any", numbers="canonical")},
    ],
    ids=["lax", "closed", "formats", "blanks", "any order", "indent", "escapes"],
)  # fmt: skip
def test_the_same_is_said_with_options(schema: Any, options: dict[str, Any]) -> None:
    assert said(schema, at_once=False, **options) == said(schema, at_once=True, **options)


def test_notes_are_told_once_and_stand_in_unenforced() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        grammar = Grammar.from_json_schema({"properties": {"a": {"nullable": True}, "b": {"type": "string"}}})
        assert len(caught) == 1
        assert caught[0].filename == __file__
        assert [one[:2] for one in grammar.unenforced] == [("#/properties/a", "nullable")]
    assert len(caught) == 1


COUNTS = {"type": "object", "minProperties": 1, "maxProperties": 0}
NAMED = {"additionalProperties": False, "properties": {"a": True, "b": True, "c": True}}


@pytest.mark.parametrize("never", [COUNTS, {"allOf": [{"minProperties": 1}, {"type": "object", "maxProperties": 0}]}])
def test_counts_that_no_object_has_leave_no_dead_end(never: dict[str, Any]) -> None:
    for schema in (never, {"required": ["x"], "properties": {"x": never}, "type": "object"}):
        with pytest.raises(pdacon.EmptyLanguageError):
            Grammar.from_json_schema(schema)
    with pytest.warns(pdacon.GrammarWarning, match='no value satisfies "x", so that it never comes'):
        grammar = Grammar.from_json_schema({"type": "object", "properties": {"x": never}})
    matcher = pdacon.compile(grammar, pdacon.Vocabulary.bytes()).matcher()
    assert not matcher.accept('{"x": ')


def test_more_members_than_there_may_be() -> None:
    with pytest.raises(pdacon.EmptyLanguageError):
        Grammar.from_json_schema({**NAMED, "type": "object", "minProperties": 3, "maxProperties": 2})
