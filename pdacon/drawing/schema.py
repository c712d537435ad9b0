"""A JSON Schema -> railroad diagrams of what it says, with JSON pointers for headings, or what a type calls its values.

The grammar that a schema becomes has rules that no author wrote; `draw_rules` draws those.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import railroad

from pdacon.drawing import svg
from pdacon.drawing.captions import grammar_name, shortened
from pdacon.drawing.columns import arrange
from pdacon.drawing.rules import STYLES, Diagrams, diagram
from pdacon.drawing.schema_parts import Box, Framed, Outline, SchemaPart, spoken
from pdacon.errors import DrawingError, UnsupportedSchemaError
from pdacon.frontends.json_schema.documents import Documents, Place
from pdacon.frontends.json_schema.value_words import value_name
from pdacon.grammar import GrammarData
from pdacon.grammar.definitions import Expression, Name, written

_STYLES = f"""{STYLES}
.diagram rect.group-box {{ fill: none; stroke: #afb8c1; stroke-dasharray: 6 4; }}
@media (prefers-color-scheme: dark) {{
.diagram rect.group-box {{ fill: none; stroke: #59636e; }}
}}
"""
_LEGEND = (
    "Round: text as it stands. Corners: a value, or another diagram. Dashed: said in words. Commas are left out.",
)


def draw_schema(grammar: GrammarData, pointers: Sequence[str] = ()) -> str:
    """Railroad diagrams of a JSON Schema as SVG: what it says, one diagram for the whole and for each part of it.

    Parts are the schemas that a ``$ref`` leads to, and nested ones that are large. A schema of thousands of parts is
    drawn as far as 3,000 boxes go, and a line says what is left out.

    Parameters
    ----------
    grammar : GrammarData
        One that `Grammar.from_json_schema` made.
    pointers : sequence of str
        Which schemas, as JSON pointers: ``#/$defs/node``. None: the whole.

    Raises
    ------
    DrawingError
        There is nothing at a pointer, or the grammar was made of no JSON Schema.

    Notes
    -----
    What is enforced is what the grammar says. Where several keywords speak of one value, the picture has each of them
    in a frame, and not what they come to.
    """
    if grammar.language not in ("JSON Schema", "YAML"):
        raise DrawingError(f"this grammar was made of {grammar.language}, not of a JSON Schema; draw_rules draws it")
    documents = Documents(json.loads(grammar.source), lenient=True)
    named = list(dict.fromkeys(pointers))
    outlines = [Outline(documents, _at(documents, pointer)) for pointer in named or ["#"]]
    parts = {
        part.pointer: part
        for pointer, outline in zip(named or ["#"], outlines, strict=True)
        for part in outline.parts
        if not named or part is outline.parts[0] or part.pointer.startswith(f"{pointer}/")
    }
    left_out = list(
        dict.fromkeys(
            one
            for pointer, outline in zip(named or ["#"], outlines, strict=True)
            for one in outline.left_out
            if not named or one.startswith(f"{pointer}/")
        )
    )
    file = "" if grammar.source_path is None else f"{grammar_name(grammar)}: "
    listing = "; ".join(f"{part.pointer}: {written(spoken(part.expression))}" for part in parts.values())
    legend = [*_LEGEND]
    if left_out:
        legend.append(f"Not drawn, as there are too many: {len(left_out):,} parts, such as {shortened(left_out[0])}")
    root, y = svg.begin(f"{file}{', '.join(named) or 'the schema'}", listing, legend, styles=_STYLES)
    anchors = {pointer: f"part-{k}" for k, pointer in enumerate(parts, 1)}
    diagrams = SchemaDiagrams(anchors)
    drawn = [
        diagram(
            _heading(part, grammar), diagrams.item(part.expression), anchors[part.pointer], part.remark, part.pointer
        )
        for part in parts.values()
    ]
    return svg.end(root, *arrange(root, y, drawn))


def named_schemas(grammar: GrammarData) -> dict[str, str]:
    """The JSON pointers of what a schema names: its definitions, itself by its title, and the headings of a type."""
    documents = Documents(json.loads(grammar.source), lenient=True)
    root = documents.root.node
    if not isinstance(root, dict):
        return {}
    named: dict[str, str] = {}
    for keyword in ("$defs", "definitions"):
        listed = root.get(keyword)
        for name in listed if isinstance(listed, dict) else ():
            named.setdefault(name, documents.root.child(keyword, name).pointer)
    if isinstance(root.get("title"), str):
        named.setdefault(root["title"], "#")
    for part in Outline(documents, documents.root).parts if grammar.values is not None else ():
        if part.pointer != "#":
            named.setdefault(value_name(part.pointer), part.pointer)
    return named


class SchemaDiagrams(Diagrams):
    """Railroad items of what a schema says.

    ``anchors``: by pointer the id of a diagram that boxes can lead to.
    """

    def __init__(self, anchors: Mapping[str, str]) -> None:
        super().__init__()
        self._ids = anchors

    def item(self, expression: Expression) -> Any:
        if isinstance(expression, Framed):
            inner = [self.item(item) for item in expression.items]
            label = svg.printable(shortened(expression.label))
            comment = railroad.Comment(label, title=svg.printable(expression.label))
            return railroad.Group(railroad.Sequence(*inner), comment)
        return super().item(expression)

    def box(self, name: Name) -> Any:
        title = svg.printable(name.title) if isinstance(name, Box) and name.title else None
        text = svg.printable(shortened(name.text))
        if name.kind in ("terminal", "literal"):
            return railroad.Terminal(text, title=title, cls=name.kind)
        anchor = None if name.rule is None else self._ids.get(name.rule)
        href = None if anchor is None else f"#{anchor}"
        return railroad.NonTerminal(text, href=href, title=title, cls=name.kind)


def _heading(part: SchemaPart, grammar: GrammarData) -> str:
    """The pointer of a schema; of a type what its author calls the value, such as ``Invoice.items[]``."""
    if grammar.values is None:
        return part.pointer
    return "the type" if part.pointer == "#" else value_name(part.pointer)


def _at(documents: Documents, pointer: str) -> Place:
    root = documents.root
    if pointer in ("#", ""):
        return root
    asking = Place(root.base, "#", {"$ref": pointer}, root.draft, root.scope)
    try:
        found = documents.referred(asking, "$ref")
    except UnsupportedSchemaError as error:
        raise DrawingError(f"the schema has nothing at {pointer}") from error
    if not isinstance(found.node, (dict, bool)):
        raise DrawingError(f"what is at {pointer} is no schema")
    return found
