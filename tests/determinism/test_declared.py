"""Terminals that only a postlexer could make."""

from __future__ import annotations

from typing import Any

import lark
import pytest
from lark.indenter import Indenter

from pdacon.front.checking import check
from pdacon.front.grammar import Grammar

BLOCKS = r"""
start: (NAME _NL | "if" _NL _INDENT start _DEDENT)+
NAME: /[a-z]+/
_NL: /\n[ ]*/
%declare _INDENT _DEDENT
"""


class Blocks(Indenter):  # type: ignore[misc]
    NL_type = "_NL"
    OPEN_PAREN_types = ()
    CLOSE_PAREN_types = ()
    INDENT_type = "_INDENT"
    DEDENT_type = "_DEDENT"
    tab_len = 8


def test_each_that_is_needed_gets_a_warning() -> None:
    report = check(Grammar.from_lark(BLOCKS))
    assert [(f.id, f.level, f.symbols) for f in report.findings] == [
        ("PDA009", "warning", ("_INDENT",)),
        ("PDA009", "warning", ("_DEDENT",)),
    ]
    assert report.ok


def test_what_an_indenter_makes_gets_none() -> None:
    assert not check(Grammar.from_lark(BLOCKS, postlex=Blocks())).findings


def test_what_the_indenter_does_not_make_gets_one() -> None:
    text = BLOCKS.replace("_NL _INDENT", "[_MORE] _NL _INDENT").replace("%declare", "%declare _MORE")
    (finding,) = check(Grammar.from_lark(text, postlex=Blocks())).findings
    assert finding.symbols == ("_MORE",)
    assert "the Indenter that is given makes others" in finding.message


def test_what_no_rule_needs_gets_none() -> None:
    assert not check(Grammar.from_lark('start: "a"\n%declare _INDENT')).findings


def test_levels_that_there_are() -> None:
    report = check(Grammar.from_lark(BLOCKS))
    assert [len(report.at_least(level)) for level in ("error", "warning", "note")] == [0, 2, 2]
    with pytest.raises(ValueError, match="level='worse': expected one of 'error', 'warning', 'note'"):
        report.at_least("worse")  # type: ignore[arg-type]


def test_what_is_not_a_grammar_is_said_to_be_none() -> None:
    assert check('start: "a"').ok
    with pytest.raises(TypeError, match=r"check: grammar must be a pdacon\.Grammar, the name .* not int"):
        check(1)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("seconds", "error", "said"),
    [
        ("10", TypeError, "seconds must be a number, not str"),
        (True, TypeError, "seconds must be a number, not bool"),
        (-1, ValueError, "seconds must be at least 0, got -1"),
        (float("nan"), ValueError, "seconds must be at least 0, got nan"),
    ],
)
def test_seconds_that_are_none(seconds: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        check(Grammar.from_lark('start: "a"'), seconds=seconds)


NAMED_LITERALS = """
start: "(" A ")" "if" /[0-9]/ "x".."z"
LPAR: "("
_RP: ")"
IF.5: "if"
A: /a+/
DIGIT: /[0-9]/
LAST: "x".."z"
SPARE: "spare"
WHOLE: HALF "f"
HALF: "i"
"""


def test_a_terminal_that_a_literal_is_named_by_is_used() -> None:
    """Nothing that stock Lark keeps is said to be dropped."""
    kept = {terminal.name for terminal in lark.Lark(NAMED_LITERALS, parser="lalr").terminals}
    unused = {f.symbols[0] for f in check(Grammar.from_lark(NAMED_LITERALS)).findings if f.id == "PDA013"}
    assert {"LPAR", "_RP", "IF", "DIGIT", "LAST"} <= kept
    assert unused == {"SPARE", "WHOLE"}
