"""Usual schemas, which the core reads by itself, against the same schemas compiled as a whole."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.on_demand import WORDS, both, compare, forms
from support.scaling import scaled

import pdacon
from pdacon import Grammar, GrammarError, Spelling
from pdacon.frontends.json_schema.exploring import Explorer
from pdacon.frontends.json_schema.keywords import ASSERTIONS
from pdacon.frontends.json_schema.looks import _WITH_EMPTY
from pdacon.frontends.json_schema.wrong_values import types_of

POINT = {"type": "object", "properties": {"x": {"type": "number"}, "y": {"type": "number"}}, "required": ["y"]}
TREE = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "definitions": {
        "tree": {
            "type": "object",
            "properties": {
                "a": {"$ref": "#/definitions/tree"},
                "b": {"$ref": "#/definitions/names", "description": "beside"},
                "ab": {"$ref": "#"},
            },
            "additionalProperties": False,
        },
        "names": {"$ref": "#/definitions/list"},
        "list": {"type": "array", "items": {"enum": ["a", "ab", None, True]}, "minItems": 1, "maxItems": 2},
    },
    "$ref": "#/definitions/tree",
}
DRAFT_4, DRAFT_7 = "http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-07/schema#"
# Schemas that say by what they are named, so that references below them start there, or which draft they are of.
NAMED = {
    "$schema": DRAFT_7,
    "$id": "http://a.test/root",
    "definitions": {
        "one": {
            "$id": "http://a.test/one",
            "$schema": DRAFT_7,
            "definitions": {"part": {"type": ["string", "null"]}},
            "type": "object",
            "properties": {"a": {"$ref": "#/definitions/part"}, "b": {"$ref": "root#/definitions/part"}},
        },
        "part": {"$id": "#part", "type": "object", "properties": {"ab": {"type": "boolean"}}, "required": ["ab"]},
    },
    "type": "object",
    "properties": {
        "a": {"$ref": "#/definitions/one"},
        "ab": {"$ref": "#/definitions/part"},
        "b": {"$id": "b", "type": "array", "items": {"$id": "items", "type": "boolean"}, "minItems": 1},
    },
    "additionalProperties": False,
}
NAMED_BY_ID = {
    "$schema": DRAFT_4,
    "type": "object",
    "properties": {
        "id": {"id": "/properties/id", "type": "object", "properties": {"a": {"id": "a", "type": "integer"}}},
        "a": {"$ref": "#/properties/id"},
        "b": {"$ref": "#/properties/id/properties/a"},
        "ab": {"$schema": DRAFT_4, "type": "array", "items": {"id": "b", "enum": ["a", "b"]}},
    },
    "required": ["a"],
}
USUAL: dict[str, Any] = {
    "any member": {"properties": {"a": {"description": "anything"}, "b": {}}},
    "closed": {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False},
    "no member": {"type": "object", "additionalProperties": False},
    "others": {"type": "object", "properties": {"ab": POINT}, "additionalProperties": {"type": "boolean"}},
    "only others": {"type": "object", "additionalProperties": POINT},
    "false members": {"type": "object", "properties": {"a": False, "b": True}, "required": ["b"]},
    "types": {"type": ["array", "null", "integer"], "items": {"type": ["string", "boolean"]}, "minItems": 2},
    "no items": {"type": "array", "items": False},
    "one item": {"type": "array", "maxItems": 1},
    "values of some types": {"type": ["string", "null"], "enum": ["a", True, None, "ab"]},
    "const": {"type": "object", "properties": {"a": {"const": "abc"}, "b": {"type": "null"}}, "required": ["a"]},
    "formats that say nothing": {
        "type": "object",
        "properties": {"a": {"type": "integer", "format": "int32"}, "b": {"type": "string", "format": "other"}},
    },
    "a pattern": {"type": ["string", "null"], "pattern": "^[a-c]+$"},
    "a pattern of escaped characters": {"type": "object", "properties": {"a": {"type": "string", "pattern": "é|\\n"}}},
    "patterns with and without strings": {
        "type": "object",
        "properties": {"a": {"type": "string", "pattern": "a[]"}, "b": {"type": "string", "pattern": "^ab?$"}},
        "required": ["b"],
    },
    "listed integers": {"type": ["integer", "string"], "enum": [1, 12, -3, "a"]},
    "listed integers of any type": {"enum": [0, 10**15, None]},
    "a numeric const": {"const": 12},
    "additionalItems beside items": {"type": "array", "items": {"type": "null"}, "additionalItems": False},
    "patternProperties": {"type": "object", "properties": {"a": POINT}, "patternProperties": {"b$": {"type": "null"}}},
    "names of a pattern alone": {"patternProperties": {"^[a-c]+$": {"type": "null"}}, "additionalProperties": False},
    "a pattern of all names": {"type": "object", "properties": {"a": True}, "patternProperties": {"": POINT}},
    "a pattern of no names": {"properties": {"a": POINT}, "patternProperties": {"a[]": False}, "required": ["a"]},
    "names of a pattern, and others": {
        "type": "object",
        "patternProperties": {"^a": {"type": "array"}},
        "additionalProperties": {"type": "boolean"},
    },
    "listed names that a pattern matches": {
        "type": "object",
        "properties": {"a": {"type": "null"}, "ab": POINT, "b": {"type": "null"}, "é": False},
        "patternProperties": {"^(a|é)": True},
        "additionalProperties": False,
    },
    "listed names that match what must not come": {
        "type": "object",
        "properties": {"a": {"type": "null"}, "ab": POINT, "b": {"type": "null"}},
        "patternProperties": {"^a|c": False},
    },
    "no patterns": {"type": "object", "properties": {"a": {"type": "null"}}, "patternProperties": {}},
    "a format": {"type": ["string", "null"], "format": "date"},
    "alternatives": {"anyOf": [{"type": "integer"}, POINT]},
    "an integer among numbers": {"type": ["number", "null"], "oneOf": [{"type": "integer"}, {"type": "null"}]},
    "one schema that holds": {"allOf": [{"title": "nothing"}, {"anyOf": [POINT, {"type": "integer"}]}, {}]},
    "required, not listed": {"type": "object", "properties": {"b": POINT}, "required": ["a"]},
    "required, and nothing listed": {"type": "object", "required": ["b", "a"]},
    "required among others": {
        "type": "object",
        "properties": {"a": {"type": "null"}, "b": {"type": "null"}},
        "required": ["ab", "b", "é"],
        "additionalProperties": {"type": "integer"},
    },
    "references": TREE,
    "references to what is named": NAMED_BY_ID,
}
UNUSUAL: dict[str, Any] = {
    "references between what is named": NAMED,
    "references to another draft": {
        "$schema": DRAFT_7,
        "definitions": {
            "a": {
                "$id": "http://a.test/a",
                "$schema": DRAFT_4,
                "type": "object",
                "properties": {"a": {"type": "integer"}},
            }
        },
        "properties": {"a": {"$ref": "#/definitions/a"}, "b": {"type": "integer"}},
        "additionalProperties": {"$ref": "#/definitions/a/properties/a"},
    },
    "a pattern that looks ahead": {"type": "string", "pattern": "^(?!b)[a-c]+$"},
    "a pattern and a length": {"type": "string", "pattern": "^[a-c]+$", "minLength": 2},
    "a required pattern without strings": {
        "type": "object",
        "properties": {"a": {"type": "string", "pattern": "a[]"}, "b": POINT},
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
    },
    "alternatives that are not of the type": {"type": "integer", "anyOf": [{"type": "number"}, {"type": "string"}]},
    "two schemas that both hold": {"allOf": [POINT, {"maxProperties": 1}]},
    "a schema that holds beside none": {"type": "array", "items": {"allOf": [{"type": "null"}, False]}},
    "a required name that is escaped": {"type": "object", "properties": {"b": POINT}, "required": ['a"']},
    "names to be escaped": {"type": "object", "properties": {"é": POINT, 'a"': POINT}},
    "patterns of names": {"type": "object", "patternProperties": {"b$": {"type": "null"}, "^a": {"type": "array"}}},
    "a pattern that spells out names": {"type": "object", "patternProperties": {"^(a|ab)$": {"type": "null"}}},
    "a required name that a pattern matches": {
        "type": "object",
        "properties": {"a": {"type": "null"}, "ab": True},
        "patternProperties": {"^ab": POINT},
        "required": ["ab"],
    },
    "a pattern of short names": {"patternProperties": {"^[a-c]{1,9}$": POINT}, "additionalProperties": False},
    "a pattern that looks ahead in names": {"type": "object", "patternProperties": {"^(?!a)": {"type": "null"}}},
    "a listed name of which a pattern asks more": {
        "type": "object",
        "properties": {"ab": POINT, "b": {"type": "null"}},
        "patternProperties": {"^a": {"properties": {"x": {"type": "integer"}}}},
    },
    "counts": {"type": "object", "properties": {"a": POINT}, "maxProperties": 1},
    "many items": {"type": "array", "items": {"type": "null"}, "maxItems": 70},
    "an identifier": {"$id": "other", "type": "object", "properties": {"a": {"$ref": "#"}}},
    "a listed fraction": {"enum": [1, 1.5]},
    "a listed large integer": {"type": "integer", "enum": [10**16, 1]},
    "a listed integer that is no string": {"type": "string", "enum": [1, "a"]},
    "a reference to something unusual": {"type": "array", "items": {"$ref": "#/$defs/pattern"}},
}


@pytest.mark.parametrize("name", USUAL)
@pytest.mark.filterwarnings("ignore::pdacon.GrammarWarning")
def test_usual_schemas_are_not_asked_about(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[int]] = []
    monkeypatch.setattr(Explorer, "family", lambda self, questions: asked.append(questions))
    monkeypatch.setattr(Explorer, "container", lambda self, *machine: asked.append([]))
    constraint = pdacon.compile(Grammar.from_json_schema(USUAL[name]), WORDS)
    row = constraint.new_bitmask()
    for seed in range(8):
        random, matcher = Random(seed), constraint.matcher()
        for _ in range(30):
            matcher.fill_bitmask(row)
            allowed = [token for token in range(len(WORDS)) if matcher.is_allowed(token)]
            if not allowed or not matcher.accept_token(random.choice(allowed)) or matcher.is_terminated():
                break
    assert asked == []


def test_what_lies_within_a_member_is_not_read_before_a_text_comes_there(monkeypatch: pytest.MonkeyPatch) -> None:
    reserved: list[int] = []
    reserve = Explorer.reserve

    def counting(explorer: Explorer, count: int) -> int:
        reserved.append(count)
        return reserve(explorer, count)

    monkeypatch.setattr(Explorer, "reserve", counting)
    inner = {f"n{number}": {"type": "array", "items": POINT} for number in range(50)}
    constraint = pdacon.compile(Grammar.from_json_schema({"properties": {"a": {"properties": inner}}}), WORDS)
    assert constraint.matcher().accept_bytes(b'{"')
    assert sum(reserved) <= 32  # which are asked for so many at a time
    assert constraint.matcher().accept_bytes(b'{"a": {"')
    assert sum(reserved) > 50


@pytest.mark.parametrize("name", [*USUAL, *UNUSUAL])
@pytest.mark.parametrize("spelling", [Spelling(), Spelling(whitespace="any", max_blanks=2), Spelling(escapes="ascii")])
@pytest.mark.filterwarnings("ignore::pdacon.GrammarWarning")
def test_both_forms_are_the_same(name: str, spelling: Spelling) -> None:
    schema = (USUAL | UNUSUAL)[name]
    within = {"type": "object", "properties": {"a": schema, "b": {"type": "array", "items": schema}}}
    rooted = {"$defs": {"pattern": UNUSUAL["a pattern that looks ahead"]}}
    for given in (schema, schema if "references" in name else within):
        made = both({**given, **rooted}, WORDS, spelling)
        assert made is not None
        random = Random(json.dumps(given))
        assert sum(compare(*made, random, 30) for _ in range(4)) > 4


SCALARS: list[Any] = [
    *({"type": kind} for kind in ("integer", "number", "string", "null", "boolean")),
    {"enum": ["a", "ab", 1]},
    {"type": "string", "format": "date"},
    {"type": ["string", "integer"], "pattern": "^a"},
    {"type": ["integer", "null"]},
]


def drawn(random: Random, depth: int = 2) -> Any:
    """A schema of the kinds that the core reads, and of some that it does not."""
    kind = random.choice(["scalar", "array", "options", "object", "object"] if depth else ["scalar", "scalar", "any"])
    within = [drawn(random, depth - 1) for _ in range(3)] if depth else []
    if kind == "scalar":
        return random.choice(SCALARS)
    if kind == "any":
        return random.choice([True, False, {"description": "says nothing"}])
    if kind == "array":
        return {"type": "array", "items": within[0], "additionalItems": False, "minItems": random.randrange(2)}
    if kind == "options":
        keyword, said = random.choice(["anyOf", "oneOf", "allOf"]), random.choice([{}, {"type": ["number", "array"]}])
        return {**said, keyword: random.choice([within[:1], within[:2], [within[0], {"title": "says nothing"}]])}
    names = random.sample(["a", "ab", "b", "é"], random.randrange(4))
    made: dict[str, Any] = {"type": "object", "properties": dict(zip(names, within, strict=False))}
    if random.random() < 0.4:
        made["required"] = random.sample(["a", "ab", "c", "é"], random.randrange(1, 3))
    if random.random() < 0.4:
        made["patternProperties"] = {random.choice(["^a", "b", ".*", "^[a-c]+$", "^ab?$"]): random.choice(within)}
    if random.random() < 0.4:
        made["additionalProperties"] = random.choice([False, *within])
    return made


@pytest.mark.filterwarnings("ignore::pdacon.GrammarWarning")
def test_drawn_schemas_are_the_same_in_both_forms() -> None:
    compared = 0
    for seed in range(scaled(200)):
        schema = drawn(Random(seed))
        try:
            made = both(schema, WORDS) if isinstance(schema, dict) else None
        except GrammarError:  # no value satisfies it, or something in it is not supported
            continue
        if made is not None:
            compared += sum(compare(*made, Random(walk), 25) for walk in range(3))
    assert compared > scaled(200) * 10


@pytest.mark.parametrize("closed", [False, True])
def test_closed_objects_are_the_same(closed: bool) -> None:
    schema = {
        "type": "object",
        "properties": {"a": POINT, "b": {"additionalProperties": True, "properties": {"a": {}}}},
    }
    grammar = Grammar.from_json_schema(schema, closed=closed)
    constraint = pdacon.compile(grammar, WORDS)
    assert constraint.matcher().accept_bytes(b'{"a": {"y": 1, "z": 2') is not closed
    assert constraint.matcher().accept_bytes(b'{"b": {"c": 1')


@pytest.mark.parametrize(
    "around",
    [
        {"not": {"not": {"$ref": "#/$defs/point"}}},
        {"if": {"$ref": "#/$defs/point"}, "then": True, "else": False},
        {"not": {"anyOf": [{"type": "string"}, {"not": {"$ref": "#/$defs/point"}}]}},
    ],
)
def test_objects_that_stay_open_are_the_same(around: Any) -> None:
    """Beneath ``not`` and ``if`` an object is not closed, while the same schema closes it elsewhere."""
    schema = {
        "$defs": {"point": {"type": "object", "properties": {"p": POINT}, "required": ["p"]}},
        "type": "object",
        "properties": {"a": around, "b": {"$ref": "#/$defs/point"}},
    }
    grammar = Grammar.from_json_schema(schema, closed=True)
    on_demand, whole = forms(grammar, WORDS)
    assert on_demand._nested is not None
    inner, more = '{"p": {"y": 1}}', '{"p": {"y": 1, "z": 2}}'
    for text in (f'{{"a": {inner}, "b": {inner}}}', f'{{"a": {more}, "b": {inner}}}', f'{{"a": {inner}, "b": {more}}}'):
        assert on_demand.accepts(text) is whole.accepts(text), text
    assert on_demand.accepts(f'{{"a": {more}, "b": {inner}}}')


def test_a_name_in_a_reference_is_read_to_its_end() -> None:
    names = {"a": {"type": "integer"}, "a\0b": {"type": "string"}}
    schema = {"$defs": names, "type": "array", "items": {"$ref": "#/$defs/a\0b"}}
    constraint = pdacon.compile(Grammar.from_json_schema(schema), WORDS)
    assert constraint.accepts('["x"]')
    assert not constraint.accepts("[1]")


def test_a_long_object_is_read_in_order() -> None:
    names = [f"n{number}" for number in range(300)]
    schema = {
        "type": "object",
        "properties": {name: {"type": "integer"} for name in names},
        "required": [names[7], names[150]],
        "additionalProperties": False,
    }
    constraint = pdacon.compile(Grammar.from_json_schema(schema), WORDS)
    assert constraint.matcher().accept_bytes(b'{"n7": 1, "n100": 1, "n150": 1}')
    assert not constraint.matcher().accept_bytes(b'{"n8"')
    assert not constraint.matcher().accept_bytes(b'{"n7": 1, "n6"')
    assert not constraint.matcher().accept_bytes(b'{"n7": 1, "n151"')
    assert not constraint.matcher().accept_bytes(b'{"n7": 1}')
    assert not constraint.matcher().accept_bytes(b'{"n7": 1, "other"')


def test_the_keywords_of_the_core_are_about_what_those_of_python_are() -> None:
    sources = Path(__file__).parents[3] / "pdacon" / "_native" / "src" / "bindings"
    text = (sources / "schema_keywords.cpp").read_text(encoding="utf-8")
    types = {"kNoType": set(), "kString_": {"string"}, "kArray_": {"array"}, "kObject_": {"object"}}
    types["kNumbers"] = {"number"}  # an integer is one to Python
    keywords = re.findall(r'\{"(\w+)", (\w+), (true|false)\}', text)
    assert len(keywords) > 30
    for name, about, holds_if_empty in keywords:
        assert name in ASSERTIONS
        assert set(types_of(name)) == types[about], name
        assert (name in _WITH_EMPTY) == (holds_if_empty == "true"), name
