"""Random types and values of them: what is written is read back, and samples are values."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import json
import uuid
from contextlib import suppress
from decimal import Decimal
from typing import Annotated, Any, Literal, NamedTuple

import pytest
from annotated_types import Ge, Gt, Le, Len, MaxLen, MultipleOf
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import NotRequired, TypedDict

import pdacon
from pdacon import Grammar, Spelling, UnsupportedTypeError, Vocabulary


class Shade(enum.Enum):
    LIGHT = "light"
    DARK = 2


class Rate(enum.Enum):
    LOW = 0.5
    ONE = 1.0
    LARGE = 1e22


class Only(enum.Enum):
    ONE = 2


class Partial(TypedDict):
    kind: NotRequired[Literal["x"]]
    number: int


class Pair(NamedTuple):
    first: int
    second: str = ""


TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=6)
SCALARS: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (int, st.integers()),
    (bool, st.booleans()),
    (str, TEXTS),
    (float, st.floats(allow_nan=False)),
    (Decimal, st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**20), max_value=10**20)),
    (type(None), st.none()),
    (datetime.date, st.dates()),
    (datetime.datetime, st.datetimes()),
    (datetime.time, st.times()),
    (datetime.timedelta, st.timedeltas(datetime.timedelta(days=-(10**7)), datetime.timedelta(days=10**7))),
    (uuid.UUID, st.uuids()),
    (bytes, st.binary(max_size=5)),
    (Shade, st.sampled_from(Shade)),
    (Rate, st.sampled_from(Rate)),
    (Annotated[float, MultipleOf(0.25)], st.integers(-(10**18), 10**18).map(lambda quarters: quarters / 4)),
    (Literal["a", 1, None], st.sampled_from(["a", 1, None])),
    (Annotated[int, Ge(-3), Le(9)], st.integers(-3, 9)),
    (Annotated[str, MaxLen(3)], st.text(st.characters(exclude_categories=("Cs",)), max_size=3)),
    (Annotated[str, Len(2, 3)], TEXTS.filter(lambda text: 2 <= len(text) <= 3)),
    (Annotated[float, Gt(0)], st.floats(0, exclude_min=True, allow_infinity=False)),
    (Only, st.just(Only.ONE)),
    (Partial, st.fixed_dictionaries({"number": st.integers()}, optional={"kind": st.just("x")})),
    (set[Literal[1, 2]], st.sets(st.sampled_from([1, 2]))),
    (Pair, st.builds(Pair, st.integers(), TEXTS)),
]
Typed = tuple[Any, st.SearchStrategy[Any]]


@st.composite
def typed(draw: st.DrawFn, depth: int = 2) -> Typed:
    """A type and the values of it."""
    if depth == 0 or draw(st.booleans()):
        return draw(st.sampled_from(SCALARS))
    shape = draw(st.sampled_from(["list", "tuple", "dict", "optional", "union", "class", "variadic"]))
    first, values = draw(typed(depth - 1))
    second, others = draw(typed(depth - 1))
    if shape == "list":
        return list[first], st.lists(values, max_size=3)  # type: ignore[valid-type]
    if shape == "variadic":
        return tuple[first, ...], st.lists(values, max_size=3).map(tuple)  # type: ignore[valid-type]
    if shape == "tuple":
        return tuple[first, second], st.tuples(values, others)  # type: ignore[valid-type]
    if shape == "dict":
        return dict[str, first], st.dictionaries(TEXTS, values, max_size=3)  # type: ignore[valid-type]
    if shape == "optional":
        return first | None, st.none() | values
    if shape == "union":
        return first | second, values | others
    own = dataclasses.make_dataclass("Made", [("a", first), ("b", second)])
    return own, st.builds(own, values, others)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.data(), typed(), st.sampled_from(["json", "python"]))
def test_what_is_written_is_read_back(data: st.DataObject, drawn: Typed, form: Literal["json", "python"]) -> None:
    kind, values = drawn
    with suppress(UnsupportedTypeError):  # a union whose members nothing tells apart
        grammar = Grammar.from_type(kind, form=form, spelling=Spelling(max_digits="any"))
        _holds_of(data, grammar, values, form)


def _holds_of(data: st.DataObject, grammar: Grammar, values: st.SearchStrategy[Any], form: str) -> None:
    constraint = pdacon.compile(grammar, Vocabulary.bytes())
    value = data.draw(values)
    text = grammar.write(value)
    read = constraint.parse(text)
    assert read == value
    assert type(read) is type(value)
    if form == "json" and "." not in text and "e" not in text:
        assert json.dumps(json.loads(text), ensure_ascii=False) == text
    for sample in grammar.sample(3, seed=1):
        read = constraint.parse(sample)
        assert constraint.parse(grammar.write(read)) == read
