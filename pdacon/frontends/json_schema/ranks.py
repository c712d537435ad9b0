"""Where names and values first stand in schemas, which says in which order members come that several lists name.

In: schemas. Out: ranks. They depend on the texts of the schemas alone, not on what was read of them before what: so the
order is the same on demand and as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from pdacon._native import _core


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
    _core.add_ranks([*schemas], ranks.names, ranks.values)
    return ranks
