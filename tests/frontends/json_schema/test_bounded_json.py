"""`bounded_json`: JSON within bounds, against what json.loads and a count say."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from support.json_schemas import random_value

import pdacon
from pdacon import Grammar, Spelling, Vocabulary
from pdacon.frontends.json_schema import bounded_json


def depth(value: Any) -> int:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if parts is None else 1 + max(map(depth, parts), default=0)


def widest(value: Any, kind: type) -> int:
    parts = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    return max([len(parts) if isinstance(value, kind) else 0, *(widest(part, kind) for part in parts)])


@pytest.mark.parametrize(
    ("bounds", "top"),
    [
        ((None, None, None), "any"), ((None, None, None), "object"), ((2, None, None), "any"), ((0, None, None), "any"),
        ((1, 2, 1), "array"), ((3, 1, 2), "object"), ((None, 2, None), "any"), ((None, None, 1), "array"),
        ((2, 0, 0), "any"),
    ],
)  # fmt: skip
def test_values_within_the_bounds(bounds: tuple[int | None, int | None, int | None], top: Any) -> None:
    constraint = pdacon.compile(Grammar.from_json_schema(bounded_json(*bounds, top=top)), Vocabulary.bytes())
    random = Random(repr((bounds, top)))
    kind = {"any": object, "object": dict, "array": list}[top]
    most = [1 << 30 if bound is None else bound for bound in bounds]
    taken = 0
    for _ in range(500):
        value = random_value(random, 3)
        expected = isinstance(value, kind) and depth(value) <= most[0]
        expected = expected and widest(value, list) <= most[1] and widest(value, dict) <= most[2]
        assert constraint.accepts(json.dumps(value, ensure_ascii=False)) == expected, value
        taken += expected
    assert taken
    for text in constraint.grammar.sample(20, seed=1):
        value = json.loads(text)
        assert isinstance(value, kind)
        assert depth(value) <= most[0]
        assert constraint.parse(text) == value


def test_spelling() -> None:
    assert Grammar.from_json_schema(bounded_json(), Spelling("compact")).accepts('{"a":[1,2]}')
    assert not Grammar.from_json_schema(bounded_json()).accepts('{"a":[1,2]}')
    assert not Grammar.from_json_schema(bounded_json()).accepts("[1, 2]")


@pytest.mark.parametrize(
    "given", [{"max_depth": 0}, {"max_depth": -1}, {"max_items": True}, {"top": "list"}, {"max_properties": 1.5}]
)
def test_what_cannot_be(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"max_|top"):
        bounded_json(**given)
