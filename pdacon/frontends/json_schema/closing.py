"""What schemas lead to, and which of them say less where objects stay open: those that lead to a list of properties.

In: places in documents. Out: whether closing objects makes a difference there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace

from pdacon.base.cancelling import look
from pdacon.errors import UnsupportedSchemaError
from pdacon.frontends.json_schema.documents import REFERENCES, Closed, Documents, Place, subschemas


def leads_to(documents: Documents, places: Iterable[Place], holds: Callable[[Place], bool]) -> bool:
    """Whether something holds for one of some schemas, or for one that they have in them or refer to."""
    pending = [place for place in places if isinstance(place.node, dict)]
    seen = set(pending)
    while pending:
        look()
        place = pending.pop()
        if holds(place):
            return True
        for other in _below(documents, place):
            if isinstance(other.node, dict) and other not in seen:
                seen.add(other)
                pending.append(other)
    return False


def _below(documents: Documents, place: Place) -> Iterator[Place]:
    yield from subschemas(place)
    for keyword in REFERENCES:
        if keyword in place.node:
            with suppress(UnsupportedSchemaError):  # it is refused where it is read
                yield documents.referred(place, keyword)


class Closing:
    """What closing objects comes to."""

    def __init__(self, documents: Documents, closed: Closed) -> None:
        self._documents, self._closed = documents, closed
        self._known: dict[Place, bool] = {}

    def closes(self, place: Place) -> bool:
        """Whether closing objects may change what the schema of a place says of some value."""
        if not self._closed:
            return False
        place = replace(place, stays_open=False)
        known = self._known.get(place)
        if known is None:
            known = self._known[place] = leads_to(self._documents, [place], self._lists)
        return known

    def _lists(self, place: Place) -> bool:
        return "properties" in place.node and place.is_closed(self._closed)
