"""The rules of a grammar -> railroad diagrams.

Rules are boxes with corners and lead to their own diagrams, terminals and literals have round ends. What repeats is a
loop, and ``x ("," x)*`` is a loop with the comma on the way back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import railroad

from pdacon.drawing import svg
from pdacon.drawing.captions import grammar_name, is_made, pattern, shortened, suggestion
from pdacon.drawing.columns import DrawnPart, arrange
from pdacon.errors import DrawingError
from pdacon.grammar import GrammarData
from pdacon.grammar.definitions import Definition, Expression, Name, read_definitions, written
from pdacon.grammar.expressions import InOrder, OneOf, Repeated
from pdacon.grammar.model import Terminal
from pdacon.grammar.printing import printed_name, to_lark

_WIDEST = 900  # pixels, before a sequence goes on in the next line
_LINK = "{http://www.w3.org/1999/xlink}href"
STYLES = """
.diagram path { fill: none; stroke-width: 1.6px; stroke: #59636e; }
.diagram rect { stroke-width: 1.4px; stroke: #8250df; fill: #fbefff; }
.diagram .terminal rect { stroke: #0550ae; fill: #ddf4ff; }
.diagram .parameter rect { stroke-dasharray: 4 3; }
.diagram text { text-anchor: middle; }
.diagram text.comment { fill: #59636e; font-size: 11px; }
.diagram a:hover text { text-decoration: underline; }
@media (prefers-color-scheme: dark) {
.diagram path { stroke: #9198a1; }
.diagram rect { stroke: #bc8cff; fill: #271a3b; }
.diagram .terminal rect { stroke: #58a6ff; fill: #12293f; }
.diagram text.comment { fill: #9198a1; }
}
"""


def draw_rules(grammar: GrammarData, names: Sequence[str] = ()) -> str:
    """Railroad diagrams of rules as SVG, as the author wrote them, one below the other.

    Parameters
    ----------
    grammar : GrammarData
        The grammar whose rules are drawn.
    names : sequence of str
        Which rules, in this order; none: all of them, and then the terminals that have names.

    Raises
    ------
    DrawingError
        There is no such rule.

    Notes
    -----
    Cost: Lark's loader runs once more; the diagrams of lark's python.lark take 0.1 s.
    """
    of_lark = grammar.labels and grammar.language == "Lark"  # the text names labels as its author does
    text = grammar.source if of_lark else to_lark(_printable(grammar))
    return draw_definitions(grammar, names, read_definitions(grammar, text), grammar.options.start)


def _printable(grammar: GrammarData) -> GrammarData:
    """A grammar with the same rules that Lark's language has words for; of escaped terminals it has what they mean."""
    terminals = tuple(
        one if one.pattern is None else replace(one, pattern=one.pattern.unescaped) for one in grammar.terminals
    )
    return replace(grammar, islands=(), labels=(), terminals=terminals)


def draw_definitions(
    grammar: GrammarData,
    names: Sequence[str],
    definitions: Sequence[Definition],
    starts: Collection[str],
    *,
    in_full: bool = False,
) -> str:
    """Railroad diagrams of definitions as SVG; see `draw_rules`.

    ``definitions``: from these the names are; a name that is none of them is a `DrawingError`. ``starts``: those of
    them that are start rules. ``in_full``: whether there are no terminals beside them.
    """
    known = {definition.name: definition for definition in definitions}
    # What an import or another grammar brings along has the name there that its author gave it.
    by_author: dict[str, Definition] = {}
    for definition in definitions:
        by_author.setdefault(grammar.describe_name(definition.name), definition)
    for name in names:
        if name not in known and name not in by_author:
            near = suggestion(name, list(by_author), _terminal_names(grammar))
            raise DrawingError(f"no rule or terminal {name}; {near}")
    shown = [known.get(name) or by_author[name] for name in dict.fromkeys(names)] or list(definitions)
    title = f"{grammar_name(grammar)}: {', '.join(names) if names else 'the rules'}"
    names_of = {printed_name(terminal.name): terminal for terminal in grammar.terminals}
    patterns = {name: svg.printable(pattern(grammar, one)) for name, one in names_of.items() if one.pattern}
    # A grammar that a front end made has literals under names of its own.
    literals = {name: one.literal for name, one in names_of.items() if one.literal is not None}
    anchors = {definition.name for definition in shown}
    diagrams = Diagrams(anchors) if in_full else Diagrams(anchors, patterns, literals)
    listing = "; ".join(f"{definition.name}: {diagrams.words(definition.expression)}" for definition in shown)
    root, y = svg.begin(title, listing, styles=STYLES)
    parts = [_rule(definition, diagrams, definition.name in starts) for definition in shown]
    if not names and not in_full:
        parts += _terminals(grammar)
    return svg.end(root, *arrange(root, y, parts))


class Diagrams:
    """Railroad items of expressions.

    ``anchors``: the rules to whose diagrams boxes lead. ``patterns``: by a terminal's name what its box says when it is
    pointed at. ``literals``: by a terminal's name what its box has in its place.
    """

    def __init__(
        self,
        anchors: Collection[str] = (),
        patterns: Mapping[str, str] | None = None,
        literals: Mapping[str, str] | None = None,
    ) -> None:
        self._anchors = anchors
        self._patterns = patterns or {}
        self._literals = literals or {}

    def item(self, expression: Expression) -> Any:
        if isinstance(expression, Name):
            return self.box(expression)
        if isinstance(expression, Repeated):
            return self._loop(expression)
        if isinstance(expression, OneOf):
            inner = [self.item(item) for item in expression.items if item != InOrder(())]
            choice = inner[0] if len(inner) == 1 else _choice(0, *inner)
            return choice if len(inner) == len(expression.items) else _optional(choice)
        items = [self._separated(*each) for each in _with_separators(expression.items)]
        if len(items) < 2:
            return items[0] if items else railroad.Skip()
        return _in_lines(items)

    def words(self, expression: Expression) -> str:
        """The expression in Lark's language, with literals in the place of names, for those who do not see boxes."""
        return written(expression, self._literals)

    def box(self, name: Name) -> Any:
        if name.kind in ("terminal", "literal"):
            text = svg.printable(shortened(self._literals.get(name.text, name.text)))
            return railroad.Terminal(text, title=self._patterns.get(name.text), cls=name.kind)
        text = svg.printable(shortened(name.text))
        return railroad.NonTerminal(
            text, href=f"#rule-{name.rule}" if name.rule in self._anchors else None, cls=name.kind
        )

    def _loop(self, repeated: Repeated[Name]) -> Any:
        inner = self.item(repeated.item)
        least, most = repeated.least, repeated.most
        if most == 1:
            return _optional(inner) if least == 0 else inner
        if most is None and least < 2:
            loop = railroad.OneOrMore(inner)
        else:
            if most is None:
                times = f"at least {least} times"
            else:
                times = f"{most} times" if least == most else f"{max(least, 1)} to {most} times"
            loop = railroad.OneOrMore(inner, railroad.Comment(times))
        return loop if least else _optional(loop)

    def _separated(self, item: Expression, separator: Expression | None) -> Any:
        inner = self.item(item)
        if separator is None:
            return inner
        # The way back is read from right to left.
        if isinstance(separator, InOrder):
            separator = InOrder(separator.items[::-1])
        return railroad.OneOrMore(inner, self.item(separator))


def _with_separators(items: Sequence[Expression]) -> Iterator[tuple[Expression, Expression | None]]:
    """Each item, with what stands between its repetitions if ``x (y x)*`` follows."""
    at = 0
    while at < len(items):
        item, following = items[at], items[at + 1] if at + 1 < len(items) else None
        separator = None
        if isinstance(following, Repeated) and (following.least, following.most) == (0, None):
            inner = following.item
            if isinstance(inner, InOrder) and len(inner.items) > 1 and inner.items[-1] == item:
                rest = inner.items[:-1]
                separator = rest[0] if len(rest) == 1 else InOrder(rest)
        yield item, separator
        at += 1 if separator is None else 2


def _in_lines(items: Sequence[Any]) -> Any:
    lines: list[list[Any]] = [[]]
    width = 0.0
    for item in items:
        if lines[-1] and width + item.width > _WIDEST:
            lines.append([])
            width = 0.0
        lines[-1].append(item)
        width += item.width + 20
    if len(lines) == 1:
        return railroad.Sequence(*items)
    widths = [railroad.Sequence(*line).width for line in lines]
    return railroad.Stack(
        *(railroad.Sequence(*line, _gap(max(widths) - width)) for line, width in zip(lines, widths, strict=True))
    )


def _gap(width: float) -> Any:
    """A line of that width, so that what stands before it begins at the left."""
    made = railroad.Skip()
    made.width = width
    return made


def _optional(item: Any) -> Any:
    """The item with a way past it."""
    return _choice(1, railroad.Skip(), item)


def _choice(default: int, *items: Any) -> Any:
    """Alternatives. The library forgets the height of the last one, so that what follows below would overlap it."""
    made = railroad.Choice(default, *items)
    made.down += items[-1].height
    return made


def _rule(definition: Definition, diagrams: Diagrams, start: bool) -> DrawnPart:
    parameters = f"{{{', '.join(definition.parameters)}}}" if definition.parameters else ""
    name = f"{definition.name}{parameters}"
    remarks = [*(["start rule"] if start else []), *(["imported"] if definition.imported else [])]
    title = f"{name}: {diagrams.words(definition.expression)}"
    item = diagrams.item(definition.expression)
    return diagram(name, item, f"rule-{definition.name}", ", ".join(remarks), title)


def diagram(name: str, item: Any, anchor: str, remark: str, title: str) -> DrawnPart:
    drawn = svg.alone("rule", title, anchor)
    y = svg.LINE_HEIGHT
    svg.add_text(drawn, 0, y, name, "head")
    right = svg.text_width(f"{name}  ")
    if remark:
        svg.add_text(drawn, right, y, remark, "faint")
        right += svg.text_width(remark)
    picture = railroad.Diagram(item, type="complex")
    picture.format(8, 0, 8, 0)
    fragment = _fragment(picture)
    fragment.set("class", "diagram")
    fragment.set("transform", f"translate(0 {svg.number(y + 4)})")
    drawn.append(fragment)
    height = picture.up + picture.height + picture.down + 16
    return DrawnPart(drawn, max(picture.width, right), y + height + svg.LINE_HEIGHT / 2)


def _fragment(picture: Any) -> Element:
    """The library's SVG as elements of ours."""
    parts: list[str] = []
    picture.attrs["xmlns:xlink"] = "http://www.w3.org/1999/xlink"
    picture.writeSvg(parts.append)
    # Of its texts it leaves `>` as it is, which XML forbids after `]]`. A text is a part of its own.
    (drawn,) = ElementTree.fromstring("".join(part.replace("]]>", "]]&gt;") for part in parts))
    for link in drawn.iter("a"):
        link.set("href", link.attrib.pop(_LINK))
        del link[1:]  # the library writes the text of a link twice
    drawn.attrib.clear()
    return drawn


def _terminal_names(grammar: GrammarData) -> list[str]:
    return [terminal.name for terminal in grammar.terminals if _has_name(terminal) and terminal.pattern]


def _has_name(terminal: Terminal) -> bool:
    """Whether it is more than a literal of the rules: what a front end has made an automaton is, too."""
    return terminal.literal is None or (terminal.pattern is not None and terminal.pattern.automaton is not None)


def _terminals(grammar: GrammarData) -> list[DrawnPart]:
    """The named terminals with their patterns, and what is ignored; a part for each line, under the first a heading."""
    named = [
        (k, terminal, grammar.describe_symbol(k) if _has_name(terminal) else "%ignore")
        for k, terminal in enumerate(grammar.terminals)
        if _has_name(terminal) or k in grammar.ignore
    ]
    width = max((len(name) for _, _, name in named), default=0)
    lines = [("Terminals", "head")] if named else []
    for k, terminal, name in named:
        remarks = [f"priority {terminal.priority}"] if terminal.priority else []
        remarks += ["ignored"] if k in grammar.ignore and _has_name(terminal) else []
        remark = f"  ({', '.join(remarks)})" if remarks else ""
        written_as = pattern(grammar, terminal) or (
            "made by the postlexer" if is_made(grammar, k) else "(no text is in it)"
        )
        lines.append((f"{name:<{width}}  {written_as}{remark}", "item"))
    return [_line(text, name) for text, name in lines]


def _line(text: str, name: str) -> DrawnPart:
    drawn = svg.alone("line")
    svg.add_text(drawn, 0, svg.LINE_HEIGHT, text, name)
    return DrawnPart(drawn, svg.text_width(text), svg.LINE_HEIGHT)
