"""Which rules lead to which: those that are regular, and those without which no rule leads back to itself.

A strongly connected component of rules is regular if what it calls outside is, and its own rules stand at the end of
alternatives only, or at the beginning only.

Source: M. Mohri and M.-J. Nederhof, "Regular Approximation of Context-Free Grammars through Transformation" (2001),
section 2, for strongly regular grammars.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from pdacon.base.cancelling import every, look
from pdacon.base.graphs import components, is_cyclic
from pdacon.frontends.dialects.tree import Reference, Rules, Tree, is_tail, put, references
from pdacon.frontends.machines import Machine, Nfa, machine_of
from pdacon.grammar.expressions import InOrder, OneOf, Repeated

Graph = Mapping[str, Collection[str]]


def graph_of(rules: Rules) -> dict[str, dict[str, None]]:
    """For each rule that a text may need the rules that it names, in the order of the text."""
    graph: dict[str, dict[str, None]] = {}
    pending = [rules.start]
    while pending:
        name = pending.pop()
        if name not in graph:
            graph[name] = dict.fromkeys(reference.name for reference in references(rules.rules[name].body))
            pending += graph[name]
    return graph


def breaking(graph: Graph, among: Iterable[str]) -> set[str]:
    """Some rules without which none leads back to itself: greedily those that most alternatives lead through."""
    left = set(among)
    chosen: set[str] = set()
    while True:
        look()
        cut = {name: [called for called in graph[name] if called in left] for name in graph if name in left}
        cyclic = [component for component in components(cut) if is_cyclic(component, cut)]
        if not cyclic:
            return chosen
        for component in cyclic:
            own = set(component)
            into = {name: sum(name in cut[other] for other in component) for name in component}
            best = max(component, key=lambda name: (name in cut[name], into[name] * sum(o in own for o in cut[name])))
            chosen.add(best)
            left.discard(best)


def regular_machines(rules: Rules, graph: Graph) -> tuple[set[str], dict[str, Machine]]:
    """The rules that are regular, and the machines of those that are not only ends of others; they call nothing.

    A rule that stands only at the end of regular ones is a part of their machines: to go there is all that is left to
    do. So a chain of rules is one machine, and not one for each.

    Raises
    ------
    LimitExceededError
    """
    regular: dict[str, bool] = {}  # whether it names rules of its component at the beginning
    parts: list[list[str]] = []
    for component in every(components(graph), 1):
        own = set(component)
        if any(name not in regular for rule in component for name in graph[rule] if name not in own):
            continue
        for head in (False, True):
            if all(is_tail(rules.rules[name].body, own, head=head) for name in component):
                regular.update(dict.fromkeys(component, head))
                parts.append(component)
                break
    needed = _needed(rules, graph, regular)
    machines: dict[str, Machine] = {}
    for component in parts:
        if regular[component[0]]:
            machines.update(_head_linear(rules, component, machines))
        else:
            machines.update({name: _tail_linear(rules, name, machines) for name in component if name in needed})
    return set(regular), machines


def _needed(rules: Rules, graph: Graph, regular: Mapping[str, bool]) -> set[str]:
    """The regular rules that stand elsewhere than at the end of one, or are the start."""
    needed = {rules.start}
    for name in every(graph):
        if regular.get(name, True):  # it is not regular, or is read from its end
            needed.update(graph[name])
        else:
            needed.update(_inner(rules.rules[name].body))
    return needed


def _inner(tree: Tree) -> Iterator[str]:
    """The names of the references in a tree that something may follow."""
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, InOrder):
            yield from (each.name for part in node.items[:-1] for each in references(part))
            pending += node.items[-1:]
        elif isinstance(node, OneOf):
            pending += node.items
        elif isinstance(node, Repeated):
            if (node.least, node.most) == (0, 1):
                pending.append(node.item)
            else:
                yield from (each.name for each in references(node.item))


def _tail_linear(rules: Rules, start: str, machines: Mapping[str, Machine]) -> Machine:
    """The machine of a rule; rules at the end of it that have none are states of it."""
    builder = Nfa()
    end = builder.state()
    begin = {start: builder.state()}

    def resolve(reference: Reference, before: int, after: int) -> None:
        if reference.name in machines:
            builder.between(machines[reference.name], before, after)
            return
        if reference.name not in begin:
            begin[reference.name] = builder.state()
            pending.append(reference.name)
        builder.silent(before, begin[reference.name])

    pending = [start]
    for name in every(pending):  # grows
        put(builder, rules.rules[name].body, begin[name], end, resolve)
    return machine_of(builder.deterministic(begin[start], [end]))


def _head_linear(rules: Rules, component: list[str], machines: Mapping[str, Machine]) -> dict[str, Machine]:
    """The machines of rules that name each other at the beginning only: read from the end, as those above."""
    builder = Nfa()
    begin = builder.state()
    ends = {name: builder.state() for name in component}

    def resolve(reference: Reference, before: int, after: int) -> None:
        if reference.name in ends:
            builder.silent(ends[reference.name], after)
        else:
            builder.between(machines[reference.name], before, after)

    for name in component:
        put(builder, rules.rules[name].body, begin, ends[name], resolve)
    return {name: machine_of(builder.deterministic(begin, [ends[name]])) for name in component}
