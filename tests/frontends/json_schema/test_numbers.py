"""Numbers of a schema against exact arithmetic on their spellings."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from fractions import Fraction
from random import Random

import pytest

from pdacon.frontends.json_schema.facts import Above, Among, Fact, Integral, Multiple
from pdacon.frontends.json_schema.numbers import number_automaton, spellings
from pdacon.frontends.json_schema.strings import choice

SPELLING = re.compile(
    r"-?(?:0|[1-9]\d*)(?:\.\d+)?|-?[1-9](?:\.\d{1,16})?e\+(?:1[6-9]|[2-9]\d|[12]\d\d|30[0-8])"
    r"|-?[1-9](?:\.\d+)?e-(?:0[5-9]|[1-9]\d|[12]\d\d|3[01]\d|32[0-4])"
)
CANONICAL = re.compile(r"0|-?(?:[1-9]\d*|(?:0|[1-9]\d*)\.\d*[1-9])")
SOME = [
    "0",
    "-0",
    "0.0",
    "1.0",
    "1.50",
    "120",
    "120.0",
    "120.1",
    "119.999",
    "1e+16",
    "1e+20",
    "1.5e-05",
    "0.00001",
    "0.000009",
    "1e-05",
    "1e-07",
    "-1e+17",
    "1.7e+307",
    "1e+308",
    "1.7976931348623157e+308",
    "1.79e+308",
    "1.797693134862315e+308",
    "1.7976931348623159e+308",
    "2e+308",
    "2.2250738585072014e-308",
    "5e-324",
]
BOUNDS = [
    Fraction(text)
    for text in [
        "0",
        "1",
        "120",
        "-5",
        "1.5",
        "-0.25",
        "0.00001",
        "9223372036854775807",
        "1e20",
        "-1e17",
        "0.1",
        "100",
        "99",
        "3.14159",
        "1e-7",
        "-1e-9",
        "1.7976931348623157e308",
        "-1.5e308",
        "1e308",
        "3e-324",
        "120.050",
        "1e400",
    ]
]


def texts(seed: int) -> list[str]:
    random = Random(seed)
    found = list(SOME)
    for _ in range(300):
        near = random.choice(BOUNDS) + random.choice([Fraction(step) for step in ("0", "0.1", "-0.1", "0.001", "-1")])
        found += [
            str(random.randrange(-200, 200)),
            f"{random.uniform(-200, 200):.{random.randrange(5)}f}",
            repr(random.uniform(-1, 1) * 10 ** random.randrange(-12, 22)),
            *([repr(float(near))] if abs(near) < 10**300 else []),
            *spellings(near, canonical=False),
        ]
    return [text for text in found if SPELLING.fullmatch(text) and abs(float(text)) <= sys.float_info.max]


def check(fact: Fact, holds: Callable[[Fraction], bool]) -> None:
    automaton = number_automaton(choice(fact, True, False), frozenset(), False, False)
    whole = number_automaton(choice(fact, True, False), frozenset({Fraction(7)}), True, False)
    canonical = number_automaton(choice(fact, True, False), frozenset(), False, True)
    for text in texts(3):
        number = Fraction(text)
        assert automaton.accepts(text) == holds(number), text
        integer = "." not in text and "e" not in text and text != "-0"
        assert whole.accepts(text) == (integer and number != 7 and holds(number)), text
        assert canonical.accepts(text) == (bool(CANONICAL.fullmatch(text)) and holds(number)), text


@pytest.mark.parametrize("inclusive", [True, False])
@pytest.mark.parametrize("bound", BOUNDS, ids=str)
def test_bounds(bound: Fraction, inclusive: bool) -> None:
    check(Above(bound, inclusive), lambda number: number > bound or (inclusive and number == bound))


@pytest.mark.parametrize(
    "of", ["1", "2", "7", "0.5", "0.01", "0.25", "10", "2.5", "100", "1e-9", "1.5e-8", "0.3", "64"]
)
def test_multiples(of: str) -> None:
    check(Multiple(Fraction(of)), lambda number: (number / Fraction(of)).denominator == 1)


def test_multiples_of_many_digits_have_no_exponents() -> None:
    automaton = number_automaton(choice(Multiple(Fraction(1234)), True, False), frozenset(), False, False)
    assert [automaton.accepts(text) for text in ("1234.0", "1.234e+20")] == [True, False]


def test_multiples_with_exponents_are_those_that_python_writes() -> None:
    for of in ("1e-9", "2.5e-7", "3", "1e-30"):
        holds = number_automaton(choice(Multiple(Fraction(of)), True, False), frozenset(), False, False)
        fails = number_automaton(choice(Multiple(Fraction(of)), False, True), frozenset(), False, False)
        for digits in ("1", "1.0", "1.50", "2.25", "7.5", "9.999"):
            for exponent in (*range(-33, -4), *range(16, 40)):
                text = f"{digits}e{exponent:+03}"
                multiple = (Fraction(text) / Fraction(of)).denominator == 1
                assert (holds.accepts(text), fails.accepts(text)) == (multiple, not multiple), (of, text)


def test_integers() -> None:
    check(Integral(), lambda number: number.denominator == 1)


def test_excluded_numbers_are_excluded_in_each_spelling() -> None:
    automaton = number_automaton(True, frozenset(map(Fraction, ("1", "1.5", "1e20", "-1e-7"))), False, False)
    for text in texts(4):
        assert automaton.accepts(text) == (Fraction(text) not in map(Fraction, ("1", "1.5", "1e20", "-1e-7"))), text


def test_numbers_that_are_listed_are_spelled_plainly_and_as_python_writes_them() -> None:
    assert [spellings(Fraction(text), canonical=False) for text in ("1.50", "-2", "0.00001", "12.25", "-2.5e20")] == [
        ["1.5"], ["-2"], ["0.00001", "1e-05"], ["12.25"], ["-250000000000000000000", "-2.5e+20"],
    ]  # fmt: skip
    assert spellings(Fraction("0.00001"), canonical=True) == ["0.00001"]
    assert Among(frozenset({Fraction(1)})) == Among(frozenset({Fraction("1.0")}))
