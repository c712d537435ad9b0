"""SVG text: one file, nothing outside it, the same bytes for the same picture.

Text stays text: it can be selected, searched and read aloud. Every picture has a background of its own, and a dark
variant that the viewer's preference chooses.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

CHARACTER_WIDTH, LINE_HEIGHT, FONT_SIZE = 7.9, 17.0, 13
"""Of the monospaced font, in pixels; a little wide, as no two machines have the same."""
MARGIN = 20.0

_FONT = 'ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, "Liberation Mono", monospace'
_COLOURS: tuple[tuple[str, str, str, str], ...] = (
    # selector, property, light, dark
    (".background, .plate", "fill", "#ffffff", "#0d1117"),
    ("text", "fill", "#1f2328", "#e6edf3"),
    (".frame", "fill", "#f6f8fa", "#161b22"),
    (".frame, .ring", "stroke", "#59636e", "#9198a1"),
    (".start .frame", "fill", "#ddf4ff", "#12293f"),
    (".accepting .frame", "fill", "#dafbe1", "#12321d"),
    (".conflicting .frame", "fill", "#ffebe9", "#3c1618"),
    (".separator", "stroke", "#d1d9e0", "#3d444d"),
    ("text.head", "fill", "#0550ae", "#79c0ff"),
    ("text.faint, text.closure, text.legend", "fill", "#59636e", "#9198a1"),
    ("text.step", "fill", "#116329", "#7ee787"),
    ("text.jump", "fill", "#0550ae", "#79c0ff"),
    ("text.conflict", "fill", "#b31b1b", "#ff8f87"),
    (".marked .frame, .marked path.edge", "stroke", "#bf5b00", "#f0a04b"),
    ("path.edge", "stroke", "#59636e", "#9198a1"),
    ("path.terminal", "stroke", "#0550ae", "#58a6ff"),
    ("path.nonterminal", "stroke", "#8250df", "#bc8cff"),
    ("text.terminal", "fill", "#0550ae", "#79c0ff"),
    ("text.nonterminal", "fill", "#6639ba", "#d2a8ff"),
    (".tip", "fill", "#59636e", "#9198a1"),
)
_SHAPES = f"""
text {{ font: {FONT_SIZE}px {_FONT}; white-space: pre; }}
text.title {{ font-size: 17px; font-weight: bold; }}
text.head {{ font-weight: bold; }}
text.conflict {{ font-weight: bold; }}
.frame {{ stroke-width: 1.2px; }}
.ring {{ fill: none; stroke-width: 1.2px; }}
.separator {{ stroke-width: 1px; }}
path.edge {{ fill: none; stroke-width: 1.4px; }}
path.nonterminal {{ stroke-dasharray: 6 4; }}
.marked .frame, .marked path.edge {{ stroke-width: 3px; }}
.more .frame {{ stroke-dasharray: 3 3; }}
"""


def text_width(text: str) -> float:
    shown = printable(text)
    cells = sum(2 if unicodedata.east_asian_width(c) in "WF" else 0 if unicodedata.combining(c) else 1 for c in shown)
    return cells * CHARACTER_WIDTH


def begin(title: str, description: str, legend: Sequence[str] = (), styles: str = "") -> tuple[Element, float]:
    """A picture with its title and legend, and where what stands below them begins."""
    names = {"class": "pdacon", "role": "graphics-document document", "aria-labelledby": "title desc"}
    root = Element("svg", {"xmlns": "http://www.w3.org/2000/svg", **names})
    SubElement(root, "title", id="title").text = printable(title)
    SubElement(root, "desc", id="desc").text = printable(description)
    SubElement(root, "style").text = _scoped(_sheet() + styles)
    SubElement(root, "rect", {"class": "background", "x": "0", "y": "0", "width": "100%", "height": "100%"})
    y = MARGIN + 15
    add_text(root, MARGIN, y, title, "title")
    for line in legend:
        y += LINE_HEIGHT
        add_text(root, MARGIN, y, line, "legend")
    return root, y + MARGIN


def end(root: Element, width: float, height: float) -> str:
    """The finished picture, of that size without its right and lower margins."""
    lines = [(e.text or "", float(e.get("x", "0")), e.get("class")) for e in root.findall("text")]
    wanted = [x + text_width(text) * (1.35 if name == "title" else 1) for text, x, name in lines]
    whole = max([width, *wanted]) + MARGIN, height + MARGIN
    root.set("viewBox", f"0 0 {number(whole[0])} {number(whole[1])}")
    root.set("width", number(whole[0]))
    root.set("height", number(whole[1]))
    ElementTree.indent(root, " ")
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def group(parent: Element, name: str, title: str, id: str | None = None) -> Element:
    """A part of the picture, with the text that is shown when it is pointed at."""
    made = alone(name, title, id)
    parent.append(made)
    return made


def alone(name: str, title: str | None = None, id: str | None = None) -> Element:
    """As `group`, but a part of no picture yet."""
    made = Element("g", {"class": name} if id is None else {"id": id, "class": name})
    if title is not None:
        SubElement(made, "title").text = printable(title)
    return made


def add_text(parent: Element, x: float, y: float, text: str, name: str, anchor: str | None = None) -> None:
    attributes = {"class": name, "x": number(x), "y": number(y), "xml:space": "preserve"}
    if anchor is not None:
        attributes["text-anchor"] = anchor
    SubElement(parent, "text", attributes).text = printable(text)


def path(points: Sequence[tuple[float, float]], radius: float = 8) -> str:
    """A path's data through the points, its corners rounded."""
    parts = [f"M{number(points[0][0])} {number(points[0][1])}"]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        first, second = _towards(corner, before, radius), _towards(corner, after, radius)
        parts.append(f"L{number(first[0])} {number(first[1])}")
        parts.append(f"Q{number(corner[0])} {number(corner[1])} {number(second[0])} {number(second[1])}")
    parts.append(f"L{number(points[-1][0])} {number(points[-1][1])}")
    return "".join(parts)


def _towards(corner: tuple[float, float], other: tuple[float, float], radius: float) -> tuple[float, float]:
    dx, dy = other[0] - corner[0], other[1] - corner[1]
    length = (dx * dx + dy * dy) ** 0.5
    share = min(radius, length / 2) / length if length else 0.0
    return corner[0] + dx * share, corner[1] + dy * share


def number(value: float) -> str:
    """A coordinate, to a tenth of a pixel."""
    return f"{round(value, 1):g}" if abs(value) < 100_000 else f"{value:.0f}"


def printable(text: str) -> str:
    """The text with what XML forbids, and what would not be seen, escaped as in Python."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def _sheet() -> str:
    light = _rules((selector, name, colour) for selector, name, colour, _ in _COLOURS)
    dark = _rules((selector, name, colour) for selector, name, _, colour in _COLOURS)
    return f"{_SHAPES}{light}@media (prefers-color-scheme: dark) {{\n{dark}}}\n"


def _scoped(sheet: str) -> str:
    """The style sheet for this picture alone, whatever page it is put on."""
    selectors = re.compile(r"^[^@}\n][^{\n]*(?=\{)", re.MULTILINE)
    return selectors.sub(lambda found: f".pdacon {found[0].replace(', ', ', .pdacon ')}", sheet)


def _rules(colours: Iterable[tuple[str, str, str]]) -> str:
    return "".join(f"{selector} {{ {name}: {colour}; }}\n" for selector, name, colour in colours)
