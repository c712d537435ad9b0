"""A network -> terminals and productions: what is read between two calls is one terminal.

In: a `Network`. Out: `Symbols`, whose terminals are automata over characters. A *key* is the start of a machine, or a
state after a call. A *stop* is what can be done in a state other than to read: to accept, and which calls lead where.
A *segment* are the texts that lead from a key to a stop and have no call in them. A nonterminal for each key stands for
what has been read up to it, so that repetitions are left-recursive and the stack stays short.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from pdacon.base.cancelling import every
from pdacon.base.graphs import Numbering, reachable
from pdacon.frontends.dialects.network import Network
from pdacon.frontends.machines import Machine, Nfa, machine_of

Stop: TypeAlias = tuple[bool, tuple[tuple[int, int], ...]]
"""Whether the rule can end, and the rules that can be called, each with the key after it."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Where a terminal comes from: a machine, the key that it begins at and the stop that it ends at."""

    rule: int
    key: int
    stop: Stop


WHOLE, OR_NOTHING = -1, -2


@dataclass(slots=True)
class Symbols:
    """Terminals and productions. Terminal t is ~t; nonterminal n is n, and 0 is the start.

    Attributes
    ----------
    terminals : list of Machine
        No two are the same set.
    segments : list of list of Segment
        Where each of them comes from.
    nonterminals : list of (int, int)
        A rule and a key of it; `WHOLE` for the rule itself, `OR_NOTHING` for the start with the empty text, too.
    productions : list of (int, tuple of int)
        Those of one nonterminal together.
    """

    terminals: list[Machine] = field(default_factory=list)
    segments: list[list[Segment]] = field(default_factory=list)
    nonterminals: list[tuple[int, int]] = field(default_factory=list)
    productions: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)


def symbols_of(network: Network) -> Symbols:
    """The terminals and productions of a network, as far as a text can need them.

    Without productions there is no text.

    Raises
    ------
    LimitExceededError
    """
    cutter = _Cutter(network)
    symbols, start = cutter.symbols, network.start
    if network.empty:
        symbols.nonterminals.append((start, OR_NOTHING))
        above = len(symbols.nonterminals) - 1
        symbols.productions += [(above, (start,)), (above, ())]
        start = above
    return _needed(symbols, start)


def _needed(symbols: Symbols, start: int) -> Symbols:
    """What a text can need, numbered anew."""
    sides: dict[int, list[tuple[int, ...]]] = {}
    for lhs, rhs in dict.fromkeys(symbols.productions):
        sides.setdefault(lhs, []).append(rhs)
    while dead := {symbol for some in sides.values() for rhs in some for symbol in rhs if symbol >= 0} - sides.keys():
        sides = {lhs: [rhs for rhs in some if not dead.intersection(rhs)] for lhs, some in sides.items()}
        sides = {lhs: some for lhs, some in sides.items() if some}
    order, terminals = Numbering(start), Numbering[int]()
    productions = [
        (order[lhs], tuple(order[symbol] if symbol >= 0 else ~terminals[symbol] for symbol in rhs))
        for lhs in every(order)
        for rhs in sides.get(lhs, ())
    ]
    return Symbols(
        [symbols.terminals[~symbol] for symbol in terminals],
        [symbols.segments[~symbol] for symbol in terminals],
        [symbols.nonterminals[symbol] for symbol in order],
        productions,
    )


class _Cutter:
    def __init__(self, network: Network) -> None:
        self.symbols = Symbols(nonterminals=[(rule, WHOLE) for rule in range(len(network.machines))])
        self._known: dict[object, int] = {}
        self._keys: dict[tuple[int, int], int] = {}
        for rule, machine in every(enumerate(network.machines), 1):
            self._cut(rule, machine)
        self._write_single_keys_out(len(network.machines))

    def _cut(self, rule: int, machine: Machine) -> None:
        if not len(machine):
            return
        behind = sorted({target for row in machine.calls for target in row.values()})
        for before, key in [((), 0), *(((self._key(rule, key),), key) for key in behind)]:
            self._read_from(rule, machine, before, key)

    def _read_from(self, rule: int, machine: Machine, before: tuple[int, ...], key: int) -> None:
        """The productions for what has been read before a key, and a segment from there."""
        add = self.symbols.productions.append
        for (ends, calls), segment in self._segments(rule, machine, key):
            read = before if segment is None else (*before, segment)
            if ends:
                add((rule, read))
            for called, target in calls:
                add((self._key(rule, target), (*read, called)))

    def _segments(self, rule: int, machine: Machine, key: int) -> Iterator[tuple[Stop, int | None]]:
        """The stops that a key leads to, each with a terminal, or None for what is reached without one."""
        stops: dict[Stop, list[int]] = {}
        for state in every(reachable(machine.reads[key], machine.reads.__getitem__), 1):
            stops.setdefault(stop_at(machine, state), []).append(state)
        if (own := stop_at(machine, key)) != _NO_STOP:
            yield own, None
        for stop, states in sorted(stops.items()):
            if stop != _NO_STOP:
                yield stop, self._terminal(Segment(rule, key, stop), machine, states)

    def _terminal(self, segment: Segment, machine: Machine, stops: list[int]) -> int:
        builder = Nfa()
        begin = builder.state()
        states = builder.machine(Machine(machine.reads, [{}] * len(machine), machine.accepting))
        for target, ranges in machine.reads[segment.key].items():
            builder.read(begin, ranges, states[target])
        terminal = machine_of(builder.deterministic(begin, [states[stop] for stop in stops]))
        number = self._known.setdefault(_canonical(terminal), len(self.symbols.terminals))
        if number == len(self.symbols.terminals):
            self.symbols.terminals.append(terminal)
            self.symbols.segments.append([])
        self.symbols.segments[number].append(segment)
        return ~number

    def _key(self, rule: int, key: int) -> int:
        number = self._keys.get((rule, key))
        if number is None:
            number = self._keys[rule, key] = len(self.symbols.nonterminals)
            self.symbols.nonterminals.append((rule, key))
        return number

    def _write_single_keys_out(self, rules: int) -> None:
        """Put what a key stands for in its place where that is one sequence: it need not be decided when it ends."""
        symbols = self.symbols
        sides: dict[int, list[tuple[int, ...]]] = {}
        for lhs, rhs in symbols.productions:
            sides.setdefault(lhs, []).append(rhs)
        single = {lhs: some[0] for lhs, some in sides.items() if lhs >= rules and len(some) == 1}

        def written(rhs: tuple[int, ...]) -> tuple[int, ...]:
            while rhs and rhs[0] in single:
                rhs = single[rhs[0]] + rhs[1:]
            return rhs

        symbols.productions = [(lhs, written(rhs)) for lhs, rhs in symbols.productions if lhs not in single]


def stop_at(machine: Machine, state: int) -> Stop:
    """What can be done in a state of a machine other than to read."""
    return machine.accepting[state], tuple(sorted(machine.calls[state].items()))


_NO_STOP: Stop = (False, ())


def _canonical(machine: Machine) -> object:
    """Equal for machines of the same set, whatever their states are numbered like."""
    number = Numbering(0)
    rows = []
    for state in every(number):
        row = sorted((ranges, target) for target, ranges in machine.reads[state].items())
        rows.append((machine.accepting[state], tuple((ranges, number[target]) for ranges, target in row)))
    return tuple(rows)
