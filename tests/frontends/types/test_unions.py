"""Unions: a text is read as a member that it is a text of, and what was read is written as a text of the type."""

from __future__ import annotations

import datetime
import enum
import pathlib
import pickle
import uuid
from dataclasses import dataclass, field, make_dataclass
from decimal import Decimal
from functools import reduce
from operator import or_
from random import Random
from typing import Annotated, Any, Literal, NamedTuple

import pydantic
import pytest
from annotated_types import Ge, Gt, Interval, Len, MultipleOf
from typing_extensions import NotRequired, TypedDict

import pdacon
from pdacon import Grammar, Spelling, UnsupportedTypeError, Vocabulary

Only = enum.Enum("Only", {"A": 2})
LETTERS = Annotated[str, pydantic.Field(pattern="^[a-z]+$")]
IN_2020 = Annotated[datetime.date, pydantic.Field(pattern="^2020")]
DIGITS = "0123456789abcdef0123456789abcdef"


class Loose(TypedDict):
    kind: NotRequired[Literal["x"]]
    number: int


class Optional(TypedDict, total=False):
    only: Only


class Two(TypedDict):
    a: int
    b: int


class Keyed(TypedDict):
    k: Only


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (Annotated[str, Len(0, 1)] | datetime.date, '"2020-01-01"', datetime.date(2020, 1, 1)),
        (LETTERS | datetime.date, '"2020-01-01"', datetime.date(2020, 1, 1)),
        (Annotated[float, Gt(0)] | Literal[0], "0", 0),
        (Annotated[float, Gt(0)] | Literal[0], "0.5", 0.5),
        (Annotated[int, Ge(5)] | Annotated[float, Interval(gt=0, lt=2)], "1.5", 1.5),
        (Annotated[int, MultipleOf(3)] | Literal[1], "1", 1),
        (Annotated[Decimal, Interval(ge=0, le=1)] | Annotated[int, Gt(1)], "2", 2),
        (Annotated[list[int], Len(0, 1)] | tuple[int, int], "[1, 2]", (1, 2)),
        (set[Literal[1, 2]] | tuple[Literal[1], Literal[1]], "[1, 1]", (1, 1)),
        (Annotated[dict[str, int], Len(0, 1)] | Two, '{"a": 1, "b": 2}', {"a": 1, "b": 2}),
        (Annotated[dict[int, int], Len(1, 3)] | Two, '{"a": 1, "b": 2}', {"a": 1, "b": 2}),
        (dict[LETTERS, int] | dict[Annotated[str, pydantic.Field(pattern="^[A-Z]+$")], str], '{"A": ""}', {"A": ""}),
        (uuid.UUID | Annotated[str, Len(32, 32)], f'"{DIGITS}"', DIGITS),
        (datetime.date | Annotated[str, Len(8, 8)], '"20200101"', "20200101"),
        (IN_2020 | Literal["2021-01-01"], '"2021-01-01"', "2021-01-01"),
        (Annotated[float, Gt(0)] | int, "3.0", 3.0),
    ],
)  # fmt: skip
def test_a_text_is_read_as_what_it_is_a_text_of(kind: Any, text: str, value: Any) -> None:
    grammar = Grammar.from_type(kind)
    constraint = pdacon.compile(grammar, Vocabulary.bytes())
    read = constraint.parse(text)
    assert read == value
    assert type(read) is type(value)
    assert constraint.parse(grammar.write(read)) == value


@pytest.mark.parametrize(
    "kind", [Annotated[float, Interval(gt=0, lt=2)] | datetime.date | Annotated[int, Ge(2)], dict[int, int] | int]
)
def test_integers_of_any_length(kind: Any) -> None:
    constraint = pdacon.compile(Grammar.from_type(kind, spelling=Spelling(max_digits="any")), Vocabulary.bytes())
    assert constraint.parse("9" * 5000) == 10**5000 - 1
    if constraint.accepts('{"1": 1}'):
        assert constraint.parse(f'{{"{"9" * 5000}": 1}}') == {10**5000 - 1: 1}


