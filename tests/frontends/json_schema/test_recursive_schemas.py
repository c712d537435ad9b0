"""Random recursive schemas: whatever compiles, its masks lead to the end of a value.

Formulas such as ``not`` within ``oneOf`` make hundreds of rules for one object, all of which begin alike.

`python tests/frontends/json_schema/test_recursive_schemas.py FIRST COUNT` tries more of them.
"""

from __future__ import annotations

import json
import sys
from random import Random
from typing import Any

import jsonschema
import numpy as np
import pytest
from support.json_schemas import without_duplicates
from support.scaling import scaled

import pdacon
from pdacon import Constraint, Grammar, Vocabulary

NAMES = ["a", "b", "c", "if", "or"]
TOKENS = [*(bytes([byte]) for byte in range(256)), b'{"', b'": ', b'"}', b', "']
END = len(TOKENS)
VOCABULARY = Vocabulary.from_tokens([*TOKENS, None], eos_ids=[END])
USUAL = [token for token, text in enumerate(TOKENS) if len(text) > 1 or text in b'{}[]",: abcifnotr1']

RULES = {
    "allOf": [{"$ref": "#/definitions/Part"}],
    "definitions": {
        "Body": {"oneOf": [{}, {"$ref": "#/definitions/Graph"}]},
        "Part": {"properties": {"body": {"$ref": "#/definitions/Body"}}},
        "Two": {"type": "object"},
        "Both": {"type": "object"},
        "Test": {
            "oneOf": [
                {"required": ["!="], "properties": {"!=": {}}},
                {"type": "object", "required": [">"], "properties": {">": {}}},
                {"type": "object", "required": [">="], "properties": {">=": {}}},
                {"type": "object", "properties": {"<": {"$ref": "#/definitions/Two"}}},
                {"type": "object", "properties": {"<=": {"$ref": "#/definitions/Two"}}},
                {"type": "object", "properties": {"or": {"$ref": "#/definitions/Both"}}},
                {"type": "object", "properties": {"not": {"$ref": "#/definitions/Test"}}},
            ]
        },
        "Node": {"properties": {"when": {"$ref": "#/definitions/Test"}}},
        "Nodes": {"properties": {"nodes": {"additionalProperties": {"$ref": "#/definitions/Node"}}}},
        "Graph": {"properties": {"graph": {"$ref": "#/definitions/Nodes"}}},
    },
}


def reference(random: Random, count: int) -> dict[str, Any]:
    return {"$ref": f"#/$defs/d{random.randrange(count)}"}


def random_object(random: Random, count: int, depth: int) -> dict[str, Any]:
    names = random.sample(NAMES, random.randint(1, 3))
    schema: dict[str, Any] = {"properties": {name: random_part(random, count, depth - 1) for name in names}}
    if random.random() < 0.5:
        schema["type"] = "object"
    if random.random() < 0.5:
        schema["required"] = random.sample(NAMES, 1)
    if random.random() < 0.35:
        schema["additionalProperties"] = random.choice([False, reference(random, count), {"type": "integer"}])
    return schema


def random_part(random: Random, count: int, depth: int) -> dict[str, Any]:
    kind = random.random()
    if depth <= 0 or kind < 0.35:
        plain = [{}, {"type": "object"}, {"type": "string"}, {"type": ["null", "integer"]}]
        return reference(random, count) if random.random() < 0.75 else random.choice(plain)
    if kind < 0.5:
        return {"oneOf": [random_part(random, count, depth - 1) for _ in range(random.randint(2, 4))]}
    if kind < 0.62:
        return {"anyOf": [random_part(random, count, depth - 1) for _ in range(random.randint(2, 3))]}
    if kind < 0.72:
        return {"not": random_part(random, count, depth - 1)}
    if kind < 0.78:
        return {"type": "array", "items": random_part(random, count, depth - 1)}
    return random_object(random, count, depth)


