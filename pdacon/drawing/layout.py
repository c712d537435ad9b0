"""Where everything goes: sizes in, places out. The only module that knows the layout library.

graphlay places nodes in layers (Sugiyama's method), routes edges around them and keeps labels apart; the same graph
gives the same picture on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import graphlay

from pdacon.drawing.graph import Direction

Size = tuple[float, float]
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Places:
    """Everything in pixels, from the upper left corner.

    Attributes
    ----------
    centres : list of Point
        Of the nodes, in the order in which they were given.
    routes : list of list of list of Point
        Each edge from the border of its source to that of its target; in two parts where a label stands between them.
    labels : list of Point or None
        The centres of the edges' labels.
    size : Size
        Of the whole.
    """

    centres: list[Point]
    routes: list[list[list[Point]]]
    labels: list[Point | None]
    size: Size


def place(
    nodes: Sequence[tuple[Size, bool]],
    edges: Sequence[tuple[int, int, Size | None]],
    direction: Direction,
    *,
    first: Sequence[int] = (),
) -> Places:
    """Lay a graph out in layers.

    Parameters
    ----------
    nodes : sequence of (Size, bool)
        Width and height, and whether it is an ellipse.
    edges : sequence of (source, target, Size or None)
        Indices of nodes, and the size of the label if there is one.
    first : sequence of int
        Nodes to be put in the first layer.
    """
    graph = graphlay.Graph()
    for k, ((width, height), is_round) in enumerate(nodes):
        rank = {"rank": "first"} if k in first else {}
        graph.node(k, width=width, height=height, shape="ellipse" if is_round else "box", label="", **rank)
    halves: list[tuple[int, ...]] = []
    backward = _backward(len(nodes), [(source, target) for source, target, _ in edges], first)
    for source, target, size in edges:
        if size is None or source == target:
            label: dict[str, Any] = {} if size is None else {"label_size": {"width": size[0], "height": size[1]}}
            ends = (target, source) if backward[len(halves)] else (source, target)
            halves.append((graph.edge(*ends, **label),))
        else:
            # A label is a node on its edge, so that nothing else comes to stand where it is.
            node = graph.node(("label", len(halves)), width=size[0], height=size[1], shape="box", label="")
            ends = (target, source) if backward[len(halves)] else (source, target)
            halves.append((graph.edge(ends[0], node), graph.edge(node, ends[1])))
    options = {
        "direction": "leftright" if direction == "right" else "topbottom",
        "routing": {"style": "orthogonal"},
        "spacing": {"layer_gap": 22.0, "node_gap": 22.0},
    }
    placed = graphlay.layout(graph, options=options)
    points = [_point(end) for end in (placed.bounds["min"], placed.bounds["max"])]
    left, top = points[0]

    def moved(point: dict[str, float]) -> Point:
        x, y = _point(point)
        return x - left, y - top

    routes = [[moved(point) for point in edge["points"]] for edge in placed.edges]
    centres = [moved(node["center"]) for node in placed.nodes]
    labels: list[Point | None] = []
    label_nodes = iter(centres[len(nodes) :])
    for parts in halves:
        anchor = placed.edges[parts[0]].get("label_anchor")
        labels.append(next(label_nodes) if len(parts) == 2 else None if anchor is None else moved(anchor))
    return Places(
        centres[: len(nodes)],
        [
            [routes[part][::-1] for part in reversed(parts)] if back else [routes[part] for part in parts]
            for parts, back in zip(halves, backward, strict=True)
        ],
        labels,
        (points[1][0] - left, points[1][1] - top),
    )


def _backward(count: int, edges: Sequence[tuple[int, int]], first: Sequence[int]) -> list[bool]:
    """Which edges lead back: to a node on the way to their source, in a walk in depth first order.

    The library finds fewer edges to turn round, but then an automaton need not begin where it starts.
    """
    leaving: list[list[int]] = [[] for _ in range(count)]
    for k, (source, _) in enumerate(edges):
        leaving[source].append(k)
    backward = [False] * len(edges)
    ahead = [iter(out) for out in leaving]
    seen, above = [False] * count, [False] * count
    for root in (*first, *range(count)):
        way = [] if seen[root] else [root]
        while way:
            node = way[-1]
            seen[node] = above[node] = True
            edge = next(ahead[node], None)
            if edge is None:
                above[way.pop()] = False
                continue
            target = edges[edge][1]
            backward[edge] = above[target] and target != node
            if not seen[target]:
                way.append(target)
    return backward


def _point(point: dict[str, float]) -> Point:
    return float(point["x"]), float(point["y"])
