"""Types as JSON: realistic models, their instances, and what is refused."""

from __future__ import annotations

import json
import pickle
import re
from dataclasses import InitVar, dataclass, field
from typing import Annotated, Any, Literal

import msgspec
import pydantic
import pytest
from annotated_types import Ge, Predicate
from pydantic_core import core_schema
from support.typed_models import MODELS, Event, Order, Page, Plan, Search

import pdacon
from pdacon import Grammar, Spelling, UnsupportedTypeError, Vocabulary

NAMES = [f"{getattr(kind, '__name__', kind)}-{k}" for k, (kind, _) in enumerate(MODELS)]
SAMPLES = 10


@pytest.mark.parametrize(("kind", "value"), MODELS, ids=NAMES)
def test_a_model_is_read_back(kind: Any, value: Any) -> None:
    grammar = Grammar.from_type(kind)
    constraint = pdacon.compile(grammar, Vocabulary.bytes())
    text = grammar.write(value)
    assert constraint.parse(text) == value
    assert json.dumps(json.loads(text), ensure_ascii=False) == text or "." in text
    for sample in grammar.sample(SAMPLES, seed=1):
        read = constraint.parse(sample)
        assert constraint.parse(grammar.write(read)) == read
    assert grammar.unenforced == ()
    assert grammar.describe()


def test_a_description_has_patterns() -> None:
    @dataclass
    class Plate:
        country: Annotated[str, pydantic.Field(pattern="^[A-Z]{1,3}$", max_length=3)]

    assert "- country (string of at most 3 characters that matches ^[A-Z]{1,3}$)" in Grammar.from_type(Plate).describe()


def test_what_json_dumps_writes_is_read_back() -> None:
    event = Event(title="é", start="2024-01-02T03:04:05Z", duration=0)  # type: ignore[arg-type]
    plain = event.model_dump(mode="json")
    constraint = pdacon.compile(Event, Vocabulary.bytes())
    assert constraint.parse(json.dumps(plain, ensure_ascii=False)) == event
    ascii_only = Grammar.from_type(Event, spelling=Spelling(escapes="ascii"))
    assert pdacon.compile(ascii_only, Vocabulary.bytes()).parse(json.dumps(plain)) == event
    compact = Grammar.from_type(Event, spelling=Spelling(whitespace="compact"))
    assert pdacon.compile(compact, Vocabulary.bytes()).parse(event.model_dump_json()) == event
    for whitespace in ("indent", "any", "compact", "json.dumps"):
        grammar = Grammar.from_type(Event, spelling=Spelling(whitespace=whitespace, escapes="ascii"))
        assert pdacon.compile(grammar, Vocabulary.bytes()).parse(grammar.write(event)) == event


def test_what_is_written_by_msgspec_is_read_back() -> None:
    class Point(msgspec.Struct):
        x: int
        y: float = 0.0

    constraint = pdacon.compile(
        Grammar.from_type(list[Point], spelling=Spelling(whitespace="compact")), Vocabulary.bytes()
    )
    points = [Point(1), Point(-2, 2.5)]
    assert constraint.parse(msgspec.json.encode(points)) == points


@pytest.mark.slow
def test_pydantic_takes_every_sample() -> None:
    for model in (Event, Plan, Search, Page[int]):
        schema = model.model_json_schema()
        assert schema["type"] == "object"
        for text in Grammar.from_type(model).sample(30, seed=5):
            model.model_validate_json(text)


@dataclass
class Bad:
    name: str
    price: list[complex] = field(default_factory=list)


@dataclass
class Holder:
    items: list[Bad]


@dataclass
class Hook:
    x: int

    def __post_init__(self) -> None:
        if self.x == 3:
            raise ValueError("not three")


@dataclass
class Seeded:
    x: int
    seed: InitVar[int]


class Checked(pydantic.BaseModel):
    x: int

    @pydantic.field_validator("x")
    @classmethod
    def _odd(cls, x: int) -> int:
        if x % 2 == 0:
            raise ValueError("even")
        return x


class Mail(pydantic.BaseModel):
    to: Annotated[str, pydantic.AfterValidator(lambda text: text)]
    site: pydantic.HttpUrl


@dataclass
class First:
    name: str
    x: int = 0


@dataclass
class Second:
    name: str
    y: int = 0


@dataclass
class Even:
    number: Annotated[int, Predicate(lambda number: number % 2 == 0), Ge(0)]


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Holder, r"^Holder\.items\[\]\.price\[\]: complex is no type"),
        (Seeded, r"^Seeded\.seed: it is an InitVar"),
        (First | Second, r"nothing tells First from Second: .* kind: Literal"),
        (dict[float, int], r"key: keys are strings or integers"),
        (set[list[int]], r"\[\]: items of a set have a hash"),
        (list["Nowhere"], r"the name 'Nowhere' is not known here"),  # type: ignore[name-defined]  # noqa: F821
        (dict[str, "complex"], r"\[\]: complex is no type"),
        (Annotated[set[int], Ge(3)], r"minimum 3: it is not enforced for this type"),
        (pdacon.Constraint, r"Constraint is no type whose values can be written; make it a dataclass"),
    ],
)
def test_refusals_name_the_place(kind: Any, message: str) -> None:
    with pytest.raises(UnsupportedTypeError, match=message) as caught:
        Grammar.from_type(kind)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


