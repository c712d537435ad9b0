"""Long chains of reduces, answers that never come twice, completions that nobody can write out."""

from __future__ import annotations

import itertools
import random
import sys
import threading

import numpy as np
import pytest

import pdacon

EOS = 256


@pytest.fixture(scope="module")
def vocabulary() -> pdacon.Vocabulary:
    return pdacon.Vocabulary.from_tokens([*(bytes([b]) for b in range(256)), None], eos_ids=[EOS])


def test_right_recursion_ends_however_long_it_is(vocabulary: pdacon.Vocabulary) -> None:
    """At the end every element is reduced, one after the other: a long chain, but no endless one."""
    matcher = pdacon.compile(pdacon.Grammar.from_lark('start: "a" start | "b"'), vocabulary).matcher()
    assert matcher.accept_bytes(b"a" * 200_000 + b"b")
    assert matcher.is_accepting()
    assert matcher.accept_token(EOS)


@pytest.mark.slow
def test_answers_that_never_recur_do_not_pile_up(vocabulary: pdacon.Vocabulary) -> None:
    """Whether a right-recursive list may end depends on the whole stack, and no two texts have the same one."""
    grammar = pdacon.Grammar.from_lark('start: A | B | A start | B start\nA: "a"\nB: "b"')
    constraint = pdacon.compile(grammar, vocabulary)
    rng = random.Random(1)
    matcher = constraint.matcher()
    ids = set()
    for _ in range(2500):
        ids.add(matcher.mask_id())
        assert matcher.accept_token(rng.choice(b"ab"))
    assert len(ids) == 2
    assert constraint.statistics()["bytes"] < 64 << 20
    row = np.zeros(9, np.int32)
    matcher.fill_bitmask(row)
    bits = np.unpackbits(row.view(np.uint8), bitorder="little")
    assert np.flatnonzero(bits).tolist() == [ord("a"), ord("b"), EOS]


def doubling(rules: int) -> str:
    """The one sentence has 2 ** rules bytes."""
    return "start: r0\n" + "".join(f"r{i}: r{i + 1} r{i + 1}\n" for i in range(rules)) + f'r{rules}: "a"\n'


@pytest.mark.parametrize("rules", [30, 31, 32, 70])
def test_a_completion_can_be_too_long_to_be_written_out(rules: int, vocabulary: pdacon.Vocabulary) -> None:
    matcher = pdacon.compile(pdacon.Grammar.from_lark(doubling(rules)), vocabulary).matcher()
    with pytest.raises(pdacon.MatcherError, match="16777216 bytes"):
        matcher.shortest_completion()
    assert matcher.accept_bytes(b"aaa")
    assert not matcher.is_accepting()


def test_a_long_completion_is_written_out(vocabulary: pdacon.Vocabulary) -> None:
    matcher = pdacon.compile(pdacon.Grammar.from_lark(doubling(10)), vocabulary).matcher()
    assert matcher.accept_bytes(b"aaa")
    assert matcher.shortest_completion() == b"a" * 1021


def test_a_completion_of_many_parts_is_that_of_one(vocabulary: pdacon.Vocabulary) -> None:
    """With all bytes, and where tokens spell some letters in pairs and triples only."""
    lists = pdacon.Grammar.from_json_schema(
        {"type": "array", "items": {"type": "string", "pattern": "^(ab|ba){20}$"}, "minItems": 2_000}
    )
    few = [b'"', b"[", b"]", b"a", b"bbb", b"aba", b"ba", b", ", b'", "', None]
    for words in (vocabulary, pdacon.Vocabulary.from_tokens(few, eos_ids=[len(few) - 1])):
        matcher = pdacon.compile(lists, words).matcher()
        assert matcher.accept('["')
        text = matcher.shortest_completion()
        assert (len(text), text) == matcher._completion_head(sys.maxsize)
        assert len(text) > 4 * 16_384
        assert lists.accepts(b'["' + text)


def test_a_long_completion_can_be_cancelled(vocabulary: pdacon.Vocabulary) -> None:
    grammar = pdacon.Grammar.from_json_schema({"type": "string", "minLength": 50_000})
    matcher = pdacon.compile(grammar, vocabulary).matcher()
    expected = matcher.shortest_completion()  # what comes before it is done now
    assert expected == b'"' + b" " * 50_000 + b'"'
    stop = threading.Event()
    with pdacon.time_limit(600, stop):
        stop.set()
        with pytest.raises(pdacon.CancelledError):
            matcher.shortest_completion()
    assert matcher.shortest_completion() == expected


@pytest.mark.parametrize("size", [1, 2, 3])
def test_completions_of_long_lexemes(size: int) -> None:
    """Costs far ahead are found from both sides of every cut; long literals that share their beginnings tell."""
    rng = random.Random(size)
    words = {bytes(rng.choices(b"ab", k=1)) for _ in range(3)}
    while len(words) < 60:
        word = rng.choice(sorted(words))[: rng.randrange(1, 400)]
        words.add(word + bytes(rng.choices(b"ab", k=size * rng.randrange(1, 120))))
    words = {word for word in words if len(word) % size == 0}
    pieces = [bytes(piece) for piece in itertools.product(b"ab", repeat=size)]
    grammar = pdacon.Grammar.from_lark("start: " + " | ".join(f'"{word.decode()}"' for word in words))
    matcher = pdacon.compile(grammar, pdacon.Vocabulary.from_tokens(pieces)).matcher()
    longest = max(words, key=len)
    for end in range(0, len(longest) + 1, size):
        # The lexer takes the longest word there is, so a word that others begin with ends a text all the same.
        rests = [word[end:] for word in words if word.startswith(longest[:end])]
        shortest = matcher.shortest_completion()
        assert shortest == min(rests, key=lambda rest: (len(rest), rest))
        assert matcher._completion_length() == len(shortest)
        if end < len(longest):
            assert matcher.accept_bytes(longest[end : end + size])


def test_completions_through_ignored_text_in_a_language_of_few_tokens() -> None:
    """Which tokens are left decides what can follow a lexeme; ways that differ in length stay apart for ever."""
    terminals = "T0: /(?:(b|.))+/\nT1: /((?:b)+|(?:a)+?)/i\nT2: /bb[ab]ba[ab]/\nT3: /(?:.){1,2}bba/\n%ignore T2"
    grammar = pdacon.Grammar.from_lark(
        f'start: (T0 | T1 | T2 | T3)* "b"\n{terminals}', lexer="basic", conflicts="shift"
    )
    vocabulary = pdacon.Vocabulary.from_tokens([b"a", b"bb", b"bab", b"ab", None], eos_ids=[4])
    constraint = pdacon.compile(grammar, vocabulary, limits=pdacon.Limits(states=100_000))
    matcher = constraint.matcher()
    assert matcher.accept_bytes(matcher.shortest_completion())
    assert matcher.is_accepting()
