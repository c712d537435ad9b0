"""References, the drafts that schemas name, and what a reference that leads nowhere may have meant."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import jsonschema
import pytest

from pdacon import Grammar, UnsupportedSchemaError
from pdacon.frontends.json_schema.documents import Documents, Place, subschemas

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


def some_schema(random: Random, depth: int) -> Any:
    """A schema in which names of places, other bases and other drafts stand anywhere, also where they say nothing."""
    if depth == 0 or (depth < 4 and random.random() < 0.3):
        return random.choice([True, {"type": "null"}, {"$anchor": random.choice("ab")}, {"id": "#c"}, [], "text"])
    schema: dict[str, Any] = {}
    below = lambda: some_schema(random, depth - 1)  # noqa: E731
    for _ in range(random.randint(2, 4)):
        key = random.choice(["properties", "$defs", "dependencies", "anyOf", "items", "not", "unknown", "enum"])
        named = {random.choice(["a", "$id", "$anchor", "items"]): below() for _ in range(2)}
        schema[key] = random.choice([below(), [below(), below()], named, named])
    for key, values in {
        "$id": ["https://x.y/", "z", "#d", 3],
        "id": ["https://x.z/", "#e"],
        "$anchor": ["a", "b", 1],
        "$dynamicAnchor": ["n"],
        "$recursiveAnchor": [True],
        "$schema": ["http://json-schema.org/draft-04/schema#", LATEST],
    }.items():
        if random.random() < 0.25:
            schema[key] = random.choice(values)
    return schema


def what_places_are_called(documents: Documents) -> dict[str, Any]:
    """Each place of a document that is named: the slow definition, which goes to every schema."""
    resources, anchors, dynamic = {documents.root.base: "#", "": "#"}, dict[tuple[str, str], str](), set()
    pending = [Place(documents.root.base, "#", documents.root.node, documents.root.draft, drafts=documents.root.drafts)]
    while pending:
        place = pending.pop()
        node = place.node
        if not isinstance(node, dict):
            continue
        identifier = node.get("$id" if place.draft > 4 else "id")
        if isinstance(identifier, str) and identifier.startswith("#"):
            anchors.setdefault((place.base, identifier[1:]), place.pointer)
        elif isinstance(identifier, str):
            resources.setdefault(place.base, place.pointer)
        for keyword in ("$anchor", "$dynamicAnchor"):
            if isinstance(node.get(keyword), str):
                anchors.setdefault((place.base, node[keyword]), place.pointer)
        if isinstance(node.get("$dynamicAnchor"), str):
            dynamic.add((place.base, node["$dynamicAnchor"]))
        if node.get("$recursiveAnchor") is True:
            dynamic.add((place.base, ""))
        pending += subschemas(place)
    return {"resources": resources, "anchors": anchors, "dynamic": dynamic}


def test_places_that_are_named_are_those_of_a_walk_through_all_schemas() -> None:
    random, named = Random(5), 0
    for _ in range(100):
        schema = some_schema(random, 4)
        documents = Documents(schema, lenient=True)
        expected = what_places_are_called(documents)
        assert {base: place.pointer for base, place in documents._resources.items()} == expected["resources"]
        assert {key: place.pointer for key, place in documents._anchors.items()} == expected["anchors"]
        assert documents._dynamic == expected["dynamic"]
        named += len(expected["anchors"]) + len(expected["resources"]) - 2
    assert named > 100


@pytest.mark.parametrize("draft", [4, 7, 2020])
def test_members_called_id_beside_schemas_that_have_one(draft: int) -> None:
    """Schemas are looked through for names of theirs only where a text may be one."""
    uri = (
        "https://json-schema.org/draft/2020-12/schema"
        if draft == 2020
        else f"http://json-schema.org/draft-0{draft}/schema#"
    )
    naming = "id" if draft == 4 else "$id"
    members = {"id": {"type": "integer"}, "$id": {"type": "integer"}}
    inner = {naming: "http://example.org/inner", "properties": members}
    schema = {
        "$schema": uri,
        "properties": {**members, "a": {"$ref": "http://example.org/inner"}},
        "definitions": {"b": inner},
    }
    documents = Documents(schema)
    assert documents.referred(documents.root.child("properties", "a"), "$ref").node is inner
    documents = Documents({**schema, "definitions": {}})
    with pytest.raises(UnsupportedSchemaError):
        documents.referred(documents.root.child("properties", "a"), "$ref")
