"""Productions over symbols that are told apart by keys."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TypeAlias

from pdacon.errors import UnsupportedSchemaError
from pdacon.lexer.program import Program

Key: TypeAlias = tuple[Hashable, ...]

MOST_PRODUCTIONS = 50_000


@dataclass(frozen=True, slots=True)
class Text:
    """A terminal: one text ("str"), a pattern of Python's ``re`` ("re"), or a program, with its pattern if known."""

    kind: str
    value: str
    program: Program | None = None


class Productions:
    """Symbols by their keys, and the productions over them. Terminals are negative numbers, ``~k`` is the k-th."""

    def __init__(self) -> None:
        self.terminals: list[tuple[str, Text]] = []
        self.nonterminals: list[Key] = []
        self.productions: list[tuple[int, tuple[int, ...]]] = []
        self._terminals: dict[Hashable, int] = {}
        self._nonterminals: dict[Key, int] = {}

    def terminal(self, key: Hashable, name: str, make: Callable[[], Text]) -> int:
        """The terminal of a key; made when it is first asked for."""
        number = self._terminals.get(key)
        if number is None:
            number = self._terminals[key] = ~len(self.terminals)
            self.terminals.append((name, make()))
        return number

    def nonterminal(self, *key: Hashable) -> int:
        """The nonterminal of a key."""
        number = self._nonterminals.setdefault(key, len(self.nonterminals))
        if number == len(self.nonterminals):
            self.nonterminals.append(key)
        return number

    def add(self, lhs: int, *rhs: int) -> None:
        """Add a production."""
        self.productions.append((lhs, rhs))
        if len(self.productions) > MOST_PRODUCTIONS:
            raise UnsupportedSchemaError(
                "#", "", f"it takes more than {MOST_PRODUCTIONS:,} productions; make counts or combinations smaller"
            )
