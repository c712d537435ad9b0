"""Where everything goes: sizes in, places out. The only module that knows the layout library.

graphlay places nodes in layers (Sugiyama's method), routes edges around them and keeps labels apart; the same graph
gives the same picture on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import graphlay

from pdacon.drawing.graph import Direction

Size = tuple[float, float]
Point = tuple[float, float]
Box = tuple[float, float, float, float]
"""Left, upper, right and lower border."""

_STEP, _REACH = 4.0, 64.0  # how closely, and how far from the loop, a place for its label is looked for


@dataclass(frozen=True, slots=True)
class Places:
    """Everything in pixels, from the upper left corner."""

    centres: list[Point]  # Of the nodes, in the order in which they were given
    # Each edge from the border of its source to that of its target; in two parts where a label stands between them.
    routes: list[list[list[Point]]]
    labels: list[Point | None]  # The centres of the edges' labels
    size: Size  # Of the whole


def place(
    nodes: Sequence[tuple[Size, bool]],
    edges: Sequence[tuple[int, int, Size | None]],
    direction: Direction,
    *,
    first: Sequence[int] = (),
) -> Places:
    """Lay a graph out in layers.

    ``nodes``: width and height, and whether it is an ellipse. ``edges``: indices of nodes, and the size of the label if
    there is one. ``first``: nodes to be put in the first layer.
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
    routes = [[_point(point) for point in edge["points"]] for edge in placed.edges]
    centres = [_point(node["center"]) for node in placed.nodes]
    labels: list[Point | None] = []
    label_nodes = iter(centres[len(nodes) :])
    for parts in halves:
        anchor = placed.edges[parts[0]].get("label_anchor")
        labels.append(next(label_nodes) if len(parts) == 2 else None if anchor is None else _point(anchor))
    boxes = [_box(centre, size) for centre, (size, _) in zip(centres, nodes, strict=False)]
    boxes += [_box(at, size) for at, (_, _, size) in zip(labels, edges, strict=True) if at and size]
    for k, (source, target, size) in enumerate(edges):
        anchor_of_loop = labels[k]
        if source == target and size is not None and anchor_of_loop is not None:
            taken = [box for box in boxes if box != _box(anchor_of_loop, size)]
            loop = _around(_stretches([routes[part] for part in halves[k]]))
            labels[k] = _free_place(anchor_of_loop, size, [*taken, *_stretches(routes)], loop)
            boxes = [*taken, _box(labels[k] or anchor_of_loop, size)]
    whole = [*boxes, (*_point(placed.bounds["min"]), *_point(placed.bounds["max"]))]
    left, top = min(box[0] for box in whole), min(box[1] for box in whole)

    def moved(point: Point) -> Point:
        return point[0] - left, point[1] - top

    routes = [list(map(moved, route)) for route in routes]
    return Places(
        list(map(moved, centres[: len(nodes)])),
        [
            [routes[part][::-1] for part in reversed(parts)] if back else [routes[part] for part in parts]
            for parts, back in zip(halves, backward, strict=True)
        ],
        [None if at is None else moved(at) for at in labels],
        (max(box[2] for box in whole) - left, max(box[3] for box in whole) - top),
    )


def _box(centre: Point, size: Size) -> Box:
    return centre[0] - size[0] / 2, centre[1] - size[1] / 2, centre[0] + size[0] / 2, centre[1] + size[1] / 2


def _stretches(routes: Sequence[Sequence[Point]]) -> list[Box]:
    """The straight parts of routes, which go along the axes."""
    return [
        (min(a[0], b[0]), min(a[1], b[1]), max(a[0], b[0]), max(a[1], b[1]))
        for route in routes
        for a, b in pairwise(route)
    ]


def _around(boxes: Sequence[Box]) -> Box:
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def _free_place(centre: Point, size: Size, taken: Sequence[Box], loop: Box) -> Point:
    """The centre next to the loop at which a label lies on nothing; the given one if there is none near.

    The library puts the labels of loops beside them, whatever else is there.
    """

    def gap(at: Point) -> tuple[float, float]:
        """How far the label is from the loop, and how far from where the library puts it."""
        left, top, right, bottom = _box(at, size)
        across = max(loop[0] - right, left - loop[2], 0.0)
        along = max(loop[1] - bottom, top - loop[3], 0.0)
        return across**2 + along**2, (at[0] - centre[0]) ** 2 + (at[1] - centre[1]) ** 2

    columns, rows = (int((length / 2 + _REACH) / _STEP) for length in size)
    places = (
        (centre[0] + dx * _STEP, centre[1] + dy * _STEP)
        for dx in range(-columns, columns + 1)
        for dy in range(-rows, rows + 1)
    )
    for at in sorted(places, key=gap):
        left, top, right, bottom = _box(at, size)
        if not any(left < b[2] and b[0] < right and top < b[3] and b[1] < bottom for b in taken):
            return at
    return centre


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
