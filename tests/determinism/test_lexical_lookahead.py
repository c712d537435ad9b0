"""PDA018 and neighbour distances: how far a lexeme's end can be from being known, beside stock Lark and brute force."""

from __future__ import annotations

import re

import lark
import pytest

from pdacon.determinism.lexical.lookahead import neighbour_distances
from pdacon.front.checking import check
from pdacon.front.grammar import Grammar
from tests.support.witnesses import short_texts, texts_of

JSON_LEXER = r"""
start: ("{" | "}" | "[" | "]" | "," | ":" | "true" | "false" | "null" | STRING | NUMBER | WS)*
STRING: /"([^"\\\x00-\x1f]|\\(["\\\/bfnrt]|u[0-9a-fA-F]{4}))*"/
NUMBER: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/
WS: /[ \t\n\r]+/
"""


def test_the_neighbour_distance_of_json_is_that_of_streamtok() -> None:
    texts = texts_of(JSON_LEXER)
    assert max(distance or 0 for distance in neighbour_distances(texts).values()) == 3


LEXERS = [
    ("ab", "A: /a/\nB: /aab|b/"),
    ("ab", "A: /a/\nB: /a+b/"),
    ("ab", "A: /a(ba)?/\nB: /b/"),
    ("ab", "A: /ab?/\nB: /abba|b/"),
    ("abc", "A: /a|abcc/\nB: /b|ab/\nC: /c/"),
    ("abc", "A: /ab(bc)*/\nB: /b/\nC: /c/"),
]


def matches(lexer: lark.Lark, text: str) -> str | None:
    """The terminal of a text that is one lexeme whole."""
    try:
        tokens = list(lexer.lex(text))
    except lark.exceptions.LarkError:
        return None
    return tokens[0].type if len(tokens) == 1 else None


@pytest.mark.parametrize(("alphabet", "terminals"), LEXERS)
def test_neighbour_distances_are_those_of_all_texts(alphabet: str, terminals: str) -> None:
    names = [line.partition(":")[0] for line in terminals.splitlines()]
    source = f"start: ({' | '.join(names)})*\n{terminals}\n"
    texts = texts_of(source)
    lexer = lark.Lark(source, parser="lalr", lexer="basic")
    longest: dict[str, int] = {}
    whole = {
        text: name
        for text in short_texts(alphabet, 6 if len(alphabet) > 2 else 7)
        if text and (name := matches(lexer, text))
    }
    for text in whole:
        shorter = [text[:n] for n in range(1, len(text)) if text[:n] in whole]
        if shorter:
            name = whole[shorter[-1]]
            longest[name] = max(longest.get(name, 0), len(text) - len(shorter[-1]))
    found = {texts.grammar.terminals[label].name: d for label, d in neighbour_distances(texts).items()}
    assert {name: distance for name, distance in found.items() if distance is not None} == {
        name: distance for name, distance in longest.items() if found.get(name) is not None
    }
    assert found.keys() == longest.keys()
    for name, distance in found.items():
        assert distance is not None or longest[name] >= 3  # without a bound: it grows with the texts


@pytest.mark.parametrize(
    ("terminals", "expected"),
    [
        ('A: "a"\nB: "b"\nLONG: "abbb"', {"A": 2}),
        ('A: "a"\nB: "b"\nLONG: "abb"', {}),  # one byte
        ('A: "a"\nLONG: "abbb"', {}),  # what follows A can be no lexeme
        ('A: "a"\nB: "é"\nLONG: "aéc"', {}),  # one character
        ('A: "a"\nB: "é"\nLONG: "aéécé"', {"A": 4}),
    ],
)
def test_lookahead_counts_what_may_still_be_read_otherwise(terminals: str, expected: dict[str, int]) -> None:
    names = [line.partition(":")[0] for line in terminals.splitlines()]
    report = check(Grammar.from_lark(f"start: ({' | '.join(names)})+\n{terminals}\n"))
    distances = {}
    for finding in (finding for finding in report.findings if finding.id == "PDA018"):
        number = re.search(r": (\d+) after", finding.title)
        assert number is not None
        assert finding.witness is not None
        distances[finding.symbols[0]] = int(number.group(1))
    assert distances == expected
