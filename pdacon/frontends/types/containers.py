"""Shapes of lists, tuples, sets and dicts."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pdacon.base.cancelling import every
from pdacon.frontends.json_schema import Marks, any_integer
from pdacon.frontends.long_integers import integer_of, text_of
from pdacon.frontends.types.checks import check_count, fits
from pdacon.frontends.types.forms import Form
from pdacon.frontends.types.scalars import LiteralValues, lengths_words
from pdacon.frontends.types.shapes import Mismatch, Schemas, Shape, resolved, row_head, shown

_MOST_REMEMBERED = 10  # values that an automaton keeps apart, as the whole of a JSON Schema has it
TUPLE = Marks("(", ")", "()")
_ONE = Marks("(", ",)", "()")
_ROW = Marks("tuple([", "])", "tuple([])")
_MARKS = {
    "set": Marks("{", "}", "set()"),
    "frozenset": Marks("frozenset({", "})", "frozenset()"),
    "deque": Marks("deque([", "])", "deque()"),
    "tuple of any length": _ROW,
}


@dataclass(frozen=True, eq=False)
class Items(Shape):
    """Any number of items of one shape.

    Attributes
    ----------
    make : callable
        The value, of an iterable.
    kind : type
        What values are instances of.
    head : str
        The mark in Python's form; empty for lists.
    """

    item: Shape
    kind: Any
    make: Callable[[Iterable[Any]], Any]
    least: int
    most: int | None
    head: str
    form: Form

    @property
    def is_set(self) -> bool:
        return self.kind in (set, frozenset)

    @property
    def few(self) -> bool:
        """Whether the grammar can see to it that items differ."""
        item = resolved(self.item)
        return isinstance(item, LiteralValues) and len(item.pairs) <= _MOST_REMEMBERED

    def schema(self, schemas: Schemas) -> dict[str, Any]:
        kind = self.form.kind("array", self.head, _MARKS[self.head]) if self.head else "array"
        schema: dict[str, Any] = {"type": kind, "items": self.item.schema(schemas)}
        if self.least:
            schema["minItems"] = self.least
        if self.most is not None:
            schema["maxItems"] = self.most
        if self.is_set and self.few:
            schema["uniqueItems"] = True
        return schema

    def read(self, raw: Any, path: str) -> Any:
        raw = self.form.unmarked(self.head, raw, path) if self.head else raw
        if not isinstance(raw, list):
            raise Mismatch(path, f"{shown(raw)} is no list")
        check_count(self.least, self.most, len(raw), "items", path)
        if self.is_set and self.few and len(set(map(repr, raw))) < len(raw):
            raise Mismatch(path, f"{shown(raw)} has an item twice")
        return self.make([self.item.read(item, f"{path}[{k}]") for k, item in every(enumerate(raw))])

    def write(self, value: Any, path: str) -> Any:
        if not isinstance(value, self.kind):
            raise Mismatch(path, f"{shown(value)} is no {self.kind.__name__}")
        check_count(self.least, self.most, len(value), "items", path)
        raws = [self.item.write(item, f"{path}[{k}]") for k, item in every(enumerate(value))]
        raws = sorted(raws, key=repr) if self.is_set else raws
        return self.form.marked(self.head, raws) if self.head else raws

    def words(self) -> str:
        return f"list of {self.item.words()}{lengths_words(self.least, self.most, 'items')}"

    def parts(self) -> list[Shape]:
        return [self.item]


@dataclass(frozen=True, eq=False)
class Flags(Items):
    """A combination of the flags of a class, as the list of their names."""

    flags: type[enum.Flag]

    def write(self, value: Any, path: str) -> Any:
        if not isinstance(value, self.flags):
            raise Mismatch(path, f"{shown(value)} is no {self.flags.__name__}")
        item = resolved(self.item)
        assert isinstance(item, LiteralValues)
        single = frozenset(flag for _, flag in item.pairs if flag in value)
        if self.make(single) != value:
            raise Mismatch(path, f"{shown(value)} has bits without a name")
        return super().write(single, path)


@dataclass(frozen=True, eq=False)
class FixedTuple(Shape):
    """A tuple of so many items, each of a shape of its own."""

    items: Sequence[Shape]
    form: Form

    def schema(self, schemas: Schemas) -> dict[str, Any]:
        return row_schema([item.schema(schemas) for item in self.items], len(self.items), self.form)

    def read(self, raw: Any, path: str) -> Any:
        raw = self.form.unmarked(row_head(len(self.items)), raw, path)
        if not isinstance(raw, list) or len(raw) != len(self.items):
            raise Mismatch(path, f"{shown(raw)} is no list of {len(self.items)}")
        return tuple(
            item.read(part, f"{path}[{k}]") for k, (item, part) in enumerate(zip(self.items, raw, strict=True))
        )

    def write(self, value: Any, path: str) -> Any:
        if not isinstance(value, tuple) or len(value) != len(self.items):
            raise Mismatch(path, f"{shown(value)} is no tuple of {len(self.items)}")
        pairs = enumerate(zip(self.items, value, strict=True))
        raws = [item.write(part, f"{path}[{k}]") for k, (item, part) in pairs]
        return self.form.marked(row_head(len(self.items)), raws)

    def words(self) -> str:
        return f"list [{', '.join(item.words() for item in self.items)}]"

    def parts(self) -> list[Shape]:
        return list(self.items)


@dataclass(frozen=True, eq=False)
class Table(Shape):
    """A dict whose keys are of one shape and whose values of another.

    ``numbered``: its keys are integers, of at most ``digits`` digits.
    """

    keys: Shape
    value: Shape
    kind: Any
    make: Callable[[dict[Any, Any]], Any]
    least: int
    most: int | None
    numbered: bool
    digits: int | None = None

    @property
    def _integer(self) -> str:
        return f"^{any_integer(self.digits)}$"

    def schema(self, schemas: Schemas) -> dict[str, Any]:
        names = self.keys.schema(schemas)
        if self.numbered:
            names = {"type": "string", "pattern": self._integer}
        schema: dict[str, Any] = {"type": "object", "additionalProperties": self.value.schema(schemas)}
        if names != {"type": "string"}:
            schema["propertyNames"] = names
        if self.least:
            schema["minProperties"] = self.least
        if self.most is not None:
            schema["maxProperties"] = self.most
        return schema

    def read(self, raw: Any, path: str) -> Any:
        if not isinstance(raw, dict):
            raise Mismatch(path, f"{shown(raw)} is no dict")
        check_count(self.least, self.most, len(raw), "members", path)
        pairs = {}
        for name, value in every(raw.items()):
            pairs[self.key_of(name, path)] = self.value.read(value, f"{path}[{name!r}]")
        return self.make(pairs)

    def key_of(self, name: str, path: str) -> Any:
        """The key that a member's name stands for. Raises Mismatch."""
        place = f"{path} key {name!r}"
        if self.numbered and not fits(self._integer, name):
            raise Mismatch(place, "it is no integer")
        return self.keys.read(integer_of(name) if self.numbered else name, place)

    def write(self, value: Any, path: str) -> Any:
        if not isinstance(value, self.kind):
            raise Mismatch(path, f"{shown(value)} is no {self.kind.__name__}")
        check_count(self.least, self.most, len(value), "members", path)
        raw = {}
        for key, member in every(value.items()):
            name = self.keys.write(key, f"{path} key {key!r}")
            raw[text_of(name) if self.numbered else name] = self.value.write(member, f"{path}[{key!r}]")
        return raw

    def words(self) -> str:
        return f"object of {self.keys.words()} to {self.value.words()}{lengths_words(self.least, self.most, 'members')}"

    def parts(self) -> list[Shape]:
        return [self.keys, self.value]


def row_schema(items: Sequence[dict[str, Any]], required: int, form: Form) -> dict[str, Any]:
    """The schema of a list whose first items are these, of which so many must be there."""
    kind = form.kind("array", row_head(len(items)), _ONE if len(items) == 1 else TUPLE)
    if not items:
        return {"type": kind, "maxItems": 0}
    return {"type": kind, "prefixItems": list(items), "items": False, "minItems": required}
