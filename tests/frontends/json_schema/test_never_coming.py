"""Members that no value satisfies are noted without the whole, as the whole notes them."""

from __future__ import annotations

import warnings
from random import Random
from typing import Any

import pytest

import pdacon
from pdacon.frontends.json_schema import Schema

NEVER: list[dict[str, Any]] = [
    {"type": "object", "enum": ["a", "b"]},
    {"type": "string", "enum": [1]},
    {"type": "string", "minLength": 3, "maxLength": 2},
    {"type": "integer", "minimum": 3, "maximum": 2},
    {"type": "array", "items": {"type": "string", "enum": [1]}, "minItems": 1},
    {"not": {}},
]
SOME: list[dict[str, Any]] = [
    {"type": "string"},
    {"enum": ["a", 1]},
    {"type": "integer", "minimum": 1, "maximum": 1},
    {"type": "string", "pattern": "^a{2}$", "maxLength": 2},
    {},
]


def noted(schema: Any, *, at_once: bool) -> tuple[str, tuple[tuple[str, str, str], ...]]:
    """The error, or the notes, of a schema: as the whole tells them, or as they are told without it if they are."""
    given = Schema(schema)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if not at_once and given.may_be_read_on_demand():
                return "", given.notes
            return "", given.grammar().unenforced
        except pdacon.PdaconError as refused:
            return str(refused), ()


def object_of(random: Random, depth: int) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for name in random.sample("abcdef", random.randrange(1, 5)):
        kind = random.random()
        if kind < 0.25 and depth:
            members[name] = object_of(random, depth - 1)
        elif kind < 0.35 and depth:
            members[name] = {"type": "array", "items": object_of(random, depth - 1)}
        else:
            members[name] = random.choice(NEVER if kind < 0.6 else SOME)
    made: dict[str, Any] = {"type": "object", "properties": members}
    if random.random() < 0.3:
        made["required"] = random.sample([*members], 1)
    if random.random() < 0.3:
        made["additionalProperties"] = random.choice([False, {"type": "string", "enum": [1]}, {"type": "null"}])
    if random.random() < 0.1:
        made["minProperties"] = 1
    return made


@pytest.mark.parametrize("never", [NEVER[0], NEVER[1], NEVER[-1]])
@pytest.mark.quick
def test_members_are_noted_without_the_whole(never: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    schema = {"type": "object", "properties": {"b": {"properties": {"x": SOME[2], "a": never}}}, "required": ["b"]}
    expected = noted(schema, at_once=True)
    monkeypatch.setattr(Schema, "_written", lambda self, **_: pytest.fail("the whole was made"))
    assert noted(schema, at_once=False) == expected
    assert len(expected[1]) == (0 if never == {"not": {}} else 1)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": NEVER[0]}, "required": ["a"]},
        {"properties": {"a": {"type": "object", "properties": {"b": NEVER[0]}, "required": ["b"]}}},
        {"properties": {"a": {"$ref": "#/properties/b"}, "b": {"properties": {"c": NEVER[0]}}}},
        {"properties": {"a": {"properties": {"c": NEVER[0]}}, "b": {"properties": {"c": NEVER[0]}}}},
        {"properties": {"a": {"properties": {"c": NEVER[0]}, "enum": [1]}}},
        {"properties": {"a": NEVER[0]}, "allOf": [{"required": ["a"]}]},
        {"items": {"properties": {"a": NEVER[0]}}, "maxItems": 0},
        {"$schema": "http://json-schema.org/draft-04/schema#", "properties": {"a": NEVER[0]}, "required": True},
    ],
)
def test_what_depends_on_more_is_noted_as_the_whole_notes_it(schema: Any) -> None:
    assert noted(schema, at_once=False) == noted(schema, at_once=True)


def test_a_plain_one_is_noted_beside_many_members() -> None:
    others = {f"x{number}": {"type": "string", "enum": [f"v{number}"]} for number in range(30)}
    schema = {"type": "object", "properties": {**others, "y": NEVER[0], "z": NEVER[0]}}
    for at_once in (False, True):
        assert [one[0] for one in noted(schema, at_once=at_once)[1]] == ["#", "#"]


def test_random_objects_are_noted_as_the_whole_notes_them() -> None:
    random = Random(5)
    told = 0
    for _ in range(150):
        schema = object_of(random, 2)
        expected = noted(schema, at_once=True)
        assert noted(schema, at_once=False) == expected, schema
        told += bool(expected[1])
    assert told > 50
