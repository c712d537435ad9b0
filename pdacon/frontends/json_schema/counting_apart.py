"""Finds the values of which a schema counts members (``minProperties``) beside alternatives (``anyOf``).

In: documents, and which of their schemas count members, and which have alternatives. Out: the schemas of the values to
which both apply. Whether counting is refused there depends on all that is asked of the value. So it can be tried with
its schema alone only where nothing else can be asked: where each text that has the value asks for the whole of its
schema, whatever has come before.
"""

from __future__ import annotations

from collections.abc import Iterator, Set

from pdacon.base.cancelling import look
from pdacon.frontends.json_schema.documents import REFERENCES, Documents, Place, schemas_of
from pdacon.frontends.json_schema.looks import look_for

_CERTAIN = frozenset({"allOf", *REFERENCES})
_OF_SAME_VALUE = frozenset({*_CERTAIN, "anyOf", "oneOf", "not", "if", "dependentSchemas", "dependencies"})
_OF_SOME_PARTS = frozenset({"contains", "unevaluatedItems", "unevaluatedProperties"})
"""Keywords about parts: whether these are asked for anything depends on other parts, or on other schemas."""
_MOST_VISITS = 5_000


def values_counted_apart(
    documents: Documents, counting: Set[int], parting: Set[int], *, may_close: bool
) -> list[Place] | None:
    """The schemas of values of which members are counted beside alternatives.

    ``counting`` and ``parting`` hold the identities (``id``) of the schemas that count members, and of those that have
    alternatives; ``may_close``: whether objects may be closed to what nothing lists. None: counting may or may not be
    asked of some value, or there are too many schemas to tell.
    """
    values: list[Place] = []
    pending, seen = [(documents.root, True)], {(documents.root, True)}
    visits = 0
    while pending:
        root, is_certain = pending.pop()
        same, parts = _applied(documents, root)
        visits += len(same)
        is_parted, counts = (any(id(one.node) in some for one in same) for some in (parting, counting))
        if visits > _MOST_VISITS or (counts and not is_certain):
            return None
        if counts and is_parted:
            values.append(root)
        for part, is_asked in parts:
            step = part, is_certain and is_asked and not (may_close and is_parted)
            if step not in seen:
                seen.add(step)
                pending.append(step)
    return values


def _applied(documents: Documents, root: Place) -> tuple[list[Place], list[tuple[Place, bool]]]:
    """The schemas that apply to a value if ``root`` does; and those of its members and items, each with whether it is
    certain to apply, which nothing beside it negates.
    """
    same, parts, alternatives = {root: None}, list[tuple[Place, bool]](), dict[Place, None]()
    pending, is_certain = [root], True
    while pending:
        look()
        for keyword, child in _children(documents, pending.pop()):
            if not isinstance(child.node, dict):
                continue
            if keyword not in _OF_SAME_VALUE:
                parts.append((child, is_certain and keyword not in _OF_SOME_PARTS))
            elif is_certain and keyword not in _CERTAIN:
                alternatives[child] = None
            elif child not in same:
                same[child] = None
                pending.append(child)
        if is_certain and not pending:
            is_certain = False
            pending = [child for child in alternatives if child not in same]
            same.update(dict.fromkeys(pending))
    return list(same), parts


def _children(documents: Documents, place: Place) -> Iterator[tuple[str, Place]]:
    for keyword, _ in look_for(place.node, place.draft).steps:
        if keyword in REFERENCES:
            yield keyword, documents.referred(place, keyword)
            continue
        for name in (keyword, "then", "else") if keyword == "if" else (keyword,):
            for child in schemas_of(place, name):
                yield keyword, child
