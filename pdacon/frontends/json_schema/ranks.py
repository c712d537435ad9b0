"""Where names and values first stand in schemas, which says in which order members come that several lists name.

In: schemas. Out: ranks. They depend on the texts of the schemas alone, not on what was read of them before what: so the
order is the same on demand and as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from pdacon.base.cancelling import every


@dataclass(frozen=True, slots=True)
class Ranks:
    """By name of a member, and by value of an ``enum`` or ``const``, its rank."""

    names: dict[str, int] = field(default_factory=dict)
    values: dict[str, int] = field(default_factory=dict)

    def of_name(self, name: str) -> tuple[int, str]:
        """What names are sorted by; those that stand nowhere come last."""
        return self.names.get(name, len(self.names)), name

    def of_value(self, value: str) -> tuple[int, str]:
        """What strings are sorted by."""
        return self.values.get(value, len(self.values)), value


def ranks_of(schemas: Iterable[Any]) -> Ranks:
    """The ranks of all that some schemas name. Linear in their size."""
    ranks = Ranks()
    pending = list(schemas)[::-1]
    for node in every(_in_order(pending)):
        for key, into in (
            ("properties", ranks.names), ("required", ranks.names), ("const", ranks.values), ("enum", ranks.values),
        ):  # fmt: skip
            given = node.get(key)
            if given is None:
                continue
            for one in given if isinstance(given, (dict, list)) else [given]:
                if isinstance(one, str):
                    into.setdefault(one, len(into))
    return ranks


def _in_order(pending: list[Any]) -> Iterable[dict[str, Any]]:
    """The objects in some values of JSON, in the order of their text; a value is taken off when it is read."""
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            yield node
            pending += [part for part in node.values() if isinstance(part, (dict, list))][::-1]
        elif isinstance(node, list):
            pending += [part for part in node if isinstance(part, (dict, list))][::-1]
