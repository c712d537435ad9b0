"""Newlines whose column is not known where they end, and those after which no line is indented."""

from __future__ import annotations

import pytest
from support.indented_grammars import INDENTED_GRAMMARS, TreeIndenter
from support.small_grammars import SmallGrammar

import pdacon
from pdacon import Vocabulary
from pdacon.errors import UnsupportedGrammarError
from pdacon.front.grammar import Grammar
from pdacon.lexer import check_newline, may_indent

REST = "%declare _INDENT _DEDENT\n"


def load(newline: str, rest: str = "") -> Grammar:
    text = f'start: ("a" _NL [_INDENT "b" _NL _DEDENT]{" | X" if rest.startswith("X") else ""})+\n_NL: {newline}\n'
    return Grammar.from_lark(text + rest + REST, postlex=TreeIndenter())


@pytest.mark.parametrize("newline", [r"/\n *(?!x)/", r"/\n(?= )( *)/", r"/\n *$/m", r"/\n *\b/"])
def test_a_newline_without_look_ahead(newline: str) -> None:
    reason = "what follows decides whether it matches.*; leave the look-ahead at its end out"
    with pytest.raises(UnsupportedGrammarError, match=reason) as caught:
        check_newline(load(newline).data)
    assert caught.value.feature == "postlex"
    assert caught.value.span is not None
    assert caught.value.span.line == 2


@pytest.mark.parametrize("newline", [r"/(?<!;)\n */", r"/\n(    )*/", r"/\n/", r"/;/"])
def test_what_is_known_by_then_decides_nothing(newline: str) -> None:
    check_newline(load(newline).data)


def test_a_grammar_without_layout_has_nothing_to_check() -> None:
    check_newline(Grammar.from_lark('start: "a"\n').data)


def test_the_checker_says_it_too() -> None:
    grammar = load(r"/\n *(?!x)/")
    (finding,) = pdacon.check(grammar).findings
    assert (finding.id, finding.symbols) == ("PDA008", ("_NL",))
    assert finding.repair is not None
    with pytest.raises(UnsupportedGrammarError, match="leave the look-ahead"):
        pdacon.compile(grammar, Vocabulary.from_tokens([b"a", None], eos_ids=[1]))


@pytest.mark.parametrize(
    ("newline", "indents"),
    [
        (r"/(\r?\n[\t ]*)+/", True),
        (r"/\n(    )*/", True),
        (r"/\n\t?/", True),
        (r"/\n\s*/", True),
        (r"/\n(#[^\n]*)?/", True),
        (r"/ *\n/", False),
        (r'"\n"', False),
        (r"/[\r\n]+/", False),
        (r"/(\t*\n)+/", False),
        (r"/;/", False),
    ],
)
def test_whether_any_line_is_indented(newline: str, indents: bool) -> None:
    grammar = load(newline)
    assert may_indent(grammar.data) == indents
    found = [finding.symbols for finding in pdacon.check(grammar).findings if "_INDENT" in finding.symbols]
    assert found == ([] if indents else [("_INDENT", "_NL")])


def test_no_block_is_missed_where_no_rule_has_one() -> None:
    grammar = Grammar.from_lark('start: ("a" _NL)+\n_NL: "\\n"\n' + REST, postlex=TreeIndenter())
    assert not pdacon.check(grammar).findings


@pytest.mark.parametrize("small", INDENTED_GRAMMARS, ids=lambda small: small.name)
def test_which_small_grammars_will_compile(small: SmallGrammar) -> None:
    grammar = Grammar.from_lark(small.text, conflicts=small.conflicts, lookahead=small.lookahead, **small.options)
    report = pdacon.check(grammar)
    assert report.ok == (small.refused is None), report.render()
