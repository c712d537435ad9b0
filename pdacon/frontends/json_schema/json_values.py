"""Values of JSON as Python has them: of which type they are, and which number a text means."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from pdacon.base.cancelling import every
from pdacon.frontends.json_schema.facts import Number, Type

NAMES: dict[str, tuple[Type, ...]] = {
    "null": ("null",),
    "boolean": ("false", "true"),
    "number": ("number",),
    "integer": ("number",),
    "string": ("string",),
    "array": ("array",),
    "object": ("object",),
}
"""The types of values by the names that ``type`` has for them."""


def kind_of(value: Any) -> Type:
    """The type of a JSON value as Python has it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float, Decimal, Fraction)):
        return "number"
    return "string" if isinstance(value, str) else "array" if isinstance(value, (list, tuple)) else "object"


def fraction_of(value: float | Decimal | Fraction) -> Fraction:
    """The number that a JSON text means: the decimal that is written, not the binary one nearest to it."""
    return value if isinstance(value, Fraction) else Fraction(repr(value) if isinstance(value, float) else value)


def number_of(value: float | Decimal | Fraction) -> Number:
    """The same; an int for what is one."""
    return value if isinstance(value, int) else fraction_of(value)


def are_plain_integers(values: Sequence[Any]) -> bool:
    """Whether all numbers among some values are integers of Python."""
    return all(isinstance(value, int) or kind_of(value) != "number" for value in every(values))
