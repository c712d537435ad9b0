"""What keeps indentation from being followed, as findings."""

from __future__ import annotations

from support.indented_grammars import BraceIndenter

import pdacon
from pdacon import Grammar
from pdacon.determinism import Finding

TEXT = r"""
start: line+
line: A _NL | A ":" block
block: _NL _INDENT line+ _DEDENT
A: "a"
_NL: /(\r?\n[\t ]*)+/
%declare _INDENT _DEDENT
"""


def findings(old: str = "", new: str = "") -> tuple[Finding, ...]:
    assert old in TEXT
    return pdacon.check(Grammar.from_lark(TEXT.replace(old, new), postlex=BraceIndenter())).findings


def test_a_grammar_that_can_be_followed() -> None:
    assert findings() == ()


def test_an_alternative_that_leaves_its_block_open() -> None:
    (finding,) = [finding for finding in findings(" _DEDENT\nA", "\nA") if finding.id == "PDA008"]
    assert finding.level == "error"
    assert finding.title.endswith("unbalanced blocks in rule block")
    assert finding.symbols == ("_INDENT", "_DEDENT")
    assert finding.span is not None
    assert finding.span.line == 4
    assert finding.repair == "write _DEDENT into the same alternative"


def test_every_fault_is_told_at_once() -> None:
    found = findings('A ":" block', '"(" A block | A "}"')
    assert [finding.symbols for finding in found] == [('"("', '"}"'), ('"("', '"}"')]
    assert all(finding.title.endswith("unbalanced parentheses in rule line") for finding in found)


def test_a_newline_that_ends_at_its_line_break() -> None:
    (finding,) = findings(r"/(\r?\n[\t ]*)+/", r"/\r?\n/")
    assert finding.title.endswith("columns after _NL")
    assert finding.repair is not None
    assert finding.repair.startswith("let the pattern end in any number of blanks")


def test_patterns_come_first() -> None:
    """A pattern that cannot be read is told, and not what would follow from it."""
    (finding,) = findings('A: "a"', r"A: /(a)\1/")
    assert finding.symbols == ("A",)
