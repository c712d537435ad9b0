"""Rules -> a recursive transition network with few rules, each of them deterministic.

In: rules, and which of them are to stay. The others are put in the place of their names, so that what begins alike is
read once. Out: a `Network`: machines that call each other, of which none accepts the empty text.

A rule that calls itself at the end of a text goes on at its beginning, and one that calls itself at the beginning goes
on at its end: X = YX | Z is Y*Z (Arden's lemma). So ``e ::= e "+" e | n`` is ``n ("+" n)*``.

Source: D. Arden, "Delayed-Logic and Finite-State Machines" (1961).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from pdacon.base.cancelling import every, look
from pdacon.base.graphs import reachable
from pdacon.errors import LimitExceededError
from pdacon.frontends.dialects.rule_graph import Graph
from pdacon.frontends.dialects.tree import Reference, Rules, put
from pdacon.frontends.machines import MOST_CALLED, Machine, Nfa, machine_of
from pdacon.regular.characters import complement, intersection


@dataclass(frozen=True, slots=True)
class Network:
    """Rules that call each other.

    Attributes
    ----------
    names : list of str
        The author's names; rules are called by their numbers.
    machines : list of Machine
        None accepts the empty text, and none calls a rule that derives no text; that of such a rule has no states.
    start : int
        The rule that a text is derived from.
    empty : bool
        Whether the empty text is one, too.
    """

    names: list[str]
    machines: list[Machine]
    start: int
    empty: bool


def network_of(rules: Rules, graph: Graph, regular: dict[str, Machine], kept: Iterable[str]) -> Network:
    """The network in which some rules stay, of those that are not regular, and the start.

    Raises
    ------
    LimitExceededError
        It has too many states, or rules.
    """
    kept = list(dict.fromkeys([rules.start, *kept]))
    while True:
        if len(kept) > MOST_CALLED:
            raise LimitExceededError("rules", len(kept), MOST_CALLED, fixed=True)
        number = {name: k for k, name in enumerate(kept)}
        machines = dict(regular)
        others = [name for name in kept if name not in regular]
        for name in every(_callees_first(graph, others, regular.keys()), 1):
            machines[name] = _built(rules, name, machines, number)
        kept_machines = {name: _without_own_ends(machines[name], number[name]) for name in kept}
        plain = {name for name in kept if not kept_machines[name].called()} - {rules.start}
        if not plain:
            break
        regular = {**regular, **{name: kept_machines[name] for name in plain}}
        kept = [name for name in kept if name not in plain]
    some = _accepting(list(kept_machines.values()), reads=True)
    calling = [_calling(machine, some) for machine in kept_machines.values()]
    nullable = _accepting(calling, reads=False)
    return Network(kept, [_without_empty(machine, nullable) for machine in calling], 0, 0 in nullable)


def _callees_first(graph: Graph, kept: Collection[str], regular: Collection[str]) -> list[str]:
    """The rules that are not regular, each after those that are put in its place; those that stay are put nowhere."""
    order: dict[str, None] = {}
    for root in kept:
        pending = [(root, iter(graph[root]))]
        while pending:
            name, rest = pending[-1]
            for after in rest:
                if after not in order and after not in kept and after not in regular:
                    pending.append((after, iter(graph[after])))
                    break
            else:
                order[name] = None
                pending.pop()
    return list(order)


def _built(rules: Rules, name: str, machines: dict[str, Machine], number: dict[str, int]) -> Machine:
    builder = Nfa()
    begin, end = builder.state(), builder.state()

    def resolve(reference: Reference, begin: int, end: int) -> None:
        if reference.name in number:
            builder.call(begin, number[reference.name], end)
        else:
            builder.between(machines[reference.name], begin, end)

    put(builder, rules.rules[name].body, begin, end, resolve)
    return machine_of(builder.deterministic(begin, [end]))


def _without_own_ends(machine: Machine, own: int) -> Machine:
    """The same language, without calls of itself at the beginning and at the end."""
    if len(machine) and own in machine.calls[0]:
        builder = Nfa()
        states = builder.machine(_without_call(machine, 0, own))
        ends = [state for state, accepts in zip(states, machine.accepting, strict=True) if accepts]
        for state in ends:
            builder.silent(state, states[machine.calls[0][own]])
        machine = machine_of(builder.deterministic(states[0], ends))
    ends = [state for state, accepts in enumerate(machine.accepting) if accepts]
    last = {state: row[own] for state, row in enumerate(machine.calls) if own in row and row[own] in ends}
    if not last:
        return machine
    # Where nothing follows the call that could not follow any other end, to go on at the beginning is all. Else the
    # call stays, for texts that do not end with it.
    stays = [target for target in last.values() if not all(_includes(machine, end, target) for end in ends)]
    for state in last:
        machine = _without_call(machine, state, own)
    builder = Nfa()
    states = builder.machine(machine)
    goes_on = {target: builder.state() for target in stays}
    for target, copy in goes_on.items():
        for after, ranges in machine.reads[target].items():
            builder.read(copy, ranges, states[after])
        for rule, after in machine.calls[target].items():
            builder.call(copy, rule, states[after])
    for state, target in last.items():
        for copy in (states[state], *([goes_on[state]] if state in goes_on else [])):
            builder.silent(copy, states[0])
            if target in goes_on:
                builder.call(copy, own, goes_on[target])
    return machine_of(builder.deterministic(states[0], [states[end] for end in ends]))


def _includes(machine: Machine, state: int, other: int) -> bool:
    """Whether all that another state accepts is accepted from a state."""
    seen = {(state, other)}
    pending = [(state, other)]
    while pending:
        look()
        state, other = pending.pop()
        if machine.accepting[other] and not machine.accepting[state]:
            return False
        pairs = []
        for rule, target in machine.calls[other].items():
            if rule not in machine.calls[state]:
                return False
            pairs.append((machine.calls[state][rule], target))
        for target, ranges in machine.reads[other].items():
            left = ranges
            for own, common in machine.reads[state].items():
                if intersection(ranges, common):
                    pairs.append((own, target))
                    left = intersection(left, complement(common))
            if left:
                return False
        pending += (pair for pair in pairs if pair not in seen)
        seen.update(pairs)
    return True


def _without_call(machine: Machine, state: int, rule: int) -> Machine:
    calls = [dict(row) for row in machine.calls]
    del calls[state][rule]
    return Machine(machine.reads, calls, machine.accepting)


def _accepting(machines: list[Machine], *, reads: bool) -> set[int]:
    """The rules that accept a text, or, unless it ``reads``, the empty one."""
    accepting: set[int] = set()
    while True:
        look()
        more = {
            k for k, machine in enumerate(machines) if k not in accepting and _accepts(machine, accepting, reads=reads)
        }
        if not more:
            return accepting
        accepting |= more


def _accepts(machine: Machine, called: set[int], *, reads: bool) -> bool:
    """Whether a machine gets to acceptance by calls of some rules, and if it ``reads`` by characters."""

    def after(state: int) -> list[int]:
        targets = [target for rule, target in machine.calls[state].items() if rule in called]
        return [*targets, *machine.reads[state]] if reads else targets

    return any(machine.accepting[state] for state in reachable([0] if len(machine) else [], after))


def _calling(machine: Machine, rules: set[int]) -> Machine:
    """A machine without the ways that call other rules than these."""
    if machine.called() <= rules:
        return machine
    builder = Nfa()
    calls = [{rule: target for rule, target in row.items() if rule in rules} for row in machine.calls]
    states = builder.machine(Machine(machine.reads, calls, machine.accepting))
    ends = [state for state, accepts in zip(states, machine.accepting, strict=True) if accepts]
    return machine_of(builder.deterministic(states[0], ends))


def _without_empty(machine: Machine, nullable: set[int]) -> Machine:
    """The texts of a machine but the empty one, if what it calls does not accept that either."""
    if not len(machine) or not (machine.accepting[0] or machine.called() & nullable):
        return machine
    builder = Nfa()
    first = [builder.state() for _ in range(len(machine))]  # nothing has been read up to here
    later = builder.machine(machine)
    for state, (reads, calls) in enumerate(zip(machine.reads, machine.calls, strict=True)):
        for target, ranges in reads.items():
            builder.read(first[state], ranges, later[target])
        for rule, target in calls.items():
            builder.call(first[state], rule, later[target])
            if rule in nullable:
                builder.silent(first[state], first[target])
                builder.silent(later[state], later[target])
    ends = [state for state, accepts in zip(later, machine.accepting, strict=True) if accepts]
    return machine_of(builder.deterministic(first[0], ends))
