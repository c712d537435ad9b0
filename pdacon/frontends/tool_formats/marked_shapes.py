"""The JSON Schema of a tool's arguments -> what may stand at each place, for formats with notations of their own.

In: a schema. Out: shapes. In such a notation a value is written part by part, so that a schema has to say of each part
by itself what it may be: which members there are, what an item is. What else it says is an error that names it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

from pdacon.errors import UnsupportedTypeError
from pdacon.frontends.json_schema import Schema
from pdacon.frontends.json_schema.documents import Place
from pdacon.frontends.json_schema.json_values import kind_of
from pdacon.frontends.json_schema.notation import Notation
from pdacon.frontends.tool_formats.argument_schema import (
    ArgumentSchema,
    ArgumentValues,
    is_self_contained,
    required_in,
    said_in,
    self_contained_values,
)

_OF_OBJECTS = ("properties", "required", "additionalProperties")
_OF_ARRAYS = ("items", "minItems", "maxItems")
_OF_SCALARS = (
    "pattern", "format", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
    "multipleOf",
)  # fmt: skip
_ANY_OF = ("anyOf", "oneOf")
_PYTHON = Notation({"null": "None", "false": "False", "true": "True"}, {})


@dataclass(frozen=True)
class Members:
    """The members of an object: those listed, by their names, and at each place whether it has to come; and others.

    ``others`` is the place of what any member of another name may be; None: there are no others.
    """

    listed: Mapping[str, tuple[bool, str]]
    others: str | None = None


@dataclass(frozen=True)
class Items:
    """The items of an array: the place of what each may be, and how many there are."""

    each: str
    least: int = 0
    most: int | None = None


@dataclass(frozen=True)
class Shape:
    """What may stand at a place: the kinds of values, strings and scalars, members and items."""

    values: ArgumentValues
    members: Members | None
    items: Items | None


class Shapes:
    """The shapes of the arguments of a tool, by their places, as `ArgumentSchema.shown` has them.

    ``ANYTHING`` is the place of any value.
    """

    ANYTHING = "*"

    def __init__(self, schema: ArgumentSchema) -> None:
        self._schema = schema
        self._places: dict[str, Place] = {}
        self._shapes: dict[str, Shape] = {}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All names that some object lists or requires."""
        names: dict[str, None] = {}
        pending: list[Any] = [self._schema.whole.documents.root.node]
        while pending:
            node = pending.pop()
            if isinstance(node, Mapping):
                listed, required = node.get("properties"), node.get("required")
                names.update(dict.fromkeys(listed if isinstance(listed, Mapping) else ()))
                words = required if isinstance(required, list) else ()
                names.update(dict.fromkeys(word for word in words if isinstance(word, str)))
                pending += node.values()
            elif isinstance(node, list):
                pending += node
        return tuple(sorted(names))

    @property
    def excludes(self) -> tuple[str, ...]:
        """Texts that no string has in it."""
        return self._schema.spelling.excludes

    def arguments(self) -> Members:
        """The arguments."""
        return self._members(self._schema.place)

    def at(self, place: str) -> Shape:
        """What may stand at a place that members or items have.

        Raises
        ------
        UnsupportedTypeError
            The schema says more of its parts than what each may be.
        EmptyLanguageError
            There is no value.
        """
        if place not in self._shapes:
            self._shapes[place] = self._shape(place)
        return self._shapes[place]

    def in_python(self, place: str) -> Schema:
        """All values of a place, written as Python's."""
        asked: Any = {}
        if place != self.ANYTHING:
            at = self._places[place]
            asked = at.node if is_self_contained(at) else self._schema.reference(at)
        spelling, closed = self._schema.spelling, self._schema.closed
        return Schema(asked, spelling=spelling, closed=closed, plain_integers=True, notation=_PYTHON)

    def _key(self, place: Place) -> str:
        """What a place is called."""
        key = self._schema.shown(place)
        self._places[key] = place
        return key

    def _shape(self, key: str) -> Shape:
        if key == self.ANYTHING:
            return Shape(self_contained_values("{}", self._schema.spelling, False), Members({}, key), Items(key))
        place = self._places[key]
        values = self._schema.values([place])
        members = self._members(place) if "object" in values.kinds else None
        items = self._items(place) if "array" in values.kinds else None
        return Shape(values, members, items)

    def _alternatives(self, place: Place, seen: tuple[Place, ...] = ()) -> list[Place]:
        """The schemas of which a value satisfies one."""
        node, said = place.node, said_in(place)
        combined = [name for name in said if name in (*_ANY_OF, "allOf", "$ref")]
        if not combined:
            return [place]
        if len(said) > 1 or place in seen or (combined == ["allOf"] and len(node["allOf"]) > 1):
            self._refuse(place, combined[0], "beside other keywords it cannot be written part by part")
        (name,) = combined
        inner = (
            [self._schema.target(place)] if name == "$ref" else [place.child(name, k) for k in range(len(node[name]))]
        )
        return [alternative for each in inner for alternative in self._alternatives(each, (*seen, place))]

    def _members(self, place: Place) -> Members:
        chosen = self._only(place, "object", _OF_OBJECTS)
        if chosen is None:
            return Members({}, self.ANYTHING)
        node = chosen.node
        listed, required = node.get("properties", {}), required_in(node)
        others = node.get("additionalProperties", not (self._schema.closed and "properties" in node))
        at_others = None
        if others is not False:
            at_others = self.ANYTHING if others in (True, {}) else self._key(chosen.child("additionalProperties"))
        places = {name: self._key(chosen.child("properties", name)) for name in listed}
        for name in required:
            if at_others is not None:
                places.setdefault(name, at_others)
            elif name not in listed:
                self._refuse(chosen, "required", f"{name!r:.40} is none of the properties listed")
        return Members({name: (name in required, at) for name, at in places.items()}, at_others)

    def _items(self, place: Place) -> Items:
        chosen = self._only(place, "array", _OF_ARRAYS)
        if chosen is None:
            return Items(self.ANYTHING)
        node = chosen.node
        items, least, most = node.get("items", True), int(node.get("minItems", 0)), node.get("maxItems")
        if isinstance(items, list):
            self._refuse(chosen, "items", "a list says of each item by its place what it may be")
        each = self.ANYTHING if items in (True, {}) else self._key(chosen.child("items"))
        return Items(each, least, None if most is None else int(most))

    def _only(self, place: Place, kind: str, keywords: tuple[str, ...]) -> Place | None:
        """The one of the alternatives at a place that takes arrays, or objects; None: it says nothing of them."""
        chosen = []
        for at in self._alternatives(place):
            node, said = at.node, said_in(at)
            if node is False or "const" in said or "enum" in said:
                values = [node[name] for name in ("const",) if name in said]
                values += node["enum"] if "enum" in said else ()
                if any(kind_of(value) == kind for value in values):
                    self._refuse(at, "enum", f"a listed {kind} cannot be written part by part")
                continue
            types = node.get("type", kind) if said else kind
            if kind not in ([types] if isinstance(types, str) else types):
                continue
            for name in said:
                if name not in (*_OF_SCALARS, "type", *_OF_OBJECTS, *_OF_ARRAYS):
                    self._refuse(at, name, "it is about all parts of a value, and each is written by itself")
            chosen.append(at)
        if len(chosen) > 1:
            self._refuse(place, "anyOf", f"there are several kinds of {kind}")
        return chosen[0] if chosen and not set(said_in(chosen[0])).isdisjoint(keywords) else None

    def _refuse(self, place: Place, keyword: str, why: str) -> NoReturn:
        advice = "leave it out, or choose a format with JSON arguments"
        named = f"{self._schema.tool}{self._schema.shown(place)}"
        raise UnsupportedTypeError(named, f"{keyword}: {why}; {advice}")
