"""Constraint and reader beside a reader of whole answers that was written from the formats' documents alone."""

from __future__ import annotations

import json
from functools import cache
from random import Random

import pytest
from support import plain_tool_reader
from support.scaling import scaled
from support.tool_answers import (
    accepted,
    cut,
    encoded,
    grammar,
    random_answer,
    read,
    tools_of,
    vocabulary_of,
)

import pdacon
from pdacon.frontends.tool_formats import FORMATS, Answer

NAMES = [name for name in FORMATS if name != "json"]  # which is documented here alone


@cache
def compiled(name: str) -> pdacon.Constraint:
    return pdacon.compile(grammar(name), vocabulary_of(FORMATS[name]))


@cache
def pieces_of(name: str) -> list[str]:
    """Texts that mutations put in: the marks of the format, and signs."""
    marks = [text for text in FORMATS[name].fixed_texts if text and "$" not in text]
    return [*marks, *'{}[]"<>/:,= \n\\1xé', "null", "true", "</", "get_time"]


def plainly(name: str, text: str) -> plain_tool_reader.Reading | None:
    schemas = {tool["name"]: tool["parameters"] for tool in tools_of(FORMATS[name])}
    return plain_tool_reader.read(name, schemas, text, FORMATS[name].thought is not None)


def same(answer: Answer, reading: plain_tool_reader.Reading) -> bool:
    """Whether both read the same, blanks at borders aside."""
    calls = [(call.name, json.dumps(call.arguments)) for call in answer.calls]
    others = [(call, json.dumps(arguments)) for call, arguments in reading.calls]
    words = ["".join(text.split()) for text in (answer.reasoning, answer.text, reading.thought, reading.text)]
    return calls == others and words[:2] == words[2:]


def mutated(name: str, text: str, random: Random) -> str:
    for _ in range(random.choice((1, 1, 2))):
        at = random.randrange(len(text) + 1)
        kind = random.random()
        if kind < 0.35:
            text = text[:at] + random.choice(pieces_of(name)) + text[at:]
        elif kind < 0.7:
            text = text[:at] + text[at + random.randint(1, 4) :]
        else:
            begin = random.randrange(len(text) + 1)
            text = text[:at] + text[begin : begin + random.randint(1, 12)] + text[at:]
    return text


@pytest.mark.parametrize("name", NAMES)
def test_what_a_template_writes_is_read_by_both(name: str) -> None:
    random, constraint = Random(name), compiled(name)
    for _ in range(scaled(12)):
        answer = random_answer(random, FORMATS[name], required=False)
        text = constraint.grammar.write(answer)
        reading = plainly(name, text)
        assert reading is not None, text
        assert same(answer, reading), text


@pytest.mark.parametrize("name", NAMES)
def test_mutated_answers_get_the_verdict_of_a_plain_reader(name: str) -> None:
    """What is accepted is read alike by both, in whatever cuts. What only the plain reader takes is laxer."""
    random, constraint = Random(name), compiled(name)
    counts: dict[str, int] = {"both": 0, "neither": 0, "lax": 0}
    for _ in range(scaled(120)):
        answer = random_answer(random, FORMATS[name], required=False)
        text = mutated(name, constraint.grammar.write(answer), random)
        ids, reading = encoded(FORMATS[name], text), plainly(name, text)
        if not accepted(constraint, ids):
            counts["neither" if reading is None else "lax"] += 1
            continue
        reader = constraint.reader()
        read(reader, ids)
        assert reader.answer.missing is None
        assert reading is not None, text
        assert same(reader.answer, reading), (text, reader.answer, reading)
        other = constraint.reader()
        read(other, list(cut(text, random)))
        assert other.answer == reader.answer, text
        counts["both"] += 1
    assert counts["both"] > 0
    assert counts["neither"] > 0
