"""Automata over characters -> programs, the lexer's form of a terminal: the longest text that matches."""

from __future__ import annotations

from collections.abc import Mapping

from pdacon.base.cancelling import every
from pdacon.frontends.machines import Machine
from pdacon.regular import Ranges
from pdacon.regular.characters import complement
from pdacon.regular.ordered.program import BYTES, PENDING, PENDING_OR_END, SPLIT, Program, ProgramWriter
from pdacon.regular.ordered.utf8 import FINAL, byte_trie

_END = 0


def _characters(writer: ProgramWriter, ranges: Ranges, target: int, root: int = BYTES, inner: int = BYTES) -> int:
    """A state that reads one character of a set."""
    nodes = byte_trie(ranges).nodes
    placed: list[int] = []
    for node in nodes:
        edges = tuple((lo, hi, target if to == FINAL else placed[to]) for lo, hi, to in node)
        placed.append(writer.state(root if len(placed) == len(nodes) - 1 else inner, edges))
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
    writer = ProgramWriter()
    states = [writer.reserve(SPLIT) for _ in range(len(machine))]
    for state, own in every(enumerate(states)):
        ways = [_characters(writer, ranges, states[target]) for target, ranges in machine.reads[state].items()]
        if machine.accepting[state]:
            allowed = complement(guards.get(state, ()))
            guarded = state in guards
            ways.append(_characters(writer, allowed, _END, PENDING_OR_END, PENDING) if guarded else _END)
        writer.edges[own] = tuple((0, 0, way) for way in ways)
    return writer.packed(states[0])
