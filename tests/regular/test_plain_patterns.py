"""Plain patterns, which the core reads by itself, against the definition: parse trees and formulas over positions."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from pdacon.errors import LimitExceededError
from pdacon.regular import Dfa, Languages, parse_pattern
from pdacon.regular.automata import plain_pattern
from pdacon.regular.ecma import PatternError

pytestmark = pytest.mark.quick

ATOMS = [
    "a", "b", "é", "😀", "-", "{", "}", "]", "{,2}", "{a}", " ", ".", r"\.", r"\/", r"\x41", r"\u00e9", r"\t", r"\d",
    r"\D", r"\w", r"\W", r"\s", r"\S", "[a-c]", "[^a]", "[^]", "[]", r"[\w-]", r"[a\-z]", r"[\d-x]", "[😀-😂]",
    r"[\b]", r"[^\s/]", r"[\ud7ff-\ue000]", "^", "$",
]  # fmt: skip
COUNTS = ["*", "+", "?", "{2}", "{1,3}", "{0,2}", "{2,}", "*?", "{0}"]
PLAIN = [
    "", "^$", "^a|b$", "(^a|^b)c", "a$|^$", "(a|b$)+", "^^a", "a^b", "a$b", "(|a)*", "^(a{1,2}){2}$", "((a?)*)*b",
    r"^(?:\S+\s+){0,9}\S+$", r"^[\w.+-]+@[a-z\d-]+(\.[a-z]+)*$", "x{2}{3", "a{0}b", "^(-|\\+)?\\d+$",
    "(^)*", "(?:$)+", "(^){2}a", "{", "{,2}", "{a}|{", "({1)", "{1,x}",
]  # fmt: skip
NOT_PLAIN = [
    "(?=a)b", "(?!a)b", "(?<=a)b", "(?<name>a)", "(?i)a", r"\ba", r"a\B", r"\p{L}", r"[\p{L}]", r"(a)\1", r"\k<n>",
    "a**", "a{2}{3}", "^*", "a$?", "*a", "(", ")", "a)", "[a", "[b-a]", "a{3,1}", "\\", "[\\", r"\q", r"\c", r"\0",
    r"\x4", r"\ud800", r"\u{41}", r"[\ud800]", "a{5000}", "(a{1000}){1000}", "(((){1000}){1000}){1000}",
    "((((((((((((((((((((((a))))))))))))))))))))))", "a" * 3000, "{2}", "a|{1,}b", "({0,1})",
]  # fmt: skip


def defined(pattern: str) -> Dfa:
    languages = Languages()
    return languages.deterministic(languages.pattern(parse_pattern(pattern)), 20_000)


def assert_same(pattern: str) -> None:
    made, wanted = plain_pattern(pattern, 20_000), defined(pattern)
    assert made is not None, pattern
    for name in ("firsts", "numbers", "table", "accepting"):
        assert np.array_equal(getattr(made.native, name), getattr(wanted.native, name)), pattern


def drawn(random: Random, depth: int = 0) -> str:
    chance = random.random()
    if depth > 3 or chance < 0.3:
        return random.choice(ATOMS)
    if chance < 0.6:
        return "".join(drawn(random, depth + 1) for _ in range(random.randrange(4)))
    inner = drawn(random, depth + 1)
    if chance < 0.75:
        return f"({random.choice(['', '?:'])}{inner}|{drawn(random, depth + 1)})"
    return f"({inner}){random.choice(COUNTS)}" if chance < 0.93 else f"^{inner}$"


@pytest.mark.parametrize("pattern", PLAIN)
def test_plain_patterns_have_the_automaton_that_is_defined(pattern: str) -> None:
    assert_same(pattern)


@pytest.mark.parametrize("pattern", NOT_PLAIN)
def test_what_is_not_plain_is_left_to_the_definition(pattern: str) -> None:
    assert plain_pattern(pattern, 20_000) is None


@pytest.mark.parametrize("seed", range(10))
def test_drawn_patterns(seed: int) -> None:
    random = Random(seed)
    plain = 0
    for _ in range(100):
        pattern = drawn(random)
        if plain_pattern(pattern, 20_000) is not None:
            plain += 1
            assert_same(pattern)
        else:  # then it is no pattern, since nothing else that is not plain is drawn
            with pytest.raises(PatternError):
                parse_pattern(pattern)
    assert plain > 60


def test_states_are_limited() -> None:
    with pytest.raises(LimitExceededError):
        plain_pattern("a.{12}$", 1000)
