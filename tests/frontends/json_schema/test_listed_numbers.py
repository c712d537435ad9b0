"""Numbers that a schema lists, in the spellings that it shows and that ``json.dumps`` writes, and beside others."""

from __future__ import annotations

import enum
import itertools
import json
import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from jsonschema import Draft4Validator, Draft202012Validator

from pdacon import CompileCache, EmptyLanguageError, Grammar, Spelling, Vocabulary, compile

DRAFT_4 = "http://json-schema.org/draft-04/schema#"


@pytest.mark.parametrize(
    ("schema", "taken", "refused"),
    [
        ({"enum": [0.5, 1.0]}, ["0.5", "1.0", "1"], ["0.50", "1.00", "2.0"]),
        ({"const": -2.0}, ["-2.0", "-2"], ["2.0"]),
        ({"const": 1}, ["1"], ["1.0"]),
        ({"type": "integer", "const": 1.0}, ["1", "1.0"], []),
        ({"const": -0.0}, ["0", "-0.0"], ["-0"]),
        ({"const": 1e22}, ["1e+22", "10000000000000000000000"], []),
        ('{"enum": [1.50, 1E2, 1e-9]}', ["1.50", "1.5", "1E2", "100", "100.0", "1e-9", "1e-09"], ["1e2", "1.500"]),
        ('{"const": 0.1000000000000000055511151231257827}', ["0.1000000000000000055511151231257827"], ["0.1"]),
        ('{"const": {"a": [1.0]}}', ['{"a": [1.0]}', '{"a": [1]}'], ['{"a": [1.00]}']),
        ({"uniqueItems": True, "items": {"enum": [1.0, 1, 2.5]}}, ["[1.0, 2.5]", "[1, 2.5]"], ["[1, 1.0]"]),
        ({"$schema": DRAFT_4, "type": "integer", "enum": [1.0, 2]}, ["1", "2"], ["1.0"]),
    ],
)
def test_the_spelling_that_is_shown_is_taken(schema: Any, taken: list[str], refused: list[str]) -> None:
    grammar = Grammar.from_json_schema(schema)
    assert [text for text in taken if not grammar.accepts(text)] == []
    assert [text for text in refused if grammar.accepts(text)] == []


NOTATIONS = (
    "1E-7 1e-7 1.0E-07 0.0000001 10e-8 -25E-6 0.00001 1e-5 0.0001 1E-4 123.456e-8 1e-300 5e-324 -0.5 5E-1 "
    "50e-2 12e3 0.1200 1E15 1e16 1E+16 -1.5e16 1e22 12345678901234567 1.2345678901234567e16 "
    "12345678901234567.5 1e308 2E308 1e-400 0 0.0 -0.0 1E0 100 100.0 1e2 0.1000000000000000055511151231257827 "
    "1.00000000000000000001e-7"
)


@pytest.mark.parametrize("keyword", ["const", "enum"])
def test_a_listed_number_is_a_plain_decimal_what_is_shown_and_what_json_writes(keyword: str) -> None:
    notations = NOTATIONS.split()
    for shown in notations:
        value = Decimal(shown)
        plain = format(value, "f")
        plain = plain.rstrip("0").rstrip(".") if "." in plain else plain
        written = json.dumps(json.loads(shown))
        expected = {shown, "0" if not value else plain}
        if Decimal(written) == value:
            expected.add(written)
        listed = shown if keyword == "const" else f"[{shown}, true]"
        grammar = Grammar.from_json_schema(f'{{"{keyword}": {listed}}}')
        candidates = {*notations, plain, written, f"{plain}0", f"{plain}.0", plain.replace("0.", "."), f"+{plain}"}
        candidates |= {format(value, pattern) for pattern in ("e", "E", ".1e", ".20e", ".3f")}
        assert {text for text in candidates if grammar.accepts(text)} == expected, shown


def test_canonical_numbers_have_one_spelling() -> None:
    grammar = Grammar.from_json_schema({"enum": [0.5, 1.0]}, spelling=Spelling(numbers="canonical"))
    assert [grammar.accepts(text) for text in ("1", "0.5", "1.0")] == [True, True, False]


def test_a_number_that_may_stand_there_anyway_is_written_as_others_are() -> None:
    for listed in ({"const": 5}, {"enum": [5, 7]}):
        grammar = Grammar.from_json_schema({"anyOf": [{"type": "number", "minimum": 0}, listed]})
        assert [grammar.accepts(text) for text in ("5", "5.0", "5.00", "6.0")] == [True] * 4


# Two objects of which the first member does not tell which it is, so that both schemas are asked of its number.
MEMBERS = [
    {"type": "number"},
    {"type": "integer"},
    {"type": "number", "minimum": 2},
    {"const": 5},
    {"enum": [5.0, 0.5]},
    {"type": "integer", "enum": [5.0]},
    {"not": {"const": 5}, "type": "number"},
    {"type": "number", "multipleOf": 2.5},
]
NUMBERS = ["5", "5.0", "0.5", "-2", "2.5", "7.0", "1e+16", "1e-07"]


