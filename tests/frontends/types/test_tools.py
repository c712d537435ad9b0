"""Functions and tools: the name decides the arguments, and a call can be made of a text."""

from __future__ import annotations

import enum
import json
from typing import Annotated, Any, Literal, NamedTuple

import pydantic
import pytest
from annotated_types import Ge
from pydantic import BaseModel
from typing_extensions import TypedDict

import pdacon
from pdacon import Call, Constraint, Grammar, UnsupportedTypeError, Vocabulary


def add(a: int, /, b: Annotated[int, Ge(0)], *, scale: float = 1.0) -> float:
    """Add two numbers."""
    return (a + b) * scale


def greet(name: str, **options: bool) -> str:
    return f"{name} {options}"


def bare(x) -> None:  # type: ignore[no-untyped-def]
    pass


def starred(*words: str) -> None:
    pass


class Search(BaseModel):
    """Search the web."""

    query: str
    limit: int = 5


_CLOSED = {"type": "object", "additionalProperties": False}
_PATH = {"properties": {"path": {"$ref": "#/$defs/path"}}, "$defs": {"path": {"type": "string", "pattern": "^/"}}}
MCP = {"name": "read", "description": "Read a file.", "inputSchema": {**_CLOSED, **_PATH, "required": ["path"]}}
_WHY = {"properties": {"why": {"enum": ["done", "lost"]}}, "required": ["why"]}
OPENAI = {"type": "function", "function": {"name": "stop", "parameters": {**_CLOSED, **_WHY}}}
NOTHING = {"name": "ping"}


def compiled(grammar: Grammar) -> Constraint:
    return pdacon.compile(grammar, Vocabulary.bytes())


def test_the_name_decides_the_arguments() -> None:
    constraint = compiled(Grammar.from_tools([add, Search, MCP, OPENAI, NOTHING]))
    good: list[tuple[str, dict[str, Any]]] = [
        ("add", {"a": 1, "b": 2}),
        ("Search", {"query": "x", "limit": 3}),
        ("read", {"path": "/etc"}),
        ("stop", {"why": "done"}),
        ("ping", {}),
    ]
    for name, arguments in good:
        call = constraint.parse(json.dumps({"name": name, "arguments": arguments}))
        assert (call.name, call.arguments) == (name, arguments)
        assert constraint.grammar.write(call) == json.dumps({"name": name, "arguments": arguments})
        for other, _ in good:
            assert constraint.accepts(json.dumps({"name": other, "arguments": arguments})) == (other == name)
    assert not constraint.accepts('{"name": "read", "arguments": {"path": "etc"}}')
    assert not constraint.accepts('{"name": "add", "arguments": {"a": 1, "b": -2}}')
    for text in constraint.grammar.sample(20, seed=3):
        assert isinstance(constraint.parse(text), Call)


def test_a_call_can_be_made() -> None:
    constraint = compiled(Grammar.from_tools([add]))
    call = constraint.parse('{"name": "add", "arguments": {"a": 1, "b": 2, "scale": 0.5}}')
    assert call.call() == 1.5
    assert call.bound.args == (1, 2)
    assert (
        compiled(Grammar.from_tools([greet]))
        .parse('{"name": "greet", "arguments": {"name": "Ann", "loud": true}}')
        .call()
        == "Ann {'loud': True}"
    )
    search = compiled(Grammar.from_tools([Search])).parse('{"name": "Search", "arguments": {"query": "x"}}')
    assert search.call() == Search(query="x")
    with pytest.raises(TypeError, match="described by a dict"):
        compiled(Grammar.from_tools([NOTHING])).parse('{"name": "ping", "arguments": {}}').call()


