"""`Shape`: what a type's values are, how they are written, and what is made of what was read.

In: nothing. Out: the base of all shapes, the schemas that they refer to, and the errors of values that do not fit.

A *raw* value is what lies between a text and an instance: what ``json.loads`` gives, with `Real` for numbers that are
not integers, and `Marked` for what only Python's form has, such as ``Point(x=1)``.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from pdacon.frontends.long_integers import text_of


class Mismatch(ValueError):
    """A value is not one of a shape. ``path`` is its place, such as ``Order.items[0].price``."""

    def __init__(self, path: str, why: str) -> None:
        self.path, self.why = path, why
        super().__init__(f"{path}: {why}")


class Refused(Mismatch):
    """A class does not take a value that its shape takes: what it raised is the cause."""


@dataclass(frozen=True, slots=True)
class Real:
    """A number with a fraction or an exponent, as it is written: a float or a Decimal is made of it."""

    text: str


@dataclass(frozen=True, slots=True)
class Marked:
    """A raw value with what stands around it: a constructor's name, or that of a bracket of Python's."""

    head: str
    value: Any


class Schemas:
    """The definitions that schemas refer to: each shape with a name of its own is one."""

    def __init__(self) -> None:
        self.definitions: dict[str, Any] = {}
        self._names: dict[int, str] = {}
        self._numbers: dict[int, int] = {}

    def number(self, shape: Shape) -> int:
        """A number for a shape whose schema has a base of its own."""
        return self._numbers.setdefault(id(shape), len(self._numbers))

    def reference(self, shape: Named) -> dict[str, Any]:
        """A schema that refers to the one of a shape."""
        name = self._names.get(id(shape))
        if name is None:
            stem = name = re.sub(r"\W+", "_", shape.name).strip("_") or "value"
            count = 1
            while name in self.definitions:
                count += 1
                name = f"{stem}_{count}"
            self._names[id(shape)] = name
            self.definitions[name] = True
            self.definitions[name] = shape.own_schema(self)
        return {"$ref": f"#/$defs/{name}"}


class Shape(ABC):
    """What the values of a type are."""

    @abstractmethod
    def schema(self, schemas: Schemas) -> dict[str, Any]:
        """The JSON Schema of the raw values."""

    @abstractmethod
    def read(self, raw: Any, path: str) -> Any:
        """The value that a raw one stands for.

        Raises
        ------
        Mismatch
            It stands for none.
        """

    @abstractmethod
    def write(self, value: Any, path: str) -> Any:
        """The raw value for a value.

        Raises
        ------
        Mismatch
            The value is not one of this shape.
        """

    @abstractmethod
    def words(self) -> str:
        """What it is, in a few words, such as ``list of Item``."""

    def parts(self) -> list[Shape]:
        """The shapes that it is made of."""
        return []


class Named(Shape):
    """A shape with a name, to which schemas refer."""

    name: str

    @abstractmethod
    def own_schema(self, schemas: Schemas) -> dict[str, Any]:
        """Its schema, where it is defined."""

    def schema(self, schemas: Schemas) -> dict[str, Any]:
        return schemas.reference(self)

    def words(self) -> str:
        return self.name


class Later(Named):
    """A shape that is still being made where it is first used: that of a recursive type."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.target: Shape | None = None

    def own_schema(self, schemas: Schemas) -> dict[str, Any]:
        return self._target().schema(schemas)

    def schema(self, schemas: Schemas) -> dict[str, Any]:
        target = self._target()
        return target.schema(schemas) if isinstance(target, Named) else schemas.reference(self)

    def read(self, raw: Any, path: str) -> Any:
        return self._target().read(raw, path)

    def write(self, value: Any, path: str) -> Any:
        return self._target().write(value, path)

    def parts(self) -> list[Shape]:
        return [self._target()]

    def _target(self) -> Shape:
        assert self.target is not None
        return self.target


def resolved(shape: Shape) -> Shape:
    """The shape itself, where it was one that was made later."""
    while isinstance(shape, Later) and shape.target is not None:
        shape = shape.target
    return shape


def shown(value: Any) -> str:
    """A value in a message."""
    try:
        text = repr(value.text if isinstance(value, Real) else value)
    except ValueError:  # Python writes no integer of thousands of digits
        text = text_of(value) if isinstance(value, int) else f"{type(value).__name__} with a long integer"
    return text if len(text) <= 60 else f"{text[:57]}..."


def row_head(count: int) -> str:
    """The mark of a tuple of so many items: one of one item has a comma of its own."""
    return "tuple of one" if count == 1 else "tuple"
