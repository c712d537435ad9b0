"""The parameters of a tool, one by one: what texts a value has where arguments are tagged.

In: the JSON Schema of a tool's arguments. Out: for each parameter the strings that it takes, which are written as they
are, and the grammars of its other values, which are JSON.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from json import dumps, loads
from typing import Any

from pdacon.base.cautions import caution
from pdacon.errors import EmptyLanguageError, UnsupportedTypeError
from pdacon.frontends.insertion.borders import set_of
from pdacon.frontends.json_schema import Schema, Spelling, is_assertion
from pdacon.frontends.json_schema.json_values import NAMES
from pdacon.frontends.json_schema.keywords import is_known
from pdacon.frontends.structural_tags.free_text import FreeText
from pdacon.frontends.tool_formats.scalars import CONSTANTS, NUMBER, OPENINGS
from pdacon.frontends.types.grammars import told_of_types
from pdacon.grammar import GrammarData
from pdacon.regular import RegularSet

_SAID = ("type", "properties", "required", "additionalProperties", "$ref", "$defs", "definitions")
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


def parameters_of(tool: str, schema: Mapping[str, Any], spelling: Spelling, closed: bool = False) -> list[Parameter]:
    """The parameters that a schema of arguments lists, in its order; without those that can have no value.

    Parameters
    ----------
    tool : str
        Its name, for messages.
    schema : mapping
        A reference to that of an object in its ``$defs``.

    Raises
    ------
    UnsupportedTypeError
        The schema says more than which parameters there are.
    EmptyLanguageError
        A required one can have no value.
    """
    listing, base = listing_of(schema)
    for keyword in listing:
        if is_assertion(keyword) and keyword not in _SAID:
            why = "its arguments are tagged one by one, so that only properties and required can be said of them"
            raise UnsupportedTypeError(tool, f"{keyword}: {why}; leave it out, or choose a format with JSON arguments")
    tell_of_unlisted(tool, listing)
    listed, required = listing.get("properties", {}), listing.get("required", ())
    for missing in required:
        if missing not in listed:
            raise EmptyLanguageError(f"{tool}: the argument {missing!r:.60} is required, and is none of those listed")
    parameters = []
    for name in listed:
        with told_of_types(f"{tool}.{name}", {}):
            values = _values(schema, listing, base, name, spelling, closed)
        if values.strings or values.others:
            parameters.append(Parameter(name, name in required, values))
        elif name in required:
            raise EmptyLanguageError(
                f"{tool}: the argument {name!r:.60} is required, and no value satisfies its schema"
            )
    return parameters


def tell_of_unlisted(tool: str, listing: Mapping[str, Any]) -> None:
    """Tell that arguments which a schema lets in on purpose cannot come, since only listed ones can be tagged."""
    if listing.get("additionalProperties"):
        caution(f"{tool}: additionalProperties: arguments are tagged by their names, so that only listed ones come")
    elif "properties" not in listing and listing.get("additionalProperties", True) is not False:
        caution(f"{tool}: its schema lists no properties: arguments are tagged by their names, so that none come")


def kinds_of(schema: Mapping[str, Any]) -> dict[str, frozenset[str]]:
    """The kinds of values that each parameter takes, by its name."""
    listing, base = listing_of(schema)
    return {name: _values(schema, listing, base, name, Spelling()).kinds for name in listing.get("properties", {})}


def listed_names(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the parameters that a schema lists, in its order."""
    listed = listing_of(schema)[0].get("properties", {})
    return tuple(listed) if isinstance(listed, Mapping) else ()


def listing_of(schema: Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
    """The schema of an object that a schema of arguments refers to, and what references to its parts begin with."""
    pointer, listing = "#", schema
    while str(listing.get("$ref", "")).startswith("#/$defs/"):
        pointer = listing["$ref"]
        listing = schema["$defs"][pointer.removeprefix("#/$defs/")]
    identifier = listing.get("$id", listing.get("id"))
    return listing, f"{identifier}#" if isinstance(identifier, str) else pointer


def _values(
    schema: Mapping[str, Any],
    listing: Mapping[str, Any],
    base: str,
    name: str,
    spelling: Spelling,
    closed: bool = False,
) -> ArgumentValues:
    """The values of an argument. A schema that refers to nothing means the same in every tool."""
    try:
        text = dumps(listing["properties"][name])
    except (TypeError, ValueError, RecursionError):
        text = "$"
    if "$" not in text and "$schema" not in listing:
        return self_contained_values(_without_annotations(text), spelling, closed)
    reference = {"$ref": f"{base}/properties/{name.replace('~', '~0').replace('/', '~1')}"}
    return values_of(reference, schema["$defs"], spelling, closed)


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
