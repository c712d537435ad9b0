"""Which postlexers are taken, what becomes of them, and how the others are refused."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import lark
import pytest
from lark.indenter import Indenter, PythonIndenter
from lark.lexer import Token
from support.indented_grammars import INDENTED_GRAMMARS, BraceIndenter, PropertyIndenter, TreeIndenter, fixed

from pdacon import FixedWidthIndenter
from pdacon.errors import UnsupportedGrammarError
from pdacon.front.grammar import Grammar
from pdacon.grammar import Layout

TEXT = 'start: x+\nx: "a" "("? _NL [_INDENT x+ _DEDENT]\n_NL: /(\\n[\\t ]*)+/\n%declare _INDENT _DEDENT\n'


def loaded(postlex: Any, text: str = TEXT) -> Grammar:
    return Grammar.from_lark(text, postlex=postlex)


def names(grammar: Grammar, ids: Any) -> list[str]:
    return sorted(grammar.data.symbol_name(k) for k in ids)


@pytest.mark.parametrize("postlex", [BraceIndenter(), BraceIndenter], ids=["instance", "class"])
def test_an_indenter_becomes_symbols(postlex: Any) -> None:
    grammar = loaded(postlex)
    layout = grammar.data.layout
    assert layout is not None
    assert names(grammar, [layout.newline, layout.indent, layout.dedent]) == ["_DEDENT", "_INDENT", "_NL"]
    assert grammar.data.terminals[layout.indent].pattern is None
    assert names(grammar, layout.opens) == ["LPAR"]  # The grammar has no brace, which is then never seen.
    assert names(grammar, layout.closes) == []
    assert layout.tab_len == 4


def test_a_parenthesis_that_opens_and_closes_opens() -> None:
    grammar = loaded(PropertyIndenter(), TEXT.replace("_NL", "NEWLINE").replace("_IN", "IN").replace("_DE", "DE"))
    assert grammar.data.layout is not None
    assert names(grammar, grammar.data.layout.opens) == ["LPAR"]
    assert not grammar.data.layout.closes


def test_python_is_a_short_name_for_larks_own() -> None:
    text = TEXT.replace("_NL", "_NEWLINE")
    assert loaded("python", text).fingerprint == loaded(PythonIndenter(), text).fingerprint


def test_a_grammar_without_indenter_has_no_layout() -> None:
    assert loaded(None).data.layout is None
    assert loaded(None).lark_options["postlex"] is None


def test_names_that_no_rule_uses_are_terminals_all_the_same() -> None:
    grammar = loaded(TreeIndenter(), 'start: "a"\n_NL: "\\n"\nB: "b"\n%declare _INDENT _DEDENT\n')
    assert [terminal.name for terminal in grammar.data.terminals] == ["_NL", "A", "_INDENT", "_DEDENT"]


@pytest.mark.parametrize("small", INDENTED_GRAMMARS, ids=lambda small: small.name)
def test_stock_lark_is_told_the_same(small: Any) -> None:
    """By the options, after a pickle, and through a ready lark.Lark."""
    grammar = Grammar.from_lark(small.text, **small.options)
    parser = lark.Lark(grammar.to_lark(), **grammar.lark_options)
    assert {t.name for t in parser.terminals} == {t.name for t in grammar.data.terminals if t.pattern is not None}
    copy = pickle.loads(pickle.dumps(grammar))
    given, told = small.options["postlex"], copy.lark_options["postlex"]
    for what in ("NL_type", "INDENT_type", "DEDENT_type", "tab_len", "indent_len"):
        assert getattr(told, what, None) == getattr(given, what, None)
    for what in ("OPEN_PAREN_types", "CLOSE_PAREN_types"):
        assert set(getattr(told, what)) == set(getattr(given, what))
    assert copy.data.layout == grammar.data.layout
    again = Grammar.from_lark(lark.Lark(small.text, parser="lalr", **small.options))
    assert again.fingerprint == copy.fingerprint == Grammar.from_lark(copy.to_lark(), **small.options).fingerprint
    assert (
        Grammar.from_lark(small.text, **{**small.options, "postlex": copy.data.options.postlex}).data.layout
        == grammar.data.layout
    )


def test_the_fingerprint_tells_indenters_apart() -> None:
    kinds = (None, TreeIndenter(), BraceIndenter(), BraceIndenter, fixed(TreeIndenter(), 2), fixed(TreeIndenter(), 4))
    assert len({loaded(postlex).fingerprint for postlex in kinds}) == 5


def test_python4_is_a_short_name_for_blocks_of_four_columns() -> None:
    text = TEXT.replace("_NL", "_NEWLINE")

    class Four(FixedWidthIndenter, PythonIndenter):
        pass

    assert loaded("python4", text).data.layout == loaded(Four, text).data.layout == loaded(Four(), text).data.layout
    assert loaded("python4", text).data.options.postlex == replace(
        loaded("python", text).data.options.postlex, indent_len=4
    )


def test_a_width_of_blocks_becomes_part_of_the_layout() -> None:
    layout = loaded(fixed(TreeIndenter(), 3)).data.layout
    assert layout is not None
    assert layout.indent_len == 3
    assert layout == replace(loaded(TreeIndenter()).data.layout, indent_len=3)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("a\n   a\n      a\n   a\n", None),
        ("a\n  a\n", "Unexpected indent to column 2. Expected indent to 3"),
        ("a\n   a\n       a\n", "Unexpected indent to column 7. Expected indent to 6"),
        ("a\n   a\n  a\n", "Unexpected dedent to column 2"),
    ],
)
def test_stock_lark_runs_a_fixed_width_indenter(text: str, error: str | None) -> None:
    parser = lark.Lark(TEXT, parser="lalr", postlex=fixed(TreeIndenter(), 3))
    if error is None:
        parser.parse(text)
        return
    with pytest.raises(lark.exceptions.LarkError, match=error):
        parser.parse(text)


class Rewriting(lark.lark.PostLex):
    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        return stream


class OwnNewlines(PythonIndenter):
    def handle_NL(self, token: Token) -> Iterator[Token]:
        yield token


class OwnProcess(TreeIndenter):
    def _process(self, stream: Any) -> Any:
        return stream


class NotEverywhere(TreeIndenter):
    always_accept = ()


class OwnLevels(TreeIndenter):
    @property
    def paren_level(self) -> int:
        return 0

    @paren_level.setter
    def paren_level(self, level: int) -> None:
        pass


def patched() -> Indenter:
    indenter = TreeIndenter()
    indenter.handle_NL = lambda token: iter([token])  # type: ignore[method-assign]
    return indenter


@pytest.mark.parametrize(
    ("postlex", "reason"),
    [
        (Rewriting(), "Rewriting is not an Indenter"),
        (Rewriting, "Rewriting is not an Indenter"),
        (OwnNewlines(), "its own handle_NL"),
        (OwnProcess, "its own _process"),
        (NotEverywhere(), "its own always_accept"),
        (OwnLevels(), "its own paren_level"),
        (patched(), "its own handle_NL"),
        (type("Own", (FixedWidthIndenter, OwnNewlines), {"handle_NL": OwnNewlines.handle_NL}), "its own handle_NL"),
    ],
)
def test_other_postlexers_are_refused(postlex: Any, reason: str) -> None:
    with pytest.raises(UnsupportedGrammarError, match=rf"{reason}.*; use lark\.indenter\.Indenter") as caught:
        loaded(postlex)
    assert caught.value.feature == "postlex"


@pytest.mark.parametrize(
    ("attributes", "error", "reason"),
    [
        ({"tab_len": 0}, ValueError, "greater than 0"),
        ({"tab_len": 2.5}, TypeError, "expected an int"),
        ({"NL_type": None}, TypeError, "NL_type is None; expected the name of a terminal"),
        ({"OPEN_PAREN_types": "LPAR"}, TypeError, "expected a list of terminals' names"),
        ({"CLOSE_PAREN_types": [3]}, TypeError, "expected a list of terminals' names"),
        ({"indent_len": 0}, ValueError, "greater than 0"),
        ({"indent_len": 1001}, ValueError, "1,000 at most"),
        ({"indent_len": None}, TypeError, "expected an int"),
    ],
)
def test_wrong_attributes_are_named(attributes: dict[str, Any], error: type[Exception], reason: str) -> None:
    with pytest.raises(error, match=f"Changed.*{reason}"):
        loaded(type("Changed", (FixedWidthIndenter, TreeIndenter), attributes))


def test_what_is_no_indenter_at_all_is_named() -> None:
    with pytest.raises(ValueError, match='expected "python"'):
        loaded("pascal")
    with pytest.raises(TypeError, match=r"Indenter does not set .*INDENT_type"):
        loaded(Indenter)


@pytest.mark.parametrize(
    ("changes", "reason", "line"),
    [
        ({"_NL: /(\\n[\\t ]*)+/\n": "", "_NL ": ""}, "_NL is not a terminal of this grammar.*; define it", None),
        ({"_NL: /(\\n[\\t ]*)+/\n": "", "%declare": "%declare _NL"}, "nothing matches _NL.*; give it a pattern", 3),
        ({"%declare _INDENT": '_INDENT: "<"\n%declare'}, "can spell it without being indented; write %declare", 4),
        (
            {"[_INDENT x+ _DEDENT]": "", "%declare _INDENT": "%declare"},
            "_INDENT is not a .*%declare _IND",
            None,
        ),
        ({"[_INDENT x+ _DEDENT]": "", "%declare _INDENT _DEDENT": ""}, "_INDENT is not a term.*%declare _IND", None),
    ],
)
def test_names_without_meaning_are_refused(changes: dict[str, str], reason: str, line: int | None) -> None:
    text = TEXT
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    with pytest.raises(UnsupportedGrammarError, match=reason) as caught:
        loaded(TreeIndenter(), text)
    assert caught.value.feature == "postlex"
    assert (caught.value.span and caught.value.span.line) == line


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ({"DEDENT_type": "_INDENT"}, "INDENT_type and DEDENT_type are both _INDENT; declare two"),
        ({"OPEN_PAREN_types": ["_NL"]}, "_NL is the NL_type and a parenthesis at once; leave it out"),
    ],
)
def test_one_terminal_cannot_be_two_things(attributes: dict[str, Any], reason: str) -> None:
    with pytest.raises(UnsupportedGrammarError, match=reason):
        loaded(type("Changed", (TreeIndenter,), attributes))


def test_what_an_indenter_makes_is_no_parenthesis() -> None:
    """Lark counts what it reads, not what it adds."""
    grammar = loaded(type("Changed", (TreeIndenter,), {"OPEN_PAREN_types": ["_INDENT"], "CLOSE_PAREN_types": ["LPAR"]}))
    assert grammar.data.layout is not None
    assert not grammar.data.layout.opens
    assert names(grammar, grammar.data.layout.closes) == ["LPAR"]


def test_a_layout_names_terminals() -> None:
    grammar = loaded(TreeIndenter())
    with pytest.raises(ValueError, match="layout: not terminals"):
        replace(grammar.data, layout=Layout(0, 1, 2, frozenset({9}), frozenset(), 1))
