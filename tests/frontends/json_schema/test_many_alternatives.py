"""Unions of many alternatives: small ones against ``jsonschema``, in both forms; large ones within limits."""

from __future__ import annotations

import itertools
import json
from random import Random
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from support import on_demand
from support.on_demand import both, compare

import pdacon
from pdacon import Grammar, Spelling, Vocabulary
from pdacon.front.stages import compiled

KINDS = ["a", "ab", "b", "c"]
TELLING = [
    lambda some: {"enum": some},
    lambda some: {"type": "string", "enum": some},
    lambda some: {"type": "string", "pattern": f"^({'|'.join(some)})$"},
    lambda some: {"type": "string", "pattern": f"^{some[0]}$"},
    lambda some: {"anyOf": [{"const": value} for value in some]},
    lambda some: {"const": some[0]},
    lambda some: {"$ref": f"#/$defs/{some[0]}"},
    lambda some: {"enum": [*some, 1, None]},
    lambda some: {"enum": [1.0, True, [1], {"x": 1}]},
    lambda some: {"type": ["integer", "boolean"], "enum": [1, True, "a"]},
    lambda some: {"minLength": 2},
    lambda some: {},
]
DEFINED = {kind: {"const": kind} for kind in KINDS}
TOLD = [*KINDS, "d", 1, True, False, None, [1], {"x": 1}]


def alternative(random: Random) -> dict[str, Any]:
    """Objects that a member may tell from those of other alternatives."""
    kind = random.choice(TELLING)(random.sample(KINDS, random.randrange(1, 3)))
    node: dict[str, Any] = {"properties": {"kind": kind, "v": random.choice([{"type": "integer"}, {"const": "x"}, {}])}}
    if random.random() < 0.7:
        node["required"] = random.choice([["kind"], ["v"], ["kind", "v"]])
    if random.random() < 0.4:
        node["additionalProperties"] = False
    return node


def union(random: Random) -> dict[str, Any]:
    count = random.randrange(2, 5)
    some = [alternative(random) for _ in range(count)]
    shape = random.randrange(4)
    if shape < 2:
        schema: dict[str, Any] = {("anyOf", "oneOf")[shape]: some}
    elif shape == 2:
        then = [{"if": one, "then": alternative(random)} for one in some]
        schema = {"properties": {"kind": {}, "v": {}}, "allOf": then}
    else:
        schema = {"items": {"anyOf": some}, "type": "array"}
    return {"type": "object", **schema, "$defs": DEFINED}


def objects(values: list[Any]) -> list[dict[str, Any]]:
    found = []
    for size in range(3):
        for names in itertools.combinations(["kind", "v", "w"], size):
            found += [dict(zip(names, some, strict=True)) for some in itertools.product(values, repeat=size)]
    return found


@pytest.mark.parametrize("seed", range(40))
def test_unions_take_what_they_should(seed: int) -> None:
    schema = union(Random(seed))
    check(schema, [[], *([one] for one in objects(TOLD)[:40])] if "items" in schema else objects([*TOLD, "x", 2])[::3])


def check(schema: Any, values: list[Any]) -> None:
    """Both forms take the values that ``jsonschema`` takes."""
    valid = Draft202012Validator(schema).is_valid
    try:
        grammar = Grammar.from_json_schema(schema)
        made = pdacon.compile(grammar, Vocabulary.bytes())
    except pdacon.EmptyLanguageError:
        assert not any(map(valid, values))
        return
    whole = compiled(grammar.data, Vocabulary.bytes())
    for value in values:
        text = json.dumps(value)
        assert made.accepts(text) == valid(value), text
        matcher = whole.matcher()
        assert (matcher.accept_bytes(text.encode()) and matcher.is_accepting()) == valid(value), text


