"""Finds the values of which a schema counts members (``minProperties``) beside alternatives (``anyOf``).

In: documents, and which of their schemas count members, and which have alternatives. Out: the schemas of the values to
which both apply. Whether counting is refused there depends on all that is asked of the value. So it can be tried with
its schema alone only where nothing else can be asked: where each text that has the value asks for the whole of its
schema, whatever has come before.

That depends on the type of the value. An alternative is certain for objects if it is the only one that has any; and so
is what it says of a member for values of a type that no other alternative lets the member have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from functools import reduce
from operator import and_, or_
from typing import Any

from pdacon.base.cancelling import look
from pdacon.frontends.json_schema.documents import REFERENCES, Documents, Place, schemas_of
from pdacon.frontends.json_schema.keywords import is_assertion
from pdacon.frontends.json_schema.looks import look_for
from pdacon.frontends.json_schema.plainness import Plainness
from pdacon.frontends.json_schema.type_bits import ALL, ARRAY, OBJECT

_CERTAIN = frozenset({"allOf", *REFERENCES})
_OF_SAME_VALUE = frozenset({*_CERTAIN, "anyOf", "oneOf", "not", "if", "dependentSchemas", "dependencies"})
_OF_SOME_PARTS = frozenset({"contains", "unevaluatedItems", "unevaluatedProperties"})
"""Keywords about parts: whether these are asked for anything depends on other parts, or on other schemas."""
_OF_ITEMS = frozenset({"items", "prefixItems", "additionalItems"})
_MOST_VISITS = 5_000
_MOST_ALTERNATIVES = 20  # of which members are looked at
_MOST_REFERENCES = 8


class CountingApart:
    """A search among the schemas of some documents.

    Parameters
    ----------
    documents : Documents
    plainness : Plainness
        Knows the types of a schema's values.
    may_close : bool
        Whether objects may be closed to what nothing lists.
    """

    def __init__(self, documents: Documents, plainness: Plainness, *, may_close: bool) -> None:
        self._documents, self._plainness, self._may_close = documents, plainness, may_close

    def values(self, counting: Set[int], parting: Set[int]) -> list[Place] | None:
        """The schemas of values of which members are counted beside alternatives.

        ``counting`` and ``parting`` hold the identities (``id``) of the schemas that count members, and of those that
        have alternatives. None: counting may or may not be asked of some value, or there are too many schemas to tell.
        """
        values: dict[Place, None] = {}
        pending, seen = [(self._documents.root, ALL)], {(self._documents.root, ALL)}
        visits = 0
        while pending:
            root, certain = pending.pop()
            same, parts = self._applied(root, certain)
            visits += len(same)
            is_parted, counts = (any(id(one.node) in some for one in same) for some in (parting, counting))
            if visits > _MOST_VISITS or (counts and not certain & OBJECT):
                return None
            if counts and is_parted:
                values[root] = None
            for part, types in parts:
                step = part, 0 if self._may_close and is_parted else types
                if step not in seen:
                    seen.add(step)
                    pending.append(step)
        return list(values)

    def _applied(self, root: Place, certain: int) -> tuple[list[Place], list[tuple[Place, int]]]:
        """The schemas that apply to a value if ``root`` does; and those of its members and items, each with the types
        for which it is certain to apply, which nothing beside it negates.

        ``certain`` are the types for which ``root`` is.
        """
        same: dict[Place, int] = {}  # with the types for which each is certain
        members: dict[Place, int] = {}  # of alternatives, with the types for which each is certain
        pending = [(root, certain)]
        while pending:
            look()
            place, types = pending.pop()
            if not isinstance(place.node, dict) or (place in same and not types & ~same[place]):
                continue
            same[place] = types = types | same.get(place, 0)
            for keyword, children in self._children(place):
                if keyword in _CERTAIN:
                    pending += [(child, types) for child in children]
                elif keyword == "anyOf" and any(map(self._asks_nothing, children)):
                    continue  # it is satisfied, whatever the others say
                elif keyword in ("anyOf", "oneOf"):
                    own = [self._plainness.types(child) for child in children]
                    for k, child in enumerate(children):
                        pending.append((child, types & ~reduce(or_, own[:k] + own[k + 1 :], 0)))
                    if types & OBJECT and len(children) <= _MOST_ALTERNATIVES:
                        self._add_members(children, members)
                elif keyword in _OF_SAME_VALUE:
                    pending += [(child, 0) for child in children]
        parts: list[tuple[Place, int]] = []
        for place, types in same.items():
            for keyword, children in self._children(place):
                if keyword not in _OF_SAME_VALUE:
                    is_certain = types & (ARRAY if keyword in _OF_ITEMS else OBJECT) and keyword not in _OF_SOME_PARTS
                    parts += [(child, ALL if is_certain else members.get(child, 0)) for child in children]
        return list(same), parts

    def _add_members(self, alternatives: Sequence[Place], members: dict[Place, int]) -> None:
        """Add the arrays and objects that only one of some alternatives lets a member be."""
        wholes = [self._whole(one) for one in alternatives]
        for k, whole in enumerate(wholes):
            for place in whole:
                for name in self._named(place):
                    look()
                    child = place.child("properties", name)
                    types = self._plainness.types(child) & (ARRAY | OBJECT)
                    for other in wholes[:k] + wholes[k + 1 :]:
                        if not types:
                            break
                        types &= ~reduce(and_, [self._types_of_member(one, name) for one in other], ALL)
                    if types:
                        members[child] = members.get(child, 0) | types

    def _asks_nothing(self, place: Place) -> bool:
        """Whether all values satisfy a schema of a draft in which nothing stands beside a reference."""
        for _ in range(_MOST_REFERENCES):
            node = place.node
            if not isinstance(node, dict) or place.draft > 7:
                return node is True
            if "$ref" not in node:
                return not any(map(is_assertion, node))
            place = self._documents.referred(place, "$ref")
        return False

    def _whole(self, root: Place) -> list[Place]:
        """The schemas that a value satisfies if it satisfies one."""
        whole: dict[Place, None] = {}
        pending = [root]
        while pending:
            look()
            place = pending.pop()
            if place not in whole and isinstance(place.node, dict):
                whole[place] = None
                pending += [one for keyword, some in self._children(place) if keyword in _CERTAIN for one in some]
        return list(whole)

    def _types_of_member(self, place: Place, name: str) -> int:
        """The types that a schema lets a member have, as far as it is plain."""
        if name in self._named(place):
            return self._plainness.types(place.child("properties", name))
        steps = dict(look_for(place.node, place.draft).steps)
        if "additionalProperties" in steps and "patternProperties" not in steps:
            return self._plainness.types(place.child("additionalProperties"))
        return ALL

    def _named(self, place: Place) -> Mapping[str, Any]:
        """The members that a schema lists."""
        is_read = any(keyword == "properties" for keyword, _ in look_for(place.node, place.draft).steps)
        named = place.node["properties"] if is_read else None
        return named if isinstance(named, dict) else {}

    def _children(self, place: Place) -> Iterator[tuple[str, list[Place]]]:
        """By keyword the schemas that one holds or refers to."""
        for keyword, _ in look_for(place.node, place.draft).steps:
            if keyword in REFERENCES:
                children = [self._documents.referred(place, keyword)]
            else:
                names = (keyword, "then", "else") if keyword == "if" else (keyword,)
                children = [child for name in names for child in schemas_of(place, name)]
            yield keyword, children
