"""Matches that can wait for ever are found, and given up, without an automaton of all that could be waited for."""

from __future__ import annotations

import pytest

import pdacon
from pdacon import Grammar, NondeterministicGrammarError, Vocabulary

BYTES = Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], eos_ids=[256])
STATES = 20_000

COMMENT = r"""
COMMENT: /\/\*(.|\n)*?\*\//
%ignore COMMENT
%ignore " "
"""

# Many kinds of bytes: the texts of up to four of them behind a "/" are millions.
MANY_BYTES = r"""
start: (NAME | NUMBER | OPERATOR | "/" | "*" | STRING)+
NAME: /[a-z_][a-z0-9_]*/
NUMBER: /0x[0-9a-f]+|[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?/
OPERATOR: "+" | "-" | "<" | ">" | "=" | "!" | "&" | "|" | "^" | "~" | "?" | ":" | ";" | ","
STRING: /"(\\["\\nrtbf]|[^"\\])*"/
"""

# Many places at once that the text behind a "/" can be at: their sets are as many as subsets.
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
