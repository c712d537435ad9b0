"""Matches that can wait for ever are found, and given up, without an automaton of all that could be waited for."""

from __future__ import annotations

import sys
from itertools import product
from typing import Literal

import lark
import pytest
from support.lark_oracle import lark_parser

import pdacon
from pdacon import Grammar, NondeterministicGrammarError, Vocabulary

BYTES = Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], eos_ids=[256])
STATES = 20_000
Lexer = Literal["contextual", "basic"]

COMMENT = r"""
COMMENT: /\/\*(.|\n)*?\*\//
%ignore COMMENT
%ignore " "
"""

# Many kinds of bytes: the texts of up to four of them after a "/" are millions.
MANY_BYTES = r"""
start: (NAME | NUMBER | OPERATOR | "/" | "*" | STRING)+
NAME: /[a-z_][a-z0-9_]*/
NUMBER: /0x[0-9a-f]+|[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?/
OPERATOR: "+" | "-" | "<" | ">" | "=" | "!" | "&" | "|" | "^" | "~" | "?" | ":" | ";" | ","
STRING: /"(\\["\\nrtbf]|[^"\\])*"/
"""

# Many places at once that the text after a "/" can be at: their sets are as many as subsets.
MANY_PLACES = r"""
start: (NAME | HEX | OCT | "/" | "*" | STRING | CHAR | TEXT)+
NAME: /[a-z_]+/
HEX: /0x[0-9a-f]{2}([0-9a-f]{3})*h/
OCT: /0[0-7]([0-7]{5})*o/
STRING: /"(\\x[0-9a-f]{2}|\\u[0-9a-f]{4}|[^"\\\n])*?"/
CHAR: /'(\\x[0-9a-f]{2}|\\u[0-9a-f]{4}|[^'\\\n])*?'/
TEXT: /`(\\x[0-9a-f]{2}|\\u[0-9a-f]{4}|[^`\\\n])*?`/
%ignore /[ab]{7}c/
"""


@pytest.mark.parametrize("rules", [MANY_BYTES, MANY_PLACES])
def test_an_unbounded_wait_is_found_and_given_up_in_few_states(rules: str) -> None:
    limits = pdacon.Limits(states=STATES)
    with pytest.raises(NondeterministicGrammarError) as caught:
        pdacon.compile(Grammar.from_lark(rules + COMMENT, conflicts="shift"), BYTES, limits=limits)
    (finding,) = (finding for finding in caught.value.report.findings if finding.id == "PDA006")
    assert finding.witness is not None
    assert finding.witness.text == b"/*"
    assert finding.witness.loop
    grammar = Grammar.from_lark(rules + COMMENT, conflicts="shift", lookahead="commit")
    matcher = pdacon.compile(grammar, BYTES, limits=limits).matcher()
    assert matcher.accept_bytes(b"a /* b ' */ / c")
    assert matcher.is_accepting()


# Each left memory to grow without end: a match that depends on what follows reads in step with the fallback's residual.
OPEN_CONDITIONS = [
    'start: "b" "a"?\n%ignore /a+(?=b)/',
    'start: ("a"|I) I?\nI: /a+(?=b)/',
    "start: T\nT: /[ab]/\n%ignore /a++/",
    "start: T+\nT: /[ab]/\n%ignore /a++/",
    "start: C\nC: /(?:a|b+)++/",
    "start: C+\nC: /(?:a|b+)++/",
    "start: NAME+\nNAME: /\\w+/\n%ignore /[ \\t]+(?=\\n)/",
    'start: (NAME | "\\n" | " ")+\nNAME: /\\w+/\n%ignore /[ \\t]+(?=\\n)/',
    'start: (NAME | "\\n")+\nNAME: /\\w+/\n%ignore /[ \\t]+(?=\\n)/\n%ignore " "',
    "start: NAME+\nNAME: /\\w+/\n%ignore /[ \\t]+(?=#)/",
    'start: (NAME | "#")+\nNAME: /\\w+/\n%ignore /[ \\t]+(?=#)/\n%ignore " "',
    'start: "a"* "b"\n%ignore /a+$/',
    'start: "a"* "b"\n%ignore /a+\\b/',
]


@pytest.mark.parametrize("lexer", ["contextual", "basic"])
@pytest.mark.parametrize("rules", OPEN_CONDITIONS)
def test_a_condition_that_stays_open_is_no_wait_without_end(rules: str, lexer: Lexer) -> None:
    """Such a match compiles, or is refused by name: it never grows an automaton until memory is gone."""
    if sys.version_info < (3, 11) and "++" in rules:
        pytest.skip("possessive quantifiers came with Python 3.11")
    limits = pdacon.Limits(states=STATES)
    grammar = Grammar.from_lark(rules, lexer=lexer)
    report = pdacon.check(grammar)
    assert {finding.id for finding in report.findings if finding.level == "error"} <= {"PDA005", "PDA006"}
    if report.ok:
        pdacon.compile(grammar, BYTES, limits=limits)
    else:
        with pytest.raises(NondeterministicGrammarError):
            pdacon.compile(grammar, BYTES, limits=limits)
    cut = Grammar.from_lark(rules, lexer=lexer, conflicts="shift", lookahead="commit")
    walk(pdacon.compile(cut, BYTES, limits=limits), lark_parser(cut))


def walk(constraint: pdacon.Constraint, parser: lark.Lark) -> None:
    """All short texts over a few letters: what is accepted, Lark parses."""
    for length in range(6):
        for letters in product("ab \n#", repeat=length):
            text = "".join(letters)
            matcher = constraint.matcher()
            if matcher.accept_bytes(text.encode()) and matcher.is_accepting():
                parser.parse(text)