@pytest.mark.parametrize("text", ["1e999999999", "-1e999999999", "1e-999999999", f"1e{'9' * 30}"])
def test_numbers_of_any_exponent_are_compared_as_they_are_written(text: str) -> None:
    """Written out they would be a gigabyte."""
    grammar = Grammar.from_type(Literal[1] | float, lax=True, spelling=Spelling(max_digits="any"))
    beside_literal = pdacon.compile(grammar, Vocabulary.bytes())
    assert beside_literal.parse(text) == float(text)
    bounded = Grammar.from_type(Annotated[Decimal, Interval(ge=-10, le=10), MultipleOf(2)])
    with pytest.raises(ValueError, match=r"above|below|multiple"):
        bounded.write(Decimal(text if len(text) < 20 else "1e99999"))


@pytest.mark.parametrize("form", ["json", "python"])
@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (Loose, [{"number": 1}, {"kind": "x", "number": 1}]),
        (Optional, [{}, {"only": Only.A}]),
        (tuple[int] | Keyed, [(1,), {"k": Only.A}]),
        (list[int] | Keyed, [[1], {"k": Only.A}]),
        (tuple[int, str] | tuple[int] | Keyed, [(1, ""), (1,), {"k": Only.A}]),
    ],
)
def test_what_may_be_left_out_is_left_out(kind: Any, values: list[Any], form: Literal["json", "python"]) -> None:
    """Also what has one value only, of a dict: it need not be there."""
    grammar = Grammar.from_type(kind, form=form)
    constraint = pdacon.compile(grammar, Vocabulary.bytes())
    for value in values:
        assert constraint.parse(grammar.write(value)) == value


def test_arguments_with_one_value_may_be_left_out() -> None:
    def search(text: str, mode: Literal["fast"] = "fast") -> None: ...

    class Search(pydantic.BaseModel):
        text: str
        mode: Literal["fast"] = "fast"

    function = Grammar.from_tools([search])
    constraint = pdacon.compile(function, Vocabulary.bytes())
    for arguments in ({"text": "a"}, {"text": "a", "mode": "fast"}):
        assert constraint.parse(function.write(pdacon.Call("search", arguments))).arguments == arguments
    model = Grammar.from_tools([Search])
    text = model.write(pdacon.Call("Search", {"text": "a"}))
    assert pdacon.compile(model, Vocabulary.bytes()).parse(text).call() == Search(text="a")


Colors = enum.Flag("Colors", {"RED": 1, "BLUE": 2})
Bits = enum.IntFlag("Bits", {"READ": 1, "WRITE": 2})


class Pair(NamedTuple):
    x: int


class Word(str, enum.Enum):
    A = "a"


class Size(float, enum.Enum):
    HALF = 0.5


class Price(Decimal, enum.Enum):
    LOW = Decimal("1.50")


Level = enum.IntEnum("Level", {"LOW": 3})


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (Colors | Pair, Pair(1), "[1]"),
        (Colors | dict[str, int], {"RED": 1}, '{"RED": 1}'),
        (Colors | list[int], [1], "[1]"),
        (Colors | None, None, "null"),
        (Colors | int, 3, "3"),
        (Colors | str, "A", '"A"'),
        (Colors | str, Colors.RED | Colors.BLUE, '["BLUE", "RED"]'),
        (Colors | None, Colors(0), "[]"),
        (int | Bits, Bits.READ, '["READ"]'),
        (Bits | int, 3, "3"),
    ],
)
def test_a_value_is_written_as_the_member_whose_type_it_has(kind: Any, value: Any, text: str) -> None:
    grammar = Grammar.from_type(kind, lax=True)
    assert grammar.write(value) == text
    assert pdacon.compile(grammar, Vocabulary.bytes()).parse(text) == value


@pytest.mark.parametrize("value", [None, 3, "RED", ["RED"], Bits.READ, {}, object()])
def test_what_is_no_flag_is_not_written_as_flags(value: Any) -> None:
    with pytest.raises(ValueError, match="is no Colors"):
        Grammar.from_type(Colors).write(value)


