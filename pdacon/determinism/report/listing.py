"""How symbols are named, and names in a row; of many the first."""

from __future__ import annotations

from collections.abc import Iterable

from pdacon.grammar import GrammarData


def cut_short(names: Iterable[str], most: int) -> list[str]:
    """The names; of more than ``most`` the first, and last how many more there are: that many entries in all."""
    shown = list(names)
    return shown if len(shown) <= most else [*shown[: most - 1], f"{len(shown) - most + 1} more"]


def listed(names: Iterable[str], most: int) -> str:
    """``a, b and c``; a long list is cut short."""
    *shown, last = cut_short(names, most) or [""]
    return f"{', '.join(shown)} and {last}" if shown else last


def lookahead_name(grammar: GrammarData, terminal: int) -> str:
    """A terminal as its author writes it; ``$END`` in words."""
    return "the end of the text" if terminal == grammar.end else grammar.describe_symbol(terminal)
