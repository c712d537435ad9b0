"""``grammar & regular_set`` against the definition: the sentences of stock Lark in the set, masks by enumeration."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from random import Random

import pytest
from lark import Lark
from lark.exceptions import LarkError
from support.vocabularies import letters_and_short_texts

import pdacon
from pdacon import Grammar, RegularSet
from pdacon.errors import EmptyLanguageError
from pdacon.lalr import build_tables
from pdacon.pda import Configuration, Machine

LENGTH = 5
# Each with its alphabet. Keywords, ignored text, look-around, longest matches that fall back, an empty text, nesting.
GRAMMARS = {
    "nested": ('start: "(" start ")" start |', "()"),
    "list": ('start: "[" [A ("," A)*] "]"\nA: /a+/', "[a,]"),
    "keyword": ('start: (IF | NAME)+\nIF: "ab"\nNAME: /[ab]+/\n%ignore " "', "ab "),
    "fallback": ('start: (A | B | C)+\nA: "a"\nB: "b"\nC: /abbc/', "abc"),
    "ahead": ("start: A+ B?\nA: /a(?!b)|ab(?=a)/\nB: /b+/", "ab"),
    "behind": ("start: (A | B)*\nA: /a/\nB: /(?<=a)b/\n%ignore /\\n/", "ab\n"),
    "lazy": ('start: S+\nS: /"[^a]*?"/ | "a"', '"ab'),
    "end": ("start: A* B?\nA: /a/\nB: /b$/", "ab\n"),
    "basic": ('start: "a" start "b" | "c"', "abc"),
    "two": ('start: X "." X\nX: /[ab]*a/', "ab."),
    "trap": ('start: NAME "x" | "y"\nNAME: /[a-x]+/', "axy"),
}
SETS = [
    "(?:..)*", "(?s).*a.*", "(?s)[^a]*", "(?s).{2}|.{5}", "", "(?s)(?!.*(?:aa|,,|[(][(])).*", "a+b?.*", "(?s).*[b)\\]]",
    "[^,]*,?[^,]*", "(?:ab|a|b ?)*", "(?s).*\\n", "(?s)(?=.*b)(?!.*bb).*",
]  # fmt: skip


def parses(lark: Lark, text: str) -> bool:
    try:
        lark.parse(text)
    except LarkError:
        return False
    return True


def lark_of(name: str) -> Lark:
    return Lark(GRAMMARS[name][0], parser="lalr", lexer="basic" if name == "basic" else "contextual")


def grammar_of(name: str) -> Grammar:
    options = {"lexer": "basic"} if name == "basic" else {}
    return Grammar.from_lark(GRAMMARS[name][0], **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", GRAMMARS)
def test_masks_are_those_of_the_sentences_in_the_set(name: str, scaled: Callable[[int], int]) -> None:
    """The sets are finite, so that the sentences are all there are and every mask is known, dead ends included."""
    alphabet = GRAMMARS[name][1]
    texts = ["".join(text) for size in range(LENGTH + 1) for text in product(alphabet, repeat=size)]
    lark = lark_of(name)
    sentences = {text for text in texts if parses(lark, text)}
    plain = grammar_of(name)
    random = Random(name)
    tokens, vocabulary = letters_and_short_texts(alphabet, texts, random)
    short = RegularSet.from_choices([*alphabet]).repeat(0, LENGTH)
    empty = 0
    for pattern in random.sample(SETS, min(scaled(5), len(SETS))):
        chosen = RegularSet.from_regex(pattern) & short
        expected = {text for text in sentences if text in chosen}
        if not expected:
            empty += 1
            with pytest.raises(EmptyLanguageError):
                pdacon.compile(plain & chosen, vocabulary)
            continue
        grammar = plain & chosen
        constraint = pdacon.compile(grammar, vocabulary)
        loaded = pdacon.Constraint.from_bytes(constraint.to_bytes())
        machine = Machine(grammar.data, build_tables(grammar.data))
        prefixes = {text[:k] for text in expected for k in range(len(text) + 1)}
        for prefix in prefixes:
            rest = {text[len(prefix) :] for text in expected if text.startswith(prefix)}
            wanted = {t for t, token in enumerate(tokens) if any(text.startswith(token) for text in rest)}
            wanted |= {len(tokens)} if "" in rest else set()
            for one in (constraint, loaded):
                matcher = one.matcher()
                assert matcher.accept(prefix)
                assert set(matcher.allowed_tokens()) == wanted, (pattern, prefix)
                assert matcher.is_accepting() == ("" in rest)
                completion = min(rest, key=lambda text: (len(text), text))
                assert matcher.shortest_completion() == completion.encode(), (pattern, prefix)
            configuration = Configuration.initial(machine).read(prefix.encode())
            assert configuration is not None
            assert configuration.ends() == ("" in rest), (pattern, prefix)
        for text in random.sample(texts, min(len(texts), 200)):
            assert constraint.accepts(text) == (text in expected)
    assert empty < 5


def alphabet_texts(alphabet: str) -> list[str]:
    return list(alphabet)


@pytest.mark.parametrize("name", GRAMMARS)
def test_infinite_sets(name: str, scaled: Callable[[int], int]) -> None:
    alphabet = GRAMMARS[name][1]
    texts = ["".join(text) for size in range(LENGTH + 1) for text in product(alphabet, repeat=size)]
    lark = lark_of(name)
    for pattern in Random(name).sample(SETS, min(scaled(6), len(SETS))):
        chosen = RegularSet.from_regex(pattern)
        expected = {text for text in texts if text in chosen and parses(lark, text)}
        try:
            constraint = pdacon.compile(grammar_of(name) & chosen, pdacon.Vocabulary.bytes())
        except EmptyLanguageError:
            assert not expected
            continue
        assert {text for text in texts if constraint.accepts(text)} == expected, pattern
        for text in Random(name).sample(texts, 60):
            matcher = constraint.matcher()
            if matcher.accept(text):
                whole = text + matcher.shortest_completion().decode()
                assert parses(lark, whole)
                assert whole in chosen
