"""Realistic types with instances: what people ask a model to write."""

from __future__ import annotations

import datetime as dt
import enum
import uuid
from collections import deque
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, NamedTuple, NewType, TypedDict, TypeVar

import attrs
import msgspec
from annotated_types import Ge, Gt, Interval, Le, Len, MaxLen, MinLen, MultipleOf
from pydantic import BaseModel, ConfigDict, Field, RootModel
from typing_extensions import NotRequired, Required

T = TypeVar("T")
Sku = NewType("Sku", str)
Money = Annotated[Decimal, Ge(0), MultipleOf(Decimal("0.01"))]


class Currency(str, enum.Enum):
    EUR = "EUR"
    USD = "USD"


class Priority(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Weekday(enum.Flag):
    MONDAY = enum.auto()
    TUESDAY = enum.auto()


class Level(enum.Enum):
    INFO = "info"
    ERROR = "error"


class Position(NamedTuple):
    latitude: Annotated[float, Interval(ge=-90, le=90)]
    longitude: Annotated[float, Interval(ge=-180, le=180)]
    label: str = ""


@dataclass
class Line:
    sku: Sku
    quantity: Annotated[int, Ge(1), Le(99)]
    price: Money


@dataclass
class Order:
    """What a customer orders."""

    id: uuid.UUID
    lines: Annotated[list[Line], MinLen(1)]
    currency: Currency = Currency.EUR
    note: Annotated[str, MaxLen(80), "for the warehouse"] | None = None


class Address(TypedDict):
    street: str
    city: Annotated[str, MinLen(1)]
    country: NotRequired[Literal["DE", "FR", "US"]]


class Patch(TypedDict, total=False):
    op: Required[Literal["add", "remove"]]
    path: str
    value: Any


@dataclass
class Invoice:
    number: Annotated[int, Gt(0)]
    issued: dt.date
    to: Address
    paid_at: dt.datetime | None
    lines: tuple[Line, ...] = ()


class Event(BaseModel):
    """An entry of a calendar."""

    model_config = ConfigDict(extra="forbid")
    title: str = Field(min_length=1, max_length=60)
    start: dt.datetime
    duration: dt.timedelta
    attendees: list[str] = Field(default_factory=list, max_length=5)
    repeats: set[Literal["mon", "tue", "wed"]] = Field(default_factory=set)


class Search(BaseModel):
    kind: Literal["search"] = "search"
    query: str = Field(description="what to look for")
    limit: int = Field(default=10, ge=1, le=50)


class Answer(BaseModel):
    kind: Literal["answer"] = "answer"
    text: str


class Plan(BaseModel):
    """What an agent will do."""

    steps: list[Annotated[Search | Answer, Field(discriminator="kind")]] = Field(min_length=1)


class Aliased(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    user_id: int = Field(alias="userId")
    is_admin: bool = Field(default=False, alias="isAdmin")


class Page(BaseModel, Generic[T]):
    items: list[T]
    next_page: int | None = None


class Tags(RootModel[list[str]]):
    pass


class Loose(BaseModel):
    model_config = ConfigDict(extra="allow")
    name: str


@dataclass
class Tree(Generic[T]):
    value: T
    children: list[Tree[T]] = field(default_factory=list)


@dataclass
class Expression:
    operator: Literal["+", "*"]
    left: Expression | int
    right: Expression | int


class Cat(msgspec.Struct, tag=True):
    name: str
    lives: Annotated[int, msgspec.Meta(ge=0, le=9)] = 9


class Dog(msgspec.Struct, tag=True, rename="camel"):
    full_name: Annotated[str, msgspec.Meta(min_length=1, pattern="^[A-Z]")]


class Pixel(msgspec.Struct, array_like=True):
    x: int
    y: int


@attrs.define
class Sensor:
    name: str
    _unit: str = "K"
    values: list[float] = attrs.field(factory=list, validator=attrs.validators.max_len(4))
    level: int = attrs.field(default=0, validator=[attrs.validators.ge(0), attrs.validators.le(10)])


@dataclass(frozen=True)
class Settings:
    home: Path
    timeouts: dict[str, float]
    ports: dict[int, str]
    flags: frozenset[str] = frozenset()
    key: bytes = b""
    days: Weekday = Weekday.MONDAY


@dataclass
class Log:
    at: dt.time
    level: Level
    message: str
    extra: dict[str, Any] = field(default_factory=dict)
    last: deque[int] = field(default_factory=deque)


@dataclass
class Ticket:
    priority: Priority
    assignee: str | None = None
    ratio: int | float = 0


@dataclass
class Person:
    name: Annotated[str, Len(1, 30)]
    born: dt.date
    position: Position | None = None


class Slot(NamedTuple):
    room: str
    start: dt.time
    minutes: Annotated[int, Ge(15), MultipleOf(15)] = 60


class Invitation(TypedDict):
    subject: Annotated[str, MinLen(1)]
    day: dt.date
    slots: Annotated[list[Slot], Len(1, 3)]
    answers: NotRequired[dict[str, Literal["yes", "no", "maybe"]]]


class Leg(BaseModel):
    carrier: str = Field(pattern="^[A-Z]{2}$")
    departs: dt.datetime
    stops: tuple[str, str]


class Booking(BaseModel):
    """A journey."""

    legs: list[Leg] = Field(min_length=1)
    total: Decimal = Field(ge=0)
    seats: dict[str, int] = Field(default_factory=dict)


class Parcel(msgspec.Struct, kw_only=True):
    code: Annotated[str, msgspec.Meta(pattern="^[0-9]{4}$")]
    grams: Annotated[int, msgspec.Meta(gt=0)]
    fragile: bool = False
    contents: list[Line] = msgspec.field(default_factory=list)


class Call(BaseModel):
    kind: Literal["call"] = "call"
    tool: Literal["search", "write_file"]
    arguments: dict[str, str | int | bool]


class Think(BaseModel):
    kind: Literal["think"] = "think"
    text: str


class Until(BaseModel):
    kind: Literal["until"] = "until"
    condition: str
    body: list[Annotated[Call | Think | Until, Field(discriminator="kind")]]


class Agent(BaseModel):
    """What an agent does, step by step."""

    goal: str
    steps: list[Annotated[Call | Think | Until, Field(discriminator="kind")]]
    budget: int | None = Field(default=None, ge=1)


@attrs.frozen
class Recipe:
    title: str
    servings: int = attrs.field(validator=attrs.validators.gt(0))
    ingredients: dict[str, Annotated[float, Gt(0)]] = attrs.field(factory=dict)


NODE = Tree("root", [Tree("leaf"), Tree("other", [Tree("deep")])])
NOON = dt.datetime(2024, 5, 6, 12)
LINE = Line(Sku("A-1"), 2, Decimal("9.90"))

MODELS: list[tuple[Any, Any]] = [
    (Order, Order(uuid.UUID(int=5), [LINE], Currency.USD, "fragile")),
    (Order, Order(uuid.UUID(int=7), [LINE, LINE])),
    (Invoice, Invoice(3, dt.date(2024, 2, 29), {"street": "Hauptstraße 1", "city": "Köln"}, None, (LINE,))),
    (
        Invoice,
        Invoice(4, dt.date(1999, 1, 1), {"street": "", "city": "X", "country": "FR"}, dt.datetime(2024, 5, 6, 7, 8)),
    ),
    (Address, {"street": "Main St", "city": "Springfield", "country": "US"}),
    (Patch, {"op": "add", "path": "/a", "value": {"x": [1, 2.5, None, "y"]}}),
    (Patch, {"op": "remove"}),
    (
        Event,
        Event(title="Lunch", start=NOON, duration=dt.timedelta(minutes=90), repeats={"mon"}),
    ),
    (Plan, Plan(steps=[Search(query="weather", limit=3), Answer(text="Sunny.")])),
    (Aliased, Aliased(userId=3, isAdmin=True)),
    (Page[int], Page[int](items=[1, 2], next_page=2)),
    (Page[Search], Page[Search](items=[Search(query="x")])),
    (Tags, Tags(["a", "b"])),
    (Loose, Loose(name="n", other=[1, {"deep": True}])),  # type: ignore[call-arg]
    (Tree[str], NODE),
    (Tree[int], Tree(1, [Tree(2)])),
    (Expression, Expression("+", Expression("*", 1, 2), 3)),
    (Cat | Dog, Dog("Rex")),
    (Cat | Dog, Cat("Tom", 7)),
    (list[Pixel], [Pixel(1, 2), Pixel(-3, 0)]),
    (Sensor, Sensor("t1", "C", [1.5, 2e-7], 3)),
    (Settings, Settings(Path("/home/x"), {"read": 1.5}, {80: "http", -1: "none"}, frozenset({"a", "b"}), b"\x00\xff")),
    (Settings, Settings(Path("a"), {}, {}, days=Weekday(0))),
    (Log, Log(dt.time(23, 59, 59, 5), Level.ERROR, 'say "hi"\n', {"code": 3}, deque([1, 2]))),
    (Ticket, Ticket(Priority.HIGH, "me", 0.5)),
    (Ticket, Ticket(Priority.LOW, None, 3)),
    (Person, Person("Ada", dt.date(1815, 12, 10), Position(51.5, -0.1, "London"))),
    (dict[Currency, int], {Currency.EUR: 3}),
    (tuple[int, str, bool], (1, "x", True)),
    (list[Literal["yes", "no", 3, None, True]], ["yes", 3, None, True]),
    (Person | None, None),
    (dict[str, list[Position]], {"a": [Position(1.0, 2.0)], "b": []}),
    (bool | int | str | None, True),
    (dt.datetime, dt.datetime(2024, 1, 1, 1, 1, 1, 100, tzinfo=dt.timezone(dt.timedelta(hours=-5)))),
    (
        Invitation,
        {"subject": "Kick-off", "day": NOON.date(), "slots": [Slot("A", dt.time(9), 30)], "answers": {"Ada": "yes"}},
    ),
    (
        Booking,
        Booking(legs=[Leg(carrier="LH", departs=NOON, stops=("FRA", "OSL"))], total=Decimal("99.5"), seats={"LH1": 3}),
    ),
    (Parcel, Parcel(code="0815", grams=250, contents=[LINE])),
    (
        Agent,
        Agent(
            goal="tidy up",
            steps=[
                Think(text="hm"),
                Until(condition="done", body=[Call(tool="search", arguments={"q": "x", "n": 3, "deep": True})]),
            ],
        ),
    ),
    (Recipe, Recipe("Tea", 2, {"water": 0.5})),
    (list[dt.timedelta], [dt.timedelta(days=-1, seconds=5), dt.timedelta(0), dt.timedelta(days=400, microseconds=1)]),
]
