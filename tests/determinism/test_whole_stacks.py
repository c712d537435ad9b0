"""What texts lead to with whole stacks: the native core beside its meaning in Python, and beside stock Lark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import pytest
from conftest import Tally
from support.lowering import load
from support.random_grammars import loadable_grammars

import pdacon
from pdacon.determinism import advice
from pdacon.determinism.deadline import Deadline, OutOfTimeError
from pdacon.determinism.language.reachability import Follower
from pdacon.errors import PdaconError
from pdacon.front.grammar import Grammar
from pdacon.lalr import Tables, build_tables
from pdacon.lexer import Lexer, build_lexer

GRAMMARS = 100
SECONDS = 60.0  # more than any of them takes
ELSEWHERE = 'start: "x" B* ";" | "y" A B* "."\nA: /ab*/\nB: /b/\n'

Residues: TypeAlias = int
"""What may have been read beyond the last lexeme, as bits."""

Pop: TypeAlias = tuple[int, int, int, Residues]
"""A left-hand side, how many symbols are still to pop, and the label and residues that wait meanwhile."""


@dataclass
class Node:
    """What begins on a state as the top of a stack: reading (no label), or feeding a label."""

    state: int
    label: int | None
    residues: Residues
    pops: set[Pop] = field(default_factory=set)
    callers: set[tuple[int, int]] = field(default_factory=set)  # a node, and the state below; -1: the same stack


class Tabulation:
    """Each state on top of a stack that some text leads to, with what is read there: found caller by caller."""

    def __init__(self, follower: Follower) -> None:
        self._follower = follower
        grammar, self._tables = follower.grammar, follower.tables
        self._end, self._first = grammar.end, grammar.end + 1
        self._sides = [(p.lhs - self._first, len(p.rhs)) for p in grammar.productions]
        self._nodes: list[Node] = []
        self._ids: dict[tuple[int, int | None, Residues], int] = {}
        self._fresh: list[int] = []
        self._improved: list[tuple[int, Pop]] = []
        self.reduced: set[int] = set()
        self.shifts: set[tuple[int, int]] = set()

    def run(self) -> None:
        for state in self._tables.start_states:
            self._node(state, None, 1 << self._follower._lexemes.beginning())
        while self._fresh or self._improved:
            if self._fresh:
                self._expand(self._fresh.pop())
            else:
                at, pop = self._improved.pop()
                for caller in tuple(self._nodes[at].callers):
                    self._hand_on(caller, pop)

    def _node(self, state: int, label: int | None, residues: Residues) -> int:
        key = state, label, residues
        if key not in self._ids:
            self._ids[key] = len(self._nodes)
            self._fresh.append(len(self._nodes))
            self._nodes.append(Node(*key))
        return self._ids[key]

    def _call(self, target: int, caller: int, below: int) -> None:
        if (caller, below) not in self._nodes[target].callers:
            self._nodes[target].callers.add((caller, below))
            for pop in tuple(self._nodes[target].pops):
                self._hand_on((caller, below), pop)

    def _add(self, at: int, pop: Pop) -> None:
        if pop not in self._nodes[at].pops:
            self._nodes[at].pops.add(pop)
            self._improved.append((at, pop))

    def _hand_on(self, caller: tuple[int, int], pop: Pop) -> None:
        node, below = caller
        lhs, left, label, residues = pop
        if below < 0:
            self._add(node, pop)
        elif left:
            self._add(node, (lhs, left - 1, label, residues))
        else:
            self._complete(node, below, lhs, label, residues)

    def _complete(self, node: int, state: int, lhs: int, label: int, residues: Residues) -> None:
        target = self._tables.goto[state, lhs]
        if label == self._end and target in self._tables.end_states:
            return  # accepted: Lark stops here
        if target >= 0 and self._tables.action[target, label]:
            self._call(self._node(target, label, residues), node, state)

    def _expand(self, at: int) -> None:
        node, follower = self._nodes[at], self._follower
        if node.label is None:
            for label, left in follower._after(follower._contexts[node.state], node.residues).items():
                ignored = label == follower._ignored
                if ignored or self._tables.action[node.state, label]:
                    self._call(self._node(node.state, None if ignored else label, left), at, -1)
            return
        action = int(self._tables.action[node.state, node.label])
        if action > 0:
            self.shifts.add((node.state, node.label))
            self._call(self._node(action - 1, None, node.residues), at, node.state)
            return
        self.reduced.add(-action - 1)
        lhs, length = self._sides[-action - 1]
        if length:
            self._add(at, (lhs, length - 1, node.label, node.residues))
        else:
            self._complete(at, node.state, lhs, node.label, node.residues)


def cases(number: int) -> Iterator[tuple[Grammar, Tables, Lexer]]:
    for small, _ in loadable_grammars(number):
        try:
            grammar = load(small)
            tables = build_tables(grammar.data)
            lexer = build_lexer(grammar.data, tables)
        except PdaconError:
            continue
        if not lexer.automaton.unbounded and grammar.data.layout is None:
            yield grammar, tables, lexer


@pytest.mark.slow
def test_the_native_core_finds_what_it_means(scaled: Callable[[int], int], tally: Tally) -> None:
    for grammar, tables, lexer in cases(scaled(GRAMMARS)):
        follower = Follower(grammar.data, tables, lexer, None, Deadline(SECONDS))
        tops = follower.find()
        exact = follower.with_stacks(tops)
        meaning = Tabulation(follower)
        meaning.run()
        shifts = {(state, label) for state, label in exact.advanced if label < grammar.data.end}
        assert (exact.reduced, shifts) == (meaning.reduced, meaning.shifts), grammar.data.source
        assert exact.reduced <= tops.reduced
        assert exact.advanced <= tops.advanced
        tally(grammars=1, narrower=exact.reduced < tops.reduced)


def test_what_only_the_stack_rules_out_is_found() -> None:
    report = pdacon.check(Grammar.from_lark(ELSEWHERE))
    (finding,) = report.findings
    assert (finding.id, finding.symbols) == ("PDA015", ("A", "B", "start"))


def test_without_time_the_tops_of_stacks_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    def out_of_time(*_: object) -> None:
        raise OutOfTimeError

    monkeypatch.setattr(advice.Follower, "with_stacks", out_of_time)
    report = pdacon.check(Grammar.from_lark('start: "x" | A B\nA: /ab*/\nB: /b/\n'))
    assert [finding.id for finding in report.findings] == ["PDA015"]
    assert report.unfinished == ("PDA013", "PDA015")