def test_other_shapes() -> None:
    several = compiled(Grammar.from_tools([add, OPENAI], several=True, arguments="parameters"))
    calls = several.parse(
        '[{"name": "stop", "parameters": {"why": "lost"}}, {"name": "add", "parameters": {"a": 1, "b": 0}}]'
    )
    assert [one.name for one in calls] == ["stop", "add"]
    assert not several.accepts("[]")
    python = compiled(Grammar.from_tools([add, Search], form="python"))
    assert python.parse("add(a=1, b=2)").call() == 3.0
    assert python.parse('Search(query="x")').call() == Search(query="x")
    assert not python.accepts('add(query="x")')
    assert Grammar.from_tools([add]).describe().startswith("add: Add two")
    assert pdacon.compile(add, Vocabulary.bytes()).parse('{"name": "add", "arguments": {"a": 1, "b": 2}}').call() == 3.0


@pytest.mark.parametrize(
    ("tool", "message"),
    [
        (bare, r"^bare\.x: it has no annotation"),
        (starred, r"^starred\.words: \*words has no name in a call"),
        (print, r"^print\.args|^print: its"),
        (
            {"name": "t", "inputSchema": {"properties": {"x": {"type": "array", "uniqueItems": True}}}},
            r"^t\.x: uniqueItems",
        ),
        ({"name": "t", "inputSchema": {"type": "array"}}, r"^t: inputSchema: the arguments of a call are an object"),
        ({"name": "t", "parameters": True}, r"^t: parameters: parameters are described by a JSON Schema"),
    ],
)
def test_refusals_name_the_parameter(tool: Any, message: str) -> None:
    with pytest.raises(UnsupportedTypeError, match=message):
        Grammar.from_tools([tool])


def test_what_is_no_tool() -> None:
    with pytest.raises(TypeError, match="a tool is a function, a class or a dict"):
        Grammar.from_tools([3])
    with pytest.raises(TypeError, match="takes a list of at least one"):
        Grammar.from_tools([])
    with pytest.raises(ValueError, match="two tools are called add"):
        Grammar.from_tools([add, add])


@pytest.mark.parametrize("form", ["json", "python"])
@pytest.mark.parametrize("kind", [int, str, float, bool, list, dict, object, type(None), enum.Enum("Some", "A")])
def test_a_class_without_fields_is_no_tool(kind: Any, form: Literal["json", "python"]) -> None:
    with pytest.raises(UnsupportedTypeError, match=r"it has no fields, so that its arguments are no object; give a"):
        Grammar.from_tools([kind], form=form)


def test_a_class_whose_fields_are_no_object_is_no_tool() -> None:
    class Root(pydantic.RootModel[list[int]]): ...

    class Pair(NamedTuple):
        x: int

    for kind in (Root, Pair):
        with pytest.raises(UnsupportedTypeError, match=f"^{kind.__name__}: .* no object"):
            Grammar.from_tools([kind])


def test_a_typed_dict_is_a_tool() -> None:
    class Search(TypedDict):
        text: str

    grammar = Grammar.from_tools([Search])
    call = pdacon.compile(grammar, Vocabulary.bytes()).parse('{"name": "Search", "arguments": {"text": "a"}}')
    assert call.arguments == {"text": "a"}
    assert call.call() == {"text": "a"}
    assert grammar.write(call) == '{"name": "Search", "arguments": {"text": "a"}}'
    with pytest.raises(UnsupportedTypeError, match=r"^Search: a TypedDict as a tool"):
        Grammar.from_tools([Search], form="python")


@pytest.mark.parametrize("key", ["paramters", "Parameters", "input_shema"])
@pytest.mark.parametrize("format", [None, "qwen3"])
def test_a_misspelled_schema_of_a_tool_is_refused(key: str, format: str | None) -> None:
    """Without its schema the tool would have no arguments."""
    function = {"name": "a", key: {"type": "object", "properties": {"x": {"type": "integer"}}}}
    for tool in (function, {"type": "function", "function": function}):
        with pytest.raises(UnsupportedTypeError, match=rf"a: .* no '{key}'; did you mean"):
            Grammar.from_tools([tool], **({} if format is None else {"format": format}))
    Grammar.from_tools([{"name": "a", "inputSchema": {"type": "object"}, "outputSchema": {}, "annotations": {}}])
