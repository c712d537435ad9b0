"""Productions over symbols that are told apart by keys.

The core keeps nonterminals and productions (``frontends/productions.hpp``); the first number of a nonterminal's key is
its kind.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass

from pdacon._native import _core
from pdacon.frontends.json_schema.strings import Shape
from pdacon.regular.records import Automaton

MOST_PRODUCTIONS = 50_000

KINDS = ("value", "object", "before", "after", "skipped", "array", "before_item", "after_item", "part_of_a_string")
"""The kinds of nonterminals, in the order of the core's numbers."""
VALUE, OBJECT, ARRAY, PART = (KINDS.index(kind) for kind in ("value", "object", "array", "part_of_a_string"))


@dataclass(frozen=True, slots=True)
class Text:
    """A terminal: one text ("str"), a pattern of ``re`` ("re"), or an automaton, with its pattern if that is known.

    Of strings whose characters are counted beside the automaton ("counted"), ``counts`` are the least and the most, and
    ``contents`` is what else is asked of them.

    ``pattern`` makes the pattern of an automaton for which it is long, and seldom asked for.
    """

    kind: str
    value: str
    automaton: Automaton | None = None
    pattern: Callable[[], str] | None = None
    counts: tuple[int, int | None] = 0, None
    contents: Shape = True


class Productions:
    """Symbols by their keys, and the productions over them. Terminals are negative numbers, ``~k`` is the k-th."""

    def __init__(self) -> None:
        self.terminals: list[tuple[str, Text]] = []
        self.native = _core.Productions(MOST_PRODUCTIONS)
        self._terminals: dict[Hashable, int] = {}

    def terminal(self, key: Hashable, name: str, make: Callable[[], Text]) -> int:
        """The terminal of a key; made when it is first asked for."""
        number = self._terminals.get(key)
        if number is None:
            number = self._terminals[key] = ~len(self.terminals)
            self.terminals.append((name, make()))
        return number

    def nonterminal(self, *key: int) -> int:
        """The nonterminal of a key."""
        return self.native.nonterminal(key)

    def value(self, depth: int, question: int, family: Iterable[int]) -> int:
        """The nonterminal of the values that satisfy one question of a family."""
        return self.native.nonterminal((VALUE, depth, question, *family))

    def add(self, lhs: int, *rhs: int) -> None:
        """Add a production. Raises LimitExceededError ("productions")."""
        self.native.add(lhs, rhs)
