"""Patterns that are lists of words: the short way and the general way mean what Python's ``re`` means."""

from __future__ import annotations

import re
from itertools import product
from random import Random

import numpy as np
import pytest
from support.pike import Simulator

from pdacon import LimitExceededError
from pdacon._native import _core
from pdacon.regular.ordered import compile_pattern
from pdacon.regular.ordered.words import words_program

WORD_END = r"(?![0-9A-Za-z_\x80-\U0010ffff])"
SOME = ["a", "ab", "abc", "b", "é", "éa", "kelvin", "x_1", "x_12", "y", "z", *(f"name{n}" for n in range(12))]


def form(bounded: list[str], closed: list[str]) -> str:
    alternatives = "|".join(map(re.escape, sorted(bounded, reverse=True)))
    parts = [f"(?:{alternatives}){WORD_END}"] if bounded else []
    return f"(?ai:{'|'.join([*parts, *map(re.escape, sorted(closed, reverse=True))])})"


@pytest.mark.parametrize(
    ("bounded", "closed"),
    [
        (SOME, []),
        ([], [f"{word}.*" for word in SOME]),
        (SOME, ['"a"', '"a b"', "[ab]", '"é"', "`a``b`", "q.`a`"]),
        ([*SOME, "p|q", "p\\", "r"], ["s|t", "s\\|t"]),
    ],
)
def test_words_mean_what_re_says(bounded: list[str], closed: list[str]) -> None:
    regexp = form(bounded, closed)
    program = words_program(regexp, compile_pattern, 10_000)
    assert program is not None
    simulator, expected = Simulator(program), re.compile(regexp)
    random = Random(1)
    for word in [*bounded, *closed, "K"]:
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


@pytest.mark.slow
def test_small_lists_mean_what_re_says() -> None:
    random = Random(2)
    short = ["".join(letters) for length in (1, 2, 3) for letters in product("ab.", repeat=length)]
    texts = ["".join(letters) for length in range(6) for letters in product("aB.", repeat=length)]
    taken = 0
    for _ in range(300):
        some = random.sample(short, random.randint(2, 7))
        bounded = [word for word in some if word[-1] != "." and random.random() < 0.5]
        regexp = form(bounded, [word for word in some if word not in bounded])
        program = words_program(regexp, compile_pattern, 10_000)
        if program is None:
            continue
        taken += 1
        simulator, expected = Simulator(program), re.compile(regexp)
        for text in texts:
            match = expected.match(text)
            assert simulator.match_end(text.encode()) == (match and match.end()), (regexp, text)
    assert taken > 100


def read_words(*lists: dict[bytes, int], max_states: int = 0) -> tuple[np.ndarray, ...] | None:
    texts = [(word, after) for some in lists for word, after in sorted(some.items())]
    return _core.read_words(
        np.frombuffer(b"".join(word for word, _ in texts), np.uint8),
        np.array([len(word) for word, _ in texts], np.int32),
        np.array([after for _, after in texts], np.int32),
        np.array([*map(len, lists)], np.int32),
        max_states,
    )


def test_equal_ends_are_one_state() -> None:
    random = Random(3)
    for _ in range(200):
        # Of one length, so that no word begins another one.
        chosen = {bytes(random.choices(b"ab_", k=5)) for _ in range(random.randint(1, 40))}
        prefixes = {word[:end] for word in chosen for end in range(5)}
        ends = {frozenset(word[len(prefix) :] for word in chosen if word.startswith(prefix)) for prefix in prefixes}
        states = read_words(dict.fromkeys(chosen, -1))
        assert states is not None
        assert len(states[0]) == len(ends)


def test_a_list_behind_another_is_not_copied() -> None:
    columns = {b"name": -1, b"year": -1}
    alone = read_words(columns)
    shared = read_words(columns, {b"a.": 0, b"b.": 0, b"c.": 0})
    assert alone is not None
    assert shared is not None
    assert len(shared[0]) == len(alone[0]) + 2


@pytest.mark.parametrize(
    "lists",
    [
        [{b"a": -1, b"ab": -1}],  # the second is never matched, or the first one is not
        [{b"a": -1, b"ab": -2}],
        [{b"a": -2, b"ab": -1}],
        [{b"a": -2, b"ab": -2, b"abc": -1}],
        [{b"x": -1}, {b"a": 0, b"ab": 0}],
    ],
)
def test_where_the_order_of_words_matters_there_is_none(lists: list[dict[bytes, int]]) -> None:
    assert read_words(*lists) is None


@pytest.mark.parametrize(
    ("letters", "lengths", "after", "num_words"),
    [
        (b"ab", [1], [-1, -1], [2]),
        (b"ab", [1, 2], [-1, -1], [2]),  # more letters than there are
        (b"ab", [1, 0], [-1, -1], [2]),
        (b"ab", [1, -1], [-1, -1], [2]),
        (b"ba", [1, 1], [-1, -1], [2]),  # not ascending
        (b"Ab", [1, 1], [-1, -1], [2]),
        (b"ab", [1, 1], [-1, -3], [2]),
        (b"ab", [1, 1], [-1, 0], [2]),  # a list that is not there yet
        (b"ab", [1, 1], [-1, -1], [1]),
        (b"ab", [1, 1], [-1, -1], [2, 0]),
        (b"", [], [], []),
    ],
)
def test_what_does_not_fit_together_is_refused(
    letters: bytes, lengths: list[int], after: list[int], num_words: list[int]
) -> None:
    numbers = (np.array(values, np.int32) for values in (lengths, after, num_words))
    with pytest.raises(ValueError, match="words: "):
        _core.read_words(np.frombuffer(letters, np.uint8), *numbers, 100)


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
        form(SOME[:1], []),
        form(SOME, [])[:-1] + "|)",
        form(SOME, []).replace("(?ai:", "(?ai:(?:)(?![x])|"),
        form([], SOME).replace("(?ai:", "(?ai:(?:)(?![x])|"),
        prefixed({("t",): (SOME, [])})[:-2] + "|))",
        prefixed({("t",): (SOME, []), ("",): (SOME, [])}),
        prefixed({("t",): (SOME, [])})[:-1] + "|)",
    ],
)
def test_other_patterns_are_left_to_the_general_way(regexp: str) -> None:
    assert words_program(regexp, compile_pattern, 10_000) is None
    assert compile_pattern(regexp) is not None


def test_the_limit_holds() -> None:
    with pytest.raises(LimitExceededError):
        words_program(form(SOME, []), compile_pattern, 20)
