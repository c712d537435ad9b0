"""Why values are refused: in the words of the schema and of JSON, with its author's names."""

from __future__ import annotations

import datetime
import decimal
import enum
import json
from random import Random
from typing import Annotated, Any, Literal

import jsonschema
import pydantic
import pytest
from support.scaling import scaled

from pdacon import Grammar, Spelling
from pdacon.frontends.json_schema.conditions import holds
from pdacon.frontends.json_schema.documents import Documents


class Color(enum.Enum):
    RED = "red"
    GREEN = "green"
    BLUE = "blue"


class Line(pydantic.BaseModel):
    price: Annotated[decimal.Decimal, pydantic.Field(max_digits=3)]


class Invoice(pydantic.BaseModel):
    issued: datetime.date
    color: Color
    kind: Literal["a", "bb"] | None = None
    count: Annotated[int, pydantic.Field(ge=1, le=15)] = 1
    total: float = 0.0
    lines: list[Line] = []


BEGUN = '{"issued": "2024-01-02", "color": '


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"issued": "x', "\"x\" cannot follow '\"'; expected a date for Invoice.issued"),
        ('{"issued": 7', '"7" cannot come here; expected a date for Invoice.issued'),
        (BEGUN + '"yellow"', 'expected "red", "green" or "blue" for Invoice.color'),
        (BEGUN + '"gro', 'expected "red", "green" or "blue" for Invoice.color'),
        (BEGUN + "3", 'expected "red", "green" or "blue" for Invoice.color'),
        (BEGUN + '"red", "kind": "b"', 'expected "a" or "bb" or null for Invoice.kind'),
        (BEGUN + '"red", "count": 16', '"6" cannot follow "1"; expected an integer, 1 to 15 for Invoice.count'),
        (BEGUN + '"red", "count": "2"', "expected an integer, 1 to 15 for Invoice.count"),
        (BEGUN + '"red", "total": 123456789012345678901',
         "number of at most 20 digits before its point for Invoice.total"),
        (BEGUN + '"red", "total": 1.123456789012345678901',
         "number of at most 20 digits after its point for Invoice.total"),
        (BEGUN + '"red", "lines": [{"price": 1234', "expected a number of at most 3 digits for Line.price"),
    ],
)  # fmt: skip
def test_a_value_is_refused_in_words(text: str, reason: str) -> None:
    explanation = Grammar.from_type(Invoice).explain(text)
    assert not explanation.allowed
    assert reason in explanation.reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{'issued'", 'names stand in double quotes in JSON: "issued"'),
        ("{issued: 1}", 'names stand in double quotes in JSON: "issued"'),
        ("issued: 2024-01-02", 'JSON writes an object in braces and names in double quotes: {"issued": ...}'),
        ("```json\n{", "the text begins with a fence of Markdown, and JSON has none"),
        ("- a", "JSON writes a list in brackets: [...]"),
        ('{"issued": \'2024', 'strings stand in double quotes in JSON: "2024"'),
        ('{"issued": 2024', '"2024" cannot come here; expected a date for Invoice.issued'),
        (BEGUN + "red", 'strings stand in double quotes in JSON: "red"'),
        (BEGUN + '"red", "kind": None', "JSON writes null, not None"),
        (BEGUN + '"red", "total": NaN', "JSON has no NaN"),
        (BEGUN + '"red", "total": .5', "a number has a digit before its point in JSON"),
        (BEGUN + '"red", "total": +5', "a number has no + before it in JSON"),
        (BEGUN + '"red",}', 'JSON has no comma before "}"'),
        (BEGUN + '"red"; ', 'in JSON "," stands between members and items'),
        ('{"issued" = ', 'in JSON ":" stands between a name and its value'),
        ("// an invoice\n{", "JSON has no comments"),
        ('{"issued":"2024-01-02"', 'a blank has to come here; Spelling(whitespace="any") takes any blanks'),
        ('{ "issued"', 'no blank may come here; Spelling(whitespace="any") takes any blanks'),
    ],
)
def test_what_is_nearly_json_is_refused_in_its_terms(text: str, reason: str) -> None:
    assert Grammar.from_type(Invoice).explain(text).reason == reason


