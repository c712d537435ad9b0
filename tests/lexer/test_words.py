"""Patterns that are lists of words: the short way and the general way mean what Python's ``re`` means."""

from __future__ import annotations

import re
from random import Random

import pytest
from support.pike import Simulator

from pdacon import LimitExceededError
from pdacon.lexer import compile_pattern
from pdacon.lexer.words import words_program

WORD_END = r"(?![0-9A-Za-z_\x80-\U0010ffff])"
SOME = ["a", "ab", "abc", "b", "é", "éa", "kelvin", "x_1", "x_12", "y", "z", *(f"name{n}" for n in range(12))]


def form(words: list[str], closed: list[str]) -> str:
    bounded = "|".join(map(re.escape, sorted(words, reverse=True)))
    parts = [f"(?:{bounded}){WORD_END}"] if words else []
    return f"(?ai:{'|'.join([*parts, *map(re.escape, sorted(closed, reverse=True))])})"


@pytest.mark.parametrize(
    ("words", "closed"),
    [
        (SOME, []),
        ([], [f"{word}.*" for word in SOME]),
        (SOME, ['"a"', '"a b"', "[ab]", '"é"', "`a``b`", "q.`a`"]),
        ([*SOME, "p|q", "p\\", "r"], ["s|t", "s\\|t"]),
    ],
)
def test_words_mean_what_re_says(words: list[str], closed: list[str]) -> None:
    regexp = form(words, closed)
    program = words_program(regexp, compile_pattern, 10_000)
    assert program is not None
    simulator, expected = Simulator(program), re.compile(regexp)
    random = Random(1)
    for word in [*words, *closed, "K"]:
        for text in (word, word.upper(), word.title(), word[:-1], word + "1", word + ".", word + " a", word + "é"):
            damaged = "".join(random.choice((letter, letter, "a")) for letter in text)
            for tried in (text, damaged):
                match = expected.match(tried)
                assert simulator.match_end(tried.encode()) == (match and len(match.group().encode())), tried


def prefixed(lists: dict[tuple[str, ...], tuple[list[str], list[str]]]) -> str:
    parts = (f"(?:{'|'.join(prefixes)})\\.(?:{form(*words)[5:-1]})" for prefixes, words in lists.items())
    return f"(?ai:{'|'.join(parts)})"


def test_lists_behind_prefixes_mean_what_re_says() -> None:
    lists: dict[tuple[str, ...], tuple[list[str], list[str]]] = {
        ("t", '"t"'): (SOME, ['"a"', '"ab"']),
        ("tt", '"tt"'): (SOME[4:], ['"a b"']),
        ('"u"', "`u`"): ([], ['"a"']),
        ("v",): (["a"], []),
    }
    regexp = prefixed(lists)
    program = words_program(regexp, compile_pattern, 10_000)
    assert program is not None
    simulator, expected = Simulator(program), re.compile(regexp)
    for prefix in (*(prefix for prefixes in lists for prefix in prefixes), "w", '"t', "u"):
        for word in (*SOME, '"a"', '"ab"', '"a b"', '"a', ""):
            for text in (f"{prefix}.{word}", f"{prefix}.{word}".upper(), f"{prefix}.{word}1", f"{prefix}.{word}."):
                match = expected.match(text)
                assert simulator.match_end(text.encode()) == (match and len(match.group().encode())), text
    alike = prefixed({("t",): (SOME, []), ("t", "u"): (["q"], [])})
    assert words_program(alike, compile_pattern, 10_000) is None


@pytest.mark.parametrize(
    "regexp",
    [
        form(SOME, []).replace("z|", "z|(a)|"),  # a group of its own
        form(SOME, []).replace("(?ai:", "(?i:"),
        form([], [*SOME, "name1.x"]),  # one begins another
        form(SOME, ["a."]).replace("a\\.", "a") + "b",
        f"(?ai:(?:{'|'.join(SOME)}){WORD_END})",  # shorter words first
        form(SOME, []).replace("])", "])q", 1),  # something behind the class
        form(SOME, []).replace("|z", "|\\d").replace("|b|", "|\0|"),
        form(SOME, []).replace("|z|", "||"),  # nothing, as a word
        form(SOME[:3], []),  # not worth it
    ],
)
def test_other_patterns_are_left_to_the_general_way(regexp: str) -> None:
    assert words_program(regexp, compile_pattern, 10_000) is None
    assert compile_pattern(regexp) is not None


def test_the_limit_holds() -> None:
    with pytest.raises(LimitExceededError):
        words_program(form(SOME, []), compile_pattern, 20)
