"""JSON Schemas as railroad diagrams: every keyword is in the picture, and parts lead to their own diagrams."""

from __future__ import annotations

import datetime
import json
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pydantic
import pytest

from pdacon import DrawingError, Grammar

pytest.importorskip("graphlay")
pytest.importorskip("railroad")

from pdacon.drawing import draw_schema

SVG = "{http://www.w3.org/2000/svg}"


def draw(schema: Any, *pointers: str) -> str:
    return draw_schema(Grammar.from_json_schema(schema).data, pointers)


def texts(picture: str) -> dict[str, list[str]]:
    """By the heading of each diagram what is written in it: in boxes, on frames and on loops."""
    found = {}
    for group in ElementTree.fromstring(picture).iter(f"{SVG}g"):
        if group.get("class") == "rule":
            heading, *rest = (text.text or "" for text in group.iter(f"{SVG}text") if text.get("class") != "faint")
            found[heading] = rest
    return found


def whole(schema: Any) -> str:
    """What is written in the only diagram of a schema."""
    (words,) = texts(draw(schema)).values()
    return "  ".join(words)


CLOSED = {"type": "object", "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "shown"),
    [
        (True, "any JSON"),
        ({}, "any JSON"),
        ({"description": "nothing else"}, "any JSON"),
        ({"type": "null"}, "null"),
        ({"type": ["boolean", "null"]}, "boolean  null"),
        ({"type": "string"}, "string"),
        ({"type": "string", "minLength": 1, "maxLength": 20}, "string, 1 to 20 characters"),
        ({"type": "string", "minLength": 1}, "string, at least 1 character"),
        ({"type": "string", "minLength": 2, "maxLength": 2}, "string, 2 characters"),
        ({"type": "string", "format": "date"}, "string, date"),
        ({"type": "string", "pattern": "^[a-z]+$"}, "string, /^[a-z]+$/"),
        ({"type": "integer", "minimum": 0, "maximum": 120}, "integer, 0 to 120"),
        ({"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5}, "number, above 0, multiple of 0.5"),
        ({"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer", "minimum": 0,
          "exclusiveMinimum": True}, "integer, above 0"),
        ({"minimum": 3}, "number, at least 3  no number"),
        ({"enum": ["a", 1, None]}, '"a"  1  null'),
        ({"const": {"a": 1}}, '{"a": 1}'),
        ({"type": "array", "items": {"type": "string"}}, "[  string  ]"),
        ({"type": "array", "items": {"type": "string"}, "minItems": 2}, "[  string  at least 2 times  ]"),
        ({"type": "array", "items": {"type": "string"}, "maxItems": 3}, "[  string  1 to 3 times  ]"),
        ({"type": "array", "prefixItems": [{"const": 1}, {"const": 2}], "items": False}, "[  1  2  ]"),
        ({"type": "array", "items": {"enum": [1, 2]}, "uniqueItems": True}, "[  1  2  ]  uniqueItems true"),
        ({"type": "array", "contains": {"const": 1}}, '[  any JSON  ]  contains {"const": 1}'),
        ({"type": "array", "maxItems": 0}, "[  ]"),
        ({**CLOSED, "properties": {"a": {"type": "string"}, "b": True}}, '{  "a":  string  "b":  any JSON  }'),
        ({"type": "object"}, '{  "...":  any JSON  }'),
        ({"type": "object", "additionalProperties": {"type": "string"}}, '{  "...":  string  }'),
        ({"type": "object", "properties": {"a": False}}, '{  no "a"  "...":  any JSON  }'),
        ({"type": "object", "required": ["a"]}, '{  "a":  any JSON  "...":  any JSON  }'),
        ({**CLOSED, "patternProperties": {"^x": {"type": "string"}}}, "{  /^x/:  string  }"),
        ({**CLOSED, "properties": {"a": True}, "minProperties": 1}, '{  "a":  any JSON  }  minProperties 1'),
        ({"type": "object", "unevaluatedProperties": False}, "{  }  unevaluatedProperties false"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "string  null  any of"),
        ({"oneOf": [{"type": "string"}, {"type": "null"}]}, "string  null  exactly one of"),
        ({"allOf": [{"type": "string"}, {"maxLength": 3}]}, "string  string, at most 3 characters  no string  "
         "all of these at once"),
        ({"type": "string", "not": {"const": "a"}}, 'string  "a"  not  all of these at once'),
        ({"type": "string", "if": {"const": "a"}, "then": {"minLength": 1}, "else": {"const": "b"}},
         'string  "a"  if  string, at least 1 character  then  "b"  else  all of these at once'),
        ({**CLOSED, "properties": {"a": True}, "dependentSchemas": {"a": {"required": ["b"]}}},
         '{  "a":  any JSON  }  {  "b":  any JSON  "...":  any JSON  }  if there is "a"  all of these at once'),
        ({**CLOSED, "properties": {"a": True, "b": True}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
         '{  "a":  any JSON  "b":  any JSON  }  {  "a":  any JSON  "...":  any JSON  }  {  "b":  any JSON  "...":  '
         "any JSON  }  any of  all of these at once"),
    ],
    ids=lambda value: json.dumps(value)[:40] if not isinstance(value, str) else "",
)  # fmt: skip
def test_what_each_keyword_looks_like(schema: Any, shown: str) -> None:
    assert whole(schema) == shown


def by_passes(picture: str) -> int:
    """How many ways around something there are: paths that go up before they go on."""
    return sum("a10 10 0 0 0 10 -10" in (path.get("d") or "") for path in ElementTree.fromstring(picture).iter())


def test_optional_members_have_a_way_around_and_required_ones_none() -> None:
    properties = {"a": {"const": 1}, "b": {"const": 2}}
    count = [
        by_passes(draw({**CLOSED, "properties": properties, "required": required}))
        for required in (["a", "b"], ["a"], [])
    ]
    assert count[0] < count[1] < count[2]


def test_references_lead_to_diagrams_of_their_own() -> None:
    node = {**CLOSED, "properties": {"next": {"$ref": "#/$defs/node"}, "value": {"$ref": "#/$defs/a b"}}}
    picture = draw({"$ref": "#/$defs/node", "$defs": {"node": node, "a b": {"type": "integer"}, "unused": True}})
    assert texts(picture) == {
        "#": ["node"],
        "#/$defs/node": ["{", '"next":', "node", '"value":', "a b", "}"],
        "#/$defs/a b": ["integer"],
    }
    root = ElementTree.fromstring(picture)
    links = [link.get("href") for link in root.iter(f"{SVG}a")]
    ids = {element.get("id") for element in root.iter()}
    assert len(links) == 3
    assert {f"#{one}" for one in ids} >= set(links)


def test_large_nested_schemas_have_diagrams_of_their_own() -> None:
    small = {**CLOSED, "properties": {"x": {"type": "integer"}}}
    large = {**CLOSED, "properties": {f"name{k}": {"type": "integer"} for k in range(9)}}
    shown = texts(draw({**CLOSED, "properties": {"small": small, "large": large}}))
    assert list(shown) == ["#", "#/properties/large"]
    assert {'"x":', "#/properties/large"} <= set(shown["#"])


def test_pointers_are_tooltips_and_titles_are_headings() -> None:
    schema = {**CLOSED, "title": "A person", "properties": {"age": {"type": "integer", "maximum": 120}}}
    picture = draw(schema)
    assert "<title>#/properties/age: maximum 120</title>" in picture
    assert ">A person</text>" in picture


def test_parts_by_their_pointers() -> None:
    schema = {"$ref": "#/$defs/a", "$defs": {"a": {"type": "array", "items": {"$ref": "#/$defs/b"}}, "b": {"const": 1}}}
    assert texts(draw(schema, "#/$defs/b")) == {"#/$defs/b": ["1"]}
    assert texts(draw(schema, "#/$defs/a/items")) == {"#/$defs/a/items": ["b"]}
    with pytest.raises(DrawingError, match="the schema has nothing at #/\\$defs/c"):
        draw(schema, "#/$defs/c")
    with pytest.raises(DrawingError, match="what is at #/\\$defs/a/type is no schema"):
        draw(schema, "#/$defs/a/type")
    with pytest.raises(DrawingError, match="made of Lark, not of a JSON Schema"):
        draw_schema(Grammar.builtin("json").data)


def test_draw_of_a_schema_shows_the_schema_and_names_of_rules_its_grammar() -> None:
    grammar = Grammar.from_json_schema({"$ref": "#/$defs/a", "$defs": {"a": {**CLOSED, "properties": {"x": True}}}})
    assert list(texts(grammar.draw())) == ["#", "#/$defs/a"]
    assert list(texts(grammar.draw("#/$defs/a"))) == ["#/$defs/a"]
    assert list(texts(grammar.draw("start"))) == ["start"]


@pytest.mark.slow
def test_what_is_long_is_cut_and_says_so() -> None:
    assert "... 9,988 more values" in whole({"enum": list(range(10_000))})
    wide = {**CLOSED, "properties": {f"p{k}": {"type": "string"} for k in range(2000)}}
    assert "... 1,850 more members" in whole(wide)
    tuples = {"type": "array", "prefixItems": [{"const": k} for k in range(40)], "items": False}
    assert "... 28 more items" in whole(tuples)
    parts = {f"d{k}": {**CLOSED, "properties": dict.fromkeys("abcdefghij", True)} for k in range(300)}
    references = {name: {"$ref": f"#/$defs/{name}"} for name in parts}
    nested = {"type": "array", "prefixItems": [{**CLOSED, "properties": references}], "$defs": parts}
    assert "Not drawn, as there are too many: " in draw({**nested, "items": {"oneOf": [True, {"$ref": "#/$defs/d1"}]}})


@pytest.mark.parametrize("keyword", ["properties", "items", "anyOf"])
def test_deep_schemas_are_drawn(keyword: str) -> None:
    schema: Any = {"type": "string"}
    for _ in range(60):
        if keyword == "properties":
            schema = {**CLOSED, "properties": {"a": schema}}
        else:
            schema = {"type": "array", "items": schema} if keyword == "items" else {"anyOf": [schema, {"const": 1}]}
    assert len(texts(draw(schema))) > 8


@pytest.mark.slow
def test_a_large_schema_is_drawn_as_far_as_there_is_room() -> None:
    schema: Any = {"type": "string", "maxLength": 9}
    for _ in range(5):
        schema = {**CLOSED, "properties": {f"name{k}": schema for k in range(8)}}
    grammar = replace(Grammar.from_json_schema({}).data, source=json.dumps(schema))
    picture = draw_schema(grammar)
    assert "Not drawn, as there are too many: " in picture
    assert len(picture) < 5_000_000


def test_a_bound_that_no_float_holds() -> None:
    grammar = replace(
        Grammar.from_json_schema({}).data,
        source='{"type": "array", "maxItems": Infinity, "items": {"maximum": Infinity}}',
    )
    assert texts(draw_schema(grammar))["#"] == ["[", "number, at most Infinity", "no number", "]"]


def test_other_documents_are_named() -> None:
    grammar = Grammar.from_json_schema(
        {"$ref": "https://example.com/a"}, registry={"https://example.com/a": {"type": "string"}}
    )
    assert texts(draw_schema(grammar.data)) == {"#": ['"https://example.com/a"']}


def test_any_text_is_shown_as_text() -> None:
    schema = {**CLOSED, "properties": {'a\n"<&]]>': {"const": "\0</svg>"}, "b)(": {"$ref": "#/$defs/x%20)y"}}}
    picture = draw({**schema, "$defs": {"x )y": {"type": "null"}}})
    assert texts(picture)["#"] == ["{", '"a\\n\\"<&]]>":', '"\\u0000</svg>"', '"b)(":', "x )y", "}"]
    assert list(texts(Grammar.from_json_schema(schema | {"$defs": {"x )y": True}}).draw()._repr_svg_()))


def test_the_description_says_what_frames_say() -> None:
    picture = draw({"type": "array", "items": {"not": {"anyOf": [{"type": "string"}, {"const": 1}]}}})
    described = ElementTree.fromstring(picture).findtext(f"{SVG}desc")
    assert described == "#: ([ (not: (any of: (string | 1)))* ])"


class Line(pydantic.BaseModel):
    text: str
    price: float


class Invoice(pydantic.BaseModel):
    issued: datetime.date
    lines: list[Line]


def test_the_classes_of_a_type_are_drawn_by_their_names() -> None:
    grammar = Grammar.from_type(Invoice)
    assert list(texts(grammar.draw("Line"))) == ["Line"]
    assert "Invoice" in texts(grammar.draw("Invoice"))
    assert texts(grammar.draw("Line")) == texts(grammar.draw("#/$defs/Line"))
    for heading in texts(grammar.draw()):
        if heading != "the type":
            assert heading in texts(grammar.draw(heading))


def test_definitions_are_drawn_by_their_names_and_a_schema_by_its_title() -> None:
    schema = {"title": "Tree", "$ref": "#/$defs/a node", "$defs": {"a node": {"type": "array", "items": {"$ref": "#"}}}}
    grammar = Grammar.from_json_schema(schema)
    assert texts(grammar.draw("a node")) == texts(grammar.draw("#/$defs/a node"))
    assert texts(grammar.draw("Tree")) == texts(grammar.draw("#"))
    assert "start" in texts(grammar.draw("start"))


@pytest.mark.parametrize(
    ("given", "name", "said"),
    [
        (Invoice, "line", r"nothing in the type is called line; did you mean Line\?"),
        (Invoice, "Customer", r"nothing in the type is called Customer; there are: .*Invoice, Line|Line, Invoice"),
        (
            {"$defs": {"node": True}, "$ref": "#/$defs/node"},
            "ndoe",
            r"in the schema is called ndoe; did you mean node\?",
        ),
        ({"type": "integer"}, "node", r"called node; give a JSON pointer, such as #/properties/a"),
    ],
)
def test_a_name_that_a_schema_has_not_is_refused_with_those_it_has(given: Any, name: str, said: str) -> None:
    grammar = Grammar.from_json_schema(given) if isinstance(given, dict) else Grammar.from_type(given)
    with pytest.raises(DrawingError, match=said):
        grammar.draw(name)
