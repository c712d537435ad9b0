"""Repairs that are written into a grammar: in place, in the file's style, with its comments, and nothing unused."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from support.finding_fixtures import FIXTURES

from pdacon import Grammar, PdaconError, check
from pdacon.determinism import repair_choices, with_repair
from pdacon.determinism.report.edits import unused_names

SUMS = """\
start: sum
// what is added
sum  : sum "+" sum  // left?
     | NUMBER       // a leaf
NUMBER : /[0-9]+/
"""
FRUIT = """\
start: (WORD | FRUIT)+
FRUIT : "apple" | "pear"  // what grows on trees
WORD  : /[a-z]+/
%ignore " "  // only blanks
"""
BLANKS = """\
start: NAME+

BLANK: /[ \\t]+/
%ignore BLANK  // between words
LINE: "\\n"
%ignore LINE
NAME: /[a-z]+/
"""


def repaired(text: str, id: str) -> str:
    finding = next(finding for finding in check(Grammar.from_lark(text)).findings if finding.id == id)
    return with_repair(text, finding, repair_choices(finding)[0])


def test_a_rule_keeps_its_place_its_colon_its_bars_and_comments() -> None:
    after = repaired(SUMS, "PDA001")
    assert after == (
        'start: sum\n// what is added\nsum  : sum "+" sum_2  // left?\n     | sum_2  // a leaf\n'
        "sum_2: NUMBER\nNUMBER : /[0-9]+/\n"
    ), after


def test_of_alternatives_that_are_gone_the_comments_stay() -> None:
    text = 'start: s\ns:\n    // first\n    | "if" s  // short\n    | "if" s "else" s  // long\n    | "x"\n'
    finding = check(Grammar.from_lark(text)).findings[0]
    after = with_repair(text, finding, ['s: "x" | "y" s'])
    assert after == 'start: s\n// first\n// short\n// long\ns:\n    | "x"\n    | "y" s\n'


@pytest.mark.parametrize(
    "ignored",
    [
        "%import common.WS_INLINE\n%import common.NEWLINE\n%ignore WS_INLINE\n%ignore NEWLINE\n",
        "%import common (WS_INLINE, NEWLINE)\n%ignore WS_INLINE\n%ignore NEWLINE\n",
        "%import common (LETTER, WS_INLINE)\n%import common.NEWLINE -> NL\n%ignore WS_INLINE\n%ignore NL\n",
        'COMMENT: /#[^\\n]*/\n%ignore COMMENT\n%ignore " "\n',
        "LF: /\\n/\nNL: LF+\nW: / /\n%ignore NL\n%ignore W\n",
        "W.2: / /\n%ignore W\nNL.1: /\\n/\n%ignore NL\n",
    ],
)
def test_a_repair_brings_no_finding(ignored: str) -> None:
    text = f'start: N+ "z"\nN: /[a-c]+/\n{ignored}'
    before, after = (check(Grammar.from_lark(each)).findings for each in (text, repaired(text, "PDA016")))
    known = [finding.title for finding in before]
    assert all(finding.title in known and finding.id != "PDA016" for finding in after)


def test_a_terminal_keeps_its_colon_and_comment() -> None:
    after = repaired(FRUIT, "PDA005")
    assert "FRUIT.1: /(?:apple|pear)(?![a-z])/  // what grows on trees\nWORD  : /[a-z]+/\n" in after, after


def test_one_ignored_terminal_in_the_place_of_several_leaves_none_unused() -> None:
    after = repaired(BLANKS, "PDA016")
    assert after == "start: NAME+\n\n%ignore /(?<![\\x20\\t\\n])[\\x20\\t\\n]/  // between words\nNAME: /[a-z]+/\n", (
        after
    )
    assert not check(Grammar.from_lark(after)).findings
    said = check(Grammar.from_lark(BLANKS)).findings[0].repair
    assert "Remove BLANK and LINE, which nothing uses then." in (said or "")


@pytest.mark.parametrize("text", [SUMS, FRUIT, BLANKS])
def test_lines_end_as_they_did(text: str) -> None:
    finding = check(Grammar.from_lark(text)).findings[0]
    (lines, *_) = repair_choices(finding)
    plain, windows = (with_repair(t, finding, lines) for t in (text, text.replace("\n", "\r\n")))
    assert windows == plain.replace("\n", "\r\n")
    assert plain != text


@pytest.mark.slow
@pytest.mark.parametrize("folder", [f for f in FIXTURES if not (f / "options.json").exists()], ids=lambda f: f.name)
def test_no_repair_of_a_fixture_brings_a_finding(folder: Path) -> None:
    text = (folder / "grammar.lark").read_text(encoding="utf-8")
    try:
        report = check(Grammar.from_lark(text))
    except PdaconError:
        return
    for finding in report.findings:
        for lines in repair_choices(finding):
            if after := with_repair(text, finding, lines):
                there = Counter(each.id for each in check(Grammar.from_lark(after)).findings)
                assert there <= Counter(each.id for each in report.findings), (lines, after)


def test_a_name_beside_a_literal_of_slashes_is_used() -> None:
    text = (
        'start: NAME ("//" BLANK NAME)* // LINE\nBLANK: / /\nLINE: "\\n"\n%ignore BLANK\n%ignore LINE\nNAME: /[a-z]+/\n'
    )
    assert unused_names(text, ["BLANK", "LINE"]) == ["LINE"]


def test_a_file_of_mixed_line_ends_is_left_to_its_reader() -> None:
    finding = next(finding for finding in check(Grammar.from_lark(BLANKS)).findings if finding.id == "PDA016")
    (lines, *_) = repair_choices(finding)
    assert with_repair(BLANKS.replace("\n", "\r\n"), finding, lines).count("\r\n") > 3
    assert with_repair(BLANKS.replace("\n", "\r\n", 1), finding, lines) == ""
