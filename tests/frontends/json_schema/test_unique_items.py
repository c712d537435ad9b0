"""``uniqueItems`` over few values against all short arrays, and why it is refused over many."""

from __future__ import annotations

import itertools
import json
from random import Random
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from support.on_demand import WORDS

import pdacon
from pdacon import Grammar, Spelling, UnsupportedSchemaError, Vocabulary

ITEMS = [
    ({"type": "integer", "minimum": 1, "maximum": 3}, [1, 2, 3, 4]),
    ({"type": "integer", "multipleOf": 2, "exclusiveMinimum": 0, "maximum": 6}, [2, 4, 6, 3]),
    ({"enum": [[1], [2], {"a": 1}, 1]}, [[1], [2], {"a": 1}, 1, [3]]),
    ({"type": ["array", "boolean"], "enum": [[], [[]], True, {}]}, [[], [[]], True, {}]),
    ({"type": "string", "pattern": "^[a-c]$"}, ["a", "b", "c", "d"]),
    ({"type": ["boolean", "null", "string"], "maxLength": 0}, [True, False, None, ""]),
    ({"allOf": [{"enum": [1, 2, [1], [2]]}, {"not": {"const": [2]}}]}, [1, 2, [1], [2]]),
]


@pytest.mark.parametrize(("items", "values"), ITEMS)
def test_arrays_of_few_values(items: Any, values: list[Any]) -> None:
    schema = {"type": "array", "uniqueItems": True, "items": items}
    grammar, validator = Grammar.from_json_schema(schema), Draft202012Validator(schema)
    for size in range(4):
        for array in itertools.product(values, repeat=size):
            assert grammar.accepts(json.dumps(array)) == validator.is_valid(list(array)), array


@pytest.mark.parametrize("bounds", [{}, {"minItems": 12}, {"minItems": 2, "maxItems": 3}, {"contains": {"minimum": 4}}])
def test_sets_of_values_that_have_come_are_made_on_demand(bounds: Any) -> None:
    items = {"type": "integer", "minimum": 1, "maximum": 14}
    schema = {"type": "array", "uniqueItems": True, "items": items, **bounds}
    constraint, validator = pdacon.compile(Grammar.from_json_schema(schema), WORDS), Draft202012Validator(schema)
    random = Random(1)
    for size in [*range(16)] * 4:
        array = [random.randrange(1, 15) for _ in range(size)] if size < 5 else random.sample(range(16), size)
        if size < 15:
            random.shuffle(array)
        assert constraint.accepts(json.dumps(array)) == validator.is_valid(array), array
    matcher = constraint.matcher()
    assert matcher.accept("[1, 2, 1")  # of 1 and 10 to 14
    assert {WORDS.tokens[token] for token in matcher.allowed_tokens()} == {bytes([byte]) for byte in b"01234"}
    with pytest.raises(UnsupportedSchemaError, match=r"14 values, and more than 10 cannot be .* at most 10 values"):
        matcher.shortest_completion()


def test_more_values_with_fewer_items() -> None:
    words = [f"word {k}" for k in range(64)]
    schema = {"type": "array", "uniqueItems": True, "items": {"enum": words}, "maxItems": 2}
    constraint = pdacon.compile(Grammar.from_json_schema(schema), WORDS)
    assert constraint.accepts('["word 63", "word 3"]')
    assert not constraint.accepts('["word 63", "word 63"]')
    assert not constraint.accepts('["word 63", "word 3", "word 4"]')


@pytest.mark.parametrize(
    "bounds",
    [{"maxItems": 0}, {"maxItems": 1}, {"maxItems": 1.0, "minItems": 1}, {"maxItems": 1, "items": {"type": "string"}}],
)
def test_one_item_has_no_equal(bounds: dict[str, Any]) -> None:
    one = {"type": "array", "uniqueItems": True, **bounds}
    for schema in (one, {"type": "array", "not": one}):
        grammar, validator = Grammar.from_json_schema(schema), Draft202012Validator(schema)
        for size in range(4):
            for array in itertools.product([1, "a", []], repeat=size):
                assert grammar.accepts(json.dumps(array)) == validator.is_valid(list(array)), array


@pytest.mark.parametrize(
    ("items", "why"),
    [
        ({"type": "integer", "minimum": 1, "maximum": 500}, "500 values, and more than 64"),
        ({"type": "integer", "minimum": 1}, "more values than an automaton remembers"),
        ({"type": "number", "minimum": 0, "maximum": 1}, "more values than an automaton remembers"),
        ({"type": "string"}, "more values than an automaton remembers"),
        ({"type": "string", "maxLength": 2}, "more values than an automaton remembers"),
        ({"type": "array", "items": {"type": "boolean"}, "maxItems": 1}, "arrays that no enum lists"),
        ({"type": "object", "maxProperties": 0}, "objects that no enum lists"),
    ],
)
def test_why_it_is_refused(items: Any, why: str) -> None:
    with pytest.raises(UnsupportedSchemaError, match=why) as raised:
        Grammar.from_json_schema({"type": "array", "uniqueItems": True, "items": items})
    assert raised.value.keyword == "uniqueItems"


@pytest.mark.parametrize("items", [{"minimum": 0, "maximum": 1}, {"enum": [0, 1]}, {"enum": [0, 1.0]}])
def test_integers_with_a_fraction_of_zeros_are_told_apart(items: dict[str, Any]) -> None:
    schema = {"type": "array", "items": {"type": "integer", **items}, "uniqueItems": True}
    grammar = Grammar.from_json_schema(schema, Spelling(integers="decimal"))
    for answers in (grammar, pdacon.compile(grammar, Vocabulary.bytes())):
        for text, expected in [("[0.0]", True), ("[1.0, 0]", True), ("[0, 0.0]", False), ("[1.0, 1]", False)]:
            assert answers.accepts(text) == expected, text
