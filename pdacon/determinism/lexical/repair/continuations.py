"""What can follow a text of a terminal in a longer one: as a pattern for a look-ahead.

In: the terminals' patterns. Out: for a terminal and others a pattern of the texts u such that some text t of the
terminal goes on with u to a longer text t u of it or of one of the others. After a pattern, ``(?!u)`` lets it match
only where neither has more. It is computed on the automata of all texts that patterns match whole; where the terminal
has texts that go on in different ways, it is what any of them goes on with, so that a look-ahead may ask for too much.

Source: for patterns of automata, the elimination of states by J. Brzozowski and E. McCluskey, "Signal Flow Graph
Techniques for Sequential Circuit State Diagrams", IEEE Transactions on Electronic Computers EC-12(2), 1963.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import TypeAlias

import numpy as np

from pdacon.base.graphs import Numbering, Search
from pdacon.base.once import memoized
from pdacon.errors import LimitExceededError
from pdacon.grammar import GrammarData
from pdacon.grammar.printing import END, START, eliminated
from pdacon.regular import Dfa, Ranges, RegularSet, character_class
from pdacon.regular.characters import complement, intersection, union
from pdacon.regular.ordered import compile_whole

_MOST_STATES = 24
_MOST_PAIRS = 4_000
_LONGEST = 120  # characters of a pattern that somebody should read

States: TypeAlias = frozenset[tuple[int, int]]
"""States of several automata: which one, and the state."""


class Continuations:
    """The continuations of the texts of one grammar's terminals. Automata are made when they are first asked for."""

    def __init__(self, grammar: GrammarData) -> None:
        self._grammar = grammar

    def pattern(self, terminal: int, others: Sequence[int]) -> str | None:
        """What a text of a terminal goes on with to a longer one of it or of others.

        Returns ``""`` if there is nothing. None if a pattern would be very long, and for grammars over bytes.
        Raises UnsupportedGrammarError, LimitExceededError.
        """
        if self._grammar.options.use_bytes:
            return None
        automata = _Automata([self._automaton(k) for k in (terminal, *others)])
        start = automata.ends()
        arcs = None if start is None else automata.arcs(start)
        written = None if arcs is None else _pattern(arcs)
        return None if written is None or len(written) > _LONGEST else written

    @memoized
    def _automaton(self, terminal: int) -> Dfa:
        pattern = self._grammar.terminals[terminal].pattern
        assert pattern is not None
        program = compile_whole(pattern.regexp, flags=self._grammar.options.g_regex_flags)
        return RegularSet.from_program(program, "").automaton


class _Automata:
    """Several automata over the classes of characters that none of them tells apart."""

    def __init__(self, automata: Sequence[Dfa]) -> None:
        natives = [dfa.native for dfa in automata]
        bounds = np.unique(np.concatenate([native.firsts for native in natives if len(native.firsts)]))
        columns = [
            native.numbers[np.searchsorted(native.firsts, bounds, side="right") - 1]
            if native.num_states
            else -1 + 0 * bounds
            for native in natives
        ]
        rows, self._class_of = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
        self._bounds = [*bounds.tolist(), 0x110000]
        self._tables: list[list[list[int]]] = []
        for number, (dfa, native) in enumerate(zip(automata, natives, strict=True)):
            table = native.table.reshape(len(dfa), native.num_classes)
            padded = np.concatenate([table, np.full((len(dfa), 1), -1, table.dtype)], axis=1)
            self._tables.append(padded[:, rows[:, number]].tolist())
        self._accepting = [dfa.accepting() for dfa in automata]
        self._num_classes = len(rows)

    def ends(self) -> States | None:
        """What all automata can be in at the end of a text of the first one."""
        found: set[tuple[int, int]] = set()
        own = self._tables[0]
        for number, table in enumerate(self._tables):
            search = Search({(0, 0): None} if own and table else {})
            for (a, b), _ in search:
                if self._accepting[0][a]:
                    found.add((number, b))
                for pair in zip(own[a], table[b], strict=True):
                    if min(pair) >= 0:
                        search.meet(pair, None)
                if len(search) > _MOST_PAIRS:
                    return None
        return frozenset(found)

    def arcs(self, start: States) -> dict[tuple[int, int], str] | None:
        """The least continuations as an automaton with patterns on its arcs: it ends where a longer text is read."""
        number = Numbering(start)
        arcs: dict[tuple[int, int], str] = {(START, 0): ""}
        for states in number:
            by_target: dict[int, list[int]] = {}
            for cls in range(self._num_classes):
                after = frozenset((n, to) for n, k in states if (to := self._tables[n][k][cls]) >= 0)
                if any(self._accepting[n][k] for n, k in after):
                    by_target.setdefault(END, []).append(cls)
                elif after:
                    by_target.setdefault(number[after], []).append(cls)
            if len(number) > _MOST_STATES:
                return None
            for target, classes in by_target.items():
                arcs[number[states], target] = characters(self._ranges(classes))
        return arcs

    def _ranges(self, classes: Sequence[int]) -> Ranges:
        at = np.flatnonzero(np.isin(self._class_of.reshape(-1), classes)).tolist()
        return union((self._bounds[k], self._bounds[k + 1] - 1) for k in at)


def _pattern(arcs: dict[tuple[int, int], str]) -> str | None:
    """What leads from the start to the end."""
    try:
        found = eliminated(arcs, 20 * _LONGEST) or ""
    except LimitExceededError:
        return None
    inside = found.removeprefix("(?:").removesuffix(")")
    return inside if found == f"(?:{inside})" and is_pattern(inside) else found


def is_pattern(value: str) -> bool:
    """Whether Python's ``re`` takes it: of a part of a pattern, that its groups are closed."""
    try:
        re.compile(value)
    except re.error:
        return False
    return True


@cache
def _named() -> dict[Ranges, str]:
    """Sets of characters that have a name in Python's patterns."""
    names = (r"\d", r"\w", r"\s", r"\D", r"\W", r"\S", ".")
    sets = {name: next(iter(RegularSet.from_regex(name).automaton.edges())) for name in names}
    return {union(*edges.values()): name for name, edges in sets.items()}


@lru_cache(
    maxsize=4096
)  # repairs ask about the same few sets again and again, and those of words have hundreds of ranges
def characters(ranges: Ranges) -> str:
    """A set of characters as somebody would write it: by a name, as a class, or by what is not in it."""
    whole = union(ranges)
    if name := _named().get(whole):
        return name
    outside = complement(whole)
    text = character_class(whole)
    for known, name in _named().items():
        if name in (r"\d", r"\w", r"\s") and not intersection(known, outside):
            rest = complement(union(known, outside))
            shorter = f"[{name}{character_class(rest).removeprefix('[').removesuffix(']')}]"
            text = min(text, shorter, key=len)
    others = character_class(outside)
    negative = f"[^{others.removeprefix('[').removesuffix(']')}]"
    return min(text, negative, key=len)
