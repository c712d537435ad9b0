"""Arguments that no schema lists, in formats that write each argument by its name.

`test_tagged_on_demand.py` compares both forms of the constraint mask by mask with such tools among others.
"""

from __future__ import annotations

import json
from functools import cache
from random import Random
from typing import Any

import jsonschema
import pytest
from support import plain_tool_reader
from support.scaling import scaled
from support.tool_answers import TAKE_ANY_VALUE, accepted, cut, encoded, read, vocabulary_of

import pdacon
from pdacon.errors import UnsupportedTypeError
from pdacon.frontends.tool_formats import FORMATS, Answer

NAMES = [name for name in TAKE_ANY_VALUE if FORMATS[name].tagged]
SCHEMAS: dict[str, dict[str, Any]] = {
    "nothing is listed": {},
    "open": {"type": "object", "properties": {"city": {"type": "string"}, "n": {"type": "integer"}}, "required": ["n"]},
    "optional": {"properties": {"city": {"type": ["string", "null"]}}},
    "many": {"properties": {name: {} for name in ("a", "b", "c", "d", "e", "city", "f", "g", "h", "n")}},
    "within": {"properties": {"city": {"properties": {"n": {"type": "null"}, "city": {}}, "required": ["n"]}}},
    "typed": {"properties": {"n": {"type": "integer"}}, "additionalProperties": {"type": ["integer", "boolean"]}},
    "required": {
        "properties": {"n": {"type": "integer"}},
        "required": ["z"],
        "additionalProperties": {"type": "string"},
    },
}
PATTERNS: dict[str, dict[str, Any]] = {
    "patterns": {
        "properties": {"xs": {"type": ["boolean", "string"]}},
        "patternProperties": {"^x": {"type": ["boolean", "integer"]}, "z$": {"type": ["integer", "string"]}},
        "additionalProperties": False,
    },
    "patterns and others": {
        "patternProperties": {"^x": {"type": "boolean"}, "z$": {"type": "boolean"}},
        "additionalProperties": {"type": "array"},
    },
}
WORDS = ("city", "n", "z", "xs", "xyz", "xy", "yz", "q", "cit", "nn")
VALUES = (
    {"n": None},
    {"n": None, "z": {"city": 1}},
    1,
    -5,
    True,
    None,
    "a",
    "null",
    "</x",
    "",
    [1, "b"],
    {"city": [{}]},
    {"q": {"n": "<"}},
)


@cache
def compiled(name: str, which: str, order: str = "schema") -> pdacon.Constraint:
    spelling = pdacon.Spelling(order=order)  # type: ignore[arg-type]
    tools = [{"name": "f", "parameters": {**SCHEMAS, **PATTERNS}[which]}]
    grammar = pdacon.Grammar.from_tools(tools, format=name, choice="required", spelling=spelling)
    return pdacon.compile(grammar, vocabulary_of(FORMATS[name]))


def arguments_of(schema: dict[str, Any], random: Random) -> dict[str, Any]:
    """Random arguments that the schema takes."""
    required = schema.get("required", [])
    for _ in range(500):
        given = {name: random.choice(VALUES) for name in [*required, *random.sample(WORDS, random.randint(0, 3))]}
        if jsonschema.Draft202012Validator({"type": "object", **schema}).is_valid(given):
            return given
    raise AssertionError("no arguments were drawn")


def cases(name: str) -> list[str]:
    return [*SCHEMAS, *(PATTERNS if FORMATS[name].argument else ())]


