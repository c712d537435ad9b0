"""Which rules lead to which: those that are regular, and those without which no rule leads back to itself.

A strongly connected component of rules is regular if what it calls outside is, and its own rules stand at the end of
alternatives only, or at the beginning only.

Source: M. Mohri and M.-J. Nederhof, "Regular Approximation of Context-Free Grammars through Transformation" (2001),
section 2, for strongly regular grammars; R. Tarjan, "Depth-First Search and Linear Graph Algorithms", SIAM Journal on
Computing 1(2), 1972.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from pdacon.cancelling import every, look
from pdacon.frontends.dialects.machines import Builder, Machine, is_tail, machine_of
from pdacon.frontends.dialects.tree import Reference, Rules, references

Graph = Mapping[str, Collection[str]]


def graph_of(rules: Rules) -> dict[str, dict[str, None]]:
    """For each rule that a text may need the rules that it names, in the order of the text."""
    graph: dict[str, dict[str, None]] = {}
    pending = [rules.start]
    while pending:
        name = pending.pop()
        if name not in graph:
            graph[name] = dict.fromkeys(one.name for one in references(rules.rules[name].body))
            pending += graph[name]
    return graph


def components(graph: Graph) -> list[list[str]]:
    """The strongly connected components; those that a component leads to come before it."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []
    on_stack: set[str] = set()
    for root in graph:
        if root in index:
            continue
        pending = [(root, iter(graph[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while pending:
            name, rest = pending[-1]
            for after in rest:
                if after not in graph:
                    continue
                if after not in index:
                    index[after] = low[after] = len(index)
                    stack.append(after)
                    on_stack.add(after)
                    pending.append((after, iter(graph[after])))
                    break
                if after in on_stack:
                    low[name] = min(low[name], index[after])
            else:
                pending.pop()
                if pending:
                    low[pending[-1][0]] = min(low[pending[-1][0]], low[name])
                if low[name] == index[name]:
                    cut = stack.index(name)
                    found.append(stack[cut:])
                    on_stack.difference_update(stack[cut:])
                    del stack[cut:]
    return found


def is_cyclic(component: Collection[str], graph: Graph) -> bool:
    """Whether a rule of a component leads back to itself."""
    return len(component) > 1 or any(name in graph[name] for name in component)


def breaking(graph: Graph, among: Iterable[str]) -> set[str]:
    """Some rules without which none leads back to itself: greedily those that most alternatives lead through."""
    left = set(among)
    chosen: set[str] = set()
    while True:
        look()
        cut = {name: [one for one in graph[name] if one in left] for name in graph if name in left}
        cyclic = [one for one in components(cut) if is_cyclic(one, cut)]
        if not cyclic:
            return chosen
        for component in cyclic:
            own = set(component)
            into = {name: sum(name in cut[other] for other in component) for name in component}
            best = max(component, key=lambda name: (name in cut[name], into[name] * sum(o in own for o in cut[name])))
            chosen.add(best)
            left.discard(best)


def regular_machines(rules: Rules, graph: Graph) -> dict[str, Machine]:
    """The machines of the rules that are regular; they call nothing.

    Raises
    ------
    LimitExceededError
    """
    known: dict[str, Machine] = {}
    for component in every(components(graph), 1):
        own = set(component)
        if any(name not in known for rule in component for name in graph[rule] if name not in own):
            continue
        for head in (False, True):
            if all(is_tail(rules.rules[name].body, own, head=head) for name in component):
                known.update(_linear(rules, component, known, head=head))
                break
    return known


def _linear(rules: Rules, component: list[str], known: Mapping[str, Machine], *, head: bool) -> dict[str, Machine]:
    """The machines of rules that name each other at the end only: to go there is all that is left to do."""
    builder = Builder()
    shared = builder.state()  # where all of them end, or begin
    own = {name: builder.state() for name in component}  # where each begins, or ends

    def resolve(one: Reference, begin: int, end: int) -> None:
        if one.name not in own:
            builder.between(known[one.name], begin, end)
        elif head:
            builder.silent(own[one.name], end)
        else:
            builder.silent(begin, own[one.name])

    for name in component:
        ends = (shared, own[name]) if head else (own[name], shared)
        builder.tree(rules.rules[name].body, *ends, resolve)
    return {
        name: machine_of(builder.deterministic(*((shared, [own[name]]) if head else (own[name], [shared]))))
        for name in component
    }
