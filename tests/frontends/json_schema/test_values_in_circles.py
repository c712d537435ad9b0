"""Whether some value satisfies schemas that refer to one another in circles, against the least fixed point."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from pdacon._native import _core
from pdacon.frontends.json_schema import Schema

Definitions = list[list[list[int]]]
"""By definition its alternatives, each with the definitions of the members that an object has to have."""


def definitions(random: Random, count: int) -> Definitions:
    kinds = [
        [random.choices(range(count), k=random.choice([1, 1, 2, 3])) for _ in range(random.choice([1, 1, 2, 3]))]
        for _ in range(count)
    ]
    kinds[random.randrange(count)].append([])
    return kinds


def have_values(kinds: Definitions) -> list[bool]:
    """The least fixed point."""
    have = [False] * len(kinds)
    for _ in kinds:
        have = [any(all(have[asked] for asked in some) for some in kind) for kind in kinds]
    return have


def schema_of(kinds: Definitions, *, closed: bool) -> dict[str, Any]:
    def alternative(some: list[int]) -> dict[str, Any]:
        members = {f"m{place}_{asked}": {"$ref": f"#/$defs/d{asked}"} for place, asked in enumerate(some)}
        beside = {"additionalProperties": False} if closed else {}
        return {"type": "object", "properties": members, "required": [*members], **beside}

    made = {}
    for number, kind in enumerate(kinds):
        alternatives = [alternative(some) for some in kind]
        made[f"d{number}"] = alternatives[0] if len(alternatives) == 1 else {"anyOf": alternatives}
    return {"$defs": made}


def search(schema: dict[str, Any], numbers: list[int]) -> bool:
    """Whether one search finds values of some definitions, which it looks for in turn."""
    explorer = Schema({**schema, "$ref": "#/$defs/d0"})._new_explorer()
    root, reader = explorer.reader.documents.root, explorer.reader
    questions = [reader.question(root.child("$defs", f"d{number}")) for number in numbers]
    return _core.have_values(explorer, questions, 100_000)


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_random_circles(seed: int, closed: bool) -> None:
    random = Random(seed)
    answers = set()
    for _ in range(30):
        kinds = definitions(random, random.randrange(2, 8))
        expected = have_values(kinds)
        schema = schema_of(kinds, closed=closed)
        assert [search(schema, [number]) for number in range(len(kinds))] == expected, kinds
        numbers = [number for number, has_value in enumerate(expected) if has_value]
        assert search(schema, random.sample(numbers, len(numbers))), kinds
        answers.update(expected)
    assert answers == {False, True}


@pytest.mark.quick
def test_a_circle_that_another_alternative_leaves() -> None:
    kinds = [[[1, 2], []], [[0, 3]], [[1], [3]], [[0, 2], [0]], [[4]]]
    schema = schema_of(kinds, closed=True)
    assert search(schema, [3, 1, 2, 0])
    assert search(schema, [2, 3, 0, 1])
    assert not search(schema, [0, 4])