def tools(count: int) -> list[dict[str, Any]]:
    return [
        {
            "type": "object",
            "properties": {
                "name": {"const": f"tool_{k}"},
                "arguments": {"type": "object", "properties": {f"p{k % 7}": {"const": k}}},
            },
            "required": ["name", "arguments"],
            "additionalProperties": False,
        }
        for k in range(count)
    ]


def if_then(count: int) -> dict[str, Any]:
    listed = {f"v{k}": {"type": "integer"} for k in range(count)}
    then = [{"if": {"properties": {"kind": {"const": f"k{k}"}}}, "then": {"required": [f"v{k}"]}} for k in range(count)]
    return {"type": "object", "properties": {"kind": {"type": "string"}, **listed}, "required": ["kind"], "allOf": then}


def call(k: int, value: int) -> dict[str, Any]:
    return {"name": f"tool_{k}", "arguments": {f"p{k % 7}": value}}


LARGE = {
    "anyOf": ({"anyOf": tools(600)}, call(77, 77), call(77, 7)),
    "oneOf": ({"oneOf": tools(300)}, call(299, 299), call(300, 300)),
    "if": (if_then(90), {"kind": "k80", "v3": 1, "v80": 2}, {"kind": "k80", "v3": 1}),
    "no if": (if_then(70), {"kind": "k70"}, {"v3": 1}),
}


@pytest.mark.parametrize("name", LARGE)
def test_large_unions_are_within_limits(name: str) -> None:
    schema, right, wrong = LARGE[name]
    made = pdacon.compile(Grammar.from_json_schema(schema), Vocabulary.bytes())
    assert made.accepts(json.dumps(right))
    assert not made.accepts(json.dumps(wrong))


WORDS = [f"word {k:x} {k % 97}" for k in range(30_000)]
ENUMS = {
    "words": ({"enum": WORDS}, WORDS[777], "word"),
    "integers": ({"type": "integer", "enum": [*range(0, 90_000, 3)]}, 777, 778),
    "words and numbers": ({"enum": [*WORDS[:9_000], *range(9_000), 1.5, True, None]}, 1.5, 1.25),
}


@pytest.mark.parametrize("name", ENUMS)
def test_long_enums_are_within_limits(name: str) -> None:
    listed, right, wrong = ENUMS[name]
    schema = {"type": "object", "properties": {"w": listed}, "required": ["w"]}
    made = pdacon.compile(Grammar.from_json_schema(schema), Vocabulary.bytes())
    assert made.accepts(json.dumps({"w": right}))
    assert not made.accepts(json.dumps({"w": wrong}))


def test_open_alternatives_take_states_in_proportion() -> None:
    """Their members come in any order among themselves, of which nothing is made but what a text comes to."""

    def places(count: int) -> int:
        some = [{"properties": {f"p{k:02}": {"type": "integer"}}, "required": [f"p{k:02}"]} for k in range(count)]
        made = pdacon.compile(Grammar.from_json_schema({"type": "object", "anyOf": some}), Vocabulary.bytes())
        matcher = made.matcher()
        for character in '{"p03": "x", "p07": 1, "p01": null, "q": 2}':
            matcher.allowed_mask()
            assert matcher.accept(character)
        assert matcher.is_accepting()
        return made.statistics()["places"]

    assert places(40) < 2.1 * places(20)


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_open_alternatives(keyword: str) -> None:
    some = [{"properties": {name: {"type": "integer"}}, "required": [name]} for name in ["kind", "v", "w"]]
    check({"type": "object", keyword: some}, objects([1, "a"]))
    check({"type": "object", "properties": {"w": {}, "v": {}}, keyword: some}, objects([1, "a"])[:7])


