"""Numbers between two bounds, whose terminal the core makes from their digits, against exact arithmetic."""

from __future__ import annotations

import re
import sys
import time
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest
from support.on_demand import WORDS, both, compare

import pdacon
from pdacon import EmptyLanguageError, Grammar, LimitExceededError
from pdacon.frontends.json_schema import numbers
from pdacon.frontends.json_schema.exploring import Explorer
from pdacon.frontends.json_schema.facts import Above
from pdacon.frontends.json_schema.strings import Shape, choice

SPELLING = re.compile(
    r"-?(?:0|[1-9]\d*)(?:\.\d+)?|-?[1-9](?:\.\d{1,16})?e\+(?:1[6-9]|[2-9]\d|[12]\d\d|30[0-8])"
    r"|-?[1-9](?:\.\d+)?e-(?:0[5-9]|[1-9]\d|[12]\d\d|3[01]\d|32[0-4])"
)
BYTES = pdacon.Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], eos_ids=[256])
SOME = [
    0,
    -0.0,
    1,
    120,
    -5,
    1.5,
    -0.25,
    0.5,
    1e-05,
    1e-07,
    -1e-09,
    1.5e-10,
    1e15,
    1e16,
    1.5e16,
    -1e17,
    1e20,
    10**17 + 1,
]
TEXTS = [
    "0", "-0", "0.0", "-0.00", "00", "01", "1.", ".5", "-", "1.0", "1.50", "120.050", "119.999", "1e+16", "1.0e+16",
    "1.50e+16", "1.4e+16", "1.6e+16", "1e+17", "-1e+17", "9.9e+15", "1e16", "1E+16", "1.5e-05", "1e-05", "1e-5",
    "0.00001", "0.000009", "1e-07", "9.99e-08", "1e-324", "1e-325", "1e+308", "1.7976931348623157e+308",
    "1.79769313486231570e+308", "1.7976931348623158e+308", "-1.7976931348623157e+308", "2e+308", "1e+309", "10e+20",
    "1.12345678901234567e+20", "99999999999999999999", "100000000000000001", "100000000000000000.9",
]  # fmt: skip


def drawn_bound(random: Random) -> float:
    chance = random.random()
    if chance < 0.4:
        return random.choice(SOME)
    if chance < 0.6:
        return random.randrange(-200, 200)
    if chance < 0.8:
        return round(random.uniform(-20, 20), random.randrange(5))
    return float(random.uniform(-9, 9) * 10 ** random.randrange(-12, 22))


def drawn_schema(random: Random) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "number"}
    for keyword in random.sample(
        ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"], random.randrange(1, 4)
    ):
        schema[keyword] = drawn_bound(random)
    return schema


def holds(schema: dict[str, Any], number: Fraction) -> bool:
    bounds = {keyword: Fraction(repr(value)) for keyword, value in schema.items() if keyword != "type"}
    return (
        bounds.get("minimum", number) <= number <= bounds.get("maximum", number)
        and bounds.get("exclusiveMinimum", number - 1) < number < bounds.get("exclusiveMaximum", number + 1)
    )  # fmt: skip


def texts_near(random: Random, schema: dict[str, Any]) -> list[str]:
    found = list(TEXTS)
    for keyword, value in schema.items():
        if keyword == "type":
            continue
        for step in ("0", "0.1", "-0.1", "0.001", "-1", "1", "1e-12", "-1e-12"):
            near = Fraction(repr(value)) + Fraction(step)
            found += [repr(float(near)), *numbers.spellings(near, canonical=False)]
            found += [f"{text}0" for text in found[-2:] if "." in text and "e" not in text]
        digits = repr(value)
        place = random.randrange(len(digits))
        found += [digits[:place], digits[:place] + random.choice("0123456789.e-") + digits[place + 1 :], f"{digits}1"]
    return found


def takes(constraint: pdacon.Constraint, text: str) -> bool:
    matcher = constraint.matcher()
    return matcher.accept_bytes(text.encode()) and matcher.is_accepting()


@pytest.mark.parametrize("seed", range(12))
def test_numbers_between_bounds(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[int]] = []
    random = Random(seed)
    taken = 0
    for _ in range(12):
        schema = drawn_schema(random)
        texts = texts_near(random, schema)
        wanted = {
            text: bool(SPELLING.fullmatch(text)) and _is_finite(text) and holds(schema, Fraction(text))
            for text in texts
        }
        try:
            constraint = pdacon.compile(Grammar.from_json_schema(schema), BYTES)
        except EmptyLanguageError:
            assert not any(wanted.values()), schema
            continue
        with monkeypatch.context() as patched:
            patched.setattr(Explorer, "family", lambda self, questions: asked.append(questions))
            for text, is_right in wanted.items():
                assert takes(constraint, text) == is_right, (schema, text)
        taken += sum(wanted.values())
    assert taken > 50
    assert asked == []