def test_any_blanks_are_no_slips() -> None:
    grammar = Grammar.from_type(Invoice, spelling=Spelling(whitespace="any"))
    assert "expected a date for Invoice.issued" in grammar.explain('{ "issued" :\n  7').reason


CONDITIONAL = {
    "type": "object",
    "properties": {"kind": {"enum": ["a", "b"]}, "x": {"type": "integer"}, "y": {"type": "integer"}},
    "required": ["kind"],
    "additionalProperties": False,
    "allOf": [
        {
            "if": {"properties": {"kind": {"const": "a"}}},
            "then": {"required": ["x"], "properties": {"x": {"type": "integer", "maximum": 5}}},
            "else": {"required": ["y"]},
        }
    ],
}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"kind": "a"}', '"x" is missing, which #/allOf/0/then/required asks for, as #/allOf/0/if holds'),
        ('{"kind": "b"}', '"y" is missing, which #/allOf/0/else/required asks for, as #/allOf/0/if does not hold'),
        (
            '{"kind": "a", "x": 7',
            '"7" cannot come here; expected an integer for x, and #/allOf/0/then/properties/x asks for '
            'type "integer", maximum 5, as #/allOf/0/if holds',
        ),
    ],
)
def test_the_branch_of_an_if_is_named(text: str, reason: str) -> None:
    assert Grammar.from_json_schema(CONDITIONAL).explain(text).reason == reason


def test_conditions_hold_as_jsonschema_says() -> None:
    """Whatever is not left open; against the reference implementation, on random schemas and values."""
    random, told = Random(3), 0
    for _ in range(scaled(300)):
        schema, value = _schema(random), _value(random)
        documents = Documents(json.loads(json.dumps(schema)), lenient=True)
        answer = holds(documents, documents.root, value)
        if answer is not None:
            told += 1
            assert answer == jsonschema.Draft202012Validator(schema).is_valid(value), (schema, value)
    assert told > scaled(300) / 3


def _value(random: Random, depth: int = 2) -> Any:
    kind = random.randrange(7 if depth else 5)
    if kind < 5:
        return random.choice((None, True, False, 0, 1, 2.5, 7, "", "a", "ab"))
    if kind == 5:
        return [_value(random, depth - 1) for _ in range(random.randrange(3))]
    return {name: _value(random, depth - 1) for name in random.sample("abc", random.randrange(4))}


def _schema(random: Random, depth: int = 2) -> Any:
    if random.random() < 0.1:
        return random.random() < 0.7
    found: dict[str, Any] = {}
    for _ in range(random.randrange(1, 4)):
        name = random.choice((
            "const", "enum", "type", "minimum", "maximum", "minLength", "pattern", "required", "properties", "not",
            "allOf", "anyOf", "oneOf", "if", "minItems", "maxProperties", "items", "dependentRequired",
        ))  # fmt: skip
        if name in ("not", "properties", "allOf", "anyOf", "oneOf", "if", "items") and not depth:
            continue
        inner = [_schema(random, depth - 1) for _ in range(2)] if depth else [True, True]
        found[name] = {
            "const": _value(random, 1), "enum": [_value(random, 1), _value(random, 1)],
            "type": random.choice(("string", "integer", "number", ["null", "boolean"], "object", "array")),
            "minimum": 1, "maximum": 2, "minLength": 1, "pattern": "^a", "required": ["a"],
            "properties": dict(zip("ab", inner, strict=True)), "not": inner[0], "allOf": inner, "anyOf": inner,
            "oneOf": inner, "if": inner[0], "minItems": 1, "maxProperties": 1, "items": inner[0],
            "dependentRequired": {"a": ["b"]},
        }[name]  # fmt: skip
        if name == "if":
            found["then"] = inner[1]
    return found
