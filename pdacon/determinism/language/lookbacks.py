"""Lookbacks: the LR states that a reduction may expose, and its gotos from there.

In: the transitions of the tables, or those that are known to be made. Out: for an LR state and a production the states
after the goto. They are found by going back over as many transitions as the production has symbols.

Source: the ``lookback`` relation of DeRemer and Pennello, TOPLAS 4(4), 1982.
"""

from __future__ import annotations

from collections.abc import Iterator

from pdacon.grammar import GrammarData


class Lookbacks:
    """The lookbacks of a grammar's reductions over the transitions that are known to be made.

    ``made``, ``shifted`` and ``closed`` are what `Follower.walk` remembers of the places that it has been in.
    """

    def __init__(self, grammar: GrammarData, before: list[list[int]], goto: list[dict[int, int]]) -> None:
        self.made: set[tuple[int, int]] = set()
        self.shifted: dict[tuple[int, int], tuple[int, ...]] = {}
        self.closed: dict[int, set[int]] = {}
        self._before = before
        self._goto = goto
        self._productions = [(p.lhs - grammar.end - 1, len(p.rhs)) for p in grammar.productions]
        self._first = grammar.end + 1
        self._known: dict[tuple[int, int], tuple[tuple[int, ...], tuple[int, ...]]] = {}

    def targets(self, state: int, production: int) -> tuple[int, ...]:
        """The states on top after the reduction and its goto."""
        return self._find(state, production)[1]

    def transitions(self, state: int, production: int) -> Iterator[tuple[int, int]]:
        """The gotos that the reduction may take: (LR state, left-hand side)."""
        lhs = self._productions[production][0]
        return ((below, self._first + lhs) for below in self._find(state, production)[0])

    def agree_with(self, others: Lookbacks) -> bool:
        """Whether what the others have been asked has the same answers here. Then what was found with them is so with
        these. Cost: that of the answers."""
        return all({*self._find(*asked)[0]} == {*known[0]} for asked, known in others._known.items())

    def _find(self, state: int, production: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        key = state, production
        if key not in self._known:
            lhs, length = self._productions[production]
            below = tuple(s for s in self._states_before(state, length) if lhs in self._goto[s])
            self._known[key] = below, tuple(dict.fromkeys(self._goto[s][lhs] for s in below))
        return self._known[key]

    def _states_before(self, state: int, length: int) -> frozenset[int]:
        """The states from which so many transitions lead to a state; a level at a time, for rules may be long."""
        states = frozenset([state])
        for _ in range(length):
            states = frozenset(before for at in states for before in self._before[at])
        return states


def predecessors(actions: list[list[int]], goto: list[dict[int, int]], states: int) -> list[list[int]]:
    """For each LR state those from which a transition leads to it, ascending."""
    before: list[list[int]] = [[] for _ in range(states)]
    for state, (row, following) in enumerate(zip(actions, goto, strict=True)):
        for target in {entry - 1 for entry in row if entry > 0} | {*following.values()}:
            before[target].append(state)
    return before
