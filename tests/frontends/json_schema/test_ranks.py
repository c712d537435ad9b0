"""Where names and values first stand in schemas, against a plain reading of them."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from support.scaling import scaled

from pdacon.frontends.json_schema.ranks import Ranks, ranks_of

KEYS = ["properties", "required", "const", "enum", "items", "anyOf", "$defs", "a", "b", "é"]


def objects(value: Any) -> Iterator[dict[str, Any]]:
    """The objects in a value of JSON, in the order of its text."""
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from objects(part)


def plain_ranks(schemas: list[Any]) -> Ranks:
    names: dict[str, int] = {}
    values: dict[str, int] = {}
    for node in objects(schemas):
        for keyword, ranks in (("properties", names), ("required", names), ("const", values), ("enum", values)):
            given = node.get(keyword)
            for one in given if isinstance(given, (dict, list)) else [given]:
                if isinstance(one, str):
                    ranks.setdefault(one, len(ranks))
    return Ranks(names, values)


def drawn(random: Random, depth: int) -> Any:
    if depth == 0 or random.random() < 0.2:
        return random.choice([True, None, 1, 0.5, *"abcdé", ["x", "y"], "properties"])
    if random.random() < 0.4:
        return [drawn(random, depth - 1) for _ in range(random.randrange(4))]
    return {random.choice(KEYS): drawn(random, depth - 1) for _ in range(random.randrange(6))}


def test_ranks_of_drawn_values() -> None:
    for seed in range(scaled(400)):
        random = Random(seed)
        schemas = [drawn(random, 5) for _ in range(random.randrange(4))]
        found, expected = ranks_of(iter(schemas)), plain_ranks(schemas)
        assert [*found.names.items()] == [*expected.names.items()], schemas
        assert [*found.values.items()] == [*expected.values.items()], schemas


def test_names_that_stand_nowhere_come_last() -> None:
    ranks = ranks_of([{"required": ["z", "a"], "enum": ["q", 1]}])
    assert sorted(["a", "b", "z"], key=ranks.of_name) == ["z", "a", "b"]
    assert sorted(["r", "q"], key=ranks.of_value) == ["q", "r"]
