"""Values of JSON whose text is being written: what is certain of them, no less and no more."""

from __future__ import annotations

import collections
import datetime
import decimal
import enum
import json
import uuid
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import Annotated, Any, Literal, NamedTuple, TypedDict

import pydantic
import pytest
from support.scaling import scaled
from support.tool_answers import TOOLS

import pdacon
from pdacon.frontends.partial_values import PartialValue

_STRINGS = ("", "a", 'say "no"', "back\\slash", "Zürich ☕", "😀 é", "\n\t", "{[", "null", "12")
_NEXT = (
    "", "x", '"', '"}', '"]', '", ', '": 0', '": "y', "0", "1", ".5", "e1", "5", ": 0", "0041", "41", "u0041", "n",
    "rue", "ue", "e", "alse", "lse", "se", "ull", "ll", "l", "true", '"k": 0', ', "k": 0', ", 0", "{", "[", '"z',
    "ud83d\\ude00", "d83d", "83d", "\\ude00", "ude00", "de00", "e00", "00", '"k', '"kk": 1', ': "y', ": []", '": []',
    'x": 0', "\\", '0041": 0', '041": 0', '41": 0', '1": 0', 'n": 0', 'u0041": 0', '\\n": 0', '\\": 0', '": []',
    'ude00": 0', 'de00": 0', 'e00": 0', '00": 0', '0": 0', '\\ude00": 0', "041",
)  # fmt: skip
_ABSENT = object()


def random_value(random: Random, depth: int = 3) -> Any:
    kind = random.randrange(8 if depth else 5)
    if kind < 2:
        return random.choice(_STRINGS)
    if kind < 5:
        return random.choice((0, -1, 12, 1.5, 1e300, True, False, None, 10**40))
    if kind == 5:
        return [random_value(random, depth - 1) for _ in range(random.randrange(4))]
    names = random.sample((*_STRINGS, "b", "c/d", "e~f"), random.randrange(4))
    return {name: random_value(random, depth - 1) for name in names}


def closers(text: str) -> str:
    """What closes a text of JSON, wherever it stands."""
    stack, in_string, escaped = [], False, False
    for character in text:
        if in_string:
            in_string = escaped or character != '"'
            escaped = not escaped and character == "\\"
        elif character == '"':
            in_string = True
        elif character in "{[":
            stack.append("}" if character == "{" else "]")
        elif character in "}]":
            stack.pop()
    return ('"' if in_string else "") + "".join(reversed(stack))


