"""Unions of listed values: what is possible is found from the lists, and is as brute force over the values says."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import jsonschema
import pytest

import pdacon

VALUES: list[Any] = [None, True, "a", "b", "c", 0, 1, 2.5, ["a"], {"k": "a"}]


def listed(random: Random, depth: int) -> dict[str, Any]:
    kind = random.random()
    if depth == 0 or kind < 0.3:
        if random.random() < 0.3:
            return {"const": random.choice(VALUES)}
        return {"enum": random.sample(VALUES, random.randint(1, 5))}
    if kind < 0.45:
        return {"not": listed(random, depth - 1)}
    return {
        random.choice(["anyOf", "oneOf", "allOf"]): [listed(random, depth - 1) for _ in range(random.randint(2, 4))]
    }


@pytest.mark.parametrize("seed", range(40))
def test_possible_values_are_those_of_brute_force(seed: int) -> None:
    random = Random(seed)
    chosen = listed(random, 3)
    # After an array each union is a question about items, and what is impossible there leaves productions out.
    schema = {"type": "array", "prefixItems": [chosen, listed(random, 2)], "items": False, "minItems": 1}
    validator = jsonschema.Draft202012Validator(schema)
    texts = [[one] for one in VALUES] + [[one, other] for one in VALUES for other in VALUES]
    valid = [json.dumps(text) for text in texts if validator.is_valid(text)]
    try:
        grammar = pdacon.Grammar.from_json_schema(schema)
    except pdacon.EmptyLanguageError:
        assert not valid
        return
    constraint = pdacon.compile(grammar, pdacon.Vocabulary.bytes())
    assert [json.dumps(text) for text in texts if constraint.accepts(json.dumps(text))] == valid
