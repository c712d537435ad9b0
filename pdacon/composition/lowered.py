"""The front end of a compilation: what is made of a grammar before there is a vocabulary.

In: a `Grammar`. Out: its LALR tables and its lexer, which `compose` brings together with a vocabulary. Whether the
grammar is deterministic enough for its options is not asked here.
"""

from __future__ import annotations

from pdacon.base.limits import Limits
from pdacon.grammar import GrammarData
from pdacon.lalr import Tables, build_tables, split_parentheses
from pdacon.lexer import Lexer, build_lexer, check_newline


def lower(grammar: GrammarData, limits: Limits) -> tuple[Tables, Lexer]:
    """Tables and lexer of a grammar.

    Raises
    ------
    UnsupportedGrammarError
        A terminal uses what pdacon does not support.
    LimitExceededError, CancelledError
    """
    tables = build_tables(grammar, limits)
    tables = split_parentheses(grammar, tables, limits)
    lexer = build_lexer(grammar, tables, limits)
    check_newline(grammar)
    return tables, lexer
