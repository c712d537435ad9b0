"""Random Python types, as annotations write them: each of their values is one to Pydantic, too."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import uuid
from collections.abc import Callable
from decimal import Decimal
from random import Random
from typing import Annotated, Any, Literal, NamedTuple, Union

import pydantic
from annotated_types import Ge, Gt, Interval, Le, Len, Lt, MaxLen, MinLen, MultipleOf
from typing_extensions import NotRequired, TypedDict

One = enum.Enum("One", {"A": 2})
Few = enum.Enum("Few", {"A": "a", "B": 1})
Odd = enum.Enum("Odd", {"X": 1.5, "Y": None})
Names = enum.StrEnum("Names", {"U": "u"})
PATTERNS = ["^[a-c]+$", "^[0-9]{4}$", "x", "^(?:ab)*$"]
SCALARS: list[Callable[[Random], Any]] = [
    lambda random: random.choice([int, str, float, bool, type(None), Decimal, datetime.date, uuid.UUID, bytes]),
    lambda random: random.choice([datetime.datetime, datetime.time, datetime.timedelta]),
    lambda random: Literal[tuple(random.sample(["a", "b", 1, 0, 2, None, True, "2020-01-01"], random.randint(1, 3)))],
    lambda random: random.choice([One, Few, Odd, Names]),
    lambda random: Annotated[int, random.choice([Ge(0), Gt(-3), Le(5), Interval(ge=0, le=3), MultipleOf(3)])],
    lambda random: Annotated[float, random.choice([Ge(0), Gt(0), Lt(1), Interval(gt=0, lt=2)])],
    lambda random: Annotated[str, random.choice([Len(0, 1), Len(2, 3), MaxLen(4), MinLen(1)])],
    lambda random: Annotated[str, pydantic.Field(pattern=random.choice(PATTERNS))],
]


def union(members: list[Any]) -> Any:
    """Also of what has no ``|``."""
    return Union[tuple(members)]  # noqa: UP007


def random_type(random: Random, depth: int) -> Any:
    """A type whose parts are as deep as that."""
    if depth == 0 or random.random() < 0.35:
        return random.choice(SCALARS)(random)

    def part() -> Any:
        return random_type(random, depth - 1)

    def fields(name: str) -> Any:
        kind = random.choice(["dataclass", "typed dict", "partial", "named tuple", "model"])
        if kind == "dataclass":
            return dataclasses.make_dataclass(name, [("a", part()), ("b", part())])
        if kind == "typed dict":
            return TypedDict(name, {"a": part(), "b": NotRequired[part()]})
        if kind == "partial":
            return TypedDict(name, {"a": part(), "b": part()}, total=False)
        if kind == "named tuple":
            return NamedTuple(name, [("a", part()), ("b", part())])
        return pydantic.create_model(name, a=(part(), ...), b=(part(), ...))

    keys = [Literal["a", "b"], Names, Annotated[str, Len(1, 2)], datetime.date, int]
    made: list[Callable[[], Any]] = [
        lambda: list[part()],  # type: ignore[misc]
        lambda: Annotated[list[part()], Len(random.randint(0, 2), 3)],  # type: ignore[misc]
        lambda: set[random_type(random, 0)],  # type: ignore[misc]
        lambda: frozenset[random_type(random, 0)],  # type: ignore[misc]
        lambda: tuple[part(), ...],  # type: ignore[misc]
        lambda: tuple[tuple(part() for _ in range(random.randint(1, 2)))],  # type: ignore[misc]
        lambda: Annotated[dict[str, part()], Len(0, random.randint(1, 2))],  # type: ignore[misc]
        lambda: dict[random.choice(keys), part()],  # type: ignore[misc]
        *[lambda: union([part() for _ in range(random.randint(2, 3))])] * 3,
        lambda: union([part(), None]),
        *[lambda: fields(f"Made{random.randint(0, 999)}")] * 3,
    ]
    return random.choice(made)()
