"""Characters on both sides of a border -> on one side: what can be read before a call is read there, and so at its end.

Where a rule may begin with any number of some characters (white space, mostly) and may as well stand after them, and
where what follows a rule may begin with any number of them, they can belong to either side. It is the same language if
they are read before the rule and at its end, too. A lexer then finds a border that it could not find before.

In: a network and the characters. Out: the network in which a rule A stands for AC*, wherever all that follows is
C*-closed, and C*A for A, wherever A is. Both are the greatest sets of rules for which that holds.
"""

from __future__ import annotations

from pdacon.base.cancelling import every
from pdacon.frontends.dialects.network import Network
from pdacon.frontends.machines import Machine, Nfa, machine_of
from pdacon.regular import Ranges
from pdacon.regular.characters import complement, intersection


def absorbing(network: Network, characters: Ranges) -> Network | None:
    """See above; None if there is no such rule.

    Raises
    ------
    LimitExceededError
    """
    rules = range(len(network.machines))
    before, behind = set(rules), set(rules) - {network.start}
    while before or behind:
        machines = [
            _with(machine, characters, before, rule in behind)
            for rule, machine in every(enumerate(network.machines), 1)
        ]
        not_before = {rule for rule in before if not _stays(machines[rule], 0, characters)}
        not_behind = {
            called
            for machine in machines
            for row in machine.calls
            for called, target in row.items()
            if called in behind and not _stays(machine, target, characters)
        }
        if not not_before | not_behind:
            return Network(network.names, machines, network.start, network.empty)
        before -= not_before
        behind -= not_behind
    return None


def _with(machine: Machine, characters: Ranges, before: set[int], at_end: bool) -> Machine:
    if not len(machine):
        return machine
    builder = Nfa()
    others = [{called: to for called, to in row.items() if called not in before} for row in machine.calls]
    states = builder.machine(Machine(machine.reads, others, machine.accepting))
    for state, row in zip(states, machine.calls, strict=True):
        own = {called: to for called, to in row.items() if called in before}
        if own:
            around = builder.state()
            builder.silent(state, around)
            builder.read(around, characters, around)
            for called, target in own.items():
                builder.call(around, called, states[target])
    ends = [state for state, accepts in zip(states, machine.accepting, strict=True) if accepts]
    if at_end:
        around = builder.state()
        builder.read(around, characters, around)
        for state in ends:
            builder.silent(state, around)
        ends.append(around)
    return machine_of(builder.deterministic(states[0], ends))


def _stays(machine: Machine, state: int, characters: Ranges) -> bool:
    return bool(len(machine)) and not intersection(characters, complement(machine.reads[state].get(state, ())))
