"""What keeps indentation from being followed, as findings."""

from __future__ import annotations

import pytest
from support.indented_grammars import BraceIndenter

import pdacon
from pdacon import Grammar
from pdacon.determinism import Finding

EVERY_BYTE = pdacon.Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], [256])
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


def test_a_newline_that_waits_for_what_follows() -> None:
    (finding,) = findings(r"/(\r?\n[\t ]*)+/", r"/\r?\n *(?!;)/")
    assert finding.title.endswith("columns after _NL")
    assert finding.repair == "leave the look-ahead at its end out"


@pytest.mark.parametrize(
    ("newline", "why"),
    [
        (r"/\n(    )*/", "by the remainder of its column divided by 4"),
        (r"/\n {0,8}/", "column 8 is another case than column 9"),
        (r"/\n+( *;)?/", None),
        (r"/\n+ */", None),
    ],
)
def test_a_rule_that_opens_a_block_for_others(newline: str, why: str | None) -> None:
    """It matters where columns have more classes than the first and the others."""
    text = TEXT.replace("_INDENT line+ _DEDENT", "begin line+ end").replace(r"/(\r?\n[\t ]*)+/", newline)
    grammar = Grammar.from_lark(text + "begin: _INDENT\nend: _DEDENT\n", postlex=BraceIndenter(), lookahead="commit")
    found = [finding for finding in pdacon.check(grammar).findings if finding.level == "error"]
    if why is None:
        assert not found
        pdacon.compile(grammar, EVERY_BYTE)
        return
    (finding,) = found
    assert (finding.id, finding.symbols) == ("PDA008", ("begin", "_INDENT", "_DEDENT", "_NL"))
    assert why in finding.message
    assert finding.span is not None
    assert finding.span.line == text.count("\n") + 1
    assert finding.repair is not None
    assert finding.repair.startswith("write _INDENT and _DEDENT into the same alternative")
    with pytest.raises(pdacon.UnsupportedGrammarError, match="rule begin opens or closes blocks for others") as caught:
        pdacon.compile(grammar, EVERY_BYTE)
    assert caught.value.feature == "postlex"


def test_patterns_come_first() -> None:
    """A pattern that cannot be read is told, and not what would follow from it."""
    (finding,) = findings('A: "a"', r"A: /(a)\1/")
    assert finding.symbols == ("A",)
