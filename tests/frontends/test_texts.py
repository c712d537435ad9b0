"""Grammars of regular expressions, choices and sets, against ``re``, ``in`` and stock Lark."""

from __future__ import annotations

import pickle
import re
from itertools import product
from random import Random

import pytest
from lark import Lark
from lark.exceptions import LarkError

import pdacon
from pdacon import Grammar, RegularSet

BYTES = pdacon.Vocabulary.bytes()
TEXTS = ["".join(text) for size in range(5) for text in product("ab\né", repeat=size)]
PATTERNS = ["a|ab", "a*", "(?i)A[^B]", ".", "(?s).+", "a$", "ab*", r"\w+", "(?!ab).*", ".*(?<=ab)", '/|\\\\"?', "[^é]*"]


def parses(lark: Lark, text: str) -> bool:
    try:
        lark.parse(text)
    except LarkError:
        return False
    return True


def require_same(grammar: Grammar, expected: set[str]) -> None:
    """The texts are the sentences: to pdacon, to stock Lark with what is printed, and to what is read from that."""
    constraint = pdacon.compile(grammar, BYTES)
    assert {text for text in TEXTS if constraint.accepts(text)} == expected
    printed = grammar.to_lark()
    lark = Lark(printed, **grammar.lark_options)
    assert {text for text in TEXTS if parses(lark, text)} == expected
    again = pdacon.compile(Grammar.from_lark(printed), BYTES)
    assert {text for text in TEXTS if again.accepts(text)} == expected


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns(pattern: str) -> None:
    require_same(Grammar.from_regex(pattern), {text for text in TEXTS if re.fullmatch(pattern, text)})


@pytest.mark.parametrize("seed", range(25))
def test_choices(seed: int) -> None:
    random = Random(seed)
    chosen = random.choices(TEXTS, k=random.randrange(1, 30))
    require_same(Grammar.from_choices(chosen), set(chosen))


@pytest.mark.parametrize("strings", [[""], ["a"], ["", "a"], ["a", "a"], ["ab", "a", "abab"], ["\n", "é\n"]])
def test_small_choices(strings: list[str]) -> None:
    require_same(Grammar.from_choices(strings), set(strings))
    require_same(Grammar.from_regex(RegularSet.from_choices(strings)), set(strings))


def test_sets_take_the_place_of_grammars() -> None:
    word = RegularSet.from_regex("[ab]+") - RegularSet.from_choices(["ab"])
    constraint = pdacon.compile(word, BYTES)
    assert {text for text in TEXTS if constraint.accepts(text)} == {text for text in TEXTS if text in word}
    assert pdacon.check(word).ok


@pytest.mark.parametrize(
    "strings", [["a\0b", "\0"], ["\U0001f600", "\U0001f600x", "\U0001f601"], ["\ue000\ud7ff"], ["a" * 50_000]]
)
def test_choices_of_any_characters(strings: list[str]) -> None:
    constraint = pdacon.compile(Grammar.from_choices(strings), BYTES)
    for text in strings:
        assert constraint.accepts(text)
        assert not constraint.accepts(text + "b")
        assert constraint.accepts(text[:-1]) == (text[:-1] in strings)


def test_no_choice_is_a_dead_end() -> None:
    """The mask after every prefix holds the bytes that some choice goes on with, and the end after each choice."""
    random = Random(1)
    strings = ["".join(random.choices("abc/é\n\U0001f600", k=random.randrange(9))) for _ in range(200)]
    encoded = {text.encode() for text in strings}
    constraint = pdacon.compile(Grammar.from_choices(strings), BYTES)
    for prefix in {text[:k] for text in encoded for k in range(len(text) + 1)}:
        matcher = constraint.matcher()
        assert matcher.accept(prefix)
        expected = {text[len(prefix)] for text in encoded if text.startswith(prefix) and text != prefix}
        ends = set(constraint.vocabulary.eos_ids) if prefix in encoded else set()
        assert set(matcher.allowed_tokens()) == expected | ends
        assert (prefix + matcher.shortest_completion()) in encoded
    assert pdacon.Constraint.from_bytes(constraint.to_bytes()).accepts(strings[0])


def test_what_is_empty_is_refused() -> None:
    for made in (
        lambda: Grammar.from_choices([]),
        lambda: Grammar.from_regex("(?!)"),
        lambda: Grammar.from_regex("a^b"),
    ):
        with pytest.raises(pdacon.EmptyLanguageError):
            made()
    with pytest.raises(TypeError, match=r"from_choices takes strings, not 3 \(number 1, a int\)"):
        Grammar.from_choices(["a", 3])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="lone surrogate"):
        Grammar.from_choices(["\ud800"])
    with pytest.raises(TypeError, match="from_regex"):
        Grammar.from_regex(3)  # type: ignore[arg-type]
    with pytest.raises(pdacon.LimitExceededError, match="states"):
        Grammar.from_choices(["abcdef"], limits=pdacon.Limits(states=3))


def test_grammars_keep_what_they_are_made_of() -> None:
    grammar = Grammar.from_choices(["yes", "no"])
    assert (grammar.data.language, grammar.data.source) == ("choices", '{"yes", "no"}')
    assert repr(grammar) == '<Grammar from {"yes", "no"}: 1 terminals, 1 nonterminals, 1 productions>'
    assert grammar.to_lark() == "start: TEXT\nTEXT: /yes|no/\n"
    assert pickle.loads(pickle.dumps(grammar)) == grammar
    assert grammar == Grammar.from_choices(["yes", "no"])
    assert (
        grammar.fingerprint
        == Grammar.from_choices(["no", "yes"]).fingerprint
        != Grammar.from_choices(["no"]).fingerprint
    )
    assert (Grammar.from_regex("a+").data.source, Grammar.from_regex("a+").data.language) == (
        "'a+'",
        "regular expression",
    )
    assert "expected" in grammar.explain("maybe").reason
    assert sorted(grammar.sample(5, seed=1)) == ["no", "yes"]
