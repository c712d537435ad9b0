"""Completions where blanks after a newline decide which terminal it is."""

from __future__ import annotations

import lark
from lark.indenter import Indenter

import pdacon

GRAMMAR = r"""
NL: /\n *(#[^\n]*\n *)*/
%declare _INDENT _DEDENT
start: stmt+
stmt: atom* NL | F NL (_INDENT stmt+ _DEDENT)?
atom: /\\(?:[a\\\\])a*?/ | "a\\" | "\\" | "\n" F?
%ignore /[\t ]+/
F: /\n?\\/
"""


class Layout(Indenter):
    NL_type = "NL"
    OPEN_PAREN_types: list[str] = []  # noqa: RUF012 - lark's own type
    CLOSE_PAREN_types: list[str] = []  # noqa: RUF012 - lark's own type
    INDENT_type = "_INDENT"
    DEDENT_type = "_DEDENT"
    tab_len = 8


def test_a_literal_newline_is_a_keyword_of_the_newline() -> None:
    stock = lark.Lark(GRAMMAR, parser="lalr", lexer="basic", postlex=Layout())
    grammar = pdacon.Grammar.from_lark(GRAMMAR, postlex=Layout(), lexer="basic", lookahead="commit")
    constraint = pdacon.compile(grammar, pdacon.Vocabulary.bytes())
    for text in (b"", b"\n", b"\n\n", b"\\\n", b"a\\", b"\n ", b"\\\n "):
        matcher = constraint.matcher()
        assert matcher.accept_bytes(text)
        rest = matcher.shortest_completion()
        stock.parse((text + rest).decode())
        assert matcher.accept_bytes(rest)
        assert matcher.is_accepting()