def random_definition(random: Random, count: int) -> dict[str, Any]:
    kind = random.randrange(5)
    if kind == 0:
        return {"oneOf": [random_object(random, count, 2) for _ in range(random.randint(2, 7))]}
    if kind == 1:
        return {"oneOf": [{}, reference(random, count)]}
    if kind == 2:
        return {"not": random_object(random, count, 2)}
    return random_object(random, count, kind - 1)


def random_schema(seed: int) -> dict[str, Any]:
    random = Random(seed)
    count = random.randint(2, 5)
    return {"$ref": "#/$defs/d0", "$defs": {f"d{k}": random_definition(random, count) for k in range(count)}}


def generated(constraint: Constraint, random: Random, steps: int) -> str:
    """A text of random allowed tokens, ended by the shortest completion."""
    matcher = constraint.matcher()
    mask = np.zeros((1, END // 32 + 1), np.int32)
    text = b""
    for _ in range(steps):
        matcher.fill_bitmask(mask)
        allowed = np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little")).tolist()
        assert allowed, text
        usual = [token for token in USUAL if token in allowed]
        token = random.choice(usual if usual and random.random() < 0.9 else allowed)
        if token == END:
            return text.decode()
        assert matcher.accept_token(token)
        text += TOKENS[token]
    text += matcher.shortest_completion()
    assert constraint.accepts(text)
    return text.decode()


def walk(schema: Any, seed: int, walks: int) -> int:
    """How many values were generated and taken by ``jsonschema``; 0 if the schema is refused."""
    try:
        constraint = pdacon.compile(Grammar.from_json_schema(schema), VOCABULARY)
        constraint.matcher().shortest_completion()  # which needs a whole
    except (pdacon.EmptyLanguageError, pdacon.LimitExceededError, pdacon.UnsupportedSchemaError):
        return 0
    valid = jsonschema.validators.validator_for(schema)(schema).is_valid
    done = 0
    for number in range(walks):
        text = generated(constraint, Random(1000 * seed + number), 80)
        unique, value = without_duplicates(text)
        if unique:
            assert valid(value), (json.dumps(schema), text)
            done += 1
    return done


def test_not_within_one_of_beside_anything() -> None:
    constraint = pdacon.compile(Grammar.from_json_schema(RULES), Vocabulary.bytes())
    matcher = constraint.matcher()
    assert matcher.accept_bytes(b'{"a": {"b": {')
    matcher.mask_id()
    assert matcher.shortest_completion() == b"}}}"
    assert walk(RULES, 0, 4) > 0
    for text in pdacon.Grammar.from_json_schema(RULES).sample(3, seed=1, size=20):
        assert constraint.accepts(text)


@pytest.mark.filterwarnings("ignore::pdacon.GrammarWarning")
def test_masks_lead_to_the_end_without_what_cannot_be_spelled() -> None:
    """Neither ``null`` nor ``true`` can, nor some names; nothing needs them."""
    tokens = [bytes([byte]) for byte in range(256) if byte != ord("u")]
    vocabulary = Vocabulary.from_tokens([*tokens, None], eos_ids=[len(tokens)])
    constraint = pdacon.compile(Grammar.from_json_schema(random_schema(33)), vocabulary)
    for seed in range(3):
        random, matcher = Random(seed), constraint.matcher()
        for _ in range(60):
            allowed = [token for token in range(len(tokens)) if matcher.is_allowed(token)]
            usual = [token for token in allowed if tokens[token] in b'{}[]",: abcif']
            if not allowed:
                break
            assert matcher.accept_token(random.choice(usual or allowed))
        assert b"u" not in matcher.shortest_completion()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pdacon.GrammarWarning")
@pytest.mark.parametrize("seed", [15, 30, *range(scaled(6))])
def test_masks_lead_to_the_end(seed: int) -> None:
    walk(random_schema(seed), seed, 3)


if __name__ == "__main__":
    first, count = map(int, sys.argv[1:])
    print(sum(walk(random_schema(seed), seed, 4) for seed in range(first, first + count)), "values")
