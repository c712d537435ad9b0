"""The schema of a tool's arguments -> the places in it, for formats that write arguments part by part.

In: a JSON Schema. Out: the schema of the object that the arguments are, and by places the values of its parts. All
that a schema says of where others are is read by the room that reads schemas of JSON, and what is no schema there is
none here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from json import dumps, loads
from typing import Any

from pdacon.base.json_pointers import pointer_names
from pdacon.errors import EmptyLanguageError, UnsupportedTypeError
from pdacon.frontends.insertion.borders import set_of
from pdacon.frontends.json_schema import Schema, Spelling, is_assertion
from pdacon.frontends.json_schema.documents import Place
from pdacon.frontends.json_schema.drafts import LATEST
from pdacon.frontends.json_schema.json_values import NAMES
from pdacon.frontends.json_schema.keywords import exists_in, is_known
from pdacon.frontends.types.grammars import told_of_types
from pdacon.grammar import GrammarData
from pdacon.regular import RegularSet

_WITHOUT_STRINGS = ("null", "boolean", "number", "array", "object")


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


class ArgumentSchema:
    """The schema of a tool's arguments.

    Parameters
    ----------
    tool : str
        Its name, for messages.
    schema : mapping
        A reference to that of an object in its ``$defs``.
    spelling : Spelling
        How the JSON of values is written.
    closed : bool
        Whether an object has only the properties that it lists, where it says nothing of others.

    Attributes
    ----------
    whole : Schema
    place : Place
        The schema of an object that references lead to; what it says beside those is all that is said of arguments.

    Raises
    ------
    UnsupportedTypeError
        It is no schema, or a reference leads nowhere, or to another document.
    """

    def __init__(self, tool: str, schema: Mapping[str, Any], spelling: Spelling, closed: bool = False) -> None:
        self.tool, self.spelling, self.closed = tool, spelling, closed
        with told_of_types(tool, schema.get("$defs")):
            self.whole = Schema(schema, spelling=spelling, closed=closed, plain_integers=True)
            kinds, _ = self.whole.kinds_and_strings()
            self._documents = self.whole.documents
            root = self._documents.root
            self._definitions: Mapping[str, Any] = root.node["$defs"]
            self._own = self._documents.referred(root, "$ref").pointer
            self.place = self._resolved(root)
        self._takes_objects = "object" in kinds

    @property
    def node(self) -> Mapping[str, Any]:
        """What is said of the object."""
        node: Mapping[str, Any] | bool = self.place.node
        return {} if isinstance(node, bool) else node

    @property
    def required(self) -> tuple[str, ...]:
        """The names of arguments that have to come."""
        return required_in(self.node)

    def refuse_nothing(self) -> None:
        """Raise EmptyLanguageError if it is plain that there are no arguments that satisfy the schema."""
        if not self._takes_objects:
            raise EmptyLanguageError(f"{self.tool}: no arguments satisfy its schema")

    def at(self, pointer: str) -> Place:
        """A place within the schema of the object, by its pointer from there."""
        place = self.place.below(pointer_names(pointer))
        assert place is not None  # pointers come from the walk through this schema
        return place

    def target(self, place: Place) -> Place:
        """Where the ``$ref`` of a place leads."""
        return self._documents.referred(place, "$ref")

    def shown(self, place: Place) -> str:
        """The pointer of a place as messages have it: from the schema of the tool on."""
        own = place.pointer.removeprefix(self._own)
        return own if own != place.pointer and own[:1] in ("", "/") else place.pointer

    def reference(self, place: Place) -> dict[str, Any]:
        """A schema by itself that refers to a place.

        Raises UnsupportedTypeError: what a dynamic reference means there depends on the way to the place.
        """
        if not {"", place.base}.issuperset(place.scope):
            why = "what a dynamic reference means here depends on the documents around it"
            advice = "write $ref, or choose a format with JSON arguments"
            raise UnsupportedTypeError(f"{self.tool}{self.shown(place)}", f"$dynamicRef: {why}; {advice}")
        return {"$ref": place.pointer.replace("%", "%25"), "$defs": self._definitions}

    def values(self, places: Sequence[Place]) -> ArgumentValues:
        """The values that satisfy the schemas at some places. What refers to nothing means the same in every tool."""
        if all(map(is_self_contained, places)):
            text = dumps(_all_of([place.node for place in places]))
            return self_contained_values(_without_annotations(text), self.spelling, self.closed)
        references = [self.reference(place) for place in places]
        asked = _all_of([{"$ref": reference["$ref"]} for reference in references])
        return values_of(asked, self._definitions, self.spelling, self.closed)

    def _resolved(self, place: Place) -> Place:
        """The place that a schema leads to, where it says only that a value is an object, and what others say."""
        seen = set[int]()
        while id(place.node) not in seen:
            seen.add(id(place.node))
            parts = self._parts(place)
            telling = [part for part in parts if not _is_of_objects(part)] or parts[:1]
            if len(telling) != 1 or telling[0] is place:
                break
            (place,) = telling
        return place

    def _parts(self, place: Place) -> list[Place]:
        """The schemas that a schema is no more than all of; itself if it says more."""
        said = [keyword for keyword in said_in(place) if keyword != "type"]
        if said == ["$ref"]:
            return [self.target(place)]
        if said == ["allOf"]:
            return [place.child("allOf", k) for k in range(len(place.node["allOf"]))]
        return [place]


@dataclass(frozen=True, slots=True)
class ToolSchema:
    """A tool's name and the JSON Schema of its arguments, with all that it refers to.

    ``parts`` is what it says of each argument, for formats that do not write them as one JSON.
    """

    name: str
    arguments: Mapping[str, Any]
    closed: bool = False  # whether objects have only the properties listed
    parts: ArgumentSchema | None = field(default=None, compare=False, repr=False)


def said_in(place: Place) -> list[str]:
    """The keywords of a schema that say something of values, in its draft."""
    node = place.node
    if not isinstance(node, Mapping):
        return []
    if "$ref" in node and place.draft <= 7:  # what is beside it means nothing
        return ["$ref"]
    return [keyword for keyword in node if is_assertion(keyword) and exists_in(keyword, place.draft)]


def required_in(node: Mapping[str, Any]) -> tuple[str, ...]:
    """The names that a schema requires. Up to draft 4 a Boolean may stand there, which says nothing."""
    required = node.get("required", ())
    return () if isinstance(required, bool) else tuple(required)


def is_self_contained(place: Place) -> bool:
    """Whether a schema means the same by itself: it refers to nothing, and is of the latest draft."""
    try:
        return place.draft == LATEST and "$" not in dumps(place.node)
    except (TypeError, ValueError, RecursionError):
        return False


def _is_of_objects(place: Place) -> bool:
    """Whether a schema says no more of objects than that a value is one."""
    if place.node is False:
        return False
    types = place.node.get("type", "object") if isinstance(place.node, Mapping) else "object"
    return place.node is True or (set(said_in(place)) <= {"type"} and "object" in types)


def _all_of(nodes: Sequence[Any]) -> Any:
    return nodes[0] if len(nodes) == 1 else {"allOf": list(nodes)}


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


def _texts(grammar: GrammarData) -> RegularSet:
    """The sentences of a grammar of which each is one of its terminals."""
    sets = [set_of(terminal.pattern) for terminal in grammar.terminals if terminal.pattern is not None]
    return reduce(RegularSet.union, sets)
