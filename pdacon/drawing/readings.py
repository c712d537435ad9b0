"""A conflict's counterexample -> the two readings as trees: one above the sentence, the other below it.

Where the grammar is ambiguous both trees stand on one sentence. Else the sentences are the same only up to where the
parser has to decide, and each tree has its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from xml.etree.ElementTree import Element, SubElement

from pdacon.base.quoting import quote
from pdacon.determinism import Finding
from pdacon.determinism.report.findings import Counterexample, Derivation
from pdacon.drawing import svg
from pdacon.drawing.captions import grammar_name, shortened, wrapped
from pdacon.errors import DrawingError
from pdacon.grammar import GrammarData

_LEVEL, _GAP, _DOT = 44.0, 18.0, 22.0  # between levels, between symbols, at the place of the decision


def draw_conflict(grammar: GrammarData, number: int = 1) -> str:
    """The two readings of a sentence between which the parser cannot choose, as SVG.

    Parameters
    ----------
    grammar : GrammarData
        The grammar; it is checked in the call.
    number : int
        Which of the conflicts that `check` finds, in its order, from 1.

    Raises
    ------
    DrawingError
        There are not so many conflicts with readings to show.

    Notes
    -----
    Cost: that of `check`, which looks for the shortest such sentence.
    """
    from pdacon.determinism import check_within

    found = [finding for finding in check_within(grammar).findings if finding.counterexample is not None]
    if not 1 <= number <= len(found):
        count = f"there {'is 1' if len(found) == 1 else f'are {len(found)}'}" if found else "there is none"
        raise DrawingError(f"no conflict {number} with two readings; {count}")
    return draw_readings(found[number - 1], grammar_name(grammar))


def draw_readings(finding: Finding, name: str = "grammar") -> str:
    """The readings of one finding that has a counterexample; ``name`` is the grammar's, for the title."""
    example = finding.counterexample
    if example is None:
        raise DrawingError(f"{finding.id} has no readings to be drawn")
    shift = finding.id == "PDA001"
    words = (f"{heading}: {_in_words(tree)}" for heading, tree in zip(_headings(shift), _trees(example), strict=True))
    legend = ["The parser has to decide at the dot.", _what_is_the_same(example), *_as_text(example)]
    root, top = svg.begin(f"{name}: {finding.title}", ". ".join(words), legend)
    columns, first, second = _placed(example)
    above, below = (max(node.level for node in tree) * _LEVEL for tree in (first, second))
    left, y = svg.MARGIN, top + 2 * svg.LINE_HEIGHT + above
    under = y if example.unifying else y + 1.6 * svg.LINE_HEIGHT
    svg.add_text(root, left, top + svg.LINE_HEIGHT, _headings(shift)[0], "head")
    _add_tree(root, second, left, under, _LEVEL, leaves=not example.unifying)
    _add_tree(root, first, left, y, -_LEVEL, leaves=True)
    for line in dict.fromkeys((y, under)):
        svg.add_text(root, left + columns.dot, line, "•", "conflict", "middle")
    bottom = under + below + 1.6 * svg.LINE_HEIGHT
    svg.add_text(root, left, bottom, _headings(shift)[1], "head")
    return svg.end(root, left + columns.width, bottom)


def _what_is_the_same(example: Counterexample) -> str:
    before = [tree.leaves()[: example.position] for tree in _trees(example)]
    if example.unifying:
        return "One sentence has two readings, so the grammar is ambiguous."
    if before[0] == before[1]:
        return "Up to there the sentences are the same, and the next symbol does not tell which of them it is."
    return "The sentences begin differently, but LALR(1) has one state for both at the dot."


def _as_text(example: Counterexample) -> list[str]:
    texts = dict.fromkeys(text for text in (example.first_text, example.second_text) if text is not None)
    return wrapped("As text:", [quote(text) for text in texts]) if texts else []


def _headings(shift: bool) -> tuple[str, str]:
    return ("shift, as Lark does", "reduce") if shift else ("the first rule", "the second rule")


def _trees(example: Counterexample) -> tuple[Derivation, Derivation]:
    return example.first, example.second


@dataclass(frozen=True, slots=True)
class _Columns:
    """Where the symbols of the sentences stand: their middles, the dot, what is empty before each, the whole width."""

    leaves: list[float]
    empties: list[list[float]]
    dot: float
    width: float


@dataclass(slots=True)
class _Node:
    """A symbol of a tree: where it is, how far above the sentence, and the node above it."""

    symbol: str
    x: float
    level: int
    parent: int
    leaf: bool
    empty: bool = False


def _placed(example: Counterexample) -> tuple[_Columns, list[_Node], list[_Node]]:
    """Columns so wide that no names overlap, and the trees on them."""
    gap = _GAP
    while True:
        columns = _columns(example, gap)
        first, second = (_place(tree, columns) for tree in _trees(example))
        if gap > 40 * _GAP or not (_overlap(first) or _overlap(second)):
            break
        gap += _GAP
    ends = [(node.x, svg.text_width(node.symbol) / 2) for node in (*first, *second)]
    shift = max(0.0, -min(x - half for x, half in ends))
    for node in (*first, *second):
        node.x += shift
    width = max(x + half for x, half in ends) + shift
    return replace(columns, dot=columns.dot + shift, width=width), first, second


