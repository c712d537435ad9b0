"""Counts of members where a name may come twice: refused by name, or named in ``unenforced``, at every door."""

from __future__ import annotations

import itertools
import json
from typing import Annotated, Any, Literal

import pytest
from annotated_types import Len
from jsonschema import Draft202012Validator

from pdacon import CompileCache, Grammar, UnsupportedSchemaError, UnsupportedTypeError, Vocabulary

OPEN = {"additionalProperties": {"type": "integer"}, "minProperties": 2}
REFUSED = [
    (OPEN, "#", "minProperties"),
    ({"minProperties": 2}, "#", "minProperties"),
    ({"items": {"not": {"maxProperties": 1}, "type": "object"}}, "#/items/not", "maxProperties"),
    ({"minProperties": 2, "properties": {"a": {}, "b": {}}}, "#", "minProperties"),
    ({"minProperties": 3, "required": ["a"], "type": "object"}, "#", "minProperties"),
    ({"allOf": [{"minProperties": 4}, {"required": ["a"]}, {"required": ["b", "a"]}]}, "#/allOf/0", "minProperties"),
    (
        {"minProperties": 2, "patternProperties": {"^[ab]": {}}, "additionalProperties": False},
        "#",
        "minProperties",
    ),
    ({"if": {"maxProperties": 1}, "then": {"required": ["a"]}, "else": {"type": "object"}}, "#/if", "maxProperties"),
]
TAKEN = [
    {"minProperties": 1, "type": "object"},
    {"maxProperties": 1, "type": "object"},
    {"minProperties": 2, "required": ["a"], "type": "object"},
    {"minProperties": 2, "properties": {"a": {}, "b": {}}, "additionalProperties": False, "type": "object"},
    {"minProperties": 2, "properties": {"a": {}, "b": {}}, "additionalProperties": {"not": {}}, "type": "object"},
    {"minProperties": 2, "propertyNames": {"enum": ["a", "b"]}, "type": "object"},
    {"minProperties": 2, "patternProperties": {"^[ab]$": {}}, "additionalProperties": False, "type": "object"},
    {"minProperties": 2, "properties": {"a": {}, "b": {}}, "unevaluatedProperties": False, "type": "object"},
    {"allOf": [{"minProperties": 3}, {"required": ["a"]}, {"required": ["b"]}], "type": "object"},
    {"anyOf": [{"minProperties": 2}, {"maxProperties": 1}], "type": "object"},
    {"if": {"minProperties": 2}, "then": {"required": ["a"]}, "type": "object"},
]


@pytest.mark.parametrize(("schema", "pointer", "keyword"), REFUSED)
def test_counts_that_cannot_be_told(schema: Any, pointer: str, keyword: str) -> None:
    with pytest.raises(UnsupportedSchemaError, match="twice") as raised:
        Grammar.from_json_schema(schema)
    assert (raised.value.pointer, raised.value.keyword) == (pointer, keyword)
    loose = Grammar.from_json_schema(schema, lax=True)
    assert [(where, what) for where, what, _ in loose.unenforced] == [(pointer, keyword)]


def test_with_lax_the_members_of_the_text_are_counted() -> None:
    loose = Grammar.from_json_schema(OPEN, lax=True)
    taken = [loose.accepts(text) for text in ('{"a": 1}', '{"a": 1, "a": 2}', '{"a": 1, "b": 2}')]
    assert taken == [False, True, True]


@pytest.mark.parametrize("schema", TAKEN)
def test_counts_that_are_exact(schema: Any) -> None:
    """No text is taken whose value has too few members, whatever comes twice in it."""
    grammar, validator = Grammar.from_json_schema(schema), Draft202012Validator(schema)
    assert not grammar.unenforced
    for size in range(4):
        for names in itertools.product("abc", repeat=size):
            text = "{" + ", ".join(f'"{name}": 1' for name in names) + "}"
            valid = validator.is_valid(json.loads(text))
            assert valid or not grammar.accepts(text), text
            if list(names) == sorted(set(names)) and valid:
                assert grammar.accepts(text), text


def test_other_doors() -> None:
    with pytest.raises(UnsupportedSchemaError):
        CompileCache().compile_schema(OPEN, Vocabulary.bytes())
    with pytest.raises(UnsupportedSchemaError):
        Grammar.from_lark(f"start: %json {json.dumps(OPEN)}\n", extensions=True)
    counted = Annotated[dict[str, int], Len(2)]
    for form in ("json", "python"):
        with pytest.raises(UnsupportedTypeError, match="twice"):
            Grammar.from_type(counted, form)  # type: ignore[arg-type]
    ((path, what, _),) = Grammar.from_type(counted, lax=True).unenforced
    assert (path.startswith("dict[str, int]"), what) == (True, "minProperties")
    assert not Grammar.from_type(Annotated[dict[Literal["a", "b"], int], Len(2)]).unenforced
