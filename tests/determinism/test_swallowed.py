"""Operators that are read as part of the next word: what is said is so in stock Lark, and nothing is said elsewhere."""

from __future__ import annotations

import pytest
from lark import Lark
from lark.exceptions import UnexpectedInput

from pdacon import Grammar, check
from pdacon.determinism import Finding

NUMBERS = "\n%import common.SIGNED_INT\n%import common.INT\n%import common.SIGNED_NUMBER"
IGNORED = '\n%ignore " "\n'
SUM_OR_LIST = 'start: sum | list\nsum: sum ("+" | "-") number | number\nlist: "[" number* "]"\n'


def notes(text: str, **options: str) -> list[Finding]:
    return [finding for finding in check(Grammar.from_lark(text, **options)).findings if finding.id == "PDA023"]


def takes(text: str, sentence: str, **options: str) -> bool:
    try:
        Lark(text, parser="lalr", **options).parse(sentence)
    except UnexpectedInput:
        return False
    return True


@pytest.mark.parametrize("blanks", ["", IGNORED])
@pytest.mark.parametrize(
    ("rules", "text", "options"),
    [
        (SUM_OR_LIST + "number: SIGNED_INT" + NUMBERS, b"0+0", {}),
        (SUM_OR_LIST + "number: SIGNED_NUMBER" + NUMBERS, b"0+0", {}),
        ('start: SIGNED_INT ("-" SIGNED_INT)*' + NUMBERS, b"0-0", {"lexer": "basic"}),
        ('start: n "." INT | "(" n PART ")"\nn: NAME\nNAME: /[a-z]+/\nPART: /[.][0-9]+/' + NUMBERS, b"a.0", {}),
        ('start: n ("/" n)* | "(" n* ")"\nn: NAME\nNAME: /\\/?[a-z]+/', b"a/a", {}),
    ],
)
def test_what_is_shown_is_refused_by_stock_lark(rules: str, text: bytes, options: dict[str, str], blanks: str) -> None:
    (finding,) = notes(rules + blanks, **options)
    assert finding.witness is not None
    assert finding.witness.text == text
    shown = text.decode()
    assert not takes(rules + blanks, shown, **options)
    assert ("after the operator" in finding.message) == bool(blanks)
    if blanks:
        assert takes(rules + blanks, f"{shown[:-1]} {shown[-1]}", **options)


def test_the_repair_gives_the_text_back() -> None:
    rules = SUM_OR_LIST + "number: SIGNED_INT" + NUMBERS + IGNORED
    (finding,) = notes(rules)
    assert finding.symbols == ("PLUS", "MINUS", "SIGNED_INT")
    assert finding.repair is not None
    instead = finding.repair.split("such as ")[1].removesuffix(" instead of SIGNED_INT")
    mended = rules.replace("number: SIGNED_INT", f"number: {instead}")
    assert not notes(mended)
    for text in ("1-2", "[1-2]", "1--2", "1 - 2"):
        assert takes(mended, text)


@pytest.mark.parametrize(
    "rules",
    [
        'start: SIGNED_INT ("-" SIGNED_INT)*' + NUMBERS,  # no number is looked for after a number
        SUM_OR_LIST + 'number: "-"? INT' + NUMBERS,
        'start: x ("-" x)* | "[" x* "]"\nx: NAME | "--" x\nNAME: /[a-z]+/',  # longest match of strings is well known
        'start: x ("/" x)* | "[" x* "]"\nx: NAME\nNAME: /[a-z]+/\n%ignore /\\/[a-z]+\\//',  # ignored text is no loss
        'start: x ("in" x)* | "[" x* "]"\nx: NAME\nNAME: /[a-z]+/',  # words are parted by blanks
        'start: "[" x* "]" | "(" x ("-" x)* ")"\nx: /[a-z]+/ | /-(?=\\()[a-z(]+/',  # not the pattern of such a text
    ],
)
@pytest.mark.parametrize("blanks", ["", IGNORED])
def test_elsewhere_there_is_no_note(rules: str, blanks: str) -> None:
    assert notes(rules + blanks) == []
