"""What tools that a dict describes mean: the same by `Grammar.from_tools` and to a server."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pdacon import Grammar, Limits, UnsupportedTypeError
from pdacon.frontends.tool_formats import FORMATS

pytest.importorskip("pydantic")
from pdacon.serving.failures import RequestError
from pdacon.serving.protocol import ChatRequest
from pdacon.serving.response_formats import requested_format

DRAFT_4, DRAFT_7 = ({"$schema": f"http://json-schema.org/draft-0{n}/schema#"} for n in (4, 7))
INTEGER = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}


def by_library(tools: list[Any]) -> Grammar:
    return Grammar.from_tools(tools)


def by_server(tools: list[Any]) -> Grammar:
    asked = [{"type": "function", "function": one} for one in tools]
    request = {"model": "m", "messages": [{"role": "user", "content": "x"}], "tools": asked, "tool_choice": "required"}
    chat = ChatRequest.model_validate(request | {"parallel_tool_calls": False})
    found = requested_format(chat, FORMATS["json"])
    assert found is not None
    return found.format.grammar(Limits())


DOORS = pytest.mark.parametrize("door", [by_library, by_server])


@DOORS
@pytest.mark.parametrize(
    ("parameters", "taken", "refused"),
    [
        (None, ["{}"], ["null", '{"x": 1}']),
        ({}, ["{}", '{"x": [1]}'], ["3", "null", "[]"]),
        ({"properties": {"x": {"type": "integer"}}}, ["{}", '{"x": 3}'], ["3", '"x"', '{"x": "a"}']),
        ({"type": ["object", "null"]}, ["{}"], ["null"]),
        ({"anyOf": [INTEGER, {"type": "string"}]}, ['{"x": 3}'], ['"a"', "{}"]),
        ({"$ref": "#/$defs/A", "$defs": {"A": {**INTEGER, "type": ["object", "array"]}}}, ['{"x": 3}'], ["[]", "{}"]),
        ({**DRAFT_7, "$ref": "#/definitions/A", "definitions": {"A": {"minProperties": 1}}}, ['{"x": 3}'], ["3", "{}"]),
        ({**DRAFT_4, "allOf": [{"$ref": "#/definitions/A"}], "definitions": {"A": INTEGER}}, ['{"x": 3}'], ["{}"]),
        ({"properties": {"$id": {"type": "integer"}, "$schema": {"type": "null"}}}, ['{"$id": 1}'], ['{"$id": "a"}']),
        ({"$anchor": "top", "properties": {"x": {"$ref": "#top"}}}, ['{"x": {"x": {}}}'], ['{"x": 1}']),
        ({"$id": "https://example.com/a", "properties": {"x": {"$ref": "#"}}}, ['{"x": {}}'], ['{"x": 1}']),
    ],
)  # fmt: skip
def test_arguments_are_an_object(door: Any, parameters: Any, taken: list[str], refused: list[str]) -> None:
    """With a second tool beside it, whose references have the same names and lead elsewhere."""
    other = {"$id": "https://example.com/a", "$ref": "#/$defs/A", "$defs": {"A": {"const": {"other": 1}}}}
    for name in ("f", "a/b~c%41 d" if door is by_library else "a/b~c%41-d"):  # the server takes no blanks
        grammar = door([{"name": name, "parameters": parameters}, {"name": "other", "parameters": other}])
        calls = {text: f'{{"name": {json.dumps(name)}, "arguments": {text}}}' for text in (*taken, *refused)}
        assert [text for text in taken if not grammar.accepts(calls[text])] == []
        assert [text for text in refused if grammar.accepts(calls[text])] == []
        assert grammar.accepts('{"name": "other", "arguments": {"other": 1}}')


@DOORS
def test_a_tool_without_parameters_has_no_arguments(door: Any) -> None:
    grammar = door([{"name": "f"}])
    taken = [grammar.accepts(f'{{"name": "f", "arguments": {text}}}') for text in ("{}", '{"x": 1}', "null")]
    assert taken == [True, False, False]


@DOORS
@pytest.mark.parametrize(
    "parameters", [{"type": "array"}, {"type": "string"}, {"type": ["null", "array"]}, True, 3, "{}"]
)
def test_parameters_that_describe_no_object(door: Any, parameters: Any) -> None:
    with pytest.raises((UnsupportedTypeError, RequestError), match="object"):
        door([{"name": "f", "parameters": parameters}])


@DOORS
@pytest.mark.parametrize("second", [INTEGER, {"type": "object"}])
def test_two_tools_of_one_name(door: Any, second: Any) -> None:
    with pytest.raises((ValueError, RequestError), match=r"two tools are called '?f\b"):
        door([{"name": "f", "parameters": INTEGER}, {"name": "f", "parameters": second}])
