"""Lark text -> `GrammarData`: what the author wrote, as frozen data.

In: a grammar in Lark's language, as text, as a file or as a ready ``lark.Lark``. Out: `GrammarData`: terminals,
nonterminals, productions, ignored terminals and starts as integers and small records, each with its place in the
source. After this room nobody reads Lark's language, its loader trees or its exceptions: no other room imports lark.

The meaning is stock Lark's (1.3.x), because Lark's own loader does the loading: templates, imports, priorities, EBNF.
What stock Lark refuses while it builds its parser and lexer is refused here too, conflicts aside.

This room knows nothing of LALR states, automata, vocabularies or masks, and does not judge determinism.

Source: lark 1.3.1, ``load_grammar.py``, ``lark.py``, ``lexer.py``, ``parsers/grammar_analysis.py``.
"""

from pdacon.errors import Span
from pdacon.grammar.grammar_data import GrammarData
from pdacon.grammar.group_names import GroupNameClash, group_name_clashes, group_names
from pdacon.grammar.model import GrammarOptions, Import, Layout, Nonterminal, Pattern, Production, Terminal
from pdacon.grammar.sizes import held_bytes

__all__ = [
    "GrammarData",
    "GrammarOptions",
    "GroupNameClash",
    "Import",
    "Layout",
    "Nonterminal",
    "Pattern",
    "Production",
    "Span",
    "Terminal",
    "group_name_clashes",
    "group_names",
    "held_bytes",
]
