"""The JSON Schema of a tool's arguments -> what may stand at each place, for formats with notations of their own.

In: a schema. Out: shapes. In such a notation a value is written part by part, so that a schema has to say of each part
by itself what it may be: which members there are, what an item is. What else it says is an error that names it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from json import dumps
from typing import Any, NoReturn

from pdacon.base.json_pointers import pointer_names, pointer_token
from pdacon.errors import UnsupportedTypeError
from pdacon.frontends.json_schema import Schema, Spelling, is_assertion
from pdacon.frontends.json_schema.json_values import kind_of
from pdacon.frontends.json_schema.notation import Notation
from pdacon.frontends.tool_formats.parameters import (
    ArgumentValues,
    is_self_contained,
    listing_of,
    reference_to,
    self_contained_values,
    values_of,
)

_OF_OBJECTS = ("properties", "required", "additionalProperties")
_OF_ARRAYS = ("items", "minItems", "maxItems")
_ELSEWHERE = ("$defs", "definitions", "$id", "$schema", "id")
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
    """The shapes of the arguments of a tool, by their places. ``ANYTHING`` is the place of any value.

    Parameters
    ----------
    tool : str
        Its name, for messages.
    """

    ANYTHING = "*"

    def __init__(
        self, tool: str, schema: Mapping[str, Any], spelling: Spelling | None = None, closed: bool = False
    ) -> None:
        self._tool, self._schema, self._spelling, self._closed = tool, schema, spelling or Spelling(), closed
        listing, self._base = listing_of(schema)
        self._has_definitions_beside = self._base.startswith("#/$defs/")
        self._listing = {**listing, "$defs": schema["$defs"]} if self._has_definitions_beside else listing
        self._shapes: dict[str, Shape] = {}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All names that some object lists or requires."""
        names: dict[str, None] = {}
        pending: list[Any] = [self._schema]
        while pending:
            node = pending.pop()
            if isinstance(node, Mapping):
                listed, required = node.get("properties"), node.get("required")
                names.update(dict.fromkeys(listed if isinstance(listed, Mapping) else ()))
                names.update(dict.fromkeys(required if isinstance(required, list | tuple) else ()))
                pending += node.values()
            elif isinstance(node, list | tuple):
                pending += node
        return tuple(sorted(names))

    @property
    def excludes(self) -> tuple[str, ...]:
        """Texts that no string has in it."""
        return self._spelling.excludes

    def arguments(self) -> Members:
        """The arguments."""
        return self._members("")

    def at(self, place: str) -> Shape:
        """What may stand at a place, a JSON pointer into the schema of arguments.

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
        node = {} if place == self.ANYTHING else self._node(place)
        definitions = self._schema.get("$defs", {})
        is_alone = place == self.ANYTHING or is_self_contained(node, self._listing)
        asked = node if is_alone else {**self._reference(place), "$defs": definitions}
        return Schema(asked, spelling=self._spelling, closed=self._closed, plain_integers=True, notation=_PYTHON)

    def _shape(self, place: str) -> Shape:
        if place == self.ANYTHING:
            return Shape(self_contained_values("{}", self._spelling, False), Members({}, place), Items(place))
        node = self._node(place)
        values = self._values(node, place)
        members = self._members(place) if "object" in values.kinds else None
        items = self._items(place) if "array" in values.kinds else None
        return Shape(values, members, items)

    def _values(self, node: Any, place: str) -> ArgumentValues:
        if is_self_contained(node, self._listing):
            return self_contained_values(dumps(node), self._spelling, self._closed)
        return values_of(self._reference(place), self._schema.get("$defs", {}), self._spelling, self._closed)

    def _node(self, place: str) -> Any:
        node: Any = self._listing
        for key in pointer_names(place):
            node = node[int(key)] if isinstance(node, list) else node[key]
        return node

    def _alternatives(self, place: str, seen: tuple[str, ...] = ()) -> list[tuple[str, Any]]:
        """The schemas of which a value satisfies one, with their places."""
        node = self._node(place)
        if node is True or not isinstance(node, Mapping):
            return [(place, {} if node is True else node)]
        said = [name for name in node if is_assertion(name) and name not in _ELSEWHERE]
        combined = [name for name in said if name in (*_ANY_OF, "allOf", "$ref")]
        if not combined:
            return [(place, node)]
        if len(said) > 1 or place in seen or (combined == ["allOf"] and len(node["allOf"]) > 1):
            self._refuse(place, combined[0], "beside other keywords it cannot be written part by part")
        if combined == ["$ref"]:
            return self._alternatives(self._target(place, node["$ref"]), (*seen, place))
        (name,) = combined
        return [
            alternative
            for k in range(len(node[name]))
            for alternative in self._alternatives(f"{place}/{name}/{k}", (*seen, place))
        ]

    def _target(self, place: str, reference: str) -> str:
        """The place that a reference leads to; definitions beside those of the arguments have places among theirs."""
        if self._has_definitions_beside and reference.startswith("#/$defs/"):
            return reference[1:]
        begins = next((begin for begin in ("#", self._base) if reference.startswith(begin)), None)
        if begins is None:
            self._refuse(place, "$ref", "it leads out of the schema of the tool")
        return reference[len(begins) :]

    def _reference(self, place: str) -> dict[str, Any]:
        """A schema that refers to a place."""
        beside = self._has_definitions_beside and place.startswith("/$defs/")
        return reference_to("#" if beside else self._base, place)

    def _members(self, place: str) -> Members:
        chosen = self._only(place, "object", _OF_OBJECTS)
        if chosen is None:
            return Members({}, self.ANYTHING)
        place, node = chosen
        listed, required = node.get("properties", {}), node.get("required", ())
        others = node.get("additionalProperties", not (self._closed and "properties" in node))
        at_others = None
        if others is not False:
            at_others = self.ANYTHING if others in (True, {}) else f"{place}/additionalProperties"
        places = {name: f"{place}/properties/{pointer_token(name)}" for name in listed}
        for name in required:
            if at_others is not None:
                places.setdefault(name, at_others)
            elif name not in listed:
                self._refuse(place, "required", f"{name!r:.40} is none of the properties listed")
        return Members({name: (name in required, at) for name, at in places.items()}, at_others)

    def _items(self, place: str) -> Items:
        chosen = self._only(place, "array", _OF_ARRAYS)
        if chosen is None:
            return Items(self.ANYTHING)
        place, node = chosen
        each = self.ANYTHING if node.get("items", True) in (True, {}) else f"{place}/items"
        return Items(each, node.get("minItems", 0), node.get("maxItems"))

    def _only(self, place: str, kind: str, keywords: tuple[str, ...]) -> tuple[str, Any] | None:
        """The one of the alternatives at a place that takes arrays, or objects; None: it says nothing of them."""
        chosen = []
        for at, node in self._alternatives(place):
            if not isinstance(node, Mapping) or "const" in node or "enum" in node:
                listed = [] if not isinstance(node, Mapping) else [node.get("const"), *node.get("enum", ())]
                if any(kind_of(value) == kind for value in listed):
                    self._refuse(at, "enum", f"a listed {kind} cannot be written part by part")
                continue
            types = node.get("type", kind)
            if kind not in ([types] if isinstance(types, str) else types):
                continue
            for name in node:
                allowed = (*keywords, *_ELSEWHERE, *_OF_SCALARS, "type", *_OF_OBJECTS, *_OF_ARRAYS)
                if is_assertion(name) and name not in allowed:
                    self._refuse(at, name, "it is about all parts of a value, and each is written by itself")
            chosen.append((at, node))
        if len(chosen) > 1:
            self._refuse(place, "anyOf", f"there are several kinds of {kind}")
        return chosen[0] if chosen and any(name in chosen[0][1] for name in keywords) else None

    def _refuse(self, place: str, keyword: str, why: str) -> NoReturn:
        advice = "leave it out, or choose a format with JSON arguments"
        raise UnsupportedTypeError(f"{self._tool}{place}", f"{keyword}: {why}; {advice}")
