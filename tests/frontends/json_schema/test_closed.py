"""Objects that are closed: one meaning for schemas, tools and structural tags, on demand and as a whole."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest
from support.on_demand import forms

import pdacon
from pdacon import Grammar, Vocabulary

WORDS = Vocabulary.bytes()
PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "home": {"$ref": "#/$defs/home"},
        "free": {"type": "object"},
        "none": {"type": "object", "properties": {}},
    },
    "required": ["name"],
    "$defs": {"home": {"type": "object", "properties": {"street": {"type": "string"}}}},
}
VALUES: list[tuple[Any, bool]] = [
    ({"name": "a"}, True),
    ({"name": "a", "home": {"street": "b"}, "free": {"x": 1}}, True),
    ({"name": "a", "none": {}}, True),
    ({"name": "a", "none": {"x": 1}}, False),
    ({"name": "a", "age": 3}, False),
    ({"name": "a", "home": {"street": "b", "x": 1}}, False),
    ({"home": {"street": "b"}}, False),
]
TOOL = {"type": "function", "function": {"name": "f", "parameters": PERSON}}


def of_tag(**options: Any) -> Grammar:
    content = {"type": "json_schema", "json_schema": PERSON}
    return Grammar.from_structural_tag({"type": "tag", "begin": "<f>", "content": content, "end": "</f>"}, **options)


DOORS: dict[str, tuple[Callable[..., Grammar], str]] = {
    "schema": (lambda **options: Grammar.from_json_schema(PERSON, **options), "%s"),
    "tag": (of_tag, "<f>%s</f>"),
    "tools": (lambda **options: Grammar.from_tools([TOOL], **options), '{"name": "f", "arguments": %s}'),
    "hermes": (
        lambda **options: Grammar.from_tools([TOOL], format="hermes", choice="required", **options),
        '<tool_call>\n{"name": "f", "arguments": %s}\n</tool_call>',
    ),
}


@pytest.mark.parametrize("door", DOORS)
def test_closed_means_the_same_at_all_doors(door: str) -> None:
    make, around = DOORS[door]
    closed, free = make(closed=True), make()
    for constraint in forms(closed, WORDS):
        for value, expected in VALUES:
            assert constraint.accepts(around % json.dumps(value)) == expected, (door, value)
    opened = pdacon.compile(free, WORDS)
    for value, _ in VALUES:
        assert opened.accepts(around % json.dumps(value)) == ("name" in value)
    assert closed != free


def test_tagged_arguments_are_closed_within() -> None:
    grammar = Grammar.from_tools([TOOL], format="qwen3_coder", choice="required", closed=True)
    arguments = "<parameter=name>\na\n</parameter>\n<parameter=home>\n%s\n</parameter>"
    text = f"<tool_call>\n<function=f>\n{arguments}\n</function>\n</tool_call>"
    constraint = pdacon.compile(grammar, WORDS)
    assert constraint.accepts(text % '{"street": "b"}')
    assert not constraint.accepts(text % '{"street": "b", "x": 1}')


@pytest.mark.parametrize("format", [None, "hermes", "llama3"])
@pytest.mark.parametrize("is_strict", [False, True])
def test_a_closed_tool_that_lists_no_property_takes_none(format: str | None, is_strict: bool) -> None:
    """Strict by itself, or closed with all others: as a tool without parameters."""
    options: dict[str, Any] = {} if format is None else {"format": format, "choice": "required"}
    nothing = {"name": "f", "parameters": {"type": "object", "properties": {}}, "strict": is_strict}
    closed = Grammar.from_tools([nothing], closed=not is_strict, **options)
    without = Grammar.from_tools([{"name": "f", "parameters": None}], **options)
    free = Grammar.from_tools([{**nothing, "strict": False}], **options)
    key, around = {
        None: ("arguments", "%s"),
        "hermes": ("arguments", "<tool_call>\n%s\n</tool_call>"),
        "llama3": ("parameters", "%s"),
    }[format]
    texts = [around % f'{{"name": "f", "{key}": {arguments}}}' for arguments in ("{}", '{"x": 1}')]
    for constraint in (*forms(closed, WORDS), pdacon.compile(without, WORDS)):
        assert [constraint.accepts(text) for text in texts] == [True, False]
    assert [pdacon.compile(free, WORDS).accepts(text) for text in texts] == [True, True]


@pytest.mark.parametrize("word", ["anyOf", "oneOf"])
@pytest.mark.parametrize("count", [3, 11, 40])
def test_closing_a_union_closes_its_branches(word: str, count: int) -> None:
    branches = [
        {"type": "object", "properties": {"t": {"const": k}, f"a{k}": {"type": "integer"}}, "required": ["t", f"a{k}"]}
        for k in range(count)
    ]
    own = [{**branch, "additionalProperties": False} for branch in branches]
    constraint = pdacon.compile(Grammar.from_json_schema({word: branches}, closed=True), WORDS)
    validator = jsonschema.Draft202012Validator({word: own})
    for t, names in itertools.product((0, 1, 2), ((0,), (1,), (2,), (0, 1), (1, 2), ())):
        value = {"t": t, **{f"a{k}": 1 for k in names}}
        assert constraint.accepts(json.dumps(value)) == validator.is_valid(value), value
        assert not constraint.accepts(json.dumps({**value, "z": 1}))


@pytest.mark.parametrize("shape", ["chat", "responses"])
@pytest.mark.parametrize("format", [None, "hermes", "qwen3_coder", "llama3"])
def test_a_strict_tool_is_closed_by_itself(shape: str, format: str | None) -> None:
    def tool(name: str, **own: Any) -> dict[str, Any]:
        described = {"name": name, "parameters": PERSON, **own}
        return {"type": "function", "function": described} if shape == "chat" else {"type": "function", **described}

    options: dict[str, Any] = {} if format is None else {"format": format, "choice": "required"}
    grammar = Grammar.from_tools([tool("f", strict=True), tool("g", strict=False), tool("h")], **options)
    own = Grammar.from_tools([tool("f"), tool("g"), tool("h")], **options)
    arguments = {"name": "a", "home": {"street": "b", "x": 1}}
    for name, closed in (("f", True), ("g", False), ("h", False)):
        text = {
            None: '{"name": "%s", "arguments": %s}',
            "hermes": '<tool_call>\n{"name": "%s", "arguments": %s}\n</tool_call>',
            "llama3": '{"name": "%s", "parameters": %s}',
        }.get(format, "")
        if format == "qwen3_coder":
            values = "".join(
                f"<parameter={key}>\n{value if isinstance(value, str) else json.dumps(value)}\n</parameter>\n"
                for key, value in arguments.items()
            )
            written = f"<tool_call>\n<function={name}>\n{values}</function>\n</tool_call>"
        else:
            written = text % (name, json.dumps(arguments))
        for constraint in forms(grammar, WORDS):
            assert constraint.accepts(written) is not closed, written
        assert own.accepts(written)
        assert grammar.accepts(written.replace(', "x": 1', ""))
