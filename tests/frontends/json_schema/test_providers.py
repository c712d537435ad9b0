"""Schemas of the shape that providers document for structured output and tool calls: what they write validates.

The schemas under ``providers/`` are our own, in the dialects that docs/json_schema.md has in a table.
"""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from support.json_schemas import without_duplicates

import pdacon
from pdacon import Grammar, UnsupportedSchemaError, Vocabulary

FILES = sorted((Path(__file__).parent / "providers").glob("*/*.json"))
REFUSED = {
    "openai/envelope_response_format.json": "json_schema",  # the schema is within it
    "gemini/enum_only_uppercase.json": 'write "string"',
    "gemini/nullable_uppercase_int64_strings.json": 'write "object"',
    "gemini/recipes_uppercase.json": 'write "array"',
}


def name_of(file: Path) -> str:
    return f"{file.parent.name}/{file.name}"


@pytest.mark.parametrize("file", [file for file in FILES if name_of(file) not in REFUSED], ids=name_of)
def test_what_is_documented_compiles(file: Path) -> None:
    schema = json.loads(file.read_text(encoding="utf-8"))
    grammar = Grammar.from_json_schema(schema)
    assert pdacon.compile(grammar, Vocabulary.bytes()).matcher().allowed_tokens()
    valid = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)(schema).is_valid
    for text in grammar.sample(10, seed=1, size=40):
        unique, value = without_duplicates(text)
        assert valid(value) or not unique


@pytest.mark.parametrize(("name", "said"), REFUSED.items())
def test_other_dialects_are_refused_with_a_way_out(name: str, said: str) -> None:
    schema = json.loads((Path(__file__).parent / "providers" / name).read_text(encoding="utf-8"))
    with pytest.raises(UnsupportedSchemaError, match=said):
        Grammar.from_json_schema(schema)