@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize("name", NAMES)
def test_arguments_are_written_taken_and_read_back(name: str, order: str) -> None:
    random = Random(name + order)
    for which in cases(name):
        constraint, schema = compiled(name, which, order), {**SCHEMAS, **PATTERNS}[which]
        for _ in range(scaled(6)):
            given = arguments_of(schema, random)
            try:
                text = constraint.grammar.write(Answer("", "", (pdacon.Call("f", given),)))
            except ValueError as error:  # a string that the format cannot say, such as "null" where null may be
                assert "cannot be written" in str(error)  # noqa: PT017
                continue
            ids = encoded(FORMATS[name], text)
            assert accepted(constraint, ids), text
            reader = constraint.reader()
            read(reader, ids if FORMATS[name].tokens else list(cut(text, random)))
            assert json.dumps(reader.answer.calls[0].arguments, sort_keys=True) == json.dumps(given, sort_keys=True)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_accepted_is_valid_and_read_alike_by_a_plain_reader(name: str) -> None:
    random, marks = Random(name), [text for text in FORMATS[name].fixed_texts if text and "$" not in text]
    verdicts = {True: 0, False: 0}
    for which in cases(name):
        constraint, schema = compiled(name, which), {"type": "object", **SCHEMAS, **PATTERNS}[which]
        for _ in range(scaled(25)):
            given = arguments_of(schema, random)
            try:
                text = constraint.grammar.write(Answer("", "", (pdacon.Call("f", given),)))
            except ValueError:
                continue
            at = random.randrange(len(text))
            piece = random.choice([*marks, *WORDS, *'{}[]"<>/:,= \n\\1&', "true", "null", "</", ""])
            text = text[:at] + piece + text[at + random.randint(0, 3) :]
            ids = encoded(FORMATS[name], text)
            is_accepted = accepted(constraint, ids)
            verdicts[is_accepted] += 1
            if not is_accepted:
                continue
            reader = constraint.reader()
            read(reader, ids)
            arguments = [json.loads(json.dumps(call.arguments)) for call in reader.answer.calls]
            for each in arguments:
                jsonschema.validate(each, {"type": "object", **schema})
            plain = plain_tool_reader.read(name, {"f": schema}, text, thinking=False)
            if plain is None:  # a name that comes twice, of which a dict keeps the last one
                raw = text.count("city") > 1 or any(text.count(word) > 1 for word in WORDS)
                assert raw, text
                continue
            assert [json.dumps(each) for _, each in plain.calls] == list(map(json.dumps, arguments)), text
    assert all(verdicts.values())


def test_closed_tools_take_no_others_and_listing_none_is_open() -> None:
    call = "<tool_call><function=f><parameter={}>x</parameter></function></tool_call>"
    for parameters, is_open in (
        ({"properties": {"a": {}}}, False), ({"properties": {}}, False), ({"type": "object"}, True), ({}, True),
        ({"properties": {"a": {}}, "additionalProperties": {"type": "string"}}, True),
        ({"properties": {}, "patternProperties": {"^b$": {}}}, True),
    ):  # fmt: skip
        for closed in (False, True):
            tools = [{"name": "f", "parameters": parameters}]
            grammar = pdacon.Grammar.from_tools(tools, format="mimo", closed=closed)
            assert grammar.accepts(call.format("b")) == (is_open or not closed), parameters
    strict = [{"type": "function", "function": {"name": "f", "parameters": {"properties": {"a": {}}}, "strict": True}}]
    assert not pdacon.Grammar.from_tools(strict, format="mimo").accepts(call.format("b"))


def test_names_that_are_not_listed() -> None:
    grammar = pdacon.Grammar.from_tools([{"name": "f", "parameters": {"properties": {"a<b": {}}}}], format="mimo")
    call = "<tool_call><function=f><parameter={}>x</parameter></function></tool_call>"
    for name, is_one in (("a<b", True), ("c d", True), ("é[0]", True), ("", True), ("c<d", False), (" c", False),
                         ("c\n", False), ('"c', False), ("a&b", False)):  # fmt: skip
        assert grammar.accepts(call.format(name)) == is_one, name
        answer = Answer("", "", (pdacon.Call("f", {name: "x"}),))
        if is_one:
            assert grammar.write(answer) == call.format(name)
        else:
            with pytest.raises(ValueError, match="names of others have no"):
                grammar.write(answer)


