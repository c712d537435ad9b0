"""Random JSON Schemas and values, and the spellings of a value."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from decimal import Decimal
from random import Random
from typing import Any

NAMES = ["a", "b", "ab", "c"]
STRINGS = ["", "a", "b", "ab", "abc", "c", "é", 'a"b', "\nb"]
NUMBERS = [0, 1, 2, 3, -1, 1.5, 0.5, 10, -2.5, 100, 12, 120]
TYPES: list[Any] = [
    "object", "array", "string", "integer", "number", "boolean", ["string", "null"], ["object", "array"],
    ["object", "string"], ["integer", "string", "null"], "object", "object",
]  # fmt: skip


def spellings(value: Any) -> Iterator[str]:
    """A value as ``json.dumps`` writes it, with the members of its objects in each order."""
    if isinstance(value, dict):
        for members in itertools.permutations(value.items()):
            for texts in itertools.product(*[list(spellings(one)) for _, one in members]):
                pairs = [f"{json.dumps(k, ensure_ascii=False)}: {t}" for (k, _), t in zip(members, texts, strict=True)]
                yield "{" + ", ".join(pairs) + "}"
    elif isinstance(value, list):
        for texts in itertools.product(*[list(spellings(one)) for one in value]):
            yield "[" + ", ".join(texts) + "]"
    elif isinstance(value, float) and value.is_integer() and abs(value) < 1e16:
        yield str(int(value))
    else:
        yield json.dumps(value, ensure_ascii=False)


def without_duplicates(text: str) -> tuple[bool, Any]:
    """The value of a text, and whether no object in it has a name twice.

    Whole numbers are integers however they are written: as floats, large ones would be others.
    """
    unique = True

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal unique
        unique &= len(dict(pairs)) == len(pairs)
        return dict(pairs)

    value = json.loads(text, object_pairs_hook=members, parse_float=_number)
    return unique, value


def _number(text: str) -> int | float:
    number = Decimal(text)
    is_whole = number.adjusted() < 1000 and number == number.to_integral_value()  # beyond, it takes too many digits
    return int(number) if is_whole else float(text)


def random_value(random: Random, depth: int) -> Any:
    """A value of small parts, so that two of them meet."""
    kind = random.randrange(9 if depth > 0 else 6)
    if kind < 2:
        return random.choice([None, True, False])
    if kind < 4:
        return random.choice(NUMBERS)
    if kind < 6:
        return random.choice(STRINGS)
    if kind == 6:
        return [random_value(random, depth - 1) for _ in range(random.randrange(4))]
    return {name: random_value(random, depth - 1) for name in random.sample(NAMES, random.randrange(4))}


def random_document(random: Random, depth: int = 3) -> Any:
    """A schema with what it refers to."""
    schema = random_schema(random, depth)
    if "$ref" in json.dumps(schema):
        recursive = {"type": "object", "properties": {"a": {"$ref": "#/$defs/y"}, "b": random_schema(random, 1)}}
        schema["$defs"] = {"x": random_schema(random, 1, references=False), "y": recursive}
    return schema


def random_schema(random: Random, depth: int, *, references: bool = True) -> Any:
    """A schema of draft 2020-12 with any keywords, nested and combined without a plan."""
    if depth <= 0 or random.random() < 0.08:
        return random.choice(
            [
                True,
                False,
                {},
                {"type": random.choice(TYPES)},
                {"const": random_value(random, 1)},
                {"enum": [random_value(random, 1) for _ in range(random.randrange(1, 4))]},
            ]
        )
    schema: dict[str, Any] = {"type": random.choice(TYPES)} if random.random() < 0.6 else {}
    makers = [make for name, make in _MAKERS.items() if references or name != "$ref"]
    for _ in range(random.randrange(1, 4)):
        schema.update(random.choice(makers)(random, depth - 1))
    return schema


def _sub(random: Random, depth: int) -> Any:
    return random_schema(random, depth, references=False)


def _some(random: Random, depth: int, most: int) -> list[Any]:
    return [_sub(random, depth) for _ in range(random.randrange(1, most))]


_MAKERS: dict[str, Callable[[Random, int], dict[str, Any]]] = {
    "properties": lambda r, d: {"properties": {k: random_schema(r, d) for k in r.sample(NAMES, r.randrange(1, 4))}},
    "required": lambda r, d: {"required": r.sample(NAMES, r.randrange(1, 3))},
    "additionalProperties": lambda r, d: {"additionalProperties": r.choice([False, _sub(r, d)])},
    "patternProperties": lambda r, d: {"patternProperties": {r.choice(["^a", "b$", "a", "^c?$"]): _sub(r, d)}},
    "propertyNames": lambda r, d: {
        "propertyNames": r.choice(
            [
                {"maxLength": 1},
                {"pattern": "^a"},
                {"enum": ["a", "b"]},
                {"minLength": 1},
                {"not": {"const": "a"}},
                {"const": 1},
            ]
        )
    },
    "minProperties": lambda r, d: {"minProperties": r.randrange(3)},
    "maxProperties": lambda r, d: {"maxProperties": r.randrange(3)},
    "dependentRequired": lambda r, d: {"dependentRequired": {r.choice(NAMES): r.sample(NAMES, r.randrange(1, 3))}},
    "dependentSchemas": lambda r, d: {"dependentSchemas": {r.choice(NAMES): _sub(r, d)}},
    "items": lambda r, d: {"items": random_schema(r, d)},
    "prefixItems": lambda r, d: {"prefixItems": _some(r, d, 3)},
    "contains": lambda r, d: {
        "contains": _sub(r, d),
        **({"minContains": r.randrange(3)} if r.random() < 0.5 else {}),
        **({"maxContains": r.randrange(3)} if r.random() < 0.4 else {}),
    },
    "minItems": lambda r, d: {"minItems": r.randrange(3)},
    "maxItems": lambda r, d: {"maxItems": r.randrange(4)},
    "uniqueItems": lambda r, d: {"uniqueItems": True, "items": {"enum": [random_value(r, 0) for _ in range(3)]}},
    "minLength": lambda r, d: {"minLength": r.randrange(3)},
    "maxLength": lambda r, d: {"maxLength": r.randrange(4)},
    "pattern": lambda r, d: {"pattern": r.choice(["^a", "b", "^(a|b)*$", "^.{2}$", "c$", "^[^a]*$"])},
    "minimum": lambda r, d: {"minimum": r.choice(NUMBERS)},
    "maximum": lambda r, d: {"maximum": r.choice(NUMBERS)},
    "exclusiveMinimum": lambda r, d: {"exclusiveMinimum": r.choice(NUMBERS)},
    "exclusiveMaximum": lambda r, d: {"exclusiveMaximum": r.choice(NUMBERS)},
    "multipleOf": lambda r, d: {"multipleOf": r.choice([1, 2, 3, 0.5, 2.5])},
    "enum": lambda r, d: {"enum": [random_value(r, 1) for _ in range(r.randrange(1, 5))]},
    "const": lambda r, d: {"const": random_value(r, 1)},
    "allOf": lambda r, d: {"allOf": _some(r, d, 3)},
    "anyOf": lambda r, d: {"anyOf": _some(r, d, 4)},
    "oneOf": lambda r, d: {"oneOf": _some(r, d, 4)},
    "not": lambda r, d: {"not": _sub(r, d)},
    "if": lambda r, d: {
        "if": _sub(r, d),
        "then": _sub(r, d),
        **({"else": _sub(r, d)} if r.random() < 0.6 else {}),
    },
    "unevaluatedProperties": lambda r, d: {"unevaluatedProperties": r.choice([False, _sub(r, d)])},
    "unevaluatedItems": lambda r, d: {"unevaluatedItems": r.choice([False, _sub(r, d)])},
    "$ref": lambda r, d: {"$ref": r.choice(["#/$defs/x", "#/$defs/y"])},
}