SOME = [{"a": 1}, {"a": 2, "b": [1, {"c": None}]}, {"b": "x"}, [1, 2], [], {}, [[]], "x", 5, True, {"a": 1.5}, [True]]
FEW = [{"a": 1}, {"a": 2, "b": [1, {"c": None}]}, {"b": "x"}, [1, 2], [], {}, [True]]
LISTING = [
    {"enum": SOME},
    {"enum": FEW},
    {"type": "object", "enum": SOME, "required": ["b"]},
    {"enum": FEW, "maxProperties": 1, "minItems": 1},
    {"enum": FEW, "properties": {"b": {"type": "array"}}, "items": {"type": "integer"}},
    {"enum": FEW, "patternProperties": {"^a": {"minimum": 2}}, "propertyNames": {"maxLength": 1}},
    {"enum": FEW, "contains": {"const": 2}, "additionalProperties": False},
    {"not": {"enum": FEW}, "type": ["object", "array"]},
    {"anyOf": [{"enum": FEW[:4]}, {"enum": FEW[2:]}, {"const": {"z": 0}}]},
    {"oneOf": [{"enum": FEW[:4]}, {"enum": FEW[2:]}, {"const": {"z": 0}}]},
    {"anyOf": [{"enum": FEW[:4]}, {"type": "array", "items": {"type": "boolean"}}]},
    {"const": {"a": {"a": [{"a": 1}]}}},
]
TRIED = [*SOME, {"a": {"a": [{"a": 1}]}}, {"a": 3}, {"b": []}, {"z": 0}, [2, 1], [False], [2], 1, None]


@pytest.mark.parametrize("schema", LISTING)
def test_listed_arrays_and_objects(schema: dict[str, Any]) -> None:
    check(schema, TRIED)
    check({"type": "array", "items": schema, "maxItems": 2}, [[], *([one] for one in TRIED), [TRIED[0], TRIED[1]]])
    check({"properties": {"k": schema, "l": schema}}, [{"k": one, "l": one} for one in TRIED])


@pytest.mark.parametrize("schema", LISTING)
def test_listed_arrays_and_objects_in_other_spellings(schema: dict[str, Any]) -> None:
    valid = Draft202012Validator(schema).is_valid
    for options, written in (
        ({"whitespace": "compact"}, {"separators": (",", ":")}),
        ({"whitespace": "indent"}, {"indent": 2}),
        ({"whitespace": "any", "order": "any", "escapes": "any"}, {"indent": 1, "sort_keys": True}),
    ):
        grammar = Grammar.from_json_schema(schema, pdacon.Spelling(**options))
        for value in TRIED:
            assert grammar.accepts(json.dumps(value, **written)) == valid(value), (options, value)


def test_many_listed_objects_are_within_limits() -> None:
    values = [{"id": k, "name": f"{k:x}", "tags": [str(k % 7), str(k % 5)]} for k in range(3_000)]
    schema = {"type": "object", "properties": {"w": {"enum": values}}, "required": ["w"]}
    made = pdacon.compile(Grammar.from_json_schema(schema), Vocabulary.bytes())
    assert made.accepts(json.dumps({"w": values[77]}))
    assert not made.accepts(json.dumps({"w": values[77] | {"id": 78}}))


@pytest.mark.parametrize("seed", range(16))
def test_patterns_part_names(seed: int) -> None:
    random = Random(seed)
    kinds = ["^a", "b$", "^[ab]*$", "^(a|c)", "c", "^ab?c?$", "[^a]", "^ab$", "^(b|cb|abc)$", "^a$", "^$"]
    patterns = random.sample(kinds, random.randrange(2, 6))
    schema: dict[str, Any] = {"patternProperties": {pattern: {"minimum": k} for k, pattern in enumerate(patterns)}}
    if random.random() < 0.5:
        schema["additionalProperties"] = random.choice([False, {"type": "boolean"}])
    if random.random() < 0.5:
        schema["propertyNames"] = {"pattern": random.choice(["^.?$", "^[a-c]"])}
    if random.random() < 0.5:
        schema["properties"] = {"ab": {"maximum": 1}}
    names = ["".join(letters) for size in range(4) for letters in itertools.product("abc", repeat=size)]
    check({"type": "object", **schema}, [{name: value} for name in names for value in (0, 2)])


