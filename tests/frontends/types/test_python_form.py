"""Types as Python writes them: what is read is what Python itself makes of the text."""

from __future__ import annotations

import datetime
import enum
from collections import deque
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from annotated_types import Ge
from support import typed_models
from support.typed_models import MODELS, Loose, Settings

import pdacon
from pdacon import Grammar, UnsupportedTypeError, Vocabulary

REFUSED = (Settings, Loose)
PYTHON = [(kind, value) for kind, value in MODELS if kind not in REFUSED and "dict[support" not in str(kind)]
NAMES = {
    **vars(typed_models),
    "date": datetime.date,
    "datetime": datetime.datetime,
    "time": datetime.time,
    "timedelta": datetime.timedelta,
    "UUID": typed_models.uuid.UUID,
    "Decimal": Decimal,
    "deque": deque,
}


@pytest.mark.parametrize(("kind", "value"), PYTHON, ids=[f"{k}" for k in range(len(PYTHON))])
def test_a_text_means_what_python_means_by_it(kind: Any, value: Any) -> None:
    grammar = Grammar.from_type(kind, form="python")
    constraint = pdacon.compile(grammar, Vocabulary.bytes())
    assert constraint.parse(grammar.write(value)) == value
    for text in [grammar.write(value), *grammar.sample(8, seed=2)]:
        read = constraint.parse(text)
        assert constraint.parse(grammar.write(read)) == read
        if kind is not typed_models.Tags and "Aliased" not in text:  # those take values or aliases as arguments
            assert eval(text, dict(NAMES)) == read


def test_kinds_of_values_are_told_apart() -> None:
    @dataclass
    class A:
        x: int

    @dataclass
    class B:
        x: int

    class Color(enum.Enum):
        RED = 1
        GREEN = 2

    kind = A | B | Color | tuple[int, int] | set[int] | Decimal | float | Literal["a"] | None
    grammar = Grammar.from_type(kind, form="python")
    constraint = pdacon.compile(grammar, Vocabulary.bytes())
    for value in (A(1), B(1), Color.GREEN, (1, 2), {1}, set(), Decimal("1.5"), 1.5, "a", None):
        read = constraint.parse(grammar.write(value))
        assert type(read) is type(value)
        assert read == value
    for text in (
        "C(x=1)",
        "A(1)",
        "A(x=1, x=2)",
        "Color.BLUE",
        "(1, 2, 3)",
        '"b"',
        "Decimal(1)",
        "null",
        "A(x=B(x=1))",
    ):
        assert not constraint.accepts(text), text


def test_any_is_plain() -> None:
    @dataclass
    class Box:
        value: Any
        count: Annotated[int, Ge(1)] = 1

    constraint = pdacon.compile(Grammar.from_type(Box, form="python"), Vocabulary.bytes())
    assert constraint.parse('Box(value={"a": [1, None, True]})') == Box({"a": [1, None, True]})
    assert not constraint.accepts("Box(value=Box(value=1))")
    assert not constraint.accepts("Box(value=[Box(value=1)])")


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Settings, r'Settings\.ports key: integers as keys are taken with form="json" only'),
        (Loose, r'Loose: it may have members of any name; use form="json"'),
        (typed_models.Weekday, r"Weekday is a Flag"),
    ],
)
def test_what_python_has_no_text_for(kind: Any, message: str) -> None:
    with pytest.raises(UnsupportedTypeError, match=message):
        Grammar.from_type(kind, form="python")


def test_types_of_the_notation_are_no_json_schema() -> None:
    with pytest.raises(pdacon.UnsupportedSchemaError, match="is no type or list of types"):
        Grammar.from_json_schema({"type": "object:Point"})
