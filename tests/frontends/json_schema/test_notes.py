"""What narrows the language, or drops what was meant, is a warning and stands in ``unenforced``."""

from __future__ import annotations

import re
import warnings
from typing import Any

import pytest

from pdacon import CompileCache, Grammar, GrammarWarning, Spelling, UnsupportedSchemaError, Vocabulary

DRAFT_3 = "it is of draft 3"
DRAFT_4 = {"$schema": "http://json-schema.org/draft-04/schema#"}
ENDLESS = {"type": "array", "items": {"$ref": "#/$defs/a"}, "minItems": 1}
NEVER = 'no value satisfies "a", so that it never comes'


def notes(schema: Any, **options: Any) -> list[tuple[str, str, str]]:
    """What stands in ``unenforced``, each of which has to be warned of too."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = Grammar.from_json_schema(schema, **options).unenforced
    assert [str(one.message) for one in caught] == [": ".join(one) for one in found]
    return list(found)


@pytest.mark.parametrize(
    ("schema", "pointer", "keyword", "why"),
    [
        ({"type": "string", "required": True}, "#", "required", "a Boolean is of draft 3"),
        ({**DRAFT_4, "type": "object", "required": True}, "#", "required", "a Boolean is of draft 3"),
        ({"extends": {"type": "string"}}, "#", "extends", DRAFT_3),
        ({"disallow": "string"}, "#", "disallow", DRAFT_3),
        ({"divisibleBy": 2}, "#", "divisibleBy", DRAFT_3),
        ({"type": "string", "properties": []}, "#", "properties", "must be an object"),
        ({"type": "integer", "pattern": "("}, "#", "pattern", "is not closed"),
        ({"type": "integer", "maxLength": -1}, "#", "maxLength", "no count"),
        ({"type": "integer", "uniqueItems": 1}, "#", "uniqueItems", "true or false"),
        ({"type": "string", "items": 3}, "#", "items", "a schema is"),
        ({"type": "string", "required": ["a", 1]}, "#", "required", "list of names"),
        ({"type": "string", "multipleOf": 0}, "#", "multipleOf", "greater than 0"),
        ({"items": {"type": "string", "exclusiveMinimum": True}}, "#/items", "exclusiveMinimum", "draft 4"),
        ({**DRAFT_4, "exclusiveMinimum": 3}, "#", "exclusiveMinimum", "no Boolean"),
        ({"type": "string", "nullable": True}, "#", "nullable", '"null"'),
    ],
)
def test_keywords_that_say_nothing(schema: Any, pointer: str, keyword: str, why: str) -> None:
    ((where, what, said),) = notes(schema)
    assert (where, what) == (pointer, keyword)
    assert why in said


@pytest.mark.parametrize("draft", ["draft-04", "draft-06", "draft-07", "draft/2019-09", "draft/2020-12"])
@pytest.mark.parametrize(
    ("schema", "keyword", "old", "latest"),
    [
        ({"prefixItems": [{}], "additionalItems": False}, "additionalItems", "", 'of draft 2019-09.*write "items"'),
        ({"items": {}, "additionalItems": False}, "additionalItems", "", "says nothing here"),
        ({"items": [{}], "additionalItems": False}, "additionalItems", "", ""),
        ({"items": [{}], "prefixItems": [{}]}, "prefixItems", "no such keyword", 'beside a list of "items"'),
        ({"items": {"$recursiveRef": "#"}}, "$recursiveRef", "only draft 2019-09", 'write "\\$ref"'),
        ({"$recursiveAnchor": True}, "$recursiveAnchor", "only draft 2019-09", r'write "\$dynamicAnchor"'),
    ],
)
def test_keywords_of_some_drafts(draft: str, schema: Any, keyword: str, old: str, latest: str) -> None:
    said = [
        why
        for _, what, why in notes({"$schema": f"https://json-schema.org/{draft}/schema", **schema})
        if what == keyword
    ]
    of_2019 = "2019" in draft and keyword.startswith("$")
    expected = "" if of_2019 else latest if "2020" in draft else old
    assert len(said) == bool(expected)
    assert all(re.search(expected, why) for why in said)


@pytest.mark.parametrize("wrong", [5, None, []])
@pytest.mark.parametrize(
    ("keyword", "draft"),
    [
        *((keyword, "draft/2020-12") for keyword in ("$anchor", "$defs", "$dynamicAnchor", "$id", "$vocabulary")),
        *((keyword, "draft-07") for keyword in ("$id", "definitions", "then", "else")),
        ("$recursiveAnchor", "draft/2019-09"),
        ("id", "draft-04"),
    ],
)
def test_what_names_or_holds_schemas_has_values_of_a_kind(keyword: str, draft: str, wrong: Any) -> None:
    schema = {"$schema": f"https://json-schema.org/{draft}/schema"}
    ((where, what, why),) = notes({**schema, "items": {"type": "string", keyword: wrong}})
    assert (where, what) == ("#/items", keyword)
    assert "says nothing here" in why
    ((where, what, why),) = notes({**schema, keyword: wrong})
    assert (where, what) == ("#", keyword)


@pytest.mark.parametrize("wrong", [5, None, []])
@pytest.mark.parametrize(
    ("keyword", "draft"), [("$ref", "2020-12"), ("$recursiveRef", "2019-09"), ("$dynamicRef", "2020-12")]
)
def test_references_of_a_wrong_kind_are_refused(keyword: str, draft: str, wrong: Any) -> None:
    with pytest.raises(UnsupportedSchemaError, match="it must be a string"):
        Grammar.from_json_schema({"$schema": f"https://json-schema.org/draft/{draft}/schema", keyword: wrong})


def test_a_bound_of_draft_4_is_named_in_later_ones() -> None:
    with pytest.raises(UnsupportedSchemaError, match=r"draft 4.*in place of minimum"):
        Grammar.from_json_schema({"minimum": 3, "exclusiveMinimum": True})


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        ({"properties": {"a": {"type": "string", "enum": [1]}}}, "#"),
        ({"items": {"properties": {"a": {"type": "integer", "minimum": 5, "maximum": 4}, "b": {}}}}, "#/items"),
        ({"properties": {"a": {"type": "string", "pattern": "^x$", "minLength": 3}}}, "#"),
        (
            {"allOf": [{"properties": {"a": {"type": "null"}}}, {"properties": {"a": {"type": "integer"}}}]},
            "#/allOf/1",
        ),
        ({"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": ENDLESS}}, "#"),
    ],
)  # fmt: skip
def test_members_that_never_come(schema: Any, pointer: str) -> None:
    assert (pointer, "properties", NEVER) in notes(schema)


@pytest.mark.parametrize("never", [False, {"not": {}}, {"not": True}])
def test_members_that_are_forbidden_are_no_surprise(never: Any) -> None:
    assert notes({"properties": {"a": never, "b": {"type": "integer"}}}) == []


def test_members_that_come_are_not_named() -> None:
    below = {"type": "object", "properties": {"a": {"$ref": "#/$defs/below"}, "b": {"enum": [1, "x"]}}}
    assert notes({"$ref": "#/$defs/below", "$defs": {"below": below}}) == []
    assert notes({"anyOf": [below, {"type": "string"}], "$defs": {"below": below}}) == []


def test_any_order_is_no_surprise() -> None:
    names = {name: {} for name in "abcdefg"}
    assert notes({"items": {"properties": names}}, spelling=Spelling(order="any")) == []


def test_a_discriminator_that_tells_nothing_apart() -> None:
    def schema(first: Any) -> Any:
        return {
            "oneOf": [{"$ref": "#/$defs/a"}, {"properties": {"k": {"enum": ["b"]}}, "required": ["k"]}],
            "discriminator": {"propertyName": "k"},
            "$defs": {"a": {"allOf": [{"type": "object", "properties": {"k": first}}], "required": ["k"]}},
        }  # fmt: skip

    ((pointer, keyword, why),) = notes(schema({"type": "string"}))
    assert (pointer, keyword) == ("#", "discriminator")
    assert "#/oneOf/0" in why
    assert notes(schema({"const": "a"})) == []


def test_a_cache_warns_too() -> None:
    with pytest.warns(GrammarWarning, match="^#: nullable: ") as caught:
        CompileCache().compile_schema({"type": "string", "nullable": True}, Vocabulary.bytes())
    assert caught[0].filename == __file__


def test_alternatives_that_take_the_members_of_all_others() -> None:
    objects = [
        {
            "type": "object",
            "properties": {**{f"{name}{k}": {"type": "integer"} for name in "abc"}, "z": {"type": "integer"}},
        }
        for k in range(12)
    ]  # of which none is settled before the last member
    grammar = Grammar.from_json_schema({"anyOf": objects})  # read on demand, it costs what texts come to
    with pytest.raises(UnsupportedSchemaError, match=r"12 alternatives.*additionalProperties"):
        grammar.data  # noqa: B018
    closed = [{**one, "additionalProperties": False} for one in objects]
    assert Grammar.from_json_schema({"anyOf": closed}).accepts('{"a3": 1}')


def test_what_is_too_large_has_a_place() -> None:
    large = "^(a|b)*a(a|b){16}$"
    for schema, pointer, keyword in (
        ({"items": {"propertyNames": {"pattern": large}}}, "#/items/propertyNames", "pattern"),
        ({"items": {"patternProperties": {large: {}, "x": {}}}}, "#/items", "patternProperties"),
        ({"items": {"pattern": large}}, "#/items", "pattern"),
    ):
        with pytest.raises(UnsupportedSchemaError, match="too large") as raised:
            Grammar.from_json_schema(schema)
        assert (raised.value.pointer, raised.value.keyword) == (pointer, keyword)


def test_long_strings_have_names_that_say_what_they_are() -> None:
    told = Grammar.from_json_schema({"type": "string", "maxLength": 3000}).explain('"ab\n').render()
    assert "expected a string, at most 3000 characters" in " ".join(told.split())
    assert not {"CHUNK", "REST"} & set(told.split())