@pytest.mark.parametrize("draft", [4, 2020])
@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_numbers_of_which_several_schemas_are_asked(keyword: str, draft: int) -> None:
    validator = {4: Draft4Validator, 2020: Draft202012Validator}[draft]
    for first, second in itertools.combinations(MEMBERS, 2):
        branches = [
            {"properties": {"x": x, "kind": {"enum": [kind]}}, "required": ["x", "kind"], "type": "object"}
            for x, kind in ((first, "a"), (second, "b"))
        ]
        given = json.dumps({**({"$schema": DRAFT_4} if draft == 4 else {}), keyword: branches})
        if draft == 4:
            given = given.replace('"const": 5', '"enum": [5]')
        schema = json.loads(given)
        grammar = Grammar.from_json_schema(schema)
        for number, kind in itertools.product(NUMBERS, "ab"):
            text = f'{{"x": {number}, "kind": "{kind}"}}'
            valid = validator(schema).is_valid(json.loads(text))
            only_integers = all("number" not in json.dumps(one) for one in (first, second))
            shown = number in json.dumps([first, second])
            if not (valid and number in ("5.0", "7.0", "1e+16") and only_integers and not shown):
                assert grammar.accepts(text) == valid, (given, text)


def test_two_texts_of_a_schema_that_show_numbers_differently_are_two_constraints() -> None:
    cache, words = CompileCache(), Vocabulary.bytes()
    shown = [cache.compile_schema(f'{{"const": {text}}}', words) for text in ("1.5", "1.50", "0.15e1", "1.5")]
    assert [one.accepts("1.50") for one in shown] == [False, True, False, False]
    assert shown[0] is shown[3]


class Rate(enum.Enum):
    LOW = 0.5
    ONE = 1.0
    LARGE = 1e22
    SMALL = -1e-7


def test_members_of_an_enum_are_written_and_taken() -> None:
    grammar = Grammar.from_type(Rate)
    assert [grammar.accepts(grammar.write(one)) for one in Rate] == [True] * 4


def test_no_number_is_both_listed_and_excluded() -> None:
    with pytest.raises(EmptyLanguageError):
        Grammar.from_json_schema({"oneOf": [{"const": 1}, {"const": 1.0}]})


@dataclass
class Measured:
    x: float
    y: str = ""


@dataclass
class Counted:
    x: int
    z: int


@pytest.mark.parametrize("value", [5.0, -0.0, 1e22, 1e-7, math.inf, -math.inf, 0.1])
def test_floats_beside_integers_are_written_and_read(value: float) -> None:
    grammar = Grammar.from_type(Measured | Counted)
    constraint = compile(grammar, Vocabulary.bytes())
    for given in (Measured(value), Measured(value, "a"), Counted(5, 1)):
        assert constraint.parse(grammar.write(given)) == given
    assert not grammar.accepts('{"x": 5.0, "z": 1}')


@pytest.mark.parametrize(
    ("schema", "spelling", "text", "expected"),
    [
        (
            {
                "oneOf": [
                    {"type": "array", "items": {"type": "integer", "minimum": 0.5}},
                    {"type": "array", "prefixItems": [{"const": 1}], "minItems": 2},
                    {"type": "array", "items": {"minimum": 1, "maximum": 1}, "minItems": 2, "maxItems": 3},
                ]
            },
            Spelling(integers="decimal"),
            "[1.00]",
            False,
        ),
        (
            {
                "type": "object",
                "properties": {"a": {"type": "number"}},
                "required": ["a"],
                "anyOf": [
                    {"properties": {"a": {"not": {"const": 0}}, "b": False}, "required": ["b"]},
                    {"properties": {"a": {"type": "integer", "multipleOf": 0.5}}},
                ],
            },
            Spelling(),
            '{"a": 0.0}',
            False,
        ),
        (
            {
                "type": "object",
                "properties": {"a": {"minimum": 0, "maximum": 1}},
                "required": ["a"],
                "anyOf": [
                    {"properties": {"a": {"type": "number"}, "b": False}, "required": ["b"]},
                    {"properties": {"a": {"type": "integer", "multipleOf": 2}}},
                ],
            },
            Spelling(integers="decimal", numbers="canonical"),
            '{"a": 0.0}',
            True,
        ),
    ],
)
def test_an_alternative_that_cannot_hold_does_not_change_how_numbers_are_written(
    schema: Any, spelling: Spelling, text: str, expected: bool
) -> None:
    grammar = Grammar.from_json_schema(schema, spelling)
    constraint = compile(grammar, Vocabulary.bytes())
    assert constraint._nested is not None
    assert constraint.accepts(text) == expected
    assert grammar.accepts(text) == expected
