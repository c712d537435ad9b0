"""How many digits numbers have where nothing is said of them, and where an option, a bound or a list says more."""

from __future__ import annotations

import enum
import json
from decimal import Decimal
from typing import Annotated, Any, Literal

import pydantic
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
        (Annotated[float, MultipleOf(0.25)], ["0.75"], ["0.75" + "0" * 19, ZEROS[:-1]]),
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


Money = Annotated[Decimal, pydantic.Field(decimal_places=2)]


@pytest.mark.parametrize("form", ["json", "python"])
@pytest.mark.parametrize(
    ("kind", "taken", "refused"),
    [
        (Money, ["30", "30.0", "30.00", "-0.01", "3e+30", "1.2345e+30"], ["30.000", "30." + "0" * 20]),
        (Annotated[Decimal, pydantic.Field(decimal_places=0)], ["30", "30.0"], ["30.00"]),
        (Annotated[Decimal, pydantic.Field(max_digits=4, decimal_places=2)], ["12.34", "9.5"], ["12.340"]),
        (Annotated[Decimal, pydantic.Field(max_digits=4)], ["12.34", "0.1234", "1.2000"], ["1.20000"]),
        (Annotated[float, MultipleOf(0.25)], ["0.75", "1.50", "30.0"], ["0.750"]),
        (Annotated[float, MultipleOf(5)], ["30", "30.0"], ["30.00"]),
        (Annotated[float, MultipleOf(0.5), MultipleOf(0.75)], ["1.5", "3.0"], ["1.50"]),
    ],
)
def test_multiples_have_no_more_places_than_they_need(
    kind: Any, taken: list[str], refused: list[str], form: Literal["json", "python"]
) -> None:
    """A weak model would go on with zeros behind 30.00, as each of them is allowed."""
    written = 'Decimal("{}")'.format if form == "python" and "Decimal" in str(kind) else str
    grammar = Grammar.from_type(kind, form=form)
    free = Grammar.from_type(kind, form=form, spelling=Spelling(max_digits="any"))
    assert [text for text in taken if not grammar.accepts(written(text))] == []
    assert [text for text in refused if grammar.accepts(written(text))] == []
    assert [text for text in refused if not free.accepts(written(text))] == []
    constraint = pdacon.compile(grammar, Vocabulary.bytes())
    for text in taken:
        value = constraint.parse(written(text))
        assert constraint.parse(grammar.write(value)) == value


def test_zeros_that_a_decimal_has_too_many_of_are_not_written() -> None:
    grammar = Grammar.from_type(Money)
    assert grammar.write(Decimal("30.00")) == "30.00"
    assert grammar.write(Decimal("30.000000")) == "30.00"
    assert Grammar.from_type(Money, spelling=Spelling(max_digits="any")).write(Decimal("30.000")) == "30.000"


def test_a_schema_on_demand_limits_zeros_as_the_whole_does() -> None:
    schema = {"type": "object", "properties": {"x": {"type": "number", "multipleOf": 0.01}}, "required": ["x"]}
    for eager in (True, False):
        grammar = Grammar.from_json_schema(schema, spelling=Spelling(max_digits=9))
        constraint = pdacon.compile(grammar, Vocabulary.bytes(), eager=eager)
        assert constraint.accepts('{"x": 30.00}')
        assert not constraint.accepts('{"x": 30.000}')
    assert Grammar.from_json_schema(schema).accepts('{"x": 30.000}')


def test_listed_numbers_keep_their_zeros_beside_multiples() -> None:
    schema = '{"anyOf": [{"enum": [30.000, 1.50]}, {"type": "number", "multipleOf": 0.01}]}'
    grammar = Grammar.from_json_schema(schema, spelling=Spelling(max_digits=9))
    texts = ["30", "30.0", "30.00", "30.000", "1.50", "1.5", "1.500", "7.000"]
    assert [text for text in texts if grammar.accepts(text)] == ["30", "30.0", "30.00", "30.000", "1.50", "1.5"]
