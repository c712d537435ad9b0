"""Answers with calls in models' formats: texts as documented, random answers, and how they are cut into tokens."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import jsonschema

import pdacon
from pdacon.frontends.tool_formats import FORMATS, Answer, AnswerEvent, AnswerReader, ToolFormat

WEATHER = {
    "name": "get_weather",
    "parameters": {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer"},
            "unit": {"enum": ["c", "f"]},
            "where": {"type": "object"},
            "note": {"type": ["string", "null"]},
            "hourly": {"type": "boolean"},
        },
        "required": ["city"],
        "additionalProperties": False,
    },
}
TIME = {"name": "get_time", "parameters": {"type": "object", "properties": {}, "additionalProperties": False}}
SEARCH = {
    "name": "search",
    "parameters": {
        "type": "object",
        "properties": {"tags": {"type": "array", "items": {"type": "string"}}, "limit": {"type": "number"}},
        "required": ["tags"],
        "additionalProperties": False,
    },
}
TOOLS: list[dict[str, Any]] = [WEATHER, TIME, SEARCH]
_WHERE = {
    "type": "object",
    "properties": {"a": {"type": "array", "items": {"type": ["string", "null"]}}, "b": {"type": "object"}},
    "additionalProperties": False,
}
_WHERE["properties"]["b"] = {"type": "object", "properties": {"c": {"type": "null"}}, "additionalProperties": False}  # type: ignore[index]
_PARAMETERS: Any = WEATHER["parameters"]
_LISTED = {**_PARAMETERS, "properties": {**_PARAMETERS["properties"], "where": _WHERE}}
_ALL_LISTED = [{**WEATHER, "parameters": _LISTED}, TIME, SEARCH]
_STRINGS = ("Paris", "", "Zürich ☕", 'he said "no"', "a\\b\n\tc", "12", "{", "<", "</", "]", "\n")


def tools_of(format: ToolFormat) -> list[dict[str, Any]]:
    """`TOOLS`, with all names of members listed where a format cannot have others."""
    names_come_twice = format.value_marks is not None and "$key" in format.value_marks.member[1]
    return _ALL_LISTED if names_come_twice else TOOLS


TAKE_ANY_VALUE = [
    name for name, format in FORMATS.items() if format.value_marks is None or "$key" not in format.value_marks.member[1]
]
"""The formats in which a schema does not have to list the names of all members."""


def vocabulary_of(format: ToolFormat) -> pdacon.Vocabulary:
    """A token for each byte, an end, and the special tokens of a format."""
    tokens = [*(bytes([byte]) for byte in range(256)), *[None] * (1 + len(format.tokens))]
    special = {name: 257 + k for k, name in enumerate(format.tokens)}
    return pdacon.Vocabulary.from_tokens(tokens, eos_ids=[256]).with_special_tokens(special)


def encoded(format: ToolFormat, text: str) -> list[int]:
    """The tokens of a text for `vocabulary_of`, each name of a special token as that token."""
    ids: list[int] = []
    while text:
        token = next((k for k, name in enumerate(format.tokens) if text.startswith(name)), None)
        ids += text[0].encode() if token is None else [257 + token]
        text = text[1 if token is None else len(format.tokens[token]) :]
    return ids


def decoded(format: ToolFormat, ids: Sequence[int]) -> bytes:
    """The text of tokens, with special ones by their names."""
    return b"".join(bytes([token]) if token < 256 else format.tokens[token - 257].encode() for token in ids)


def accepted(constraint: pdacon.Constraint, ids: Sequence[int]) -> bool:
    matcher = constraint.matcher()
    return all(matcher.accept_token(token) for token in ids) and matcher.is_accepting()


def merged(events: Sequence[AnswerEvent]) -> list[AnswerEvent]:
    """Events with neighbours of one kind put together: what may not depend on how an answer is cut."""
    out: list[AnswerEvent] = []
    for event in events:
        if out and event.kind in ("reasoning", "text", "arguments") and out[-1][::2] == event[::2]:
            out[-1] = out[-1]._replace(text=out[-1].text + event.text)
        else:
            out.append(event)
    return out


def read(reader: AnswerReader, pieces: Sequence[int | str | bytes]) -> list[AnswerEvent]:
    """All events of an answer, merged."""
    return merged([*(event for piece in pieces for event in reader.feed(piece)), *reader.close()])


def cut(data: str | bytes, random: Random) -> Iterator[Any]:
    """Pieces of one to eight characters or bytes."""
    at = 0
    while at < len(data):
        length = random.randint(1, 8)
        yield data[at : at + length]
        at += length


def random_answer(random: Random, format: ToolFormat, *, required: bool) -> Answer:
    """An answer whose strings have nothing that a format takes for its end."""
    calls = []
    for _ in range(random.randint(1 if required else 0, 3 if format.messages is None else 1)):
        tool = random.choice(tools_of(format))
        arguments = {}
        for name, schema in tool["parameters"]["properties"].items():
            if name in tool["parameters"].get("required", ()) or random.random() < 0.5:
                arguments[name] = _value(random, schema)
        jsonschema.validate(arguments, tool["parameters"])
        calls.append(pdacon.Call(str(tool["name"]), arguments))
    thought = random.choice(("", "I think. ", "Ich überlege")) if format.thought is not None else ""
    text = "" if required or (calls and format.calls_alone) else random.choice(("", "Let me see.", "Größe:\n- a < b"))
    return Answer(thought, text, tuple(calls))


def _value(random: Random, schema: Any) -> Any:
    if "enum" in schema:
        return random.choice(schema["enum"])
    if "properties" in schema:
        listed = schema["properties"].items()
        return {name: _value(random, inner) for name, inner in listed if random.random() < 0.5}
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return {
        "string": lambda: random.choice(_STRINGS[:5] if len(kinds) > 1 else _STRINGS),
        "null": lambda: None,
        "integer": lambda: random.randint(-5, 500),
        "number": lambda: random.choice((0, -1.5, 1e21, 7)),
        "boolean": lambda: random.random() < 0.5,
        "array": lambda: [random.choice(_STRINGS) for _ in range(random.randint(0, 3))],
        "object": lambda: random.choice(({}, {"a": [1, {"b": None}]}, {"k": random.choice(_STRINGS)})),
    }[random.choice(kinds)]()


def valid_arguments(call: pdacon.Call) -> None:
    """Raise unless the arguments of a call are what its tool takes."""
    tool = next(tool for tool in TOOLS if tool["name"] == call.name)
    jsonschema.validate(json.loads(json.dumps(call.arguments)), tool["parameters"])


def grammar(name: str, **options: Any) -> pdacon.Grammar:
    """The grammar of answers that call `TOOLS`, with a thought where the format has one."""
    options.setdefault("reasoning", FORMATS[name].thought is not None)
    return pdacon.Grammar.from_tools(tools_of(FORMATS[name]), format=name, **options)
