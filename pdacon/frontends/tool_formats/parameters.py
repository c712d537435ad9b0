"""The parameters of a tool, one by one: what texts a value has where arguments are tagged.

In: the JSON Schema of a tool's arguments. Out: for each parameter the strings that it takes, which are written as they
are, and the grammars of its other values, which are JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

from pdacon.base.cautions import caution
from pdacon.errors import EmptyLanguageError, UnsupportedTypeError
from pdacon.frontends.insertion.borders import set_of
from pdacon.frontends.json_schema import Schema, Spelling, is_assertion
from pdacon.frontends.tool_formats.scalars import CONSTANTS, NUMBER, OPENINGS
from pdacon.grammar import GrammarData
from pdacon.regular import RegularSet

_SAID = ("type", "properties", "required", "additionalProperties", "$ref", "$defs", "definitions")
_TYPES = {"null": ("null",), "boolean": ("false", "true"), **{name: (name,) for name in ("number", "array", "object")}}
_NUMBERS = RegularSet.from_regex(NUMBER)


@dataclass(frozen=True)
class Parameter:
    """A parameter of a tool.

    Attributes
    ----------
    kinds : frozenset of str
        The kinds of its values: ``null``, ``false``, ``true``, ``number``, ``string``, ``array``, ``object``.
    strings : RegularSet
        The values that are strings.
    others : mapping of str to RegularSet or GrammarData
        By JSON Schema's name of a type, the JSON of its values that are no strings.
    """

    name: str
    required: bool
    kinds: frozenset[str]
    strings: RegularSet
    others: Mapping[str, RegularSet | GrammarData]


def parameters_of(tool: str, schema: Mapping[str, Any], spelling: Spelling) -> list[Parameter]:
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
    own, values = _listed(schema, spelling)
    for keyword in own:
        if is_assertion(keyword) and keyword not in _SAID:
            why = "its arguments are tagged one by one, so that only properties and required can be said of them"
            raise UnsupportedTypeError(tool, f"{keyword}: {why}; leave it out, or choose a format with JSON arguments")
    if own.get("additionalProperties"):
        caution(f"{tool}: additionalProperties: arguments are tagged by their names, so that only listed ones come")
    required = own.get("required", ())
    for missing in required:
        if missing not in values:
            raise EmptyLanguageError(f"{tool}: the argument {missing!r:.60} is required, and is none of those listed")
    parameters = []
    for name, value in values.items():
        kinds, strings = value.whole.kinds_and_strings()
        others = dict(value.others(kinds))
        if strings or others:
            parameters.append(Parameter(name, name in required, kinds, strings, others))
        elif name in required:
            raise EmptyLanguageError(
                f"{tool}: the argument {name!r:.60} is required, and no value satisfies its schema"
            )
    return parameters


def kinds_of(schema: Mapping[str, Any]) -> dict[str, frozenset[str]]:
    """The kinds of values that each parameter takes, by its name; as `Parameter` has them."""
    _, values = _listed(schema, Spelling())
    return {name: value.whole.kinds_and_strings()[0] for name, value in values.items()}


def _listed(schema: Mapping[str, Any], spelling: Spelling) -> tuple[Mapping[str, Any], dict[str, _Value]]:
    """The schema of an object that a schema of arguments is or refers to, and what it says of each parameter."""
    definitions, pointer, own = schema["$defs"], "#", schema
    while str(own.get("$ref", "")).startswith("#/$defs/"):
        pointer = own["$ref"]
        own = definitions[pointer.removeprefix("#/$defs/")]
    identifier = own.get("$id", own.get("id"))
    base = f"{identifier}#" if isinstance(identifier, str) else pointer
    return own, {
        name: _Value(definitions, {"$ref": f"{base}/properties/{name.replace('~', '~0').replace('/', '~1')}"}, spelling)
        for name in own.get("properties", {})
    }


class _Value:
    """The schema of one argument, with what it refers to."""

    def __init__(self, definitions: Mapping[str, Any], reference: dict[str, str], spelling: Spelling) -> None:
        self._definitions, self._reference, self._spelling = definitions, reference, spelling
        self.whole = self._schema(reference)

    def _schema(self, asked: dict[str, Any]) -> Schema:
        return Schema({"$defs": self._definitions, **asked}, spelling=self._spelling, plain_integers=True)

    def others(self, kinds: frozenset[str]) -> Iterator[tuple[str, RegularSet | GrammarData]]:
        """The values that are no strings, by type."""
        types = [name for name, of_type in _TYPES.items() if kinds.intersection(of_type)]
        for name in types:
            if name in ("null", "boolean"):
                yield name, RegularSet.from_choices(kinds.intersection(_TYPES[name]))
                continue
            alone = types == [name] and "string" not in kinds
            schema = self.whole if alone else self._schema({"allOf": [self._reference, {"type": name}]})
            try:
                grammar = schema.grammar()
            except EmptyLanguageError:
                continue
            yield name, _texts(grammar) if name == "number" else grammar


def _texts(grammar: GrammarData) -> RegularSet:
    """The sentences of a grammar of which each is one of its terminals."""
    sets = [set_of(terminal.pattern) for terminal in grammar.terminals if terminal.pattern is not None]
    return reduce(RegularSet.union, sets)


def strings_beside_json(parameter: Parameter, python_constants: bool) -> RegularSet:
    """The strings of a parameter whose texts are not read as values of another kind that it takes, see `reads_as`."""
    strings = parameter.strings
    constants = [
        text for text, kind in CONSTANTS.items() if kind in parameter.kinds and (python_constants or text == kind)
    ]
    if constants:
        strings = strings - RegularSet.from_choices(constants)
    if "number" in parameter.kinds:
        strings = strings - _NUMBERS
    for opening, kind in OPENINGS.items():
        if kind in parameter.kinds:
            strings = strings - RegularSet.from_regex(rf"(?s)\{opening}.*")
    return strings
