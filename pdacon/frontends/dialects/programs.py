"""Automata over characters -> programs, the lexer's form of a terminal: the longest text that matches."""

from __future__ import annotations

from collections.abc import Mapping

from pdacon.base.cancelling import every
from pdacon.frontends.machines import Machine
from pdacon.regular import Ranges
from pdacon.regular.characters import complement
from pdacon.regular.ordered.program import BYTES, MATCH, PENDING, PENDING_OR_END, SPLIT, Edges, Program, pack
from pdacon.regular.ordered.utf8 import FINAL, byte_trie

_END = 0


class _Writer:
    def __init__(self) -> None:
        self.kinds = [MATCH]
        self.edges: list[Edges] = [()]
        self._known: dict[tuple[int, Edges], int] = {}

    def state(self, kind: int, edges: Edges) -> int:
        number = self._known.get((kind, edges))
        if number is None:
            number = self._known[kind, edges] = len(self.kinds)
            self.kinds.append(kind)
            self.edges.append(edges)
        return number

    def reserve(self) -> int:
        self.kinds.append(SPLIT)
        self.edges.append(())
        return len(self.kinds) - 1

    def characters(self, ranges: Ranges, target: int, root: int = BYTES, inner: int = BYTES) -> int:
        """A state that reads one character of a set."""
        nodes = byte_trie(ranges).nodes
        placed: list[int] = []
        for node in nodes:
            edges = tuple((lo, hi, target if to == FINAL else placed[to]) for lo, hi, to in node)
            placed.append(self.state(root if len(placed) == len(nodes) - 1 else inner, edges))
        return placed[-1]


def program_of(machine: Machine, guards: Mapping[int, Ranges]) -> Program:
    """The program of a machine without calls.

    Parameters
    ----------
    machine : Machine
        It has states, and does not accept the empty text.
    guards : mapping of int to Ranges
        For some accepting states the characters that may not follow a text that ends there.
    """
    writer = _Writer()
    states = [writer.reserve() for _ in range(len(machine))]
    for state, own in every(enumerate(states)):
        ways = [writer.characters(ranges, states[target]) for target, ranges in machine.reads[state].items()]
        if machine.accepting[state]:
            allowed = complement(guards.get(state, ()))
            guarded = state in guards
            ways.append(writer.characters(allowed, _END, PENDING_OR_END, PENDING) if guarded else _END)
        writer.edges[own] = tuple((0, 0, way) for way in ways)
    return pack(writer.kinds, writer.edges, [states[0]])
