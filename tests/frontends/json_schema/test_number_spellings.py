"""How numbers are spelled beside alternatives, some of which can never hold: on demand and as a whole."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from support.on_demand import forms
from support.scaling import scaled

import pdacon
from pdacon import Grammar, Spelling, Vocabulary

WORDS = Vocabulary.bytes()
SPELLINGS = [
    Spelling(), Spelling(integers="decimal"), Spelling(numbers="canonical"), Spelling(exponents="json.dumps"),
    Spelling(exponents="none"), Spelling(integers="decimal", numbers="canonical", whitespace="compact"),
]  # fmt: skip
NUMBERS = [
    *(f"{whole}{end}" for whole in ("0", "-0", "1", "-1", "2", "5", "10") for end in ("", ".0", ".00")),
    *("0.5", "0.50", "1.5", "-2", "1e2", "100", "1E2", "100.0", "2.50"),
]  # fmt: skip
BOUNDS = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]


def number(random: Random, depth: int) -> Any:
    kind = random.randrange(11 if depth else 7)
    if kind == 0:
        return {"type": random.choice(["integer", "number"])}
    if kind == 1:
        return {"type": random.choice(["integer", "number"]), random.choice(BOUNDS): random.choice([0, 1, 2, -1, 0.5])}
    if kind == 2:
        return {"const": random.choice([0, 1, 1.0, 2, 0.5, 100, 1.5, -1])}
    if kind == 3:
        return {"enum": random.sample([0, 1, 1.0, 2, 0.5, 100, 1.5, -1, "a", None], 3)}
    if kind == 4:
        return {"type": "integer", "multipleOf": random.choice([1, 2, 0.5])}
    if kind == 5:
        return random.choice([{"multipleOf": 0.5}, True, {"type": "string"}, {"minimum": 1, "maximum": 1}])
    if kind == 6:
        return {"minimum": random.choice([0, 1]), "maximum": random.choice([1, 2, 0])}
    if kind == 7:
        return {"not": number(random, depth - 1)}
    word = random.choice(["anyOf", "oneOf", "allOf"])
    return {word: [number(random, depth - 1) for _ in range(random.randrange(1, 4))]}


def schema(random: Random) -> tuple[Any, str]:
    """A schema, and a text for one number in it."""
    one, other, third = (number(random, 1) for _ in range(3))
    word, never = random.choice(["anyOf", "oneOf"]), {"properties": {"a": other, "b": False}, "required": ["b"]}
    member = {"type": "object", "properties": {"a": one}, "required": ["a"]}
    return random.choice([
        (number(random, 2), "{}"),
        ({"type": "array", "items": one, "uniqueItems": random.random() < 0.5}, "[{}]"),
        ({"type": "array", "contains": one, "items": other}, "[{}]"),
        ({**member, word: [never, {"properties": {"a": third}}]}, '{{"a": {}}}'),
        ({"type": "array", word: [{"items": one}, {"prefixItems": [other], "minItems": 2}, {"items": third,
          "minItems": 2, "maxItems": random.choice([1, 3])}]}, "[{}]"),
    ])  # fmt: skip


@pytest.mark.parametrize("first", range(0, 60 * scaled(4), 60))
@pytest.mark.filterwarnings("ignore::pdacon.GrammarWarning")
def test_both_forms_spell_numbers_alike(first: int) -> None:
    compared = 0
    for seed in range(first, first + 60):
        random = Random(seed)
        given, form = schema(random)
        spelling = random.choice(SPELLINGS)
        try:
            demanded, whole = forms(Grammar.from_json_schema(given, spelling), WORDS)
        except pdacon.PdaconError:
            continue
        for text in map(form.format, NUMBERS):
            written = text.replace(": ", ":") if spelling.whitespace == "compact" else text
            assert demanded.accepts(written) == whole.accepts(written), (seed, json.dumps(given), spelling, written)
            compared += 1
    assert compared > 800