def _overlap(nodes: Sequence[_Node]) -> bool:
    rows: dict[int, list[tuple[float, float]]] = {}
    for node in nodes:
        half = svg.text_width(node.symbol) / 2 + 4
        rows.setdefault(node.level, []).append((node.x - half, node.x + half))
    return any(one[1] > other[0] for row in rows.values() for one, other in pairwise(sorted(row)))


def _columns(example: Counterexample, gap: float) -> _Columns:
    """One column for the i-th symbols of both sentences, and before it room for what derives nothing there."""
    rows = [list(_steps(tree)) for tree in _trees(example)]
    leaves = [[symbol for symbol, empty in row if not empty] for row in rows]
    count = max(map(len, leaves))
    before: list[list[list[str]]] = [[[] for _ in range(count + 1)] for _ in rows]
    for row, gaps in zip(rows, before, strict=True):
        at = 0
        for symbol, empty in row:
            if empty:
                gaps[at].append(symbol)
            else:
                at += 1
    x, dot = 0.0, 0.0
    middles: list[float] = []
    empties: list[list[float]] = []
    for k in range(count + 1):
        widths = [max(svg.text_width(symbol) for symbol in pair) for pair in _pairs(before, k)]
        empties.append([])
        for width in widths:
            empties[-1].append(x + width / 2)
            x += width + gap
        if k == example.position:
            dot = x + (_DOT - gap) / 2
            x += _DOT
        if k < count:
            width = max(svg.text_width(row[k]) for row in leaves if k < len(row))
            middles.append(x + width / 2)
            x += width + gap
    return _Columns(middles, empties, dot, x)


def _pairs(before: Sequence[list[list[str]]], k: int) -> Iterator[tuple[str, ...]]:
    longest = max(len(gaps[k]) for gaps in before)
    for i in range(longest):
        yield tuple(gaps[k][i] for gaps in before if i < len(gaps[k]))


def _steps(tree: Derivation) -> Iterator[tuple[str, bool]]:
    """The leaves from left to right, and among them what derives nothing."""
    pending = [tree]
    while pending:
        node = pending.pop()
        if not node.children:
            yield node.symbol, node.children is not None
        else:
            pending.extend(reversed(node.children))


def _place(tree: Derivation, columns: _Columns) -> list[_Node]:
    """The nodes, parents before children; a node stands over the middle of its children."""
    nodes: list[_Node] = []
    pending = [(tree, -1)]
    at, gaps = 0, [0] * (len(columns.leaves) + 1)
    while pending:
        derivation, parent = pending.pop()
        index = len(nodes)
        if derivation.children:
            nodes.append(_Node(derivation.symbol, 0.0, 0, parent, leaf=False))
            pending.extend((child, index) for child in reversed(derivation.children))
        elif derivation.children is None:
            nodes.append(_Node(derivation.symbol, columns.leaves[at], 0, parent, leaf=True))
            at += 1
        else:
            nodes.append(_Node(derivation.symbol, columns.empties[at][gaps[at]], 1, parent, leaf=False, empty=True))
            gaps[at] += 1
    spans: dict[int, tuple[float, float]] = {}
    for index in range(len(nodes) - 1, -1, -1):  # children come after their parents
        node = nodes[index]
        if index in spans:
            node.x = sum(spans[index]) / 2
        if node.parent >= 0:
            above = nodes[node.parent]
            above.level = max(above.level, node.level + 1)
            left, right = spans.get(node.parent, (node.x, node.x))
            spans[node.parent] = min(left, node.x), max(right, node.x)
    return nodes


def _add_tree(root: Element, nodes: Sequence[_Node], left: float, y: float, step: float, *, leaves: bool) -> None:
    """A tree that grows upwards from its sentence at y, or downwards where ``step`` is positive."""
    for node in nodes:
        if node.parent >= 0:
            above = nodes[node.parent]
            ends = [(left + above.x, y + above.level * step - 4.5), (left + node.x, y + node.level * step - 4.5)]
            SubElement(root, "path", {"class": "edge", "d": svg.path(ends)})
    for node in nodes:
        if node.leaf and not leaves:
            continue
        x, base = left + node.x, y + node.level * step
        width = svg.text_width(node.symbol) + 6
        plate = {"x": svg.number(x - width / 2), "y": svg.number(base - 14), "width": svg.number(width), "height": "19"}
        SubElement(root, "rect", {"class": "plate", **plate})
        svg.add_text(root, x, base, shortened(node.symbol), "leaf head" if node.leaf else "nonterminal", "middle")
        if node.empty:
            svg.add_text(root, x, y + node.level * step - step * 0.45, "nothing", "faint", "middle")


def _in_words(tree: Derivation) -> str:
    """A tree with brackets around what each rule stands for."""
    words: list[str] = []
    pending: list[Derivation | str] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, str):
            words.append(node)
        elif node.children is None:
            words.append(node.symbol)
        else:
            words.append(f"{node.symbol} [")
            pending.append("]")
            pending.extend(reversed(node.children))
    return " ".join(words)
