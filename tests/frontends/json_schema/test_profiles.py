"""What OpenAI's strict mode refuses of a schema, refused by name where that is asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pdacon import CompileCache, Grammar, UnsupportedSchemaError, Vocabulary

FOLDER = Path(__file__).parent / "providers" / "openai"


def closed(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    own = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return {**own, **more}


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = closed({"a": {"type": "integer"}})
    for _ in range(levels - 1):
        schema = closed({"a": schema})
    return schema


INTEGER, NULL = {"type": "integer"}, {"type": "null"}
TAKEN = [
    closed({"a": INTEGER, "b": {"type": ["string", "null"]}}),
    closed({"a": {"anyOf": [closed({"b": INTEGER}), {"type": "null"}]}}),
    closed({"a": {"$ref": "#/$defs/n"}}, **{"$defs": {"n": closed({"n": {"anyOf": [{"$ref": "#/$defs/n"}, NULL]}})}}),
    closed({"a": {"type": "string", "pattern": "^2", "format": "date"}, "b": {"type": "array", "items": INTEGER}}),
    nested(10),
    closed({"a": {"enum": [f"v{k}" for k in range(1000)]}}),
]  # fmt: skip
REFUSED: list[tuple[Any, str, str]] = [
    ({"type": "array", "items": INTEGER}, "#", "type"),
    (True, "#", "type"),
    (closed({}, anyOf=[closed({}), closed({})]), "#", "anyOf"),
    ({"type": "object", "properties": {}}, "#", "additionalProperties"),
    (closed({"a": {"type": "object", "properties": {"b": INTEGER}, "required": ["b"]}}), "#/properties/a",
     "additionalProperties"),
    ({**closed({"a": INTEGER, "b": INTEGER}), "required": ["a"]}, "#", "required"),
    *[(closed({"a": {keyword: value}}), "#/properties/a", keyword) for keyword, value in (
        ("allOf", [INTEGER]), ("oneOf", [INTEGER]), ("not", INTEGER), ("if", INTEGER), ("dependentRequired", {"a": []}),
        ("dependentSchemas", {"a": {}}))],
    (closed({"a": {"enum": [f"v{k}" for k in range(1001)]}}), "#/properties/a", ""),
    (closed({"a": {"enum": [f"{k:0100}" for k in range(251)]}}), "#/properties/a", "enum"),
    (closed({f"a{k}": INTEGER for k in range(5001)}), "#", ""),
    (closed({"a" * 120_001: INTEGER}), "#", ""),
    (nested(11), "#" + "/properties/a" * 10, ""),
]  # fmt: skip


@pytest.mark.parametrize("schema", TAKEN)
def test_what_is_taken_is_read_as_before(schema: Any) -> None:
    assert (
        Grammar.from_json_schema(schema, profile="openai").fingerprint == Grammar.from_json_schema(schema).fingerprint
    )


@pytest.mark.parametrize(("schema", "pointer", "keyword"), REFUSED)
def test_what_is_refused_is_named(schema: Any, pointer: str, keyword: str) -> None:
    with pytest.raises(UnsupportedSchemaError, match="OpenAI's strict mode") as caught:
        Grammar.from_json_schema(schema, profile="openai")
    assert (caught.value.pointer, caught.value.keyword) == (pointer, keyword)
    if schema is not True:
        with pytest.raises(UnsupportedSchemaError):
            CompileCache().compile_schema(schema, Vocabulary.bytes(), profile="openai")


@pytest.mark.parametrize("name", ["math_steps", "linked_list_defs", "calendar_event", "function_query"])
def test_schemas_that_openai_shows_are_taken(name: str) -> None:
    given = json.loads((FOLDER / f"{name}.json").read_text())
    schema = given.get("schema", given.get("parameters", given))
    assert Grammar.from_json_schema(schema, profile="openai").accepts(Grammar.from_json_schema(schema).sample(1)[0])


def test_other_profiles_are_no_values() -> None:
    with pytest.raises(ValueError, match="profile is 'openai' or None"):
        Grammar.from_json_schema({}, profile="gemini")  # type: ignore[arg-type]
