"""Makes one automaton of all terminals, which cuts bytes into lexemes as Lark does.

In: the terminals of `GrammarData`, and the rows of its LALR tables (they say which terminals are looked for where).
Out: a `Lexer`: the contexts, and one lexing automaton over byte classes in which each context is an entry. Its
transitions stay inside a lexeme, or commit a terminal with the bytes that have to be lexed again after it.

It does not know the parser's stack, nor any vocabulary. After this room there are no regular expressions any more.

Sources: Python's ``re`` for the meaning of a pattern, ``lark.lexer`` for that of a set of terminals; Cox 2009,
"Regular expression matching: the virtual machine approach", for ordered threads.
"""

from pdacon.lexer.collisions import Collision, find_collisions
from pdacon.lexer.contexts import find_group_name_clashes
from pdacon.lexer.lowering import Lexer, UnboundedLookahead, build_lexer, find_unbounded_lookahead
from pdacon.lexer.newlines import check_newline, may_indent
from pdacon.lexer.terminals import compile_terminal

__all__ = [
    "Collision",
    "Lexer",
    "UnboundedLookahead",
    "build_lexer",
    "check_newline",
    "compile_terminal",
    "find_collisions",
    "find_group_name_clashes",
    "find_unbounded_lookahead",
    "may_indent",
]
