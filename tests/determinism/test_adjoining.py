"""Words that need no blank between them: what is said is so in stock Lark, and its repair mends it."""

from __future__ import annotations

import pytest
from lark import Lark

from pdacon import Grammar, check

IGNORED = '\n%ignore " "\n'


def pairs(text: str) -> dict[tuple[str, ...], bytes]:
    """The first pair of each note, with its text."""
    return {
        finding.witness.symbols: finding.witness.text or b""
        for finding in check(Grammar.from_lark(text)).findings
        if finding.id == "PDA020" and finding.witness is not None
    }


@pytest.mark.parametrize(
    "rules",
    [
        'start: "buy" COUNT\nCOUNT: /[0-9]+/',
        'start: "select" NAME\nNAME: /[a-z]+/',
        'start: COUNT "tea"i\nCOUNT: /[0-9]+/',
        'start: "a" ("b" | "c")',
        'start: "über" "ändern"',
    ],
)
def test_what_is_shown_is_read_by_stock_lark_as_two_words(rules: str) -> None:
    ((symbols, text),) = pairs(rules + IGNORED).items()
    assert len(symbols) == 2
    lark = Lark(rules + IGNORED, parser="lalr", keep_all_tokens=True)
    before, behind = map(str, lark.parse(text.decode()).children)
    assert f"{before}{behind}".encode() == text
    assert [*map(str, lark.parse(f"{before} {behind}").children)] == [before, behind]


def test_the_repair_makes_a_blank_necessary() -> None:
    rules = "start: BUY COUNT DRINK\nBUY: /buy/\nCOUNT: /[0-9]+/\nDRINK: /tea|milk/" + IGNORED
    for _ in range(2):
        (finding,) = [f for f in check(Grammar.from_lark(rules)).findings if f.id == "PDA020"]
        assert finding.repair is not None
        line = finding.repair.split("\n")[1].strip()
        name = line.split(":")[0]
        rules = "\n".join(line if old.startswith(f"{name}:") else old for old in rules.split("\n"))
    assert pairs(rules) == {}
    grammar = Grammar.from_lark(rules)
    assert grammar.accepts("buy 2 tea")
    assert not grammar.accepts("buy2 tea")
    assert not grammar.accepts("buy 2tea")


@pytest.mark.parametrize(
    "text",
    [
        'start: "a" "b"\n',  # no blanks are ignored
        'start: "a" "b"\n%ignore /#./\n',  # something else is
        'start: "(" NAME ")"\nNAME: /[a-z]+/' + IGNORED,  # no two words
        "start: NAME NAME\nNAME: /[a-z]+/" + IGNORED,  # they grow together
        'start: NAME "b"\nNAME: /[a-z]+(?!\\w)/' + IGNORED,
        'start: "a" NAME\nNAME: /(?<!\\w)[b-z]+/' + IGNORED,  # it asks what stands before it
        'start: "a" | "b"' + IGNORED,  # never side by side
        "start: COUNT UNIT\nCOUNT: /[0-9]+(?! )/\nUNIT: /[a-z]+/" + IGNORED,  # no blank may part them
        'start: "a" "»b"' + IGNORED,
    ],
)
def test_where_a_blank_is_needed_or_nothing_is_ignored_there_is_no_note(text: str) -> None:
    assert pairs(text) == {}


def test_all_pairs_are_one_note_and_many_are_counted() -> None:
    words = " | ".join(f'"w{k}x"' for k in range(4))
    grammar = Grammar.from_lark(f"start: ({words})+{IGNORED}")
    (finding,) = [finding for finding in check(grammar).findings if finding.id == "PDA020"]
    assert "and 10 more pairs" in finding.message
    assert finding.repair is not None
    assert r"W0X.1: /w0x(?!\w)/" in finding.repair
