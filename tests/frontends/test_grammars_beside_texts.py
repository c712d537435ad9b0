"""Grammars without recursion beside other texts in a structural tag, against `re` on all short texts."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import pytest

from pdacon import Grammar
from pdacon.errors import UnsupportedGrammarError

NUMBER = r"-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?"
CASES = [
    ('root ::= "" | [-+*/]', "[-+*/]?", "[simple]?"),
    ('root ::= a b\na ::= "" | "1"\nb ::= "" | [s.]', "1?[s.]?", "[s1]?"),
    ('root ::= ("" | "e") a\na ::= b b | "s"\nb ::= "1" | "-"', "e?([1-][1-]|s)", "s*"),
    ('root ::= [1s]* "e"?', "[1s]*e?", "[e1]*"),
]


def texts_of(grammar: str, pattern: str) -> Any:
    elements = [
        {"type": "json_schema", "json_schema": {"type": "number"}},
        {"type": "grammar", "grammar": grammar},
        {"type": "regex", "pattern": pattern},
    ]
    return {"type": "sequence", "elements": elements}


@pytest.mark.parametrize(("grammar", "meaning", "pattern"), CASES)
def test_a_number_then_a_grammar_then_a_text(grammar: str, meaning: str, pattern: str) -> None:
    made = Grammar.from_structural_tag(texts_of(grammar, pattern))
    expected = re.compile(f"{NUMBER}({meaning}){pattern}", re.ASCII)
    verdicts = set()
    for text in map("".join, (letters for length in range(6) for letters in product("1-se.", repeat=length))):
        verdict = expected.fullmatch(text) is not None
        assert made.accepts(text) == verdict, text
        verdicts.add(verdict)
    assert verdicts == {True, False}


def test_a_grammar_that_leads_to_itself_has_to_end_where_the_lexer_finds_it() -> None:
    with pytest.raises(UnsupportedGrammarError):
        Grammar.from_structural_tag(texts_of('root ::= "" | "1" root "1"', "1?"))
    assert Grammar.from_structural_tag(texts_of('root ::= "(" root ")" | "x"', "s?")).accepts("1((x))s")