def test_many_patterns_are_within_limits() -> None:
    patterns = {f"^k{k}_[a-z]+$": {"type": "integer", "maximum": k} for k in range(150)}
    schema = {"type": "object", "patternProperties": patterns, "additionalProperties": False}
    made = pdacon.compile(Grammar.from_json_schema(schema), Vocabulary.bytes())
    assert made.accepts('{"k3_abc": 2, "k149_x": 149}')
    assert not made.accepts('{"k3_abc": 4}')
    assert not made.accepts('{"k150_a": 1}')


def closed_union(count: int, keyword: str) -> dict[str, Any]:
    """Objects of which each has a name of its own, one of the next one's, and one of all."""
    some = [
        {"properties": {"id": {}, f"p{k}": {"type": "integer"}, f"p{k + 1}": {}}, "required": [f"p{k}"]}
        for k in range(count)
    ]
    return {"type": "object", keyword: some}


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_closed_unions(keyword: str) -> None:
    schema = {**closed_union(12, keyword), "unevaluatedProperties": False}
    names = ["id", "p0", "p1", "p2", "p11", "other"]
    values = [
        dict(zip(some, parts, strict=True))
        for size in range(4)
        for some in itertools.combinations(names, size)
        for parts in itertools.product([1, "a"], repeat=size)
    ]
    valid = Draft202012Validator(schema).is_valid
    for grammar in (
        Grammar.from_json_schema(schema),
        Grammar.from_json_schema(closed_union(12, keyword), closed=True),
    ):
        made = pdacon.compile(grammar, Vocabulary.bytes())
        for value in values:
            assert made.accepts(json.dumps(value)) == valid(value), value


def test_large_closed_unions_are_within_limits() -> None:
    some = [
        {"type": "object", "properties": {f"p{k}": {"type": "integer"}, f"q{k}": {}}, "required": [f"p{k}"]}
        for k in range(100)
    ]
    made = pdacon.compile(Grammar.from_json_schema({"anyOf": some}, closed=True), Vocabulary.bytes())
    assert made.accepts('{"p50": 7, "q50": 1}')
    assert made.accepts('{"p50": 7, "p51": 8}')
    assert not made.accepts('{"p50": 7, "q51": 1}')
    assert not made.accepts('{"p50": 7, "x": 1}')


@pytest.mark.parametrize("names_required", ["all", "first", "none"])
def test_closed_alternatives_are_the_same_on_demand(names_required: str) -> None:
    """Objects of which no two have a name in common, in the order of the schema and in any order."""
    some = []
    for k in range(6):
        names = [f"p{k}_{j}" for j in range(4)]
        required = {"all": names, "first": names[:1], "none": []}[names_required]
        shape = {"type": "object", "properties": {name: {"type": "integer"} for name in names}}
        some.append({**shape, "required": required, "additionalProperties": False})
    for order in ("schema", "any"):
        made = both({"anyOf": some}, on_demand.WORDS, Spelling(order=order))
        assert made is not None
        for seed in range(8):
            compare(*made, Random(seed), 60)


def test_large_unions_of_closed_objects_are_within_limits() -> None:
    some = [
        {
            "type": "object",
            "properties": {f"p{k}_{j}": {"type": "integer"} for j in range(8)},
            "required": [f"p{k}_{j}" for j in range(8)],
            "additionalProperties": False,
        }
        for k in range(100)
    ]
    made = pdacon.compile(Grammar.from_json_schema({"anyOf": some}), Vocabulary.bytes())
    for k in (0, 50, 99):
        assert made.accepts(json.dumps({f"p{k}_{j}": j for j in range(8)}))
        assert not made.accepts(json.dumps({f"p{k}_{j}": j for j in range(7)}))
        assert not made.accepts(json.dumps({f"p{k}_0": 0, f"p{(k + 1) % 100}_1": 1}))