def _is_finite(text: str) -> bool:
    """Up to the greatest double where there is an exponent; plain decimals have any size."""
    return "e" not in text or abs(Fraction(text)) <= Fraction(sys.float_info.max)


INTEGER = re.compile(r"0|-?[1-9]\d*")


@pytest.mark.parametrize("seed", range(4))
def test_integers_between_bounds_of_any_size(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[int]] = []
    random = Random(seed)
    taken = 0
    for _ in range(12):
        schema = drawn_schema(random) | {"type": "integer"}
        schema |= random.choice(
            [{}, {"maximum": 9223372036854776000}, {"minimum": -(10**25)}, {"exclusiveMinimum": 99}]
        )
        texts = [*texts_near(random, schema), *map(str, range(-12, 130)), "9223372036854776001", f"-{10**25 + 1}"]
        texts += [str(int(value) + step) for value in schema.values() if value != "integer" for step in (-1, 0, 1)]
        wanted = {text: bool(INTEGER.fullmatch(text)) and holds(schema, Fraction(text)) for text in texts}
        try:
            constraint = pdacon.compile(Grammar.from_json_schema(schema), BYTES)
        except EmptyLanguageError:
            assert not any(wanted.values()), schema
            continue
        with monkeypatch.context() as patched:
            patched.setattr(Explorer, "family", lambda self, questions: asked.append(questions))
            for text, is_right in wanted.items():
                assert takes(constraint, text) == is_right, (schema, text)
        taken += sum(wanted.values())
    assert taken > 50
    assert asked == []


@pytest.mark.parametrize("seed", range(4))
def test_both_forms_are_the_same(seed: int) -> None:
    random = Random(seed)
    compared = 0
    for _ in range(4):
        schema = drawn_schema(random)
        try:
            made = both({"type": "object", "properties": {"a": schema}, "required": ["a"]}, WORDS)
        except EmptyLanguageError:
            continue
        assert made is not None
        compared += compare(*made, random, 30)
    assert compared > 10


@pytest.mark.parametrize("integral", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_digits_are_compared_as_products_of_automata_do(
    seed: int, integral: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(seed)
    made = numbers.number_automaton.__wrapped__
    for _ in range(30):
        shape: Shape = True
        for _ in range(random.randrange(1, 5)):
            fact = Above(Fraction(repr(drawn_bound(random))), random.random() < 0.5)
            then, otherwise = random.choice([(shape, False), (False, shape), (True, shape), (shape, True)])
            shape = choice(fact, then, otherwise)
        direct = made(shape, frozenset(), integral, False)
        with monkeypatch.context() as patched:
            patched.setattr(numbers, "_between_bounds", lambda *asked: None)
            product = made(shape, frozenset(), integral, False)
        for array in ("firsts", "numbers", "table", "accepting"):
            assert np.array_equal(getattr(direct.native, array), getattr(product.native, array)), shape


def test_bounds_of_draft_4() -> None:
    schema = {"$schema": "http://json-schema.org/draft-04/schema#", "type": "number", "minimum": 0, "maximum": 1.5}
    for strict, edge in ({"exclusiveMinimum": True}, "0"), ({"exclusiveMaximum": True}, "1.50"):
        assert takes(pdacon.compile(Grammar.from_json_schema(schema), BYTES), edge)
        assert not takes(pdacon.compile(Grammar.from_json_schema(schema | strict), BYTES), edge)


@pytest.mark.parametrize(
    "options", [{"numbers": "canonical"}, {"exponents": "none"}, {"exponents": "json.dumps"}, {"max_digits": 3}]
)
def test_other_spellings_are_written_as_they_ask(options: dict[str, Any]) -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "number", "minimum": 0.5, "maximum": 1e20}},
        "required": ["a"],
    }
    made = both(schema, WORDS, pdacon.Spelling(**options))
    assert made is not None
    random = Random(1)
    assert sum(compare(*made, random, 30) for _ in range(6)) > 6


def test_the_clock_is_looked_at_between_many_bounds() -> None:
    many = [{"type": "integer", "minimum": 10 * number, "maximum": 10 * number + 3} for number in range(5_000)]
    few = pdacon.compile(Grammar.from_json_schema({"anyOf": many[:200]}), BYTES)
    assert [takes(few, str(value)) for value in (3, 4, 10, 1993, 1994, -1)] == [True, False, True, True, False, False]
    constraint = pdacon.compile(Grammar.from_json_schema({"anyOf": many}), BYTES)
    started = time.thread_time()
    with pytest.raises(LimitExceededError), pdacon.time_limit(0.1):
        constraint.matcher()
    assert time.thread_time() - started < 2  # minutes, where nothing looked
