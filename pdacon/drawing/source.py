"""What the author of a grammar wrote, in whatever language, as railroad diagrams."""

from __future__ import annotations

from collections.abc import Sequence

from pdacon.drawing.rules import draw_definitions, draw_rules
from pdacon.drawing.schema import draw_schema
from pdacon.frontends.dialects import start_of, written_definitions
from pdacon.grammar import GrammarData


def draw_source(grammar: GrammarData, names: Sequence[str] = ()) -> str:
    """Railroad diagrams as SVG of what the author wrote: rules, or a JSON Schema.

    A grammar in another dialect is drawn with the rules of that. Those that it is lowered to have names, too, and so
    have those of a schema: by these they are drawn, and all of them by `draw_rules`.

    Parameters
    ----------
    grammar : GrammarData
        Any.
    names : sequence of str
        Names of rules, or JSON pointers of a schema. None: all.

    Raises
    ------
    DrawingError
        There is no such rule or pointer.
    """
    if grammar.language in ("JSON Schema", "YAML") and all(name.startswith("#") for name in names):
        return draw_schema(grammar, names)
    definitions = written_definitions(grammar)
    if definitions and {definition.name for definition in definitions}.issuperset(names):
        return draw_definitions(grammar, names, definitions, (start_of(grammar),), in_full=True)
    return draw_rules(grammar, names)
