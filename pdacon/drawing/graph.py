"""What is drawn, before anything is placed: nodes with rows of text, edges with labels. Tests read this."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

RowStyle = Literal["head", "item", "closure", "step", "jump", "conflict", "faint", "line"]
NodeShape = Literal["circle", "box", "entry", "more"]
EdgeStyle = Literal["terminal", "nonterminal", "plain"]
Direction = Literal["right", "down"]


@dataclass(frozen=True, slots=True)
class Row:
    """A line of text in a box; one of style "line" has none and separates."""

    text: str
    style: RowStyle = "item"


@dataclass(frozen=True, slots=True)
class Node:
    """A state.

    Attributes
    ----------
    id : str
        Unique in its graph, and the end of the element's id in the picture.
    rows : tuple of Row
        What is written in it.
    shape : {"circle", "box", "entry", "more"}
        "entry" is the source of an arrow from nowhere, "more" stands for states that are left out.
    accepting : bool
        Drawn with a double border.
    description : str
        For a reader who points at it, or cannot see it.
    """

    id: str
    rows: tuple[Row, ...]
    shape: NodeShape = "box"
    accepting: bool = False
    start: bool = False
    marked: bool = False
    description: str = ""


@dataclass(frozen=True, slots=True)
class Edge:
    """A transition; each label is a line. One that is marked is heavy."""

    source: str
    target: str
    labels: tuple[str, ...] = ()
    style: EdgeStyle = "plain"
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Graph:
    """A picture to be.

    Attributes
    ----------
    title, description : str
        The picture's own, for readers who cannot see it; the title stands above it too.
    legend : tuple of str
        Lines under the title: what the signs mean, and what was left out.
    """

    title: str
    description: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    legend: tuple[str, ...] = ()
    direction: Direction = "right"

    def __post_init__(self) -> None:
        ids = {node.id for node in self.nodes}
        if len(ids) != len(self.nodes):
            raise ValueError("a Graph has two nodes of one id")
        for edge in self.edges:
            if edge.source not in ids or edge.target not in ids:
                raise ValueError(f"an edge from {edge.source} to {edge.target}: one of them is no node")
