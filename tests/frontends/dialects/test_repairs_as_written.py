"""What is said of grammars in GBNF and EBNF is in their notation and in their authors' names."""

from __future__ import annotations

import pytest

import pdacon
from pdacon.determinism import repaired_texts
from pdacon.determinism.report.notations import LARKS_NOTATION, with_rules
from tests.support.gbnf_grammars import NOT_DETERMINISTIC

DANGLING = r"""root ::= stmt*
# a statement
stmt ::= "if (" stmt | "if (" stmt "else\n\"" stmt |
  the-name ";"  # the last
the-name ::= [a-z]
"""
REPAIRED = r"""root ::= stmt*
# a statement
stmt ::= "if (" stmt "end" | "if (" stmt "else\n\"" stmt "end" | the-name ";"  # the last
the-name ::= [a-z]
"""
LINE = REPAIRED.splitlines()[2].removesuffix("  # the last")


def conflict(text: str, language: str) -> object:
    grammar = pdacon.Grammar.from_gbnf(text) if language == "GBNF" else pdacon.Grammar.from_ebnf(text)
    return next(finding for finding in pdacon.check(grammar).findings if finding.id == "PDA001")


@pytest.mark.parametrize("language", ["GBNF", "EBNF"])
def test_a_repair_is_in_the_notation_of_the_file(language: str) -> None:
    finding = conflict(DANGLING, language)
    lines = [line for line in finding.repair.split("\n") if line.startswith("  ")]
    assert lines == [f"  {LINE}"]
    assert LARKS_NOTATION not in finding.repair


@pytest.mark.parametrize("language", ["GBNF", "EBNF"])
def test_it_can_be_taken_and_settles_the_conflict(language: str) -> None:
    read = pdacon.Grammar.from_gbnf if language == "GBNF" else pdacon.Grammar.from_ebnf
    ((line, text),) = repaired_texts(DANGLING, conflict(DANGLING, language), read)
    assert line == LINE
    assert text == REPAIRED
    grammar = read(text)
    assert grammar.accepts('if (if (a;endelse\n"b;end')


@pytest.mark.parametrize("language", ["GBNF", "EBNF"])
def test_line_ends_stay(language: str) -> None:
    read = pdacon.Grammar.from_gbnf if language == "GBNF" else pdacon.Grammar.from_ebnf
    text = DANGLING.replace("\n", "\r\n")
    ((_, repaired),) = repaired_texts(text, conflict(text, language), read)
    assert repaired == REPAIRED.replace("\n", "\r\n")


def test_rules_have_the_names_of_their_author() -> None:
    text = 'root ::= if-stmt\nif-stmt ::= "a" if-stmt | "a" if-stmt "e" if-stmt | "(" if-stmt ")" | "b"\n'
    finding = conflict(text, "GBNF")
    assert "if_stmt" not in str(finding)
    assert "inner if-stmt" in finding.message
    assert '  if-stmt ::= "a" if-stmt "end" | "a" if-stmt "e" if-stmt "end" | "(" if-stmt ")" | "b"' in finding.repair


def test_a_part_that_no_rule_stands_for_is_left_and_said() -> None:
    finding = conflict(
        'root ::= stmt*\nstmt ::= "if" " "* stmt | "if" " "* stmt "else" stmt | [a-z] [0-9] ";"\n', "GBNF"
    )
    assert finding.cause == "dangling-else"
    assert f"These lines are {LARKS_NOTATION}: GBNF has no rule for a part of them." in finding.repair
    assert "::=" not in finding.repair


def test_priorities_are_suggested_only_where_there_are_any() -> None:
    text = 'root ::= a | b\na ::= "(" a ")" | "x"\nb ::= "(" b ")" | "x"\n'
    (finding,) = pdacon.check(pdacon.Grammar.from_gbnf(text)).findings
    assert finding.repair == "write one rule for both."
    text = 'start: a | b\na: "(" a ")" | "x"\nb: "(" b ")" | "x"\n'
    (finding,) = pdacon.check(pdacon.Grammar.from_llguidance(text)).findings
    assert finding.repair == "write one rule for both."
    assert "higher priority, a.1" in pdacon.check(text).findings[0].repair


def test_comments_within_a_rule_stay_above_it() -> None:
    text = 'root ::= "a#" | # first\n  "b" # last\n# of x\nx ::= [#]\n'
    assert with_rules(text, ['root ::= "c" x', 'y ::= "d"']) == (
        '# first\nroot ::= "c" x # last\ny ::= "d"\n# of x\nx ::= [#]\n'
    )


def test_nothing_is_suggested_that_the_notation_does_not_have() -> None:
    """Brackets are characters there, and terminals have no names."""
    optional = conflict(NOT_DETERMINISTIC["dangling else"], "GBNF")
    assert optional.cause == "optional-list"
    assert optional.repair.split("\n")[0].endswith("or makes it optional (`?`).")
    words = 'root ::= stmt*\nstmt ::= "if (" stmt | "if (" stmt "else" stmt | name ";"\nname ::= [a-z]+\n'
    report = pdacon.check(pdacon.Grammar.from_gbnf(words))
    assert "needs-lookahead" in {finding.cause for finding in report.findings}
    assert not [finding for finding in report.findings if "terminal" in (finding.repair or "")]
