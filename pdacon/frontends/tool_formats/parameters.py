"""The parameters of a tool, one by one: what texts a value has where arguments are tagged.

In: the JSON Schema of a tool's arguments. Out: for each parameter the strings that it takes, which are written as they
are, and the grammars of its other values, which are JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from json import dumps
from typing import Any

from pdacon.base.cautions import caution
from pdacon.base.json_pointers import pointer_token
from pdacon.errors import EmptyLanguageError, UnsupportedTypeError
from pdacon.frontends.json_schema import Spelling
from pdacon.frontends.structural_tags.free_text import FreeText
from pdacon.frontends.tool_formats.argument_schema import (
    ArgumentSchema,
    ArgumentValues,
    said_in,
    self_contained_values,
)
from pdacon.frontends.tool_formats.records import Escapes, escaped_name
from pdacon.frontends.tool_formats.scalars import CONSTANTS, NUMBER, OPENINGS
from pdacon.frontends.types.grammars import told_of_types
from pdacon.regular import RegularSet

_SAID = ("type", "properties", "required", "additionalProperties", "patternProperties")
_MOST_CELLS = 32
"""Sets of patterns that the name of an argument which is not listed may match: the values of each are read apart."""
FORBIDDEN = '<>&"' + "".join(map(chr, range(32)))
"""Characters that the name of a tagged argument does not have if no schema lists it."""
_NUMBERS = RegularSet.from_regex(NUMBER)


@dataclass(frozen=True)
class Parameter:
    """A parameter of a tool."""

    name: str
    required: bool
    values: ArgumentValues


@dataclass(frozen=True)
class OtherParameters:
    """Parameters that are not listed: their names, and what value each may have."""

    names: RegularSet
    values: ArgumentValues


class ListedNames:
    """What a schema of arguments says of an argument, by its name."""

    def __init__(self, schema: ArgumentSchema) -> None:
        self._schema, self._node = schema, schema.node
        self._listed = tuple(self._node.get("properties", ()))
        self._patterns = tuple(self._node.get("patternProperties", ()))
        self._values: dict[tuple[str, ...], ArgumentValues] = {}  # at some places; there are no more than patterns tell

    @property
    def names(self) -> tuple[str, ...]:
        """Those that are listed, in their order, and behind them those that are required without that."""
        return tuple(dict.fromkeys([*self._listed, *self._schema.required]))

    @property
    def others(self) -> Any:
        """The schema of arguments whose names are not listed and match no pattern; False: there are none."""
        return self._node.get("additionalProperties", not (self._schema.closed and "properties" in self._node))

    def values(self, name: str) -> ArgumentValues | None:
        """The values of an argument; None: there is none of this name. Its schema may take no value."""
        places = self._places(name)
        return self._values_at(places) if places or self.others is not False else None

    def writable(self, escapes: Escapes) -> RegularSet:
        """The names that are not listed, as they are written; where patterns tell them apart those without escapes."""
        escapes = () if self._patterns else escapes
        listed = [escaped_name(name, escapes) for name in self.names]
        names = free_names(FORBIDDEN, tuple(spelled for _, spelled in escapes))
        return names - RegularSet.from_choices(listed) if listed else names

    def unlisted(self, names: RegularSet) -> Iterator[OtherParameters]:
        """The parameters that are not listed, of all names that may be written; those with the same values together.

        Raises UnsupportedTypeError: patterns tell too many kinds of them from one another.
        """
        if self.others is False and not self._patterns:
            return
        cells: list[tuple[RegularSet, tuple[str, ...]]] = [(names, ())]
        for pattern in self._patterns:
            matching = self._matching(pattern)
            place = _pointer("patternProperties", pattern)
            halves = [((texts & matching, (*places, place)), (texts - matching, places)) for texts, places in cells]
            cells = [cell for both in halves for cell in both if cell[0]]
            if len(cells) > _MOST_CELLS:
                why = f"its patterns tell more than {_MOST_CELLS} kinds of names from one another"
                raise UnsupportedTypeError("patternProperties", f"{why}; leave some out, or choose another format")
        for texts, places in cells:
            if places or self.others is not False:
                values = self._values_at(places)
                if values.strings or values.others:
                    yield OtherParameters(texts, values)

    def _places(self, name: str) -> tuple[str, ...]:
        """Where it is said what an argument may be, but for what is said of all others."""
        own = [_pointer("properties", name)] if name in self._listed else []
        matched = (pattern for pattern in self._patterns if name in self._matching(pattern))
        return (*own, *(_pointer("patternProperties", pattern) for pattern in matched))

    def _matching(self, pattern: str) -> RegularSet:
        return self_contained_values(dumps({"type": "string", "pattern": pattern}), Spelling(), False).strings

    def _values_at(self, places: tuple[str, ...]) -> ArgumentValues:
        """The values that satisfy the schemas at some places."""
        values = self._values.get(places)
        if values is None:
            values = self._values[places] = self._read_values(places)
        return values

    def _read_values(self, places: tuple[str, ...]) -> ArgumentValues:
        """The same. A schema that refers to nothing means the same in every tool."""
        if not places and "additionalProperties" not in self._node:
            return self_contained_values("{}", self._schema.spelling, self._schema.closed)
        return self._schema.values([self._schema.at(place) for place in places or ("/additionalProperties",)])


def _pointer(keyword: str, name: str) -> str:
    return f"/{keyword}/{pointer_token(name)}"


@cache
def free_names(forbidden: str, spelled: tuple[str, ...] = ()) -> RegularSet:
    """The names that no schema lists: with no blanks at their ends and none of some characters, for which escapes may
    stand.
    """
    others = "".join(f"|{re.escape(text)}" for text in spelled)
    inner = f"(?:[^{re.escape(forbidden)}]{others})"
    border = f"(?:[^{re.escape(forbidden)}\\s]{others})"
    return RegularSet.from_regex(f"(?:{border}(?:{inner}*{border})?)?")


def parameters_of(schema: ArgumentSchema, escapes: Escapes = ()) -> tuple[list[Parameter], list[OtherParameters]]:
    """The parameters that a schema of arguments lists, in its order, and what others there may be; without those that
    can have no value.

    Parameters
    ----------
    escapes : tuple of (str, str)
        What is written for some characters in names; see `ToolFormat`.

    Raises
    ------
    UnsupportedTypeError
        The schema says more than which parameters there are.
    EmptyLanguageError
        A required one can have no value.
    """
    schema.refuse_nothing()
    tool, names = schema.tool, ListedNames(schema)
    for keyword in said_in(schema.place):
        if keyword not in _SAID:
            why = "its arguments are tagged one by one, so that only properties and required can be said of them"
            raise UnsupportedTypeError(tool, f"{keyword}: {why}; leave it out, or choose a format with JSON arguments")
    parameters = []
    for name in names.names:
        with told_of_types(f"{tool}.{name}", {}):
            values = names.values(name)
        required = name in schema.required
        if values is not None and (values.strings or values.others):
            parameters.append(Parameter(name, required, values))
        elif required:
            why = "no value satisfies its schema" if values is not None else "is none of those listed"
            raise EmptyLanguageError(f"{tool}: the argument {name!r:.60} is required, and {why}")
    writable = names.writable(escapes)
    if schema.spelling.excludes:
        writable = writable & FreeText(schema.spelling.excludes).texts
    with told_of_types(tool, {}):
        return parameters, list(names.unlisted(writable))


def tell_of_unlisted(schema: ArgumentSchema) -> None:
    """Tell that arguments which a schema lets in on purpose cannot come, where names come twice."""
    tool, listing = schema.tool, schema.node
    if listing.get("additionalProperties"):
        caution(f"{tool}: additionalProperties: arguments have their names at both ends, so that only listed ones come")
    elif "properties" not in listing and listing.get("additionalProperties", True) is not False:
        caution(f"{tool}: its schema lists no properties: arguments have their names at both ends, so that none come")


def texts_as_they_are(
    values: ArgumentValues, *, typed: bool, python_constants: bool, stops: Sequence[str]
) -> RegularSet:
    """The strings that an argument may have, written without quotes, where none has one of ``stops``.

    Parameters
    ----------
    typed : bool
        Whether the format says beside a value that it is a string.
    """
    strings = values.strings if typed else strings_beside_json(values, python_constants)
    return strings & FreeText(tuple(stops)).texts


def have_a_text(values: ArgumentValues, stops: Sequence[str]) -> bool:
    """Whether an argument has any text where no string has one of ``stops``."""
    shortest = None if values.others else values.strings.shortest()
    if values.others or (shortest is not None and not any(stop in shortest for stop in stops)):
        return True
    return bool(values.strings & FreeText(tuple(stops)).texts)


def strings_beside_scalars(values: ArgumentValues) -> RegularSet:
    """The strings whose texts are not read as numbers or constants that there are, where these have no marks."""
    strings = values.strings
    constants = [kind for kind in ("null", "false", "true") if kind in values.kinds]
    if constants:
        strings = strings - RegularSet.from_choices(constants)
    return strings - _NUMBERS if "number" in values.kinds else strings


def strings_beside_json(values: ArgumentValues, python_constants: bool) -> RegularSet:
    """The strings whose texts are not read as values of another kind that there are, see `reads_as`."""
    strings = values.strings
    constants = [
        text for text, kind in CONSTANTS.items() if kind in values.kinds and (python_constants or text == kind)
    ]
    if constants:
        strings = strings - RegularSet.from_choices(constants)
    if "number" in values.kinds:
        strings = strings - _NUMBERS
    for opening, kind in OPENINGS.items():
        if kind in values.kinds:
            strings = strings - RegularSet.from_regex(rf"(?s)\{opening}.*")
    return strings
