"""Grammars in the holes of another grammar -> one grammar.

In: a grammar with names that nothing defines, and the grammars that they stand for; or Lark text with JSON Schemas in
it. Out: `GrammarData` in which each inner one has its own rules, terminals and ignored text, as `Island`. The room
knows neither tables nor contexts: what is ignored where follows from the productions (`pdacon.lexer.ignoring`).
"""

from pdacon.frontends.insertion.escaping import escaped
from pdacon.frontends.insertion.inserting import MADE_UP, inserted
from pdacon.frontends.insertion.parts import Composition, Escaped, Hole
from pdacon.frontends.insertion.templates import Schemas, composed, with_inline_schemas

__all__ = [
    "MADE_UP",
    "Composition",
    "Escaped",
    "Hole",
    "Schemas",
    "composed",
    "escaped",
    "inserted",
    "with_inline_schemas",
]