class Code:
    """A class that only Pydantic knows."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        return core_schema.no_info_after_validator_function(cls._take, core_schema.str_schema(pattern="^[a-z]{3}$"))

    @staticmethod
    def _take(text: str) -> str:
        if text == "bad":
            raise ValueError("bad")
        return text


ADVICE = [
    (Hook, "Hook", "__post_init__"),
    (Checked, "Checked", "validator _odd"),
    (Mail, "Mail.to", "AfterValidator <lambda>"),
    (Even, "Even.number", "Predicate <lambda>"),
    (pydantic.FilePath, "Path", "PathType 'file'"),
    (Code, "Code", "Code"),
]


@pytest.mark.parametrize(("kind", "place", "what"), ADVICE)
def test_what_only_a_class_can_see_to_is_named(kind: Any, place: str, what: str) -> None:
    assert [part[:2] for part in Grammar.from_type(kind).unenforced] == [(place, what)]
    with pytest.raises(UnsupportedTypeError, match=f"^{re.escape(place)}: {re.escape(what)}: .* without strict=True"):
        Grammar.from_type(kind, strict=True)
    with pytest.raises(ValueError, match="give one of them"):
        Grammar.from_type(kind, strict=True, lax=True)


@pytest.mark.parametrize(
    ("kind", "places"),
    [
        (First | Second, {("First | Second", "nothing tells First from Second")}),
    ],
)
def test_lax_names_what_is_not_enforced(kind: Any, places: set[tuple[str, str]]) -> None:
    grammar = Grammar.from_type(kind, lax=True)
    assert {one[:2] for one in grammar.unenforced} == places


def test_what_pydantic_refuses_has_its_path() -> None:
    constraint = pdacon.compile(Grammar.from_type(list[Code]), Vocabulary.bytes())
    assert constraint.parse('["abc"]') == ["abc"]
    assert not constraint.accepts('["abcd"]')
    with pytest.raises(ValueError, match=r"^list\[.*Code\]\[0\]: Code refuses it"):
        constraint.parse('["bad"]')


def test_what_a_class_refuses_has_its_path() -> None:
    constraint = pdacon.compile(Grammar.from_type(list[Hook], lax=True), Vocabulary.bytes())
    assert constraint.parse('[{"x": 2}]') == [Hook(2)]
    with pytest.raises(ValueError, match=r"^list\[.*Hook\]\[1\]: Hook refuses it: not three"):
        constraint.parse('[{"x": 2}, {"x": 3}]')


def test_writing_names_the_place() -> None:
    grammar = Grammar.from_type(Order)
    with pytest.raises(ValueError, match=r"^Order: 3 is no Order"):
        grammar.write(3)
    value = next(value for kind, value in MODELS if kind is Order)
    broken = Order(value.id, [value.lines[0], "x"])  # type: ignore[list-item]
    with pytest.raises(ValueError, match=r"^Order\.lines\[1\]: 'x' is no Line"):
        grammar.write(broken)
    with pytest.raises(TypeError, match="write: only grammars of types"):
        Grammar.builtin("json").write(3)


def test_a_grammar_of_a_type_travels() -> None:
    grammar = Grammar.from_type(Order)
    again = pickle.loads(pickle.dumps(grammar))
    assert again == grammar
    assert again != Grammar.from_type(Order, lax=True)
    value = MODELS[0][1]
    assert pdacon.compile(again, Vocabulary.bytes()).parse(grammar.write(value)) == value


def test_a_stored_constraint_knows_its_type_again() -> None:
    grammar = Grammar.from_type(Page[int])
    constraint = pdacon.compile(grammar, Vocabulary.bytes())
    text = '{"items": [1]}'
    assert pdacon.Constraint.from_bytes(constraint.to_bytes(), Vocabulary.bytes()).parse(text) == {"items": [1]}
    loaded = pdacon.Constraint.from_bytes(constraint.to_bytes(), Vocabulary.bytes(), grammar=grammar)
    assert loaded.parse(text) == Page[int](items=[1])


def test_a_cache_does_not_mix_types_with_the_same_texts() -> None:
    @dataclass
    class A:
        x: int

    @dataclass
    class B:
        x: int

    cache = pdacon.CompileCache()
    first, second = (cache.compile(Grammar.from_type(kind), Vocabulary.bytes()) for kind in (A, B))
    assert (first.parse('{"x": 1}'), second.parse('{"x": 1}')) == (A(1), B(1))
    assert cache.compile(Grammar.from_type(A), Vocabulary.bytes()).parse('{"x": 1}') == A(1)


def test_types_are_grammars_where_grammars_are_taken() -> None:
    words = Vocabulary.bytes()
    assert pdacon.compile(Order, words).grammar.data.values is not None
    assert pdacon.compile(int | None, words).parse("null") is None
    assert pdacon.check(list[int]).ok
    assert pdacon.compile(Literal["a", "b"], words).parse('"a"') == "a"
    with pytest.raises(TypeError, match=r"compile: grammar must be a pdacon\.Grammar.* not Order"):
        pdacon.compile(MODELS[0][1], words)
