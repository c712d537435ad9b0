"""Graph -> SVG."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement

from pdacon.drawing import svg
from pdacon.drawing.graph import Edge, Graph, Node
from pdacon.drawing.placement import Point, Size, place

_CIRCLE, _PADDING, _RING = 40.0, 9.0, 3.5


def render(graph: Graph) -> str:
    index = {node.id: k for k, node in enumerate(graph.nodes)}
    sizes = [node_size(node) for node in graph.nodes]
    places = place(
        [(size, node.shape == "circle") for node, size in zip(graph.nodes, sizes, strict=True)],
        [(index[edge.source], index[edge.target], _label_size(edge)) for edge in graph.edges],
        graph.direction,
        first=[k for k, node in enumerate(graph.nodes) if node.shape == "entry"],
    )
    root, top = svg.begin(graph.title, _in_words(graph), graph.legend)
    _add_tip(root)
    picture = SubElement(root, "g", transform=f"translate({svg.number(svg.MARGIN)} {svg.number(top)})")
    for edge, route in zip(graph.edges, places.routes, strict=True):
        _add_edge(picture, edge, route)
    for node, size, centre in zip(graph.nodes, sizes, places.centres, strict=True):
        _add_node(picture, node, size, centre)
    for edge, label in zip(graph.edges, places.labels, strict=True):
        if label is not None:
            _add_label(picture, edge, label)
    return svg.end(root, svg.MARGIN + places.size[0], top + places.size[1])


def _in_words(graph: Graph) -> str:
    """The picture for who cannot see it: what is in it, box by box and edge by edge."""
    boxes = (
        f"{node.description}: {' | '.join(row.text for row in node.rows if row.text)}"
        for node in graph.nodes
        if node.rows
    )
    edges = (_edge_in_words(edge) for edge in graph.edges if edge.labels)
    return " ".join([graph.description, *(f"{line}." for line in (*boxes, *edges))])


def _edge_in_words(edge: Edge) -> str:
    return f"{edge.source} to {edge.target}" + (f" on {', '.join(edge.labels)}" if edge.labels else "")


def node_size(node: Node) -> Size:
    if node.shape == "entry":
        return 2.0, 2.0
    if node.shape == "circle":
        return _CIRCLE, _CIRCLE
    width = max(svg.text_width(row.text) for row in node.rows) + 2 * _PADDING
    height = len(node.rows) * svg.LINE_HEIGHT + _PADDING
    return (width + 2 * _RING, height + 2 * _RING) if node.accepting else (width, height)


def _label_size(edge: Edge) -> Size | None:
    if not edge.labels:
        return None
    return max(map(svg.text_width, edge.labels)) + 6, len(edge.labels) * svg.LINE_HEIGHT


def _add_tip(root: Element) -> None:
    tip = {"id": "tip", "viewBox": "0 0 8 8", "refX": "7.5", "refY": "4", "orient": "auto"}
    marker = SubElement(
        root, "marker", {**tip, "markerWidth": "8", "markerHeight": "8", "markerUnits": "userSpaceOnUse"}
    )
    SubElement(marker, "path", {"class": "tip", "d": "M0 0.5L8 4L0 7.5Z"})


def _add_edge(picture: Element, edge: Edge, route: list[list[Point]]) -> None:
    drawn = svg.group(picture, "edge marked" if edge.marked else "edge", _edge_in_words(edge))
    for k, part in enumerate(route):
        tip = {"marker-end": "url(#tip)"} if k == len(route) - 1 else {}
        SubElement(drawn, "path", {"class": f"edge {edge.style}", "d": svg.path(part), **tip})


def _add_label(picture: Element, edge: Edge, centre: Point) -> None:
    width, height = max(map(svg.text_width, edge.labels)) + 2, len(edge.labels) * svg.LINE_HEIGHT - 2
    corner = {"x": svg.number(centre[0] - width / 2), "y": svg.number(centre[1] - height / 2), "rx": "3"}
    SubElement(picture, "rect", {"class": "plate", **corner, "width": svg.number(width), "height": svg.number(height)})
    y = centre[1] - (len(edge.labels) - 1) * svg.LINE_HEIGHT / 2 + 4.5
    for k, label in enumerate(edge.labels):
        svg.add_text(picture, centre[0], y + k * svg.LINE_HEIGHT, label, f"label {edge.style}", "middle")


def _add_node(picture: Element, node: Node, size: Size, centre: Point) -> None:
    if node.shape == "entry":
        return
    names = ["node", node.shape, *(["accepting"] if node.accepting else []), *(["start"] if node.start else [])]
    names += ["marked"] if node.marked else []
    if any(row.style == "conflict" for row in node.rows):
        names.append("conflicting")
    drawn = svg.group(picture, " ".join(names), node.description or node.rows[0].text, f"node-{node.id}")
    x, y = centre[0] - size[0] / 2, centre[1] - size[1] / 2
    for inset in (0.0, *([_RING] if node.accepting else [])):
        name = "ring" if inset else "frame"
        if node.shape == "circle":
            circle = {"cx": svg.number(centre[0]), "cy": svg.number(centre[1]), "r": svg.number(size[0] / 2 - inset)}
            SubElement(drawn, "circle", {"class": name, **circle})
        else:
            corner = {"x": svg.number(x + inset), "y": svg.number(y + inset), "rx": "6"}
            extent = {"width": svg.number(size[0] - 2 * inset), "height": svg.number(size[1] - 2 * inset)}
            SubElement(drawn, "rect", {"class": name, **corner, **extent})
    _add_rows(drawn, node, size, centre)


def _add_rows(drawn: Element, node: Node, size: Size, centre: Point) -> None:
    ring = _RING if node.accepting else 0.0
    x, y = centre[0] - size[0] / 2 + _PADDING + ring, centre[1] - size[1] / 2 + _PADDING / 2 + 12.5 + ring
    if node.shape != "box":
        y = centre[1] - (len(node.rows) - 1) * svg.LINE_HEIGHT / 2 + 4.5
    for k, row in enumerate(node.rows):
        if row.style == "line":
            middle, ends = svg.number(y + k * svg.LINE_HEIGHT - 4.5), (centre[0] - size[0] / 2, centre[0] + size[0] / 2)
            attributes = {"class": "separator", "x1": svg.number(ends[0]), "x2": svg.number(ends[1])}
            SubElement(drawn, "line", {**attributes, "y1": middle, "y2": middle})
        elif node.shape == "box":
            svg.add_text(drawn, x, y + k * svg.LINE_HEIGHT, row.text, row.style)
        else:
            svg.add_text(drawn, centre[0], y + k * svg.LINE_HEIGHT, row.text, row.style, "middle")
