"""Keywords that say nothing are named where they look as if they were to say something; closed objects."""

from __future__ import annotations

import re
import warnings
from typing import Any

import pytest

import pdacon
from pdacon import Grammar, GrammarWarning, UnsupportedSchemaError

DRAFT_7 = {"$schema": "http://json-schema.org/draft-07/schema#"}


def quiet(schema: Any, **options: Any) -> Grammar:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GrammarWarning)
        return Grammar.from_json_schema(schema, **options)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("maxLenght", "maxLength"),
        ("requred", "required"),
        ("additionalPropertys", "additionalProperties"),
        ("additional_properties", "additionalProperties"),
        ("minlength", "minLength"),
        ("patternProperty", "patternProperties"),
        ("enums", "enum"),
        ("types", "type"),
        ("ref", "$ref"),
        ("oneof", "oneOf"),
        ("itmes", "items"),
        ("cosnt", "const"),
        ("thn", "then"),
        ("els", "else"),
        ("nto", "not"),
        ("iff", "if"),
        ("$reff", "$ref"),
        ("al0f", "allOf"),
        ("formt", "format"),
    ],
)
def test_a_misspelled_keyword_is_named(given: str, meant: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", given: 3}}}
    with pytest.warns(
        GrammarWarning, match=f"^#/properties/a: {re.escape(given)}: it is no keyword .* did you mean"
    ) as caught:
        grammar = Grammar.from_json_schema(schema)
    assert caught[0].filename == __file__
    ((pointer, keyword, why),) = grammar.unenforced
    assert (pointer, keyword) == ("#/properties/a", given)
    assert f'"{meant}"' in why or f"did you mean {meant}?" in why


@pytest.mark.parametrize(
    "keyword",
    ["title", "x-order", "$comment", "tsType", "errorMessage", "examples", "label", "note", "xml", "enumNames", "unit"],
)
def test_annotations_are_not(keyword: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not Grammar.from_json_schema({"type": "string", keyword: "maxLenght"}).unenforced


def test_names_of_members_are_no_keywords() -> None:
    schema = {"properties": {"requred": {"const": {"maxLenght": 1}}}, "$defs": {"enums": {"type": "null"}}}
    assert not Grammar.from_json_schema(schema).unenforced


def test_a_format_that_is_misspelled() -> None:
    with pytest.warns(GrammarWarning, match="'datetime' is no format of JSON Schema.*; did you mean date-time"):
        Grammar.from_json_schema({"type": "string", "format": "datetime"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ((_, keyword, why),) = Grammar.from_json_schema({"type": "string", "format": "int32"}).unenforced
    assert (keyword, "did you mean" in why) == ("format", False)


@pytest.mark.parametrize(
    ("schema", "keyword", "why"),
    [
        ({**DRAFT_7, "prefixItems": [{"type": "null"}]}, "prefixItems", "draft 7 has no such keyword"),
        ({**DRAFT_7, "$ref": "#/definitions/a", "minLength": 2}, "minLength", r'put both into "allOf"'),
        ({"dependencies": {"a": ["b"]}}, "dependencies", "dependentRequired"),
        ({"$schema": "http://json-schema.org/draft-04/schema", "const": 1}, "const", "draft 4 has no such keyword"),
    ],
    ids=["a later draft's", "beside $ref", "an earlier draft's", "const in draft 4"],
)
def test_keywords_of_other_drafts(schema: Any, keyword: str, why: str) -> None:
    ((pointer, named, said),) = quiet({"definitions": {"a": {"type": "string"}}, **schema}).unenforced
    assert (pointer, named) == ("#", keyword)
    assert why in said


PERSON = {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}}
NAMED = {"$defs": {"named": {"properties": {"name": {"type": "string"}}}}}


@pytest.mark.parametrize(
    ("schema", "closed", "still"),
    [
        (PERSON, '{"name": "a", "x": 1}', '{"name": "a", "age": 1}'),
        ({"items": PERSON}, '[{"x": 1}]', '[{"age": 1}]'),
        ({**PERSON, "additionalProperties": {"type": "null"}}, None, '{"x": null}'),
        ({**PERSON, "patternProperties": {"^x": {}}}, '{"y": 1}', '{"x": 1}'),
        ({"type": "object"}, None, '{"x": 1}'),
        ({"type": "object", "properties": {}}, '{"x": 1}', "{}"),
        ({"items": {"properties": {}}}, '[{"x": 1}]', "[{}, 2]"),
        ({"properties": {}, "additionalProperties": {"type": "null"}}, None, '{"x": null}'),
        ({"properties": {}, "patternProperties": {"^x": {}}}, '{"y": 1}', '{"x": 1}'),
        ({"patternProperties": {"^x": {}}}, None, '{"y": 1}'),
        ({"allOf": [{"properties": {}}, {"properties": {"a": {}}}]}, '{"x": 1}', '{"a": 1}'),
        ({"properties": {}, "not": {"required": ["y"]}}, '{"x": 1}', "{}"),
        ({}, None, '{"x": 1}'),
        ({**NAMED, "allOf": [{"$ref": "#/$defs/named"}], **PERSON}, '{"x": 1}', '{"name": "a", "age": 1}'),
        ({**NAMED, "allOf": [{"$ref": "#/$defs/named"}, PERSON]}, '{"x": 1}', '{"name": "a", "age": 1}'),
        ({**NAMED, "anyOf": [{"$ref": "#/$defs/named"}, {"type": "array"}]}, '{"x": 1}', '[{"x": 1}]'),
        ({**DRAFT_7, "definitions": {"p": PERSON}, "$ref": "#/definitions/p"}, '{"x": 1}', '{"age": 1}'),
        ({"const": {"x": 1}}, None, '{"x": 1}'),
        ({"not": {"required": ["y"]}, **PERSON}, '{"x": 1}', '{"name": "a"}'),
    ],
)
def test_closed_objects_have_only_what_is_listed(schema: Any, closed: str | None, still: str) -> None:
    free, held = Grammar.from_json_schema(schema), Grammar.from_json_schema(schema, closed=True)
    assert free.accepts(still)
    assert held.accepts(still)
    if closed is not None:
        assert free.accepts(closed)
        assert not held.accepts(closed)
        assert free != held


def test_closed_is_what_unevaluated_properties_would_be() -> None:
    """The same texts as of the schema that says it of each object itself."""
    texts = ['{"a": 1}', '{"b": 1}', '{"a": 1, "b": 1}', '{"a": 1, "c": 1}', "{}", '{"b": {"x": 1}}', '{"b": {"y": 1}}']
    inner = {"properties": {"x": {}}}
    some = {"anyOf": [{"properties": {"a": {"const": 1}}, "required": ["a"]}, {"properties": {"b": inner}}]}
    said = {
        "unevaluatedProperties": False,
        "anyOf": [some["anyOf"][0], {"properties": {"b": {**inner, "unevaluatedProperties": False}}}],
    }
    closed, explicit = Grammar.from_json_schema(some, closed=True), Grammar.from_json_schema(said)
    assert [closed.accepts(text) for text in texts] == [explicit.accepts(text) for text in texts]


def test_a_cache_tells_closed_from_open() -> None:
    cache, vocabulary = pdacon.CompileCache(), pdacon.Vocabulary.bytes()
    both = [cache.compile_schema(PERSON, vocabulary, closed=closed) for closed in (False, True)]
    assert [one.accepts('{"x": 1}') for one in both] == [True, False]


def test_what_is_required_and_not_listed_leaves_nothing() -> None:
    with pytest.raises((pdacon.EmptyLanguageError, UnsupportedSchemaError)):
        Grammar.from_json_schema({**PERSON, "required": ["x"]}, closed=True)


def test_why_a_closed_object_refuses_a_member() -> None:
    grammar = Grammar.from_json_schema(PERSON, closed=True)
    why = " ".join(str(grammar.explain('{"name": "a", "agee": 1')).split())
    assert 'the value lists no member "agee", and objects are closed; did you mean age?' in why
    assert "are closed" not in str(grammar.explain('{"age": 1, "name": "a"}'))
    assert "are closed" not in str(Grammar.from_json_schema(PERSON).explain('{"age": 1, "name": "a"}'))
