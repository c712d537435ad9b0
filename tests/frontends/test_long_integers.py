"""Integers of more digits than Python reads by itself: read, written, and never an error of a limit."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import pytest

import pdacon
from pdacon import Grammar, Spelling, Vocabulary
from pdacon.frontends.long_integers import integer_of, json_value, text_of

WORDS = Vocabulary.bytes()
LONG = "1" * 5000
ANY = Spelling(max_digits="any")


@pytest.mark.parametrize("length", [1, 599, 600, 601, 1199, 1200, 1800, 2401, 4000])
def test_integers_of_texts_are_what_python_reads(length: int) -> None:
    random = Random(length)
    text = str(random.randrange(1, 10)) + "".join(random.choices("0123456789", k=length - 1))
    assert integer_of(text) == int(text)
    assert integer_of(f"-{text}") == -int(text)
    assert text_of(int(text)) == text


def test_long_integers_and_back() -> None:
    for number in (10**5000, -(7**9000), 2**40000 - 1):
        assert integer_of(text_of(number)) == number


def test_only_the_limit_on_digits_is_passed_over() -> None:
    assert json_value(f"[{LONG}, 1.5]")[1] == 1.5
    for text in ("[1,", "", "[1]]", f"[{LONG}"):
        with pytest.raises(ValueError, match=r"Expect|Extra"):
            json_value(text)


@pytest.mark.parametrize(
    "grammar",
    [
        Grammar.from_json_schema({"type": "integer"}),
        Grammar.from_json_schema({"type": "integer", "minimum": 3}),
        Grammar.from_json_schema({"items": {"type": "integer"}}),
        Grammar.builtin("json"),
        Grammar.builtin("json_compact"),
        Grammar.from_type(list[int], spelling=ANY),
        Grammar.from_type(list[int], form="python", spelling=ANY),
        Grammar.from_type(float | list[int | str], spelling=ANY),
    ],
)
def test_what_is_accepted_is_parsed(grammar: Grammar) -> None:
    constraint = pdacon.compile(grammar, WORDS)
    taken = [text for text in (LONG, f"[{LONG}]", f"[-{LONG}, 2]") if constraint.accepts(text)]
    assert taken
    for text in taken:
        value: Any = constraint.parse(text)
        number = value if isinstance(value, int | float) else value[0]
        assert number in (integer_of(LONG), -integer_of(LONG), math.inf)  # as a float it is as large as 1e5000


def test_lines_of_json() -> None:
    constraint = pdacon.compile(Grammar.builtin("jsonl"), WORDS)
    assert constraint.parse(f"{LONG}\n[]\n") == [integer_of(LONG), []]


@pytest.mark.parametrize("form", ["json", "python"])
def test_long_integers_are_written(form: Any) -> None:
    grammar = Grammar.from_type(dict[str, list[int]], form=form, spelling=ANY)
    value = {LONG: [10**5000, -1], "a'b\\": [0]}
    text = grammar.write(value)
    assert pdacon.compile(grammar, WORDS).parse(text) == value
