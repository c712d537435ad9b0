"""What the author of a grammar wrote, in whatever language, as railroad diagrams."""

from __future__ import annotations

from collections.abc import Sequence

from pdacon.drawing.captions import suggestion
from pdacon.drawing.rules import draw_definitions, draw_rules
from pdacon.drawing.schema import draw_schema, named_schemas
from pdacon.errors import DrawingError
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
        Names of rules; or of a schema JSON pointers, or names of its definitions; or of a type the names of its
        classes, and what its picture calls their values, such as ``Invoice.items[]``. None: all.

    Raises
    ------
    DrawingError
        There is no such rule, pointer or name; the message says what there is.
    """
    if grammar.language in ("JSON Schema", "YAML"):
        return _draw_schema(grammar, names)
    definitions = written_definitions(grammar)
    if definitions and {definition.name for definition in definitions}.issuperset(names):
        return draw_definitions(grammar, names, definitions, (start_of(grammar),), in_full=True)
    return draw_rules(grammar, names)


def _draw_schema(grammar: GrammarData, names: Sequence[str]) -> str:
    """What is named of a schema, or of the rules that it became."""
    named = {} if all(name.startswith("#") for name in names) else named_schemas(grammar)
    pointers = [name if name.startswith("#") else named.get(name) for name in names]
    known = [pointer for pointer in pointers if pointer is not None]
    if len(known) == len(names):
        return draw_schema(grammar, known)
    try:
        return draw_rules(grammar, names)
    except DrawingError as error:
        name = names[pointers.index(None)]
        if known or name in {one.name for one in grammar.nonterminals}:
            raise
        what = "schema" if grammar.values is None else "type"
        there = suggestion(name, list(named)) if named else "give a JSON pointer, such as #/properties/a"
        raise DrawingError(f"nothing in the {what} is called {name}; {there}") from error
