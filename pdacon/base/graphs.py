"""Breadth-first walks over graphs whose edges are found on the way: parsers' items, automata's states, rules.

In: nodes to start at. Out: the nodes that they lead to, each once, with a number or with what it was met by. Of a graph
of which all edges are given: its strongly connected components.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Generic, TypeVar

from pdacon.base.cancelling import every

Node = TypeVar("Node")
Way = TypeVar("Way")


def reachable(starts: Iterable[Node], successors: Callable[[Node], Iterable[Node]]) -> Iterator[Node]:
    """The nodes that some nodes lead to, themselves included; the nearest first. Linear in nodes and edges."""
    order = list(dict.fromkeys(starts))
    met = set(order)
    for node in order:  # grows
        yield node
        for target in successors(node):
            if target not in met:
                met.add(target)
                order.append(target)


class Search(Generic[Node, Way]):
    """Nodes in the order in which they are met, each with the way that led to it first.

    A loop over it has the nodes that are met meanwhile, too.

    Parameters
    ----------
    starts : mapping of Node to Way

    Attributes
    ----------
    ways : dict of Node to Way
    """

    def __init__(self, starts: Mapping[Node, Way]) -> None:
        self.ways = dict(starts)
        self._order = list(starts)

    def meet(self, node: Node, way: Way) -> None:
        """Add a node, unless it has been met."""
        if node not in self.ways:
            self.ways[node] = way
            self._order.append(node)

    def __iter__(self) -> Iterator[tuple[Node, Way]]:
        return ((node, self.ways[node]) for node in self._order)

    def __len__(self) -> int:
        return len(self._order)


class Numbering(Generic[Node]):
    """Nodes in the order in which they are met, as the states of an automaton that is built from them.

    A loop over it has the nodes that are met meanwhile, too.
    """

    def __init__(self, *starts: Node) -> None:
        self._order = list(starts)
        self._numbers = {node: number for number, node in enumerate(starts)}

    def __getitem__(self, node: Node) -> int:
        """The number of a node, from 0; of one that has not been met, the next number from now on."""
        number = self._numbers.setdefault(node, len(self._order))
        if number == len(self._order):
            self._order.append(node)
        return number

    def node(self, number: int) -> Node:
        return self._order[number]

    def __iter__(self) -> Iterator[Node]:
        return iter(self._order)

    def __len__(self) -> int:
        return len(self._order)


def components(graph: Mapping[Node, Collection[Node]]) -> list[list[Node]]:
    """The strongly connected components of a graph; those that a component leads to come before it.

    An edge to what is no node of the graph is passed over. Linear in nodes and edges.

    Source: R. Tarjan, "Depth-First Search and Linear Graph Algorithms", SIAM Journal on Computing 1(2), 1972.
    """
    index: dict[Node, int] = {}
    low: dict[Node, int] = {}
    stack: list[Node] = []
    groups: list[list[Node]] = []
    grouped: set[Node] = set()
    for root in every(graph):
        pending = [] if root in index else [(root, iter(graph[root]))]
        while pending:
            node, rest = pending[-1]
            if node not in index:
                index[node] = low[node] = len(index)
                stack.append(node)
            for after in rest:
                if after in graph and after not in index:
                    pending.append((after, iter(graph[after])))
                    break
                if after in graph and after not in grouped:
                    low[node] = min(low[node], index[after])
            else:
                pending.pop()
                if pending:
                    low[pending[-1][0]] = min(low[pending[-1][0]], low[node])
                if low[node] == index[node]:
                    group = [stack.pop()]
                    while group[-1] != node:
                        group.append(stack.pop())
                    groups.append(group[::-1])
                    grouped.update(group)
    return groups


def is_cyclic(component: Collection[Node], graph: Mapping[Node, Collection[Node]]) -> bool:
    """Whether a node of a strongly connected component leads back to itself."""
    return len(component) > 1 or any(node in graph[node] for node in component)
