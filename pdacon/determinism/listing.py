"""Names in a row; of many the first."""

from __future__ import annotations

from collections.abc import Iterable


def cut_short(names: Iterable[str], most: int) -> list[str]:
    """The names; of more than ``most`` the first, and last how many more there are: that many entries in all."""
    shown = list(names)
    return shown if len(shown) <= most else [*shown[: most - 1], f"{len(shown) - most + 1} more"]


def listed(names: Iterable[str], most: int) -> str:
    """``a, b and c``; a long list is cut short."""
    *shown, last = cut_short(names, most) or [""]
    return f"{', '.join(shown)} and {last}" if shown else last
