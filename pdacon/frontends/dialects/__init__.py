"""Grammars in the dialects of other engines -> Grammar.

The variant of Lark's language that llguidance takes has a lexer, and a room of its own, ``llguidance``. The others:

In: the text of a grammar as llama.cpp (GBNF) or XGrammar (EBNF) takes it. Out: a `Grammar` of the same language, in the
author's names, or an error that names the place. Such grammars have no lexer: a rule reads characters. What a lexer can
find without a doubt becomes a terminal, and the rest is for the parser, so that the language stays what it was.

The modules within, in the order in which data goes through them: ``cursor`` and ``gbnf`` (texts as ``tree``),
``rule_graph`` (which rules are regular), ``network`` (rules in the place of their names), ``absorbing`` (white space on
one side of a border), ``segments`` (what is read between calls as terminals), ``follow_splitting`` (a copy of a rule
for what follows it), ``cutting`` (whether a lexer finds the terminals), ``programs`` and ``making`` (terminals and
names as a grammar has them), ``single_characters`` (the same without a lexer), ``largest_terminals`` (which of these it
is to be), ``written`` and ``standing`` (the rules as they were, for pictures, and where a text stands in them, for
explanations).
"""

from pdacon.frontends.dialects.largest_terminals import ebnf_grammar, gbnf_grammar
from pdacon.frontends.dialects.llguidance import llguidance_grammar
from pdacon.frontends.dialects.standing import Standing, standing
from pdacon.frontends.dialects.written import start_of, written_definitions

__all__ = [
    "Standing",
    "ebnf_grammar",
    "gbnf_grammar",
    "llguidance_grammar",
    "standing",
    "start_of",
    "written_definitions",
]
