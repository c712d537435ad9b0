"""What the core asks of texts that have values of several schemas in them, while they are read.

In: schemas, and the places of the text around their values. Out: an `Explorer` that answers for all of them. A place
has terminals, each of which leads to another place, and perhaps a value of one schema, with the place behind it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pdacon.frontends.json_schema.documents import Closed, Documents, Place
from pdacon.frontends.json_schema.exploring import Arrays, CountedArrays, Explorer
from pdacon.frontends.json_schema.keywords import is_assertion
from pdacon.frontends.json_schema.productions import Text
from pdacon.frontends.json_schema.schema_formulas import Reader
from pdacon.frontends.json_schema.spelling import Spelling

_COMBINING = frozenset({
    "$dynamicRef", "$recursiveRef", "dependencies", "dependentRequired", "dependentSchemas", "else", "if", "not",
    "propertyNames", "then", "unevaluatedProperties",
})  # fmt: skip
_ALTERNATIVES = ("allOf", "anyOf", "oneOf")
_SCALARS = ("null", "boolean", "number", "integer", "string")
_PARTED = (dict, list)  # which is looked at quicker than a union of types


@dataclass(frozen=True, slots=True)
class OuterPlace:
    """A place of the text around values.

    Attributes
    ----------
    edges : tuple of (bytes or arrays, int)
        Terminals, each a text or a deterministic automaton over bytes, and the place behind each.
    value : (int, int) or None
        The number of a schema whose values may come here, and the place behind them.
    may_end : bool
        Whether the text may end where nothing of the place has been read.
    """

    edges: tuple[tuple[bytes | Arrays, int], ...]
    value: tuple[int, int] | None
    may_end: bool


class OuterPlacesByNumber(Protocol):
    """Places, of which one may be made when it is asked for."""

    def __getitem__(self, number: int, /) -> OuterPlace: ...


class CallingExplorer(Explorer):
    """Answers what the core asks about texts around the values of some schemas; the text begins in place 0."""

    def __init__(
        self,
        documents: Sequence[Documents],
        spelling: Spelling,
        places: OuterPlacesByNumber,
        plain_integers: bool = False,
        closed: Closed = False,
    ) -> None:
        reader = Reader(_SideBySide(documents), True, _raise, _pass_over, closed=closed, plain_integers=plain_integers)
        super().__init__(reader, spelling, -1)
        self._roots = [one.root for one in documents]
        self._places = places
        self._outer: dict[int, bytes | Arrays] = {}

    def outer(self, number: int) -> tuple[list[tuple[int, int]], int, int, bool]:
        """Of a place the edges, the question of its value, or -1, and the place behind that; whether texts may end."""
        place = self._places[number]
        edges = [(self._numbered(terminal), to) for terminal, to in place.edges]
        question, behind = -1, -1
        if place.value is not None:
            schema, behind = place.value
            question = self.reader.question(self._roots[schema])
        return edges, question, behind, place.may_end

    def _numbered(self, terminal: bytes | Arrays) -> int:
        number = self._out.terminal(("outer", terminal), "TEXT", lambda: Text("str", ""))
        self._outer[number] = terminal
        return number

    def terminal(self, number: int) -> bytes | Arrays | CountedArrays | None:
        known = self._outer.get(number)
        return super().terminal(number) if known is None else known


class _SideBySide(Documents):
    """Documents that do not know of each other: a reference leads as it does where a document is alone."""

    def __init__(self, documents: Sequence[Documents]) -> None:
        self._owners = {one.root.drafts: one for one in documents}

    def nodes(self) -> list[Any]:
        return [node for one in self._owners.values() for node in one.nodes()]

    def resource_of(self, place: Place) -> Place | None:
        owner = self._owners.get(place.drafts)  # None of a schema that only says what is in a listed value
        return None if owner is None else owner.resource_of(place)

    def referred(self, place: Place, keyword: str) -> Place:
        return self._owners[place.drafts].referred(place, keyword)


def _raise(error: Exception) -> None:
    try:
        raise error
    finally:
        del error  # or the frame and the error would hold each other


def _pass_over(pointer: str, keyword: str, why: str) -> None:
    """What is narrowed is told when the schema's grammar is made."""


def has_order_of_its_own(schema: Any) -> bool:
    """Whether it is plain that each object of a schema has its members in an order that one list says.

    The order of members that several lists name depends on where their names stand first, in this document alone.
    """
    pending = [schema]
    while pending:
        node = pending.pop()
        if isinstance(node, list):
            pending += [part for part in node if isinstance(part, _PARTED)]
            continue
        if not isinstance(node, dict):
            continue
        if not node.keys().isdisjoint(_COMBINING):
            return False
        parts = [part for part in node.values() if isinstance(part, _PARTED)]
        if not parts and "$ref" not in node:
            continue  # what follows is about lists, objects and references
        required, listed = node.get("required"), node.get("properties")
        if isinstance(required, list) and required and not set(map(str, required)) <= set(listed or ()):
            return False
        if "$ref" in node and sum(map(is_assertion, node)) > 1:
            return False
        for keyword in _ALTERNATIVES:
            branches = node.get(keyword)
            if isinstance(branches, list):
                about = sum(not _is_scalar(branch) for branch in branches)
                if about > 1 or (about and (listed or required)):
                    return False
        pending += parts
    return True


def _is_scalar(schema: Any) -> bool:
    """Whether a schema is plainly about no objects."""
    if not isinstance(schema, Mapping):
        return isinstance(schema, bool)
    return schema.get("type") in _SCALARS