def test_flags_without_a_name_are_not_left_out() -> None:
    with pytest.raises(ValueError, match="bits without a name"):
        Grammar.from_type(Bits).write(Bits(5))


@pytest.mark.parametrize("form", ["json", "python"])
@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (str, Word.A, '"a"'),
        (Annotated[str, Len(1, 1)], Word.A, '"a"'),
        (int, Level.LOW, "3"),
        (float, Level.LOW, "3.0"),
        (float, Size.HALF, "0.5"),
        (Annotated[float, Gt(0)], Size.HALF, "0.5"),
        (Any, [Word.A, Level.LOW, Size.HALF, {Word.A: 1}], '["a", 3, 0.5, {"a": 1}]'),
        (dict[str, int], {Word.A: 1}, '{"a": 1}'),
    ],
)
def test_members_of_enums_are_written_as_their_values(
    kind: Any, value: Any, text: str, form: Literal["json", "python"]
) -> None:
    """As ``json.dumps`` does, and not as ``str`` has them."""
    assert Grammar.from_type(kind, form=form).write(value) == text


def test_a_decimal_of_an_enum_is_written_as_its_value() -> None:
    assert Grammar.from_type(Decimal).write(Price.LOW) == "1.50"


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (str | Word, Word.A, "Word.A"),
        (str | Word, "a", '"a"'),
        (int | Level, Level.LOW, "Level.LOW"),
        (float | Size, Size.HALF, "Size.HALF"),
        (Any | Word, Word.A, "Word.A"),
    ],
)
def test_python_writes_a_member_of_an_enum_as_what_it_is(kind: Any, value: Any, text: str) -> None:
    grammar = Grammar.from_type(kind, form="python", lax=True)
    assert grammar.write(value) == text
    read = pdacon.compile(grammar, Vocabulary.bytes()).parse(text)
    assert (type(read), read) == (type(value), value)


def test_arguments_that_are_no_dict_are_refused() -> None:
    def search(text: str = "") -> None: ...

    with pytest.raises(ValueError, match="the arguments of search are no dict"):
        Grammar.from_tools([search]).write(pdacon.Call("search", None))  # type: ignore[arg-type]


@pytest.mark.parametrize("whitespace", ["json.dumps", "compact"])
@pytest.mark.parametrize("escapes", ["needed", "ascii"])
@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (str, "a\ud800"),
        (LETTERS, "a\ud800"),
        (str | int, "\udfff"),
        (list[str], ["\ud83d", "\ude00"]),
        (Any, {"a": ["\ud800"]}),
        (Any, {"\ud800": 1}),
        (dict[str, int], {"\ud800": 1}),
        (pathlib.Path, pathlib.Path("a\udcff")),
        (Loose, {"kind": "\ud800", "number": 1}),
    ],
)
def test_half_a_surrogate_pair_is_not_written(kind: Any, value: Any, escapes: Any, whitespace: Any) -> None:
    """No text of the grammar has it, escaped or not."""
    grammar = Grammar.from_type(kind, spelling=pdacon.Spelling(escapes=escapes, whitespace=whitespace))
    with pytest.raises(ValueError, match=r"surrogate|is none of"):
        grammar.write(value)


def test_half_a_surrogate_pair_is_not_written_as_python() -> None:
    for kind, value in ((str, "\ud800"), (Any, ["\ud800"]), (dict[str, int], {"\ud800": 1})):
        with pytest.raises(ValueError, match="surrogate"):
            Grammar.from_type(kind, form="python").write(value)


@pytest.mark.parametrize("value", [[], ([],), {}, 1.0, True, "1", None])
def test_what_is_none_of_a_literal_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="is none of 1 or 'a'"):
        Grammar.from_type(Literal[1, "a"]).write(value)


@dataclass
class Changing:
    x: int


@dataclass(frozen=True)
class Deep:
    x: list[int]


