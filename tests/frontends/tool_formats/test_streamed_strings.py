"""Strings where other values may stand: they are said as soon as it is certain that they are strings."""

from __future__ import annotations

import json
from itertools import product
from random import Random
from typing import Any

import pytest
from support.scaling import scaled
from support.tool_answers import cut, read

import pdacon
from pdacon.frontends.tool_formats import FORMATS, Answer
from pdacon.frontends.tool_formats.scalars import ALL_KINDS, StringInPieces, reads_as

WITHOUT_QUOTES = [
    name for name, format in FORMATS.items() if format.argument or (format.value_marks and format.value_marks.stop)
]
SCHEMAS: list[tuple[dict[str, Any], list[Any]]] = [
    ({"type": ["string", "null"]}, ["nullable", "Null", "nul", "", None, "12", "a \"b\"\\c\n☕"]),
    ({"anyOf": [{"type": "string", "maxLength": 40}, {"type": "null"}]}, ["so long a text", "n", None]),
    ({"anyOf": [{"enum": ["auto", "nul", "-1x"]}, {"type": "integer"}]}, ["auto", "nul", "-1x", -1, 120]),
    ({"enum": ["auto", "1x", 1, True, None]}, ["auto", "1x", 1, True, None]),
    ({"type": ["string", "number", "boolean"]}, ["1.5.", "1e5e", "-", "-x", "truest", 1.5, -10, False, "falsy", "0x1"]),
]  # fmt: skip
WITH_CONTAINERS: list[tuple[dict[str, Any], list[Any]]] = [
    ({"type": ["string", "array", "null"], "items": {"type": "string"}}, ["a[1]", ["a", "[b"], [], None, "x{"]),
    ({"type": ["string", "object"]}, ["a{}", {"a": 1}, {"b": "</parameter>"}, "x["]),
]


def calling(name: str, schema: dict[str, Any]) -> pdacon.Constraint:
    parameters = {"type": "object", "properties": {"q": schema}, "required": ["q"]}
    format = FORMATS[name]
    tokens = [*(bytes([byte]) for byte in range(256)), *[None] * (1 + len(format.tokens))]
    special = {token: 257 + k for k, token in enumerate(format.tokens)}
    vocabulary = pdacon.Vocabulary.from_tokens(tokens, eos_ids=[256]).with_special_tokens(special)
    grammar = pdacon.Grammar.from_tools([{"name": "f", "parameters": parameters}], format=name, choice="f")
    return pdacon.compile(grammar, vocabulary)


def names_all_members(name: str) -> bool:
    marks = FORMATS[name].value_marks
    return marks is not None and "$key" in marks.member[1]


@pytest.mark.parametrize("name", WITHOUT_QUOTES)
def test_streamed_is_the_whole_value_wherever_it_is_cut(name: str) -> None:
    random = Random(name)
    for schema, values in [*SCHEMAS, *([] if names_all_members(name) else WITH_CONTAINERS)]:
        constraint = calling(name, schema)
        for value in values:
            text = constraint.grammar.write(Answer("", "", (pdacon.Call("f", {"q": value}),)))
            for pieces in ([text], list(text), *(list(cut(text, random)) for _ in range(scaled(4)))):
                reader = constraint.reader()
                streamed = "".join(event.text for event in read(reader, pieces) if event.kind == "arguments")
                assert json.loads(streamed) == {"q": value}, (text, pieces)
                assert type(json.loads(streamed)["q"]) is type(value)
                assert [call.arguments for call in reader.answer.calls] == [{"q": value}]


@pytest.mark.parametrize("name", WITHOUT_QUOTES)
@pytest.mark.parametrize("schema", [{"type": ["string", "null"]}, {"type": ["string", "number", "boolean", "null"]}])
def test_an_optional_text_is_streamed(name: str, schema: dict[str, Any]) -> None:
    """All of it that cannot be the beginning of what ends it has come, character by character."""
    constraint = calling(name, schema)
    value = "no, this is a long text of 120 characters. " * 4
    text = constraint.grammar.write(Answer("", "", (pdacon.Call("f", {"q": value}),)))
    at, reader, streamed = text.index(value), constraint.reader(), ""
    for k, character in enumerate(text[: at + len(value)]):
        streamed += "".join(event.text for event in reader.feed(character) if event.kind == "arguments")
        if k > at:  # "n" may be null
            assert streamed.endswith('"' + value[: k + 1 - at])
    assert reader.arguments is not None
    assert reader.arguments.value == {"q": value}


@pytest.mark.parametrize("kinds", [ALL_KINDS, ALL_KINDS - {"number"}, {"string", "null"}, {"string", "number"}])
@pytest.mark.parametrize("python_constants", [False, True])
def test_certain_as_soon_as_no_text_that_begins_so_is_anything_else(kinds: Any, python_constants: bool) -> None:
    """Against all ways to go on, up to the length at which each beginning of a constant or a number can be whole."""
    constants = ("null", "true", "false", "None", "True", "False")
    beginnings = [text[:k] for text in (*constants, "nullx", "trux") for k in range(1, len(text) + 1)]
    beginnings += ["".join(text) for length in (1, 2, 3, 4) for text in product("-+.0 1eEx", repeat=length)]
    beginnings += ["{", "{a", "[", " [", "x[", "12e+40", "-0.50", "00", "\n1"]
    for text in beginnings:
        ways = ["", "1", "+1", *(whole[len(text):] for whole in constants if whole.startswith(text))]  # fmt: skip
        certain = all(reads_as(text + more, kinds, python_constants) == "string" for more in ways)
        assert StringInPieces(kinds, python_constants).is_certain_with(text) == certain, text
        pieces = StringInPieces(kinds, python_constants)
        assert [pieces.is_certain_with(character) for character in text][-1] == certain, text


def test_what_is_no_string_is_never_certain_to_be_one() -> None:
    assert not StringInPieces({"number"}, False).is_certain_with("abc")
    assert not StringInPieces(ALL_KINDS, False).is_certain_with("")
