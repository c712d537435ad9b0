"""Members that are counted beside alternatives: read on demand where nothing of it can be refused in mid-text."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from itertools import product
from random import Random
from typing import Any

import jsonschema
import pytest
from support.on_demand import WORDS, both, compare
from support.scaling import scaled

import pdacon
from pdacon import Grammar, Vocabulary
from pdacon.errors import UnsupportedSchemaError
from pdacon.front.compiled import Compiled
from pdacon.frontends.json_schema.schema import Schema

PACKAGE = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "boolean"}}, "required": ["a"]}
FEW = {"type": "object", "additionalProperties": {"enum": [False]}, "minProperties": 1, "maxProperties": 1}
REPOSITORIES = {"type": "object", "properties": {"c": {"type": "array", "items": {"oneOf": [PACKAGE, FEW]}}}}
ON_DEMAND: list[Any] = [
    REPOSITORIES,
    {"oneOf": [PACKAGE, FEW]},
    {"anyOf": [{"type": "object", "required": ["a"]}, FEW]},
    {"properties": {"c": FEW}, "type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
    {"allOf": [{"properties": {"c": FEW}}, {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}], "type": "object"},
    {"properties": {"c": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"oneOf": [PACKAGE, FEW]}}]}}},
    {
        "oneOf": [
            {"properties": {"c": {"type": "array", "items": {"oneOf": [PACKAGE, FEW]}}}, "required": ["c"]},
            {"properties": {"c": {"type": "integer"}}, "required": ["c"]},
            {"additionalProperties": False, "required": ["a"], "properties": {"a": {"type": "integer"}}},
        ],
        "type": "object",
    },
    {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "additionalProperties": {"anyOf": [{"$ref": "#/$defs/any"}, FEW]},
        "oneOf": [{"required": ["a"]}, FEW],
        "$defs": {"any": {"description": "says nothing"}},
    },
]
TOLD_AT_ONCE: list[Any] = [
    {"type": "object", "properties": {"c": {"not": FEW}}},
    {"oneOf": [{"type": "object"}, FEW]},
    {"anyOf": [{"properties": {"c": FEW}, "required": ["c"]}, {"required": ["d"]}], "type": "object"},
    {"anyOf": [{"properties": {"c": FEW}}, {"properties": {"c": {"type": "object"}}, "required": ["d"]}]},
    {"anyOf": [{"properties": {"c": {"items": FEW}}}, {"additionalProperties": {"items": {"type": "object"}}}]},
]


@pytest.mark.parametrize("schema", ON_DEMAND)
def test_they_are_read_on_demand_as_a_whole_would_be(schema: Any) -> None:
    made = both(schema, WORDS)
    assert made is not None
    for seed in range(8):
        compare(*made, Random(seed), 60)


@pytest.mark.parametrize("schema", ON_DEMAND)
def test_values_are_those_of_a_validator(schema: Any) -> None:
    constraint = pdacon.compile(Grammar.from_json_schema(schema), Vocabulary.bytes())
    valid = jsonschema.Draft202012Validator(schema).is_valid
    inner: list[Any] = [{}, {"a": 1}, {"x": False}, {"x": False, "y": False}, {"a": False}, {"a": 1, "b": 2}, 1]
    values = [
        *inner,
        *({"c": value} for value in inner),
        *({"c": [one, other]} for one, other in product(inner, inner)),
    ]
    values += [{"a": 1, "c": value} for value in inner]
    for value in values:
        assert constraint.accepts(json.dumps(value)) == valid(value), value


@pytest.mark.parametrize("schema", TOLD_AT_ONCE)
def test_what_may_be_refused_is_told_at_once(schema: Any) -> None:
    try:
        made = both(schema, WORDS)
    except UnsupportedSchemaError:
        return
    if made is not None:
        for seed in range(8):
            compare(*made, Random(seed), 60)


def schema_of_members(random: Random, depth: int) -> dict[str, Any]:
    """A schema of objects with alternatives, names that are free or not, and counts."""
    schema: dict[str, Any] = {"type": "object"}
    if random.random() < 0.4:
        schema |= random.choice([{"minProperties": 1, "maxProperties": 1}, {"maxProperties": 2}, {"minProperties": 1}])
    if random.random() < 0.4:
        schema["required"] = random.sample("abc", random.randrange(1, 3))
    if depth and random.random() < 0.5:
        schema["properties"] = {name: schema_of_members(random, depth - 1) for name in random.sample("abc", 2)}
    if random.random() < 0.4:
        schema["additionalProperties"] = random.choice([False, {"type": "null"}])
    if depth and random.random() < 0.5:
        keyword = random.choice(["anyOf", "oneOf", "allOf"])
        schema[keyword] = [schema_of_members(random, depth - 1) for _ in range(2)]
    if depth and random.random() < 0.2:
        schema["not"] = schema_of_members(random, depth - 1)
    return schema


def schema_of_parts(random: Random, depth: int) -> dict[str, Any]:
    """A schema of objects that lie in arrays and under alternatives of several types."""
    if not depth or random.random() < 0.3:
        return schema_of_members(random, 1)
    if random.random() < 0.3:
        return {"type": "array", "items": schema_of_parts(random, depth - 1)}
    if random.random() < 0.4:
        alternatives = [schema_of_parts(random, depth - 1), {"type": random.choice(["integer", "array", "object"])}]
        return {random.choice(["anyOf", "oneOf"]): random.sample(alternatives, 2)}
    parts = {name: schema_of_parts(random, depth - 1) for name in random.sample("abc", random.randrange(1, 3))}
    other = {name: random.choice([{"type": "integer"}, {"type": "array"}, {}]) for name in random.sample("abc", 2)}
    alternatives = [
        {"properties": parts} | random.choice([{}, {"additionalProperties": False}]),
        {"properties": other} | random.choice([{}, {"additionalProperties": False}, {"required": ["b"]}]),
    ]
    return {"type": "object", random.choice(["anyOf", "oneOf"]): random.sample(alternatives, 2)}


def walk(demanded: Compiled, whole: Compiled, random: Random) -> None:
    """As `compare`, where the whole may take over in mid-text."""
    one, other = demanded.matcher(), whole.matcher()
    for _ in range(40):
        tokens = one.allowed_tokens()
        assert tokens == other.allowed_tokens(), one.text
        closing = [token for token in tokens if (WORDS.tokens[token] or b"x")[:1] in b'"}],:']
        token = random.choice(closing if closing and random.random() < 0.6 else tokens)
        if WORDS.tokens[token] is None:
            break
        assert one.accept_token(token)
        assert other.accept_token(token)


@pytest.mark.filterwarnings("ignore::pdacon.GrammarWarning")
@pytest.mark.parametrize("first", range(0, 60 * scaled(3), 60))
@pytest.mark.parametrize("schema_of", [schema_of_members, schema_of_parts])
def test_nothing_is_refused_in_mid_text(first: int, schema_of: Callable[[Random, int], dict[str, Any]]) -> None:
    """Whatever a random schema counts: it is refused when it is given, or all its masks are those of the whole."""
    on_demand = 0
    for seed in range(first, first + 60):
        random = Random(seed)
        try:
            made = both(schema_of(random, 2), WORDS)
        except pdacon.PdaconError:
            continue
        if made is not None:
            on_demand += 1
            for _ in range(3):
                walk(*made, random)
    assert on_demand >= 10


@pytest.mark.filterwarnings("ignore::pdacon.GrammarWarning")
@pytest.mark.parametrize("first", range(0, 400 * scaled(3), 400))
def test_the_whole_refuses_nothing_that_is_read_on_demand(first: int) -> None:
    on_demand = 0
    for seed in range(first, first + 400):
        for schema_of in (schema_of_members, schema_of_parts):
            schema = schema_of(Random(seed), 2 + seed % 2)
            with suppress(pdacon.PdaconError):
                if Schema(schema).may_be_read_on_demand():
                    on_demand += 1
                    assert refusal(schema) == "", schema
    assert on_demand >= 300


def refusal(schema: Any) -> str:
    """Why the whole of a schema is refused, unless it is too large."""
    try:
        Schema(schema).grammar()
    except UnsupportedSchemaError as error:
        return "" if "productions" in error.why else error.why
    return ""
