"""Automata over characters made from bytes and words, and what they can be asked, against sets of texts."""

from __future__ import annotations

from itertools import product
from random import Random

import numpy as np
import pytest

from pdacon._native import _core
from pdacon.base.limits import Limits
from pdacon.errors import LimitExceededError
from pdacon.regular.operations import of_ranges, of_words


def spelled(offset: np.ndarray, byte: np.ndarray, target: np.ndarray, accepting: np.ndarray) -> set[bytes]:
    found: set[bytes] = set()
    pending = [(0, b"")]
    while pending:
        state, text = pending.pop()
        if accepting[state]:
            found.add(text)
        pending += [(int(target[e]), text + bytes([byte[e]])) for e in range(offset[state], offset[state + 1])]
    return found


@pytest.mark.parametrize("seed", range(30))
def test_words_make_the_least_automaton(seed: int) -> None:
    random = Random(seed)
    alphabet = random.choice(["ab", "abcdefgh", "a\0é\U0001f600\n"])
    words = ["".join(random.choices(alphabet, k=random.randrange(12))) for _ in range(random.randrange(1, 60))]
    arrays = of_words(words, Limits(states=10_000, bytes=0))
    expected = {word.encode() for word in words}
    assert spelled(*arrays) == expected
    residuals = {frozenset(word[k:] for word in expected if word.startswith(prefix))
                 for whole in expected for k in range(len(whole) + 1) for prefix in [whole[:k]]}  # fmt: skip
    assert len(arrays[3]) == len(residuals)


def test_words_are_checked() -> None:
    assert spelled(*of_words([], Limits(states=10, bytes=0))) == set()
    with pytest.raises(LimitExceededError, match="states"):
        of_words(["abcdef"], Limits(states=5, bytes=0))
    for lengths in ([2], [4], [-1, 4]):
        with pytest.raises(ValueError, match="lengths"):
            _core.word_automaton(np.frombuffer(b"abc", np.uint8), np.array(lengths, np.int32), 10, 0)


def test_arrays_of_bytes_are_checked() -> None:
    def made(low: int, high: int, target: int, start: int = 0) -> None:
        edge = [np.array([value], np.uint8) for value in (low, high)]
        kind, offset = np.array([0, 2], np.uint8), np.array([0, 1, 1], np.int32)
        _core.characters_of(kind, offset, *edge, np.array([target], np.int32), start, 10, 0)

    made(0x61, 0x7F, 1)
    for wrong in [(0x61, 0x61, 2), (0x61, 0x61, -1), (0x61, 0x61, 1, 2), (0x7A, 0x61, 1), (0x80, 0x80, 1)]:
        with pytest.raises(ValueError, match="automata over bytes"):
            made(*wrong)
    with pytest.raises(ValueError, match=r"goes on wrong|begins wrong"):
        made(0xC2, 0xC2, 0)


def test_ranges() -> None:
    a, b = ((0x61, 0x61),), ((0x62, 0x62),)
    dfa = of_ranges([[(a, 1), (a, 2)], [(a, 1), (b, 2)], []], [False, True, True], Limits(states=100, bytes=0))
    for text in map("".join, product("ab", repeat=3)):
        assert dfa.accepts(text) == (text in {"aaa", "aab"})
