"""Automata over code points against Python's ``re`` and against Boolean operations on its verdicts."""

from __future__ import annotations

import re
from random import Random

import pytest

from pdacon.errors import LimitExceededError
from pdacon.regular import Dfa, Formulas, Languages, parse_pattern

PATTERNS = [
    "^[a-c]+$",
    "a|b",
    "(ab)*c",
    r"\bab\b",
    "^(?!.*aa)",
    "c{2,3}",
    "[^a]",
    "",
    "a$",
    "^$",
    "(?:a|)+b",
    "^(a*)*b$",
]


def texts(seed: int, count: int = 400) -> list[str]:
    random = Random(seed)
    return ["".join(random.choices("abc d", k=random.randrange(8))) for _ in range(count)]


def automaton(pattern: str) -> Dfa:
    languages = Languages()
    return languages.deterministic(languages.pattern(parse_pattern(pattern)), 1000)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_matches_what_re_finds(pattern: str) -> None:
    found = automaton(pattern)
    for text in texts(1):
        assert found.accepts(text) == bool(re.search(pattern, text)), text


@pytest.mark.parametrize("seed", range(30))
def test_boolean_combinations(seed: int) -> None:
    random = Random(seed)
    languages = Languages()
    formulas = languages.formulas
    chosen = random.sample(PATTERNS, 3)
    one, two, three = (languages.pattern(parse_pattern(pattern)) for pattern in chosen)
    combined = formulas.choice(one, formulas.negation(two), formulas.exactly_one([two, three]))
    found = languages.deterministic(combined, 5000)
    for text in texts(seed, 200):
        a, b, c = (bool(re.search(pattern, text)) for pattern in chosen)
        assert found.accepts(text) == ((not b) if a else (b != c)), (chosen, text)


def test_words_and_their_complement() -> None:
    languages = Languages()
    words = languages.words(["ab", "abc", "", "é"])
    others = languages.deterministic(languages.formulas.negation(words), 100)
    own = languages.deterministic(words, 100)
    for text in [*texts(2), "ab", "abc", "", "é"]:
        assert own.accepts(text) == (text in ("ab", "abc", "", "é"))
        assert others.accepts(text) != own.accepts(text)


def test_no_state_is_without_a_way_to_acceptance() -> None:
    languages = Languages()
    never = languages.formulas.conjunction(
        languages.pattern(parse_pattern("^a$")), languages.pattern(parse_pattern("^b$"))
    )
    assert len(languages.deterministic(never, 10)) == 0


def test_too_many_states() -> None:
    languages = Languages()
    with pytest.raises(LimitExceededError):
        languages.deterministic(languages.pattern(parse_pattern("a(a|b){12}$")), 1000)


@pytest.mark.parametrize("seed", range(20))
def test_equal_formulas_are_one_number(seed: int) -> None:
    random = Random(seed)
    formulas = Formulas()
    variables = [formulas.variable(k) for k in range(4)]

    def some(depth: int) -> tuple[int, int]:
        """A formula, and its truth table as bits."""
        if depth == 0:
            k = random.randrange(4)
            return variables[k], sum(1 << row for row in range(16) if row >> k & 1)
        (a, x), (b, y), (c, z) = some(depth - 1), some(depth - 1), some(depth - 1)
        return random.choice(
            [
                (formulas.conjunction(a, b), x & y),
                (formulas.disjunction(a, b), x | y),
                (formulas.negation(a), ~x & 0xFFFF),
                (formulas.choice(a, b, c), (x & y) | (~x & z & 0xFFFF)),
                (formulas.exactly_one([a, b]), x ^ y),
            ]
        )

    by_table: dict[int, int] = {}
    for _ in range(60):
        formula, table = some(3)
        assert by_table.setdefault(table, formula) == formula
        assert formulas.evaluated(formula, lambda k: bool(5 >> k & 1)) == bool(table >> 5 & 1)
