"""Random schemas whose objects are closed: against a reading of values, and never more than where they are open."""

from __future__ import annotations

import itertools
import json
from random import Random
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from support.on_demand import forms
from support.scaling import scaled

import pdacon
from pdacon import Grammar, Vocabulary

WORDS = Vocabulary.bytes()
OBJECTS = [{"type": "object", "properties": {"a": {"properties": {n: {"type": "integer"}}}}} for n in "bc"]
ONE_OF_TWO = {"oneOf": [*OBJECTS, {"const": 2}]}
INNER: list[Any] = [1, "x", [], [{}], [{"a": 1}], [{"b": 1}], {}, {"a": 1}, {"b": 1}, {"a": 1, "b": 1}]
INNER += [{"c": 1}, {"a": {"b": 1}}, {"a": {"c": 1}}]
VALUES: list[Any] = [
    *INNER,
    *[{"a": one} for one in INNER],
    *[{"b": one} for one in INNER],
    *[{"a": one, "b": other} for one, other in itertools.product(INNER[5:9], INNER[5:9])],
    *[[one] for one in INNER],
    *[[one, other] for one, other in itertools.product(INNER[6:10], INNER[6:10])],
]
KEYWORDS = [
    "properties", "properties", "items", "anyOf", "oneOf", "not", "if", "allOf", "required", "contains", "$ref",
]  # fmt: skip


def random_schema(random: Random, depth: int) -> Any:
    if depth == 0 or random.random() < 0.1:
        return random.choice([{}, {"type": "integer"}, {"type": "string"}, {"type": "object"}, {"const": 1}])
    schema: dict[str, Any] = {}
    for _ in range(random.randrange(1, 3)):
        keyword = random.choice(KEYWORDS)
        if keyword == "properties":
            names = random.sample(["a", "b"], random.choice((0, 1, 1, 2, 2)))
            schema["properties"] = {name: random_schema(random, depth - 1) for name in sorted(names)}
        elif keyword in ("anyOf", "oneOf", "allOf"):
            schema[keyword] = [random_schema(random, depth - 1) for _ in range(2)]
        elif keyword == "if":
            schema |= {
                "if": random_schema(random, depth - 1),
                random.choice(["then", "else"]): {"properties": {"a": {}}},
            }
        elif keyword == "required":
            schema["required"] = [random.choice("ab")]
        elif keyword == "contains":
            bound: dict[str, Any] = random.choice([{}, {"minContains": 0, "maxContains": 1}])
            schema |= {"contains": random_schema(random, depth - 1), **bound}
        elif keyword == "$ref":
            schema["$ref"] = "#/$defs/one"
        else:
            schema[keyword] = random_schema(random, depth - 1)
    return schema


class Reading:
    """What closing objects means, value by value: which members are evaluated, and that objects have no others.

    ``everywhere``: whether a list of members closes an object although the schema that has it does not hold. It does,
    unless that schema plainly holds for no object.
    """

    def __init__(self, root: Any, *, everywhere: bool) -> None:
        self._root, self._everywhere = root, everywhere

    def takes(self, schema: Any, value: Any, *, closed: bool) -> bool:
        holds, names, lists = self._read(schema, value, closed=closed)
        return holds and not (closed and lists and isinstance(value, dict) and value.keys() - names)

    def _read(self, schema: Any, value: Any, *, closed: bool) -> tuple[bool, set[str], bool]:
        """Whether the value satisfies it, the members evaluated, and whether members are listed anywhere."""
        own = {key: schema[key] for key in ("type", "const", "required") if key in schema}
        holds = Draft202012Validator(own).is_valid(value)
        names: set[str] = set()
        lists = "properties" in schema

        def beside(other: Any, closed: bool = closed) -> tuple[bool, set[str]]:
            nonlocal lists
            taken, found, listed = self._read(other, value, closed=closed)
            lists |= listed and (taken or self._everywhere)
            return taken, found if taken else set()

        for name, inner in schema.get("properties", {}).items() if isinstance(value, dict) else ():
            if name in value:
                names.add(name)
                holds &= self.takes(inner, value[name], closed=closed)
        if isinstance(value, list):
            if "items" in schema:
                holds &= all(self.takes(schema["items"], item, closed=closed) for item in value)
            if "contains" in schema:
                least, most = schema.get("minContains", 1), schema.get("maxContains", 99)
                holds &= sum(self.takes(schema["contains"], item, closed=closed) for item in value) >= least
                holds &= sum(self.takes(schema["contains"], item, closed=False) for item in value) <= most
        if "$ref" in schema:
            taken, found = beside(self._root["$defs"]["one"])
            holds, names = holds and taken, names | found
        for keyword in ("allOf", "anyOf", "oneOf"):
            if keyword in schema:
                each = [beside(option) for option in schema[keyword]]
                names = names.union(*[found for _, found in each])
                holds &= (all if keyword == "allOf" else any)(taken for taken, _ in each)
                if keyword == "oneOf":
                    holds &= sum(self._read(option, value, closed=False)[0] for option in schema["oneOf"]) == 1
        if "not" in schema:
            holds &= not self._read(schema["not"], value, closed=False)[0]
        if "if" in schema:
            condition, found = beside(schema["if"], closed=False)
            branches = {key: beside(schema[key]) for key in ("then", "else") if key in schema}
            taken, more = branches.get("then" if condition else "else", (True, set()))
            holds, names = holds and taken, names | found | more
        return holds, names, lists


@pytest.mark.parametrize("first", range(0, 60 * scaled(4), 60))
@pytest.mark.filterwarnings("ignore::pdacon.GrammarWarning")
def test_closing_never_takes_more_and_takes_what_is_evaluated(first: int) -> None:
    compared = 0
    for seed in range(first, first + 60):
        random = Random(seed)
        schema = {**random_schema(random, 3), "$defs": {"one": random_schema(random, 2)}}
        if "$ref" in json.dumps(schema["$defs"]):
            continue
        try:
            grammar = Grammar.from_json_schema(schema, closed=True)
            answers = [*forms(grammar, WORDS)]
        except pdacon.EmptyLanguageError:
            answers = []
        except pdacon.UnsupportedSchemaError:
            continue
        readings = [Reading(schema, everywhere=everywhere) for everywhere in (True, False)]
        valid = Draft202012Validator(schema).is_valid
        for value in VALUES:
            text = json.dumps(value)
            least, most = (reading.takes(schema, value, closed=True) for reading in readings)
            assert least <= most <= valid(value), (seed, schema, text)
            taken = {one.accepts(text) for one in answers} or {False}
            assert len(taken) == 1, (seed, json.dumps(schema), text)
            assert least <= taken.pop() <= most, (seed, json.dumps(schema), text)
            compared += least == most
    assert compared > 2500


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"not": {"properties": {"a": {"properties": {"b": {"type": "string"}}}}}}, '{"a": {"c": 1}}'),
        (ONE_OF_TWO, '{"a": {"b": 1}}'),
        ({"if": {"items": {"properties": {"b": {}}}}, "then": {"type": "string"}}, '[{"c": 1}]'),
        ({"contains": {"properties": {"b": {}}}, "minContains": 0, "maxContains": 0}, '[{"c": 1}]'),
    ],
)
def test_what_is_refused_stays_refused(schema: Any, text: str) -> None:
    assert not Draft202012Validator(schema).is_valid(json.loads(text))
    for closed in (False, True):
        assert not pdacon.compile(Grammar.from_json_schema(schema, closed=closed), WORDS).accepts(text)