def common(one: Any, other: Any) -> Any:
    """What two values have in common as beginnings of values."""
    if one is _ABSENT or other is _ABSENT or type(one) is not type(other):
        return _ABSENT
    if isinstance(one, str):
        length = next(
            (k for k, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
        )
        return one[:length]
    if isinstance(one, dict):
        both = {name: common(one[name], other[name]) for name in one if name in other}
        return {name: value for name, value in both.items() if value is not _ABSENT}
    if isinstance(one, list):
        items = [common(a, b) for a, b in zip(one, other, strict=False)]
        return [item for item in items if item is not _ABSENT]
    return one if one == other else _ABSENT


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a name stands twice")
    return dict(pairs)


def certain(text: str) -> Any:
    """What all values have in common whose texts go on from here: by trying many."""
    found: list[Any] = []
    for more in _NEXT:
        for last in ("", "0", ": 0", '"'):
            whole = text + more + last
            with suppress(ValueError, IndexError):
                found.append(json.loads(whole + closers(whole), object_pairs_hook=once))
    assert found, text
    value = found[0]
    for other in found[1:]:
        value = common(value, other)
    return value


def plain(value: Any) -> Any:
    """Without half characters, which are no text yet."""
    if isinstance(value, str):
        return value.encode("utf-8", "ignore").decode()
    if isinstance(value, dict):
        return {name: plain(member) for name, member in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


def test_what_is_certain_at_each_place_of_a_text() -> None:
    """Against the meet of many values whose texts begin so."""
    for seed in range(scaled(20)):
        random = Random(seed)
        text = json.dumps(random_value(random), ensure_ascii=random.random() < 0.5)
        partial = PartialValue()
        for k, character in enumerate(text):
            partial.feed(character)
            expected = certain(text[: k + 1])
            assert partial.value == (None if expected is _ABSENT else plain(expected)), text[: k + 1]
        partial.finish()
        assert partial.value == json.loads(text)
        assert partial.is_whole


def test_cuts_do_not_matter_and_nothing_is_taken_back() -> None:
    for seed in range(scaled(40)):
        random = Random(seed)
        value = random_value(random)
        text = json.dumps(value, ensure_ascii=random.random() < 0.5, indent=random.choice((None, 1)))
        partial, other = PartialValue(), PartialValue()
        other.feed(text)
        at = 0
        before: Any = None
        while at < len(text):
            length = random.randint(1, 9)
            partial.feed(text[at : at + length])
            at += length
            now = partial.value
            assert before is None or common(before, now) == before
            before = now
        for each in (partial, other):
            each.finish()
            assert each.value == value


def test_pointers() -> None:
    partial = PartialValue()
    partial.feed('{"a/b": [1, {"c~d": "xy')
    assert partial.pointer == "/a~1b/1/c~0d"
    assert partial.at("/a~1b/1/c~0d") == "xy"
    assert (partial.at("/a~1b/0"), partial.at("")) == (1, {"a/b": [1, {"c~d": "xy"}]})
    assert [partial.is_whole_at(pointer) for pointer in ("", "/a~1b/0", "/a~1b/1", "/x")] == [False, True, False, False]
    for missing in ("/a~1b/2", "/x", "/a~1b/0/y", "/a~1b/-1"):
        with pytest.raises(KeyError):
            partial.at(missing)
    partial.feed('z"}], "n": 12')
    assert (partial.pointer, partial.at("/a~1b/1/c~0d")) == ("/n", "xyz")
    with pytest.raises(KeyError):
        partial.at("/n")
    partial.feed("}")
    assert (partial.at("/n"), partial.pointer, partial.is_whole) == (12, "", True)


@dataclass
class Item:
    name: str
    price: float
    due: datetime.date | None = None


class Even(pydantic.BaseModel):
    number: int

    @pydantic.field_validator("number")
    @classmethod
    def _even(cls, number: int) -> int:
        if number % 2:
            raise ValueError("it is odd")
        return number


class Order(TypedDict):
    number: int
    items: list[Item]


def test_types_are_typed_as_far_as_they_have_come() -> None:
    constraint = pdacon.compile(Order, pdacon.Vocabulary.bytes())
    partial = constraint.partial()
    partial.feed('{"number": 7, "items": [{"name": "a", "price": 1.5, "due": "2026-01-02"}, {"name": "b')
    value = partial.value
    assert value["number"] == 7
    assert value["items"][0] == Item("a", 1.5, datetime.date(2026, 1, 2))
    second = value["items"][1]
    assert (second.name, hasattr(second, "price"), repr(second)) == ("b", False, "<so far Item(name='b')>")
    partial.feed('", "price": 2.0, "due": "20')
    assert (partial.value["items"][1].price, hasattr(partial.value["items"][1], "due")) == (2.0, False)
    partial.feed('26-03-04"}]}')
    assert partial.value == constraint.parse(
        '{"number": 7, "items": [{"name": "a", "price": 1.5, "due": "2026-01-02"}, '
        '{"name": "b", "price": 2.0, "due": "2026-03-04"}]}'
    )


class Color(enum.Enum):
    RED = "red"
    GREEN = "green"
    GREY = "grey"
    NONE = None


@dataclass
class Circle:
    kind: Literal["circle"]
    radius: float
    color: Color


@dataclass
class Square:
    kind: Literal["square"]
    side: int
    color: Color
    when: datetime.datetime | None = None


class Pair(NamedTuple):
    left: str
    right: uuid.UUID


class Bits(enum.Flag):
    A = 1
    B = 2


class Names(pydantic.RootModel[list[str]]):
    pass


class Page(pydantic.BaseModel):
    link: pydantic.HttpUrl
    links: list[pydantic.HttpUrl]
    names: Names
    size: Annotated[str, pydantic.StringConstraints(max_length=3)]


class Tree(pydantic.BaseModel):
    name: str
    below: list[Tree] = []


def is_begun(so_far: Any, whole: Any) -> bool:
    """Whether what has come of a value is what the whole value has, of the same type."""
    if isinstance(so_far, pdacon.PartialInstance):
        assert isinstance(whole, pdacon.PartialInstance) or type(whole).__name__ in repr(so_far)
        return all(is_begun(value, getattr(whole, name)) for name, value in vars(so_far).items() if "__" not in name)
    if type(so_far) is not type(whole):
        return False
    if isinstance(so_far, dict):
        return so_far.keys() <= whole.keys() and all(is_begun(value, whole[key]) for key, value in so_far.items())
    if isinstance(so_far, list | tuple | collections.deque):
        return len(so_far) <= len(whole) and all(map(is_begun, so_far, whole))
    if isinstance(so_far, set | frozenset):
        return so_far <= whole
    if isinstance(so_far, Bits):
        return so_far in whole
    return bool(whole.startswith(so_far) if isinstance(so_far, str) else so_far == whole)


@pytest.mark.parametrize(
    "hint",
    [
        Item, Order, Circle | Square, Circle | None, list[Circle | Square | None], Color, Literal["a", "ab", 1, True],
        Literal["a", "b"] | int, Pair, list[Pair], dict[int, datetime.date], dict[uuid.UUID, list[Color]], set[int],
        tuple[int, datetime.date, str], tuple[datetime.date, ...], frozenset[Literal["a", "b"]], Bits, Names, Page,
        datetime.date | int, decimal.Decimal, bytes, Any, dict[str, Any], list[str | None] | Item, bool | None,
        pydantic.SecretStr, collections.deque[int], Tree,
    ],
)  # fmt: skip
def test_what_has_come_of_a_type_is_never_of_another_one(hint: Any) -> None:
    grammar = pdacon.Grammar.from_type(hint)
    constraint = pdacon.compile(grammar, pdacon.Vocabulary.bytes())
    for text in grammar.sample(scaled(5), seed=1):
        try:
            json.loads(text, object_pairs_hook=once)
        except ValueError:  # the last one counts, so that the first is taken back
            continue
        whole = constraint.parse(text)
        partial = constraint.partial()
        before: Any = None
        for character in text:
            partial.feed(character)
            so_far = partial.value
            assert so_far is None or is_begun(so_far, whole), (text, so_far)
            assert before is None or is_begun(before, so_far) or not isinstance(before, type(so_far)), (before, so_far)
            before = so_far
        partial.finish()
        assert partial.value == whole or isinstance(whole, float)


@pytest.mark.parametrize(
    ("hint", "text", "shown"),
    [
        (Circle | None, '{"kind": "circle", "radius": 1.5, "co', "<so far Circle(kind='circle', radius=1.5)>"),
        (Circle | Square, '{"kind": "c', "<so far Circle(kind='circle')>"),
        (Circle | Square, "{", "<so far Circle or Square()>"),
        (Circle | Square, '{"kind": "square", "side": 3, "color": "gre', "<so far Square(kind='square', side=3)>"),
        (Circle | Square, '{"kind": "square", "side": 3, "color": "gree',
         "<so far Square(kind='square', side=3, color=<Color.GREEN: 'green'>)>"),
        (Circle | None, "n", "None"),
        (list[Item], '[{"name": "a', "[<so far Item(name='a')>]"),
        (dict[str, Item | None], '{"x": {"name": "a", "price": 2', "{'x': <so far Item(name='a')>}"),
        (list[Pair], '[["a"', "[<so far Pair(left='a')>]"),
        (datetime.date, '"2024-0', "None"),
        (datetime.date | int, '"2024-0', "None"),
        (str | None, '"ab', "'ab'"),
        (Tree, '{"name": "a", "below": [{"name": "b', "<so far Tree(name='a', below=[<so far Tree(name='b')>])>"),
        (Names, '["a", "b', "<so far Names(root=['a', 'b'])>"),
        (set[int], "[1, 2, 3", "{1, 2}"),
    ],
)  # fmt: skip
def test_what_has_come_of_a_type(hint: Any, text: str, shown: str) -> None:
    partial = pdacon.compile(hint, pdacon.Vocabulary.bytes()).partial()
    partial.feed(text)
    assert repr(partial.value) == shown


def test_a_class_that_refuses_the_whole_is_not_shown_as_plain_json() -> None:
    partial = pdacon.compile(Even, pdacon.Vocabulary.bytes()).partial()
    partial.feed('{"number": 3}')
    assert repr(partial.value) == "<so far Even(number=3)>"


def test_calls_have_come_so_far() -> None:
    def weather(city: str, day: datetime.date) -> None: ...

    partial = pdacon.compile(weather, pdacon.Vocabulary.bytes()).partial()
    partial.feed('{"name": "weather", "arguments": {"city": "Zü')
    assert repr(partial.value) == "<so far Call(name='weather', arguments={'city': 'Zü'})>"
    partial.feed('rich", "day": "2026-')
    assert repr(partial.value) == "<so far Call(name='weather', arguments={'city': 'Zürich'})>"


def test_every_prefix_of_a_sample_is_the_beginning_of_its_value() -> None:
    grammar = pdacon.Grammar.from_type(dict[str, list[tuple[int, str]] | float])
    constraint = pdacon.compile(grammar, pdacon.Vocabulary.bytes())
    for text in grammar.sample(scaled(6), seed=3):
        partial = constraint.partial()
        for character in text:
            partial.feed(character)
            assert isinstance(partial.value, dict | None.__class__)
        assert partial.value == constraint.parse(text)


def test_which_grammars_have_values_in_part() -> None:
    for grammar in ("json", pdacon.Grammar.from_json_schema({"type": "object"}), dict[str, int]):
        constraint: Any = pdacon.compile(
            grammar,  # type: ignore[arg-type]
            pdacon.Vocabulary.bytes(),
        )
        assert constraint.partial().value is None
    for other in (pdacon.Grammar.from_regex("a+"), pdacon.Grammar.from_type(int, form="python")):
        with pytest.raises(TypeError, match=r"known in part|read when they are whole"):
            pdacon.compile(other, pdacon.Vocabulary.bytes()).partial()


@pytest.mark.parametrize("format", ["hermes", "qwen3_coder"])
def test_arguments_of_a_call_as_they_come(format: str) -> None:
    constraint = pdacon.compile(pdacon.Grammar.from_tools(TOOLS, format=format), pdacon.Vocabulary.bytes())
    call = pdacon.Call("get_weather", {"city": 'Zürich "East"', "days": 12, "where": {"a": ["b"]}})
    text = constraint.grammar.write(pdacon.Answer("", "", (call, pdacon.Call("search", {"tags": ["x"]}))))
    reader = constraint.reader()
    assert reader.arguments is None
    seen = []
    for character in text:
        reader.feed(character)
        if reader.arguments is not None and (not seen or seen[-1] != reader.arguments.value):
            seen.append(reader.arguments.value)
    assert {"city": 'Zürich "'} in seen
    assert {**call.arguments, "where": {}} in seen
    assert call.arguments in seen
    assert seen[-1] == {"tags": ["x"]}
    assert reader.arguments is not None
    assert reader.arguments.is_whole


def test_plain_values_may_be_nested_deeply() -> None:
    constraint = pdacon.compile(pdacon.Grammar.from_json_schema({}), pdacon.Vocabulary.bytes())
    value = constraint.partial()
    value.feed('[{"a": ["x", ' * 20_000)
    found = value.value
    for _ in range(20_000):
        (item,) = found
        text, *inner = item["a"]
        assert text == "x"
        found = inner[0] if inner else []
    assert found == []
