"""Which schemas say less where objects stay open: those that list properties, or lead to some that do.

In: places in documents. Out: whether closing objects makes a difference there.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from pdacon.base.cancelling import look
from pdacon.errors import UnsupportedSchemaError
from pdacon.frontends.json_schema.documents import Closed, Documents, Place, subschemas

_REFERRING = ("$ref", "$dynamicRef", "$recursiveRef")


class Closing:
    """What closing objects comes to; each place is looked at once."""

    def __init__(self, documents: Documents, closed: Closed) -> None:
        self._documents, self._closed = documents, closed
        self._known: dict[Place, bool] = {}

    def closes(self, place: Place) -> bool:
        """Whether closing objects may change what the schema of a place says of some value."""
        if not self._closed:
            return False
        place = replace(place, stays_open=False)
        known = self._known.get(place)
        if known is not None:
            return known
        seen, pending = {place}, [place]
        while pending:
            look()
            one = pending.pop()
            if self._known.get(one) or (one.is_closed(self._closed) and "properties" in one.node):
                self._known[place] = True
                return True
            for other in self._below(one):
                if isinstance(other.node, dict) and other not in seen and self._known.get(other) is not False:
                    seen.add(other)
                    pending.append(other)
        self._known.update(dict.fromkeys(seen, False))
        return False

    def _below(self, place: Place) -> list[Place]:
        below = list(subschemas(place))
        for keyword in _REFERRING:
            if keyword in place.node:
                with suppress(UnsupportedSchemaError):  # it is refused where it is read
                    below.append(self._documents.referred(place, keyword))
        return below
