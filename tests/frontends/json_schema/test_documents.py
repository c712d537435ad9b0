"""References, the drafts that schemas name, and what a reference that leads nowhere may have meant."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from pdacon import Grammar, UnsupportedSchemaError

META = "https://example.com/meta"
LATEST = "https://json-schema.org/draft/2020-12/schema"
VOCABULARIES = {
    f"https://json-schema.org/draft/2020-12/vocab/{name}": True
    for name in ("core", "applicator", "unevaluated", "validation", "meta-data")
}


@pytest.mark.parametrize("keyword", ["$schema", "$id", "id", "$anchor", "$ref", "$dynamicAnchor"])
@pytest.mark.parametrize("where", ["properties", "$defs", "patternProperties", "components"])
def test_names_on_the_way_of_a_pointer_are_no_keywords(where: str, keyword: str) -> None:
    schema = {where: {keyword: {"type": "string"}, "a": {"type": "integer"}}, "items": {"$ref": f"#/{where}/a"}}
    grammar = Grammar.from_json_schema(schema)
    assert [grammar.accepts(text) for text in ("[1]", '["a"]')] == [True, False]
    assert "integer" in grammar.explain('["a"').render()


@pytest.mark.parametrize(
    ("reference", "meant"),
    [
        ("/$defs/X", '"#/$defs/X"'),
        ("$defs/X", '"#/$defs/X"'),
        ("#$defs/X", '"#/$defs/X"'),
        ("#/definitions/X", '"#/$defs/X"'),
        ("X", '"#/$defs/X"'),
        ("#/$defs/Xylofon", "#/$defs/Xylophone"),
        ("/$defs/a~1b", '"#/$defs/a~1b"'),
    ],
)
def test_what_a_reference_may_mean(reference: str, meant: str) -> None:
    with pytest.raises(UnsupportedSchemaError) as raised:
        Grammar.from_json_schema({"$ref": reference, "$defs": {"X": {}, "Xylophone": {}, "a/b": {}}})
    assert f"did you mean {meant}?" in str(raised.value)


def test_a_reference_into_another_document_is_not_guessed_at() -> None:
    with pytest.raises(UnsupportedSchemaError, match="registry"):
        Grammar.from_json_schema({"$ref": "https://example.com/X", "$defs": {"X": {}}})


def test_a_meta_schema_that_was_given_has_a_draft() -> None:
    old = {"$schema": META, "items": [{"type": "integer"}]}
    given = {META: {"$schema": "https://example.com/base"}, "https://example.com/base": {"$schema": LATEST}}
    assert Grammar.from_json_schema({"$schema": META, "prefixItems": [{"type": "integer"}]}, registry=given).accepts(
        "[1]"
    )
    draft_7 = {META: {"$schema": "http://json-schema.org/draft-07/schema#"}}
    grammar = Grammar.from_json_schema(old, registry=draft_7)
    assert [grammar.accepts(text) for text in ('[1, "a"]', '["a"]')] == [True, False]
    assert "integer" in grammar.explain('["a"').render()


@pytest.mark.parametrize(
    "meta",
    [
        {"$schema": META},
        {"$schema": "https://example.com/none"},
        {},
        {"$schema": LATEST, "$vocabulary": {**VOCABULARIES, "https://example.com/vocabulary": True}},
        {"$schema": LATEST, "$vocabulary": dict(list(VOCABULARIES.items())[:3])},
    ],
)
def test_meta_schemas_that_are_refused(meta: Any) -> None:
    with pytest.raises(UnsupportedSchemaError) as raised:
        Grammar.from_json_schema({"$schema": META, "type": "string"}, registry={META: meta})
    assert raised.value.keyword == "$schema"


def test_a_vocabulary_that_need_not_be_known() -> None:
    meta = {"$schema": LATEST, "$vocabulary": {**VOCABULARIES, "https://example.com/vocabulary": False}}
    assert Grammar.from_json_schema({"$schema": META, "type": "null"}, registry={META: meta}).accepts("null")


def test_the_same_reference_means_another_thing_in_another_resource() -> None:
    below = {"items": {"$recursiveRef": "#"}}
    schema = {
        "$schema": "https://json-schema.org/draft/2019-09/schema",
        "properties": {
            "a": {"$id": "https://example.com/a", "type": ["integer", "array"], **below},
            "b": {"$id": "https://example.com/b", "type": ["string", "array"], **below},
        },
    }
    grammar = Grammar.from_json_schema(schema)
    for value in ({"a": [1]}, {"a": ["s"]}, {"b": [1]}, {"b": ["s"]}, {"b": [["s"]]}):
        assert grammar.accepts(json.dumps(value)) == jsonschema.Draft201909Validator(schema).is_valid(value)
