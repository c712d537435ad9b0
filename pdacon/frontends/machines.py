"""Automata over characters and calls: in a recursive transition network there is one machine for each rule.

In: trees, texts, and machines that are put in the place of calls. Out: least deterministic machines. The core
determinizes: in its automata a call is a surrogate, which no text has.

Source: W. Woods, "Transition Network Grammars for Natural Language Analysis", Communications of the ACM 13(10), 1970.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf
from typing import Any, TypeAlias, TypeVar

from pdacon.base.cancelling import every, look
from pdacon.base.graphs import reachable
from pdacon.errors import LimitExceededError
from pdacon.grammar.expressions import InOrder, OneOf, Repeated, Tree
from pdacon.regular import Dfa, Ranges
from pdacon.regular.automata import Numbered, determinized
from pdacon.regular.characters import intersection

FIRST_CALL, _LAST_CALL = 0xD800, 0xDFFF
_BELOW, _ABOVE = ((0, FIRST_CALL - 1),), ((_LAST_CALL + 1, 0x10FFFF),)
MOST_CALLED = _LAST_CALL - FIRST_CALL + 1
_MOST_STATES = 200_000
"""Of an automaton before it is determinized, and after it."""


@dataclass(frozen=True, slots=True)
class Machine:
    """The least deterministic machine of a rule; state 0 is the start, and every state leads to acceptance.

    Attributes
    ----------
    reads : list of dict of int to Ranges
        For each state, by the next one, the characters that lead there.
    calls : list of dict of int to int
        For each state, by the number of a rule, the state after a text of that rule.
    accepting : list of bool
    """

    reads: list[dict[int, Ranges]]
    calls: list[dict[int, int]]
    accepting: list[bool]

    def __len__(self) -> int:
        """Number of states."""
        return len(self.accepting)

    def called(self) -> set[int]:
        """The rules that it calls."""
        return {rule for row in self.calls for rule in row}


def machine_of(dfa: Dfa) -> Machine:
    """A machine as the core made it."""
    reads: list[dict[int, Ranges]] = []
    calls: list[dict[int, int]] = []
    for row in dfa.edges():
        own: dict[int, Ranges] = {}
        called: dict[int, int] = {}
        for target, ranges in row.items():
            characters = (*intersection(ranges, _BELOW), *intersection(ranges, _ABOVE))
            if characters:
                own[target] = characters
            for first, last in intersection(ranges, ((FIRST_CALL, _LAST_CALL),)):
                called.update((point - FIRST_CALL, target) for point in range(first, last + 1))
        reads.append(own)
        calls.append(called)
    return Machine(reads, calls, dfa.accepting())


_One = TypeVar("_One")
_Leaf = TypeVar("_Leaf")
_Several: TypeAlias = list[_One] | tuple[_One, ...]
_FEW = 8


def _with(some: _Several[_One], more: _One) -> _Several[_One]:
    """Some things and one more; a long list is the same list."""
    if isinstance(some, list):
        some.append(more)
        return some
    return (*some, more) if len(some) < _FEW else [*some, more]


class Nfa:
    """A nondeterministic machine that is being made.

    The few edges of a state are a tuple, of which Python's collector of cycles has nothing to look through: with a list
    for each of 100,000 states it takes longer than all else.
    """

    def __init__(self) -> None:
        self._edges: list[_Several[tuple[Ranges, int]]] = []
        self._silent: list[_Several[int]] = []

    def state(self) -> int:
        """A new state."""
        if len(self._edges) >= _MOST_STATES:
            detail = "repetitions are counted by states; lower their bounds"
            raise LimitExceededError("states", len(self._edges) + 1, _MOST_STATES, detail, fixed=True)
        if not len(self._edges) % 64:
            look()
        self._edges.append(())
        self._silent.append(())
        return len(self._edges) - 1

    def silent(self, begin: int, end: int) -> None:
        """An edge that reads nothing."""
        self._silent[begin] = _with(self._silent[begin], end)

    def read(self, begin: int, ranges: Ranges, end: int) -> None:
        """An edge that reads a character of a set."""
        if ranges:
            self._edges[begin] = _with(self._edges[begin], (ranges, end))

    def call(self, begin: int, rule: int, end: int) -> None:
        """An edge that reads a text of a rule."""
        self.read(begin, ((FIRST_CALL + rule, FIRST_CALL + rule),), end)

    def machine(self, machine: Machine) -> range:
        """A copy of a machine; its states. They accept nothing yet."""
        first = len(self._edges)
        for _ in range(len(machine)):
            self.state()
        for state in range(len(machine)):
            for target, ranges in machine.reads[state].items():
                self.read(first + state, ranges, first + target)
            for rule, target in machine.calls[state].items():
                self.call(first + state, rule, first + target)
        return range(first, first + len(machine))

    def between(self, machine: Machine, begin: int, end: int) -> None:
        """What a machine accepts, between two states."""
        if not len(machine):
            return
        states = self.machine(machine)
        self.silent(begin, states[0])
        for state, accepts in zip(states, machine.accepting, strict=True):
            if accepts:
                self.silent(state, end)

    def texts(self, texts: Dfa, begin: int, end: int) -> None:
        """What an automaton without calls accepts, between two states."""
        states = [self.state() for _ in texts.accepting()]
        if states:
            self.silent(begin, states[0])
        for state, row, accepts in zip(states, texts.edges(), texts.accepting(), strict=True):
            for target, ranges in row.items():
                self.read(state, ranges, states[target])
            if accepts:
                self.silent(state, end)

    def tree(self, tree: Tree[Any], begin: int, end: int, leaf: Callable[[Any, int, int], None]) -> None:
        """What a tree stands for, between two states; ``leaf`` puts there what a leaf stands for."""
        if isinstance(tree, InOrder):
            for part in tree.items[:-1]:
                after = self.state()
                self.tree(part, begin, after, leaf)
                begin = after
            if tree.items:
                self.tree(tree.items[-1], begin, end, leaf)
            else:
                self.silent(begin, end)
        elif isinstance(tree, OneOf):
            for option in tree.items:
                self.tree(option, begin, end, leaf)
        elif isinstance(tree, Repeated):
            self._repeated(merged(tree), begin, end, leaf)
        else:
            leaf(tree, begin, end)

    def _repeated(self, tree: Repeated[Any], begin: int, end: int, leaf: Callable[[Any, int, int], None]) -> None:
        if tree.least == 0 and tree.most == 1:
            self.silent(begin, end)
            self.tree(tree.item, begin, end, leaf)
            return
        for _ in range(tree.least):
            after = self.state()
            self.tree(tree.item, begin, after, leaf)
            begin = after
        if tree.most is None:
            around = self.state()
            self.silent(begin, around)
            after = self.state()
            self.tree(tree.item, around, after, leaf)
            self.silent(after, around)
            begin = around
        else:
            for _ in range(tree.most - tree.least):
                self.silent(begin, end)
                after = self.state()
                self.tree(tree.item, begin, after, leaf)
                begin = after
        self.silent(begin, end)

    def deterministic(self, start: int, accepting: Iterable[int]) -> Dfa:
        """The least deterministic machine, as the core has it.

        Raises
        ------
        LimitExceededError
        """
        lists = Numbered()
        sets: dict[Ranges, int] = {}
        ends = set(accepting)
        loud = [bool(edges) or state in ends for state, edges in enumerate(self._edges)]
        behind: dict[int, int] = {}

        def list_for(state: int) -> int:
            if state not in behind:
                look()
                behind[state] = lists.number(
                    sorted(reached for reached in reachable([state], self._silent.__getitem__) if loud[reached])
                )
            return behind[state]

        begin = list_for(start)
        rows = [
            [(sets.setdefault(ranges, len(sets)), list_for(target)) for ranges, target in edges]
            for edges in every(self._edges)
        ]
        return determinized(sets, rows, [state in ends for state in range(len(rows))], -1, lists, begin, _MOST_STATES)


def merged(tree: Repeated[_Leaf]) -> Repeated[_Leaf]:
    """Repetitions of repetitions as one, where that is the same: ``(x{0,400}){0,400}`` as ``x{0,160000}``."""
    while isinstance(inner := _only(tree.item), Repeated):
        least, most = tree.least, tree.most
        reach = inf if inner.most is None and least else least * (inner.most or 0)
        if least != most and (least + 1) * inner.least > reach + 1:
            break  # so many times the body, and one time more, leave a gap
        if 0 in (most, inner.most):
            total: int | None = 0
        else:
            total = None if most is None or inner.most is None else most * inner.most
        tree = Repeated(inner.item, least * inner.least, total)
    return tree


def _only(tree: Tree[_Leaf]) -> Tree[_Leaf]:
    """A tree without what has one part only around it."""
    while isinstance(tree, InOrder | OneOf) and len(tree.items) == 1:
        (tree,) = tree.items
    return tree
