"""Programs of escaped texts against `re` on the texts that are meant."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

import numpy as np
import pytest

from pdacon import RegularSet
from pdacon.errors import LimitExceededError
from pdacon.regular.ordered.escaping import ESCAPES, Escapes, escaped_program, whole_characters
from pdacon.regular.ordered.patterns import compile_pattern
from pdacon.regular.ordered.program import Program
from pdacon.regular.ordered.running import Runner
from tests.support.spellings import spellings

PATTERNS = (
    r'[^"\n]+',
    r"(?:a|ab)(?!c)",
    r'"(?:\\.|[^"\\])*"',
    r"\w+",
    r"é+?n|ü",
    r".+?(?=\n|$)",
    r"(?s:.)",
    r"[\U0001F600-\U0001F64Fab]+x",
    r"(?i:straße|\n)+",
    r"a(?=b)|\\+",
    r"(?:\w|\n)*?x",
    r"#.*$",
    r"(?!\n)\s+",
    r"[\u0800-\uffff]{2}",
    r"ab\b",
    r"(?>a|ab)c|\x7f/",
)
ALPHABET = 'abcx"\\\n\té ü😀😁ß\u0800\ud7ff\ue000\U0010ffff/\x7fN1'


def one_entry(pattern: str) -> Program:
    program = whole_characters(compile_pattern(pattern))
    assert program is not None
    return program


@pytest.mark.parametrize("escapes", ESCAPES)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_matches_end_where_those_of_the_text_that_is_meant_end(
    pattern: str, escapes: Escapes, scaled: Callable[[int], int]
) -> None:
    runner = Runner(escaped_program(one_entry(pattern), escapes, 10_000))
    random = Random(f"{pattern}, {escapes}")
    for _ in range(scaled(200)):
        text = "".join(random.choice(ALPHABET) for _ in range(random.randint(1, 6)))
        units = [random.choice(spellings(character, escapes)) for character in text]
        match = re.match(pattern, text)
        end = None if match is None else len("".join(units[: match.end()]).encode())
        assert runner.match_end("".join([*units, '"']).encode()) == end, (text, units)


@pytest.mark.parametrize("escapes", ESCAPES)
@pytest.mark.parametrize("pattern", ["[a-zé\n]+", r'(?:\\|"|[^a-z])+', r"\w{2}", "[\U0001f600-\U0001f64f]"])
def test_the_texts_are_those_of_a_set(pattern: str, escapes: Escapes) -> None:
    """`RegularSet.escaped` makes them in another way, of an automaton of characters."""
    escaped = escaped_program(one_entry(pattern), escapes, 10_000)
    assert RegularSet.from_program(escaped, "") == RegularSet.from_regex(pattern).escaped(escapes=escapes)


def test_what_lies_behind() -> None:
    assert whole_characters(compile_pattern(r"a\b")) is not None
    for pattern in (r"\ba", "^a", "(?<!x)a"):
        assert whole_characters(compile_pattern(pattern)) is None


def test_the_limit_is_kept() -> None:
    with pytest.raises(LimitExceededError):
        escaped_program(one_entry(r"\w+"), "any", 100)
    assert np.all(escaped_program(one_entry("a"), "needed", 100).entries == 0)