KIMI = (
    '<|open|>tools<|sep|><|open|>call tool="q&amp;a" index="1"<|sep|>'
    '<|open|>argument key="q&amp;a" type="string"<|sep|>'
    "fish & chips<|close|>argument<|sep|>"
    '<|open|>argument key="say &quot;hi&quot; &amp;quot;" type="string"<|sep|>'
    'she said "hi"<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|>'
)


@pytest.mark.parametrize("listed", [("q&a", 'say "hi" &quot;'), ("q&a",), ()])
def test_kimi_k3_escapes_in_names(listed: tuple[str, ...]) -> None:
    """Of tools and of arguments, and in no value, as its template does."""
    parameters = {"type": "object", "properties": {name: {"type": "string"} for name in listed}}
    grammar = pdacon.Grammar.from_tools([{"name": "q&a", "parameters": parameters}], format="kimi_k3", reasoning=False)
    constraint = pdacon.compile(grammar, vocabulary_of(FORMATS["kimi_k3"]))
    given = {"q&a": "fish & chips", 'say "hi" &quot;': 'she said "hi"'}
    text = grammar.write(Answer("", "", (pdacon.Call("q&a", given),)))
    assert text.endswith(KIMI.replace('index="1"', 'index="0"'))
    ids = encoded(FORMATS["kimi_k3"], text)
    assert accepted(constraint, ids)
    for wrong in ("&amp;", "&quot;"):
        assert not accepted(constraint, encoded(FORMATS["kimi_k3"], text.replace(wrong, "&", 1)))
    reader = constraint.reader()
    read(reader, ids)
    assert reader.answer.calls[0].name == "q&a"
    assert reader.answer.calls[0].arguments == given
    begun = f"<|open|>response<|sep|>{text}"
    plain = plain_tool_reader.read("kimi_k3", {"q&a": parameters}, begun, thinking=False)
    assert plain is not None
    assert plain.calls == [("q&a", given)]
    styled = pdacon.Grammar.from_structural_tag(
        {"type": "json_schema", "json_schema": parameters, "style": "kimi_k3_xml"}
    )
    inner = KIMI.partition('index="1"<|sep|>')[2].partition("<|close|>call")[0]
    assert styled.accepts(inner)
    assert not styled.accepts(inner.replace("&amp;a", "&a"))


def test_too_many_kinds_of_names() -> None:
    patterns = {letter: {"maxLength": k} for k, letter in enumerate("abcdef")}
    with pytest.raises(UnsupportedTypeError, match="tell more than 32 kinds"):
        pdacon.Grammar.from_tools([{"name": "f", "parameters": {"patternProperties": patterns}}], format="mimo")


DRAFT_4 = {
    "$schema": "http://json-schema.org/draft-04/schema#",
    "properties": {"n": {"type": "integer", "minimum": 0, "exclusiveMinimum": True}},
}
PERCENT = {
    "properties": {"a%20b": {"$ref": "#/$defs/count"}},
    "$defs": {"count": {"type": "integer", "minimum": 1}},
}


@pytest.mark.parametrize(
    ("name", "schema"),
    # Arguments of llama4 are Python's keywords, which have no % in them.
    [(name, schema) for name in NAMES for schema in (DRAFT_4, PERCENT) if name != "llama4" or schema is DRAFT_4],
)
def test_a_part_of_a_schema_means_what_it_means_in_the_whole(name: str, schema: dict[str, Any]) -> None:
    """In the draft that the whole names, and under whatever name it stands."""
    (key,), format = schema["properties"], FORMATS[name]
    parameters = {"type": "object", "required": [key], "additionalProperties": False, **schema}
    grammar = pdacon.Grammar.from_tools([{"name": "f", "parameters": parameters}], format=name, choice="required")
    constraint = pdacon.compile(grammar, vocabulary_of(format))
    text = grammar.write(Answer("", "", (pdacon.Call("f", {key: 1}),)))
    assert accepted(constraint, encoded(format, text))
    head, _, tail = text.rpartition("1")
    assert not accepted(constraint, encoded(format, f"{head}0{tail}"))
