"""Calls whose arguments are tagged, read on demand, against the same grammar compiled as a whole: mask by mask."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import jsonschema
import numpy as np
import pytest
from support.scaling import scaled

import pdacon
from pdacon import Call
from pdacon.errors import EmptyLanguageError, GrammarWarning, LimitExceededError
from pdacon.front.compiled import Compiled
from pdacon.front.stages import compiled
from pdacon.frontends.tool_formats import FORMATS, Answer

TAGGED = [name for name, format in FORMATS.items() if format.argument]
_PIECES = [
    "<tool_call>", "</", "parameter", ">\n", "\n</", "<parameter=", "</parameter>", "<｜DSML｜", "</arg_value>",
    "invoke", "<arg_key>", "tr", "ue", "nul", "[1", '{"', '": ', "Os", "lo", "12", "\n", ' string="true">',
    "</function>\n", "é",
]  # fmt: skip
_TOKENS = [*(bytes([byte]) for byte in range(256)), *(piece.encode() for piece in _PIECES)]
VOCABULARY = pdacon.Vocabulary.from_tokens([*_TOKENS, None], eos_ids=[len(_TOKENS)])
_VALUES: list[tuple[Any, list[Any]]] = [
    ({"type": "string"}, ["", "Oslo", "a\n<b> 1", "null"]),
    ({"type": "string", "maxLength": 3}, ["", "abc"]),
    ({"type": "string", "pattern": "^[a-c\\n]*$"}, ["ab", "c\n\n"]),
    ({"type": "integer", "minimum": 0}, [0, 12]),
    ({"type": "number"}, [-1.5, 3]),
    ({"type": "boolean"}, [True, False]),
    ({"enum": ["on", "off", 1, None]}, ["on", 1, None]),
    ({"type": ["string", "null"]}, [None, "x"]),
    ({"type": "array", "items": {"type": "string"}}, [[], ["</parameter>", "b"]]),
    ({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}, [{"a": 1}]),
    ({"type": ["string", "object"]}, ["t", {"k": "</arg_value>"}]),
    ({"type": ["string", "array", "object", "integer"]}, ["t", [1, {}], {"k": []}, 7]),
    ({}, ["x", [], {}, 1.5, None]),
    ({"$ref": "#/$defs/n"}, [{"n": {"n": {}}}, {}]),
]
_OTHERS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"additionalProperties": False}, {}),
    ({}, {"abd": "x", "x": {"k": 1}, "e f": [], "abcd": 1.5}),
    ({"additionalProperties": {"type": ["integer", "array"]}}, {"abcd": 1, "x": ["</parameter>"]}),
    (
        {"patternProperties": {"^x": {"type": "string"}, "z$": {"$ref": "#/$defs/n"}}, "additionalProperties": False},
        {"xy": "null", "yz": {"n": {}}},
    ),
    ({"patternProperties": {"^x": {"type": "boolean"}, "z$": {"const": True}}}, {"xy": False, "xz": True, "abcd": "s"}),
]
"""What a schema says of arguments that it does not list, and some of these."""
_DEFINITIONS = {"n": {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}, "additionalProperties": False}}


def random_tools(random: Random) -> tuple[list[dict[str, Any]], list[Call]]:
    """Some tools, and a call of each."""
    tools, calls = [], []
    for name in random.sample(["get", "get_it", "go", "f"], random.randint(1, 3)):
        chosen = random.sample(_VALUES, random.randint(0, 4))
        names = random.sample(["a", "ab", "abc", "b", "c d"], len(chosen))
        properties = {key: schema for key, (schema, _) in zip(names, chosen, strict=True)}
        required = [key for key in names if random.random() < 0.5]
        schema = {"type": "object", "properties": properties, "required": required}
        others, more = random.choice(_OTHERS)
        tools.append({"name": name, "parameters": {**schema, **others, "$defs": _DEFINITIONS}})
        given = {key: random.choice(values) for key, (_, values) in zip(names, chosen, strict=True)}
        given = {key: value for key, value in given.items() if key in required or random.random() < 0.7}
        given |= {key: value for key, value in more.items() if random.random() < 0.7}
        jsonschema.validate(given, tools[-1]["parameters"])  # type: ignore[arg-type]
        calls.append(Call(name, given))
    return tools, calls


def walk(demanded: Compiled, whole: Compiled, text: bytes, cut: int, random: Random, steps: int) -> None:
    """Read a text up to a place and go on at random, comparing all masks."""
    one, other = demanded.matcher(), whole.matcher()
    words, expected = demanded.new_bitmask(), whole.new_bitmask()
    for step in range(cut + steps):
        one.fill_bitmask(words)
        other.fill_bitmask(expected)
        assert np.array_equal(words, expected), one.text
        assert one.is_accepting() == other.is_accepting(), one.text
        allowed = [token for token in one.allowed_tokens() if token < len(_TOKENS)]
        if step >= cut and not allowed:
            return
        token = text[step] if step < cut else random.choice(allowed)
        assert one.accept_token(token)
        assert other.accept_token(token)


@pytest.mark.parametrize("name", TAGGED)
def test_random_tools_are_the_same_on_demand(name: str) -> None:
    for seed in range(scaled(5)):
        random = Random(f"{name} {seed}")
        tools, calls = random_tools(random)
        order = random.choice(["schema", "any"])
        grammar = pdacon.Grammar.from_tools(
            tools, format=name, choice=random.choice(["auto", "required"]), spelling=pdacon.Spelling(order=order),
            tokens=[],
        )  # fmt: skip
        demanded, whole = pdacon.compile(grammar, VOCABULARY), compiled(grammar.data, VOCABULARY)
        assert demanded._nested is not None
        for call in calls:
            text = grammar.write(Answer("", "", (call,))).encode()
            assert demanded.accepts(text)
            for _ in range(3):
                walk(demanded, whole, text, random.randint(0, len(text)), random, 12)


@pytest.mark.parametrize("name", TAGGED)
@pytest.mark.parametrize("given", [{"x": "{"}, {"x": "[draft] 1"}, {"l": "{"}, {"l": "[draft] 1"}, {"x": {"{": []}}])
def test_what_is_written_is_read_back(name: str, given: dict[str, Any]) -> None:
    """A string that begins as an object or an array may is written only where the format tells that it is one."""
    tool = {"name": "f", "parameters": {"type": "object", "properties": {"l": {"type": ["string", "object"]}}}}
    grammar = pdacon.Grammar.from_tools([tool], format=name, choice="required", tokens=[])
    answer = Answer("", "", (Call("f", given),))
    tells = FORMATS[name].tells_strings
    if not tells and isinstance(*given.values(), str) and given != {"l": "[draft] 1"}:
        with pytest.raises(ValueError, match="begins as an"):
            grammar.write(answer)
    else:
        text = grammar.write(answer)
        assert pdacon.compile(grammar, VOCABULARY).parse(text).calls == answer.calls


def test_what_no_text_is_of_is_told_before_a_text_comes() -> None:
    """A string that has the mark which ends it, and an argument that has to be such a string."""
    only = {"enum": ["a</parameter>b"]}
    tool = {"name": "f", "parameters": {"properties": {"p": only}, "required": ["p"], "additionalProperties": False}}
    with pytest.warns(GrammarWarning, match="no text of it is possible"), pytest.raises(EmptyLanguageError):
        pdacon.Grammar.from_tools([tool], format="mimo")
    other = {"name": "g", "parameters": {"properties": {"p": {"enum": ["x"]}}, "additionalProperties": False}}
    with pytest.warns(GrammarWarning, match="f: .*this tool is left out"):
        grammar = pdacon.Grammar.from_tools([tool, other], format="mimo")
    assert grammar.accepts("<tool_call><function=g></function></tool_call>")
    assert not grammar.accepts("<tool_call><function=f></function></tool_call>")


def test_a_circle_of_fixed_texts() -> None:
    """Calls without arguments one after the other: the text around them goes round in circles by itself."""
    tools = [{"name": "f"}, {"name": "g", "parameters": {"properties": {"p": {}}, "additionalProperties": False}}]
    constraint = pdacon.compile(pdacon.Grammar.from_tools(tools, format="minimax_m2"), VOCABULARY)
    call = '<invoke name="f">\n</invoke>\n'
    assert constraint.accepts(f"<minimax:tool_call>\n{call * 3}</minimax:tool_call>")
    assert not constraint.accepts(f"<minimax:tool_call>\n{call * 3}<")


def test_limits_hold_where_arguments_are_made_late() -> None:
    properties = {f"p{k}": {"type": "string", "pattern": f"^(a|b{k})*$"} for k in range(20)}
    tool = {"name": "f", "parameters": {"type": "object", "properties": properties, "additionalProperties": False}}
    constraint = pdacon.compile(pdacon.Grammar.from_tools([tool], format="mimo", choice="f"), VOCABULARY)
    matcher = constraint.matcher()
    assert matcher.accept_bytes(b"<tool_call><function=f")
    with pdacon.time_limit(1e-9), pytest.raises(LimitExceededError):
        matcher.accept_bytes(b"><parameter=p3>ab3")
    assert matcher.accept_bytes(b"><parameter=p3>ab3")


def test_threads_with_one_grammar() -> None:
    """Each constraint makes what is late for itself."""
    random = Random(3)
    tools, calls = random_tools(random)
    grammar = pdacon.Grammar.from_tools(tools, format="glm4_7", choice="required")
    texts = [grammar.write(Answer("", "", (call,))) for call in calls]

    def accepted(seed: int) -> list[bool]:
        vocabulary = pdacon.Vocabulary.from_tokens([*_TOKENS, str(seed).encode(), None], eos_ids=[len(_TOKENS) + 1])
        constraint = pdacon.compile(grammar, vocabulary)
        return [constraint.accepts(text) for text in texts]

    with ThreadPoolExecutor(4) as threads:
        assert all(all(row) for row in threads.map(accepted, range(8)))


def test_arguments_are_what_json_schema_takes() -> None:
    """Random walks on demand give arguments that jsonschema takes, of every kind of schema."""
    for seed in range(scaled(6)):
        random = Random(seed)
        tools, _ = random_tools(random)
        grammar = pdacon.Grammar.from_tools(tools, format="qwen3_coder", choice="required", parallel=False)
        constraint = pdacon.compile(grammar, VOCABULARY)
        ending = set(b'<>/parmetfuncio_l\n}]"')
        matcher, reader = constraint.matcher(), constraint.reader()
        for _ in range(900):
            if matcher.is_accepting():
                break
            allowed = list(matcher.allowed_tokens())
            likely = [token for token in allowed if token in ending]
            token = random.choice(likely if likely and random.random() < 0.9 else allowed)
            assert matcher.accept_token(token)
            reader.feed(token)
        reader.close()
        for call in reader.answer.calls:
            schema = next(tool["parameters"] for tool in tools if tool["name"] == call.name)
            jsonschema.validate(json.loads(json.dumps(call.arguments)), schema)


@pytest.mark.parametrize("listed", [[0.25], {"x": 0.5}, [{"y": [1e3]}]])
def test_listed_values_with_a_fraction(listed: Any) -> None:
    """What is in such a value is asked of schemas of its own, which stand in no document."""
    tool = {"name": "f", "parameters": {"type": "object", "properties": {"a": {"const": listed}}, "required": ["a"]}}
    constraint = pdacon.compile(pdacon.Grammar.from_tools([tool], format="hermes", choice="f"), VOCABULARY)
    call = f'<tool_call>\n{{"name": "f", "arguments": {json.dumps({"a": listed})}}}\n</tool_call>'
    assert constraint.accepts(call)
    assert not constraint.accepts(call.replace('{"a": ', '{"a": [').replace("}}", "]}}"))
