"""JSON in which a name stands twice in an object: `json.loads` takes the last of the two, and other readers the first.

In: what a reader of JSON makes objects of. Out: where a name stands twice, so that this can be refused.

Source: RFC 8259, section 4.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from pdacon.base.quoting import quoted


class NamesOnce:
    """The ``object_pairs_hook`` for one text; it remembers which objects have a name twice."""

    def __init__(self) -> None:
        self._repeating: list[tuple[dict[str, Any], str]] = []

    def __call__(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) < len(pairs):
            name = Counter(name for name, _ in pairs).most_common(1)[0][0]
            self._repeating.append((members, name.encode("utf-8", "backslashreplace").decode()))
        return members

    @property
    def hold(self) -> bool:
        """Whether no object has a name twice."""
        return not self._repeating

    def repeated(self, root: Any, document: str = "#") -> tuple[str, str] | None:
        """Where in what was read the first object is that has a name twice, and the name; None if none has."""
        pending = [(root, document)] if self._repeating else []
        while pending:
            node, pointer = pending.pop()
            name = next((name for members, name in self._repeating if members is node), None)
            if name is not None:
                return pointer, name
            below = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
            pending += reversed([(value, f"{pointer}/{token}") for token, value in below])
        return None

    def complaint(self, root: Any) -> str:
        """What is wrong, where any name stands twice; else nothing."""
        place_and_name = self.repeated(root)
        return f"{place_and_name[0]}: the name {quoted(place_and_name[1])} {TWICE}" if place_and_name else ""


TWICE = "stands there twice, and readers of JSON differ in which of the two they take; leave one out"
