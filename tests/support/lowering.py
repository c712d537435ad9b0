"""From a small grammar to what pdacon makes of it."""

from __future__ import annotations

from pdacon.front.grammar import Grammar
from pdacon.lalr import build_tables, split_parentheses
from pdacon.lexer import build_lexer
from pdacon.pda import Machine
from support.small_grammars import SmallGrammar


def load(grammar: SmallGrammar) -> Grammar:
    """The pdacon Grammar of a small grammar."""
    return Grammar.from_lark(grammar.text, conflicts=grammar.conflicts, lookahead=grammar.lookahead, **grammar.options)


def is_exact(grammar: Grammar) -> bool:
    """Whether nothing of Lark's language is given up, because no lookahead is without a bound."""
    tables = split_parentheses(grammar.data, build_tables(grammar.data))
    return not build_lexer(grammar.data, tables).automaton.unbounded


def machine_of(grammar: SmallGrammar) -> Machine:
    """The slow, exact meaning of a small grammar."""
    loaded = load(grammar)
    return Machine(loaded.data, build_tables(loaded.data))