@dataclass(frozen=True)
class Flat:
    x: int
    notes: list[int] = field(default_factory=list, compare=False)


@dataclass(frozen=True)
class Tree:
    below: frozenset[Tree]
    x: int


class Bag(TypedDict):
    items: frozenset[Any]


@pytest.mark.parametrize("form", ["json", "python"])
@pytest.mark.parametrize(
    "kind",
    [
        set[Any],
        frozenset[Any],
        set,
        set[Any] | None,
        Bag,
        set[dict[str, int]],
        set[list[int]],
        frozenset[tuple[int, list[int]]],
        frozenset[tuple[Any, ...]],
        set[int | list[int]],
        set[Changing],
        set[Deep],
        frozenset[Two],
        set[bytearray],
    ],
)
def test_items_of_sets_have_a_hash(kind: Any, form: Literal["json", "python"]) -> None:
    with pytest.raises(UnsupportedTypeError, match=r"\[\]: items of a set have a hash.*; use a tuple"):
        Grammar.from_type(kind, form=form)


def test_keys_of_dicts_have_a_hash() -> None:
    with pytest.raises(UnsupportedTypeError, match=r" key: .* have a hash, as have keys of a dict"):
        Grammar.from_type(dict[bytearray, int])


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (set[Flat], '[{"x": 1, "notes": []}]', {Flat(1)}),
        (set[Tree], '[{"below": [], "x": 1}]', {Tree(frozenset(), 1)}),
        (set[Pair | None], "[[1], null]", {Pair(1), None}),
        (frozenset[tuple[int, ...]], "[[1], []]", frozenset([(1,), ()])),
    ],
)
def test_sets_of_what_has_a_hash(kind: Any, text: str, value: Any) -> None:
    assert pdacon.compile(Grammar.from_type(kind), Vocabulary.bytes()).parse(text) == value


def shuffled(random: Random, number: int) -> Any:
    """A class whose members, of names that others have too, come in an order of its own."""
    names = ["kind", *random.sample("abcde", random.randint(1, 5))]
    random.shuffle(names)
    kind = Literal[f"k{number}"]
    return make_dataclass(f"C{number}", [(name, kind if name == "kind" else int) for name in names])


@pytest.mark.parametrize("seed", range(24))
def test_members_are_written_in_the_order_that_the_grammar_of_a_union_has(seed: int) -> None:
    random = Random(seed)
    classes = [shuffled(random, number) for number in range(random.randint(2, 4))]
    values = [
        made(**{name: f"k{number}" if name == "kind" else number for name in made.__dataclass_fields__})
        for number, made in enumerate(classes)
    ]
    union: Any = reduce(or_, classes)
    outer = make_dataclass("Outer", [(name, int) for name in random.sample("abcde", 3)] + [("of", union)])
    for kind, given in (
        (union, values),
        (outer, [outer(1, 2, 3, value) for value in values]),
        (list[union | None], [[*values, None, values[0]]]),
    ):
        grammar = Grammar.from_type(kind)
        constraint = pdacon.compile(grammar, Vocabulary.bytes())
        for value in given:
            text = grammar.write(value)
            assert constraint.accepts(text), text
            assert constraint.parse(text) == value


class DogDict(TypedDict):
    name: str
    kind: Literal["dog"]


class CatDict(TypedDict):
    kind: Literal["cat"]
    name: str


@pytest.mark.parametrize("form", ["json", "python"])
def test_dicts_of_unions_are_written_in_the_order_that_the_grammar_has(form: Any) -> None:
    grammar = Grammar.from_type(dict[str, DogDict | CatDict], form=form)
    value: Any = {"a": {"kind": "cat", "name": "x"}, "b": {"kind": "dog", "name": "y"}}
    text = grammar.write(value)
    assert grammar.accepts(text), text
    assert pickle.loads(pickle.dumps(grammar)).write(value) == text
    assert pdacon.compile(grammar, Vocabulary.bytes()).parse(text) == value
