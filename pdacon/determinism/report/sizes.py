"""How large the automata of a grammar are, as data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Sizes:
    """The automata of a grammar in numbers; those of masks are in ``Constraint.statistics()``.

    Attributes
    ----------
    lr_states : int
        States of the LALR automaton, those that parentheses split included.
    table_bytes : int
        Memory of its tables.
    contexts : int
        Distinct sets of terminals that the lexer looks for.
    lexer_states : int
        States of the lexing automaton, all contexts together. Equal lists of threads are one state (hash-consing); it
        is not minimised.
    lexer_states_minimal : int or None
        How many states could be told apart by any text that follows: what minimisation would leave. None where counting
        them would take long: for more than two million transitions, or states in long chains.
    lexer_bytes : int
        Memory of its transitions.
    byte_classes : int
        Bytes that no terminal tells apart are one class.
    lookahead : int
        The most bytes that are read beyond a match before it is certain.
    terminals_by_states : tuple of (str, int)
        The terminals that most lexer states read on in, and how many; a state can read on in several.
    rules_by_states : tuple of (str, int)
        The rules that most LR states are in the middle of.
    neighbour_distances : tuple of (str, int or None), or None
        StreamTok's token neighbour distance of each terminal that has one, largest first; None: without bound. None
        in all where ``lexer_states_minimal`` is.
    """

    lr_states: int
    table_bytes: int
    contexts: int
    lexer_states: int
    lexer_states_minimal: int | None
    lexer_bytes: int
    byte_classes: int
    lookahead: int
    terminals_by_states: tuple[tuple[str, int], ...]
    rules_by_states: tuple[tuple[str, int], ...]
    neighbour_distances: tuple[tuple[str, int | None], ...] | None

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        numbers = asdict(self)
        return {k: [list(pair) for pair in v] if isinstance(v, tuple) else v for k, v in numbers.items()}

    def render(self) -> str:
        """Some lines of plain text."""
        minimal = self.lexer_states_minimal
        least = "" if minimal is None else f" ({minimal:,} if it were minimised)"
        lines = [
            f"parser: {self.lr_states:,} LR states in {self.table_bytes:,} bytes of tables",
            f"lexer: {self.lexer_states:,} states{least} in {self.lexer_bytes:,} bytes, {self.contexts:,} contexts, "
            f"{self.byte_classes} classes of bytes, lookahead {self.lookahead}",
        ]
        for title, counts in (
            ("terminals with most lexer states", self.terminals_by_states),
            ("rules with most LR states", self.rules_by_states),
        ):
            lines.append(f"{title}: {', '.join(f'{name} {count:,}' for name, count in counts)}")
        return "\n".join(lines)
