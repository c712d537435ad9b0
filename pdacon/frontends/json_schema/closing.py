"""Which schemas can be reached from others, and whether closing objects changes what a schema says.

In: places in documents. Out: whether a schema can be reached for which a condition holds. Closing objects makes a
difference where one can be that lists properties.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace

from pdacon.base.cancelling import look
from pdacon.errors import UnsupportedSchemaError
from pdacon.frontends.json_schema.documents import REFERENCES, Closed, Documents, Place, subschemas


def leads_to(documents: Documents, places: Iterable[Place], holds: Callable[[Place], bool]) -> bool:
    """Whether a condition holds for one of some schemas, or of their subschemas, or where any of these refer to."""
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
    """Tells where closing objects makes a difference; each answer is kept."""

    def __init__(self, documents: Documents, closed: Closed) -> None:
        self._documents, self._closed = documents, closed
        self._answers: dict[Place, bool] = {}

    def closes(self, place: Place) -> bool:
        """Whether closing objects may change what the schema of a place says of some value."""
        if not self._closed:
            return False
        place = replace(place, stays_open=False)
        answer = self._answers.get(place)
        if answer is None:
            answer = leads_to(self._documents, [place], lambda reached: reached.lists_all(self._closed))
            self._answers[place] = answer
        return answer
