"""Every way in to what is read on demand: types, tools, and what hosts ask of a constraint, beside the whole."""

from __future__ import annotations

from dataclasses import dataclass, field, make_dataclass
from random import Random
from typing import Any, Literal

import numpy as np
import pytest
from support.on_demand import WORDS, compare

import pdacon
from pdacon import CompileCache, Grammar
from pdacon.front.compiled import Compiled
from pdacon.front.constraint import Constraint
from pdacon.front.stages import compiled
from pdacon.frontends.json_schema import Schema
from pdacon.grammar import GrammarData


@dataclass
class Cat:
    kind: Literal["cat"]
    lives: int = 9


@dataclass
class Dog:
    kind: Literal["dog"]
    names: list[str] = field(default_factory=list)
    friend: Cat | None = None


@dataclass
class Plain:
    size: float
    tag: str | int | None = None


def weather(city: str, days: int = 1) -> None:
    """Tells the weather."""


def stop() -> None:
    """Stops."""


TOOL = {
    "name": "find",
    "inputSchema": {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"type": "integer"}}},
}
MADE: dict[str, Grammar] = {
    "union": Grammar.from_type(Cat | Dog | Plain),
    "dict": Grammar.from_type(dict[str, int | None]),
    "list": Grammar.from_type(list[Cat]),
    "number": Grammar.from_type(int),
    "tools": Grammar.from_tools([weather, stop, TOOL, Plain]),
    "calls": Grammar.from_tools([weather, TOOL], several=True, arguments="input"),
}


def on_demand(grammar: Grammar) -> Constraint:
    constraint = pdacon.compile(grammar, WORDS)
    assert constraint.matcher()._is_nested()
    return constraint


@pytest.mark.parametrize("name", MADE)
def test_types_and_tools_are_the_same_on_demand(name: str) -> None:
    whole = compiled(MADE[name].data, WORDS)
    compared = sum(compare(on_demand(MADE[name]), whole, Random(seed), 60) for seed in range(8))
    assert compared > 100


def _made(_: Any) -> GrammarData:
    raise AssertionError("the grammar as a whole was made")


def test_values_need_no_grammar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Schema, "grammar", _made)
    grammar = Grammar.from_type(Cat | Dog | Plain)
    constraint = on_demand(grammar)
    text = grammar.write(Dog("dog", ["x"], Cat("cat", 3)))
    assert constraint.parse(text) == Dog("dog", ["x"], Cat("cat", 3))
    assert "cat" in grammar.describe()
    assert constraint.builtin_name is None
    assert constraint.grammar.write(Plain(1.5, 2)) == '{"size": 1.5, "tag": 2}'
    called = on_demand(Grammar.from_tools([weather])).parse('{"name": "weather", "arguments": {"city": "Bonn"}}')
    assert called.arguments == {"city": "Bonn"}
    assert pdacon.compile(Grammar.from_json_schema({"type": "array"}), WORDS).parse("[1, {}]") == [1, {}]
    assert constraint.nbytes > 0
    assert constraint.statistics()["places"] > 0
    assert "places" in constraint._repr_html_()


def test_two_types_of_the_same_texts_are_told_apart_in_a_cache() -> None:
    first, second = (make_dataclass("Point", [("x", int)]) for _ in range(2))
    cache = CompileCache()
    made = [cache.compile(Grammar.from_type(kind), WORDS) for kind in (first, second, first)]
    assert [type(one.parse('{"x": 1}')) for one in made] == [first, second, first]
    assert cache.statistics()["misses"] == 1
    assert made[0] is made[2]
    assert made[1].grammar.write(second(2)) == '{"x": 2}'
    assert all(one.matcher()._is_nested() for one in made)


def masks_along(constraint: Compiled, text: str) -> list[Any]:
    matcher, masks = constraint.matcher(), []
    for character in text:
        number = matcher.mask_id()
        masks.append(constraint.mask_table()[number])
        assert np.array_equal(masks[-1], filled(constraint, matcher))
        assert matcher.accept(character)
    return masks


def filled(constraint: Compiled, matcher: Any) -> Any:
    row = constraint.new_bitmask()
    matcher.fill_bitmask(row)
    return row[0]


def test_a_table_of_masks_grows() -> None:
    """As hosts on a device read it: by id, row by row, on demand and when the whole has taken its place."""
    constraint = on_demand(MADE["union"])
    text = '{"kind": "dog", "names": ["a"]}'
    before = masks_along(constraint, text)
    assert constraint.matcher()._is_nested()
    numbers = len(constraint.mask_table())
    with pytest.raises(IndexError, match="the masks so far"):
        constraint.mask_table(numbers + 1)
    with pytest.raises(IndexError, match="the masks so far"):
        constraint.mask_table(-1)
    assert constraint.matcher()._is_nested()
    assert constraint.mask_table(numbers).shape == (0, -(-WORDS.size // 32))
    assert constraint.statistics() == {**constraint.statistics(), "distinct_masks": numbers, "situations_left": -1}
    assert constraint.matcher().completion()
    assert not constraint.matcher()._is_nested()
    assert "lexer_states" in constraint.statistics()
    assert all(map(np.array_equal, before, masks_along(constraint, text)))
