"""The parameters of a tool, one by one: what texts a value has where arguments are tagged.

In: the JSON Schema of a tool's arguments. Out: for each parameter the strings that it takes, which are written as they
are, and the grammars of its other values, which are JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, reduce
from json import dumps, loads
from typing import Any

from pdacon.base.cautions import caution
from pdacon.base.json_pointers import pointer_names, pointer_token
from pdacon.errors import EmptyLanguageError, UnsupportedTypeError
from pdacon.frontends.insertion.borders import set_of
from pdacon.frontends.json_schema import Schema, Spelling, is_assertion
from pdacon.frontends.json_schema.json_values import NAMES
from pdacon.frontends.json_schema.keywords import is_known
from pdacon.frontends.structural_tags.free_text import FreeText
from pdacon.frontends.tool_formats.records import Escapes, escaped_name
from pdacon.frontends.tool_formats.scalars import CONSTANTS, NUMBER, OPENINGS
from pdacon.frontends.types.grammars import told_of_types
from pdacon.grammar import GrammarData
from pdacon.regular import RegularSet

_SAID = (
    "type", "properties", "required", "additionalProperties", "patternProperties", "$ref", "$defs", "definitions",
)  # fmt: skip
_MOST_CELLS = 32
"""Sets of patterns that the name of an argument which is not listed may match: the values of each are read apart."""
FORBIDDEN = '<>&"' + "".join(map(chr, range(32)))
"""Characters that the name of a tagged argument does not have if no schema lists it."""
_WITHOUT_STRINGS = ("null", "boolean", "number", "array", "object")
_NUMBERS = RegularSet.from_regex(NUMBER)


@dataclass(frozen=True)
class ArgumentValues:
    """The values of an argument.

    Attributes
    ----------
    kinds : frozenset of str
        Their kinds: ``null``, ``false``, ``true``, ``number``, ``string``, ``array``, ``object``.
    strings : RegularSet
        The values that are strings.
    others : mapping of str to RegularSet or Schema
        By JSON Schema's name of a type, the JSON of those that are no strings: of objects and arrays their schema.
    containers : Schema or None
        The schema of both, where there are objects and arrays.
    """

    kinds: frozenset[str]
    strings: RegularSet
    others: Mapping[str, RegularSet | Schema]
    containers: Schema | None = None


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
    """What a schema of arguments says of an argument, by its name.

    Parameters
    ----------
    schema : mapping
        A reference to that of an object in its ``$defs``.
    closed : bool
        Whether an object has only the properties that it lists, where it says nothing of others.
    """

    def __init__(self, schema: Mapping[str, Any], spelling: Spelling, closed: bool = False) -> None:
        self._schema, self._spelling, self._closed = schema, spelling, closed
        self.listing, self._base = listing_of(schema)
        listed, patterns = self.listing.get("properties"), self.listing.get("patternProperties")
        self._listed = listed if isinstance(listed, Mapping) else {}
        self._patterns = tuple(patterns) if isinstance(patterns, Mapping) else ()
        self._values: dict[tuple[str, ...], ArgumentValues] = {}  # at some places; there are no more than patterns tell

    @property
    def names(self) -> tuple[str, ...]:
        """Those that are listed, in their order, and behind them those that are required without that."""
        required = self.listing.get("required", ())
        return tuple(dict.fromkeys([*self._listed, *required]))

    @property
    def others(self) -> Any:
        """The schema of arguments whose names are not listed and match no pattern; False: there are none."""
        if "additionalProperties" in self.listing:
            return self.listing["additionalProperties"]
        return not (self._closed and "properties" in self.listing)

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
        if not places and "additionalProperties" not in self.listing:
            return self_contained_values("{}", self._spelling, self._closed)
        places = places or ("/additionalProperties",)
        nodes = [self._node(place) for place in places]
        references = [reference_to(self._base, place) for place in places]
        asked, reference = (parts[0] if len(parts) == 1 else {"allOf": parts} for parts in (nodes, references))
        if is_self_contained(asked, self.listing):
            return self_contained_values(_without_annotations(dumps(asked)), self._spelling, self._closed)
        return values_of(reference, self._schema["$defs"], self._spelling, self._closed)

    def _node(self, place: str) -> Any:
        node: Any = self.listing
        for name in pointer_names(place):
            node = node[name]
        return node


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


def parameters_of(
    tool: str, schema: Mapping[str, Any], spelling: Spelling, closed: bool = False, escapes: Escapes = ()
) -> tuple[list[Parameter], list[OtherParameters]]:
    """The parameters that a schema of arguments lists, in its order, and what others there may be; without those that
    can have no value.

    Parameters
    ----------
    tool : str
        Its name, for messages.
    schema : mapping
        A reference to that of an object in its ``$defs``.
    escapes : tuple of (str, str)
        What is written for some characters in names; see `ToolFormat`.

    Raises
    ------
    UnsupportedTypeError
        The schema says more than which parameters there are.
    EmptyLanguageError
        A required one can have no value.
    """
    names = ListedNames(schema, spelling, closed)
    for keyword in names.listing:
        if is_assertion(keyword) and keyword not in _SAID:
            why = "its arguments are tagged one by one, so that only properties and required can be said of them"
            raise UnsupportedTypeError(tool, f"{keyword}: {why}; leave it out, or choose a format with JSON arguments")
    parameters = []
    for name in names.names:
        with told_of_types(f"{tool}.{name}", {}):
            values = names.values(name)
        required = name in names.listing.get("required", ())
        if values is not None and (values.strings or values.others):
            parameters.append(Parameter(name, required, values))
        elif required:
            why = "no value satisfies its schema" if values is not None else "is none of those listed"
            raise EmptyLanguageError(f"{tool}: the argument {name!r:.60} is required, and {why}")
    writable = names.writable(escapes)
    if spelling.excludes:
        writable = writable & FreeText(spelling.excludes).texts
    with told_of_types(tool, {}):
        return parameters, list(names.unlisted(writable))


def tell_of_unlisted(tool: str, listing: Mapping[str, Any]) -> None:
    """Tell that arguments which a schema lets in on purpose cannot come, where names come twice."""
    if listing.get("additionalProperties"):
        caution(f"{tool}: additionalProperties: arguments have their names at both ends, so that only listed ones come")
    elif "properties" not in listing and listing.get("additionalProperties", True) is not False:
        caution(f"{tool}: its schema lists no properties: arguments have their names at both ends, so that none come")


def listing_of(schema: Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
    """The schema of an object that a schema of arguments refers to, and what references to its parts begin with."""
    pointer, listing = "#", schema
    while str(listing.get("$ref", "")).startswith("#/$defs/"):
        pointer = listing["$ref"]
        listing = schema["$defs"][pointer.removeprefix("#/$defs/")]
    identifier = listing.get("$id", listing.get("id"))
    return listing, f"{identifier}#" if isinstance(identifier, str) else pointer


def reference_to(base: str, place: str) -> dict[str, Any]:
    """A schema that refers to a place, a JSON pointer, in the schema that ``base`` leads to."""
    return {"$ref": f"{base}{place.replace('%', '%25')}"}


def is_self_contained(asked: Any, listing: Mapping[str, Any]) -> bool:
    """Whether a part of a schema means the same by itself: it refers to nothing, and no draft is named."""
    try:
        return "$schema" not in listing and "$" not in dumps(asked)
    except (TypeError, ValueError, RecursionError):
        return False


def _without_annotations(text: str) -> str:
    """A schema as JSON without what it tells readers, so that two that mean the same are one text."""
    node = loads(text)
    if not isinstance(node, dict):
        return text
    return dumps({key: value for key, value in node.items() if is_assertion(key) or not is_known(key)})


@lru_cache(maxsize=2048)
def self_contained_values(text: str, spelling: Spelling, closed: bool) -> ArgumentValues:
    return values_of(loads(text), {}, spelling, closed)


def values_of(asked: Any, definitions: Mapping[str, Any], spelling: Spelling, closed: bool) -> ArgumentValues:
    def described(asked: Any) -> Schema:
        given = {**asked, "$defs": definitions} if definitions else asked
        return Schema(given, spelling=spelling, closed=closed, plain_integers=True)

    whole = described(asked)
    kinds, strings = whole.kinds_and_strings()
    types = [name for name in _WITHOUT_STRINGS if kinds.intersection(NAMES[name])]
    others: dict[str, RegularSet | Schema] = {}
    for name in types:
        if name in ("null", "boolean"):
            others[name] = RegularSet.from_choices(kinds.intersection(NAMES[name]))
            continue
        alone = types == [name] and "string" not in kinds
        schema = whole if alone else described({"allOf": [asked], "type": name})
        try:
            others[name] = _texts(schema.grammar()) if name == "number" else schema
            if name != "number" and not schema.may_be_read_on_demand():
                schema.grammar()
        except EmptyLanguageError:
            others.pop(name, None)
    both = {"object", "array"} <= others.keys()
    containers = described({"allOf": [asked], "type": ["object", "array"]}) if both else None
    return ArgumentValues(kinds, strings, others, containers)


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


def _texts(grammar: GrammarData) -> RegularSet:
    """The sentences of a grammar of which each is one of its terminals."""
    sets = [set_of(terminal.pattern) for terminal in grammar.terminals if terminal.pattern is not None]
    return reduce(RegularSet.union, sets)


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
