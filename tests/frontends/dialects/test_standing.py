"""Where a text stands in the rules of its author: what may come next is what a matcher allows, for all short texts."""

from __future__ import annotations

import re
from itertools import product

import pytest

from pdacon import Grammar, Vocabulary, compile
from pdacon.frontends.dialects.standing import standing

EVERY_BYTE = Vocabulary.from_tokens([bytes([byte]) for byte in range(256)])
LETTERS = "ab01(),-+"
NESTED = """
root ::= value
value ::= list | number | name
list ::= "(" (value ("," value)*)? ")"
number ::= "-"? digit+
digit ::= [0-1]
name ::= [a-b] name?
"""
GRAMMARS = {
    "nested": NESTED,
    "left recursion": 'root ::= root "+" item | item\nitem ::= [01]+ | "(" root ")"\n',
    "empty rules": 'root ::= a b c\na ::= "a"?\nb ::= a a | "b"\nc ::= ("(" root ")")?\n',
    "counted": 'root ::= ("ab" | "a"){2,3} [^b] | "-"{2} tail\ntail ::= "," tail | ""\n',
    "two readings": 'root ::= word | name\nword ::= [ab]+ ","\nname ::= "a" [b]+ "-"\n',
}


@pytest.mark.slow
@pytest.mark.parametrize("source", GRAMMARS.values(), ids=list(GRAMMARS))
def test_what_may_come_next_is_what_a_matcher_allows(source: str) -> None:
    grammar = Grammar.from_gbnf(source)
    constraint = compile(grammar, EVERY_BYTE)
    texts = [*(letters for n in range(4) for letters in product(LETTERS, repeat=n)), *product("a1(,", repeat=4)]
    for text in map("".join, texts):
        matcher = constraint.matcher()
        found = standing(grammar.data, text)
        assert (found is not None) == (not text or matcher.accept(text)), text
        if found is None:
            continue
        assert found.may_end == matcher.is_accepting()
        assert bool(found.expected) == (matcher.forced_bytes() != b"" or bool(matcher.allowed_tokens()))
        for character in LETTERS:
            assert matcher.is_allowed(ord(character)) == any(begins(one, character) for one in found.expected), text


def begins(expected: str, character: str) -> bool:
    """Whether what is expected, a set or a string as it is written, can begin with a character."""
    return expected[1] == character if expected[0] in "\"'" else re.match(expected, character) is not None


def test_rules_have_their_names() -> None:
    grammar = Grammar.from_gbnf(NESTED)
    assert standing(grammar.data, "(1,-0").rules == ("number in value in list in value in root",)  # type: ignore[union-attr]
    assert standing(grammar.data, "(ab,").rules == ("list in value in root",)  # type: ignore[union-attr]
    assert standing(grammar.data, "").rules == ()  # type: ignore[union-attr]
    two = standing(Grammar.from_gbnf(GRAMMARS["two readings"]).data, "ab")
    assert two is not None
    assert set(two.rules) == {"word in root", "name in root"}


def test_what_it_says_nothing_of() -> None:
    assert standing(Grammar.builtin("json").data, "") is None
    assert standing(Grammar.from_gbnf('root ::= "a"+').data, "a" * 5_000) is None
    assert standing(Grammar.from_gbnf('root ::= "a" | "b" b\nb ::= "b" b\n').data, "a") is None


def test_explanations_have_the_names_of_the_author() -> None:
    grammar = Grammar.from_gbnf(NESTED)
    refused = grammar.explain("(1,-x")
    assert refused.reason == '"x" cannot come here; expected [0-1]'
    assert refused.written_rules == ("number in value in list in value in root",)
    assert "rules:    number in value in list" in str(refused)
    assert "LIST" not in str(refused)
    assert "stack:" in refused.render(full=True)
    whole = grammar.explain("(1)")
    assert (whole.allowed, whole.may_end, whole.written_next) == (True, True, ())
