"""How many digits numbers have where nothing is said of them, and where an option, a bound or a list says more."""

from __future__ import annotations

import enum
import json
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from annotated_types import Ge, Gt, Le, MultipleOf
from hypothesis import given
from hypothesis import strategies as st

import pdacon
from pdacon import Grammar, Spelling, Vocabulary

ZEROS = "0." + "0" * 30 + "1"


class Large(enum.Enum):
    ONLY = 10**30


@pytest.mark.parametrize("form", ["json", "python"])
@pytest.mark.parametrize(
    ("kind", "taken", "refused"),
    [
        (int, ["-" + "9" * 20, "0"], ["1" + "0" * 20]),
        (float, ["0." + "0" * 20, "1e-300", "1" + "0" * 19, "1e9999"], [ZEROS, "1" + "0" * 20, "1e10000"]),
        (Any, ["[0.5]", '{"a": 1}'], [f"[{ZEROS}]"]),
        (Annotated[float, Gt(0)], ["0." + "0" * 19 + "1", "1e-300"], [ZEROS]),
        (Annotated[int, Ge(5)], ["9" * 20], ["9" * 21]),
        (Annotated[int, Ge(10**30), Le(10**31)], ["1" + "0" * 30, "1" + "0" * 31], ["1" + "0" * 29]),
        (Annotated[float, MultipleOf(0.25)], ["0.75" + "0" * 18], ["0.75" + "0" * 19, ZEROS[:-1]]),
        (Literal[10**30], ["1" + "0" * 30], ["1"]),  # type: ignore[valid-type]
    ],
)
def test_digits_by_default(kind: Any, taken: list[str], refused: list[str], form: Literal["json", "python"]) -> None:
    grammar = Grammar.from_type(kind, form=form)
    free = Grammar.from_type(kind, form=form, spelling=Spelling(max_digits="any"))
    assert [text for text in taken if not grammar.accepts(text)] == []
    assert [text for text in refused if grammar.accepts(text)] == []
    assert [text for text in taken if not free.accepts(text)] == []


def test_an_option_says_how_many() -> None:
    few = Grammar.from_type(list[float], spelling=Spelling(max_digits=2))
    assert few.accepts("[12.34, 0, -1e30]")
    assert not few.accepts("[123]")
    assert not few.accepts("[0.125]")
    schema = Grammar.from_json_schema({"type": "number", "minimum": 0}, spelling=Spelling(max_digits=2))
    assert (schema.accepts("12.34"), schema.accepts("0.125"), schema.accepts("-1")) == (True, False, False)
    assert Grammar.from_json_schema({"type": "number"}).accepts(ZEROS)
    canonical = Grammar.from_type(float, spelling=Spelling(numbers="canonical", max_digits=3))
    assert (canonical.accepts("0.125"), canonical.accepts("0.0125"), canonical.accepts("0.50")) == (True, False, False)
    for wrong in (0, -1, True, 2.5, "none"):
        with pytest.raises(ValueError, match="max_digits is a number"):
            Spelling(max_digits=wrong)  # type: ignore[arg-type]


def test_what_has_more_digits_is_not_written() -> None:
    grammar = Grammar.from_type(list[int])
    with pytest.raises(ValueError, match=r"list\[int\]\[1\]: 1000.* more than 20 digits .*max_digits"):
        grammar.write([1, 10**30])
    assert Grammar.from_type(int, spelling=Spelling(max_digits="any")).write(10**30) == str(10**30)
    small = Grammar.from_type(Decimal)
    assert small.write(Decimal("1E-50")) == "1E-50"
    with pytest.raises(ValueError, match="more than 20 digits"):
        small.write(Decimal("1." + "3" * 25))
    assert Grammar.from_type(Large).write(Large.ONLY) == str(10**30)


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**63), 2**64 - 1))
def test_all_floats_and_integers_of_64_bits_are_spelled(number: float) -> None:
    assert CONSTRAINT.accepts(json.dumps(number))


CONSTRAINT = pdacon.compile(Grammar.from_type(float), Vocabulary.bytes())


@pytest.mark.parametrize("form", ["json", "python"])
@pytest.mark.parametrize(
    "kind",
    [Decimal, Annotated[Decimal, Ge(0)], Annotated[Decimal, Gt(Decimal("-5.5"))], Annotated[Decimal, Le(10**40)]],
)
@pytest.mark.parametrize("text", ["3e+30", "1.5e+21", "3e-99", "3.00e+30", "12345678901234567890", "0.00001"])
def test_decimals_that_are_read_are_written(text: str, kind: Any, form: Literal["json", "python"]) -> None:
    grammar = Grammar.from_type(kind, form=form)
    constraint = pdacon.compile(grammar, Vocabulary.bytes())
    value = constraint.parse(text if form == "json" else f'Decimal("{text}")')
    assert value == Decimal(text)
    assert constraint.parse(grammar.write(value)) == value
