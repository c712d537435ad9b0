from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdacon.detokenizer import Vocabulary
from pdacon.errors import VocabularyError


def test_tokens_are_taken_as_given() -> None:
    vocab = Vocabulary.from_tokens([b"a", None, b"</s>", b"", b"a"], eos_ids=[2])
    assert vocab.tokens == (b"a", None, None, None, b"a")
    assert vocab.eos_ids == (2,)
    assert vocab.size == len(vocab) == 5
    assert vocab.decode([0, 2, 4]) == b"aa"


@pytest.mark.parametrize(
    ("tokens", "eos_ids", "words"),
    [
        ([], [], "at least one token"),
        ([b"a", "b"], [], "token 1 is str 'b'"),
        ([b"a", b"b", 3], [], "token 2 is int 3"),
        ([b"a", bytearray(b"b")], [], "token 1 is bytearray"),
        (b"ab", [], "not bytes"),
        (None, [], "not NoneType"),
        ([b"a"], [1], r"eos_ids\[0\] is 1"),
        ([b"a", b"b"], [0, -1], r"eos_ids\[1\] is -1"),
        ([b"a", b"b"], [True], r"eos_ids\[0\] is True"),
        ([b"a", b"b"], ["b"], r"eos_ids\[0\] is 'b'"),
        ([b"a", b"b"], 1, "such as"),
    ],
)
def test_what_is_wrong_is_named_with_its_index(tokens: object, eos_ids: object, words: str) -> None:
    with pytest.raises(VocabularyError, match=words):
        Vocabulary.from_tokens(tokens, eos_ids)  # type: ignore[arg-type]


def test_the_constructor_checks_too() -> None:
    with pytest.raises(VocabularyError, match="token 0"):
        Vocabulary(("a",))  # type: ignore[arg-type]


def test_end_ids_are_a_set_of_any_integers() -> None:
    vocab = Vocabulary.from_tokens([b"a", b"b", b"c"], eos_ids=iter(np.array([2, 1, 2])))
    assert vocab.eos_ids == (1, 2)
    assert all(type(i) is int for i in vocab.eos_ids)


@pytest.mark.slow
@given(st.lists(st.none() | st.binary(max_size=3), min_size=1), st.data())
def test_the_fingerprint_is_the_meaning(tokens: list[bytes | None], data: st.DataObject) -> None:
    ends = data.draw(st.lists(st.integers(0, len(tokens) - 1)))
    vocab = Vocabulary.from_tokens(tokens, ends)
    copy = pickle.loads(pickle.dumps(vocab))
    assert copy == vocab
    assert hash(copy) == hash(vocab)
    assert copy.fingerprint == vocab.fingerprint
    other = Vocabulary.from_tokens([*tokens, None], ends)
    assert other != vocab
    assert other.fingerprint != vocab.fingerprint


def test_boundaries_and_ends_are_part_of_the_fingerprint() -> None:
    variants = [
        Vocabulary.from_tokens([b"ab", b"c", b"d"]),
        Vocabulary.from_tokens([b"a", b"bc", b"d"]),
        Vocabulary.from_tokens([b"a", b"b", b"cd"]),
        Vocabulary.from_tokens([b"a", b"b", b"cd", None]),
        Vocabulary.from_tokens([b"a", b"b", b"cd", None], [3]),
    ]
    assert len({v.fingerprint for v in variants}) == len(variants)


def test_it_is_frozen() -> None:
    vocab = Vocabulary.from_tokens([b"a"])
    with pytest.raises(AttributeError):
        vocab.tokens = ()  # type: ignore[misc]


def test_repr_is_short() -> None:
    assert len(repr(Vocabulary.from_tokens([b"x"] * 10_000, [1]))) < 120


def test_ids_outside_are_refused() -> None:
    with pytest.raises(VocabularyError, match="token -1"):
        Vocabulary.from_tokens([b"a"]).decode([-1])
    with pytest.raises(VocabularyError, match="token 1 is not in"):
        Vocabulary.from_tokens([b"a"]).decode([1])


def test_the_room_imports_no_host() -> None:
    code = "import sys, pdacon.detokenizer; sys.exit(bool({'torch', 'transformers', 'tokenizers'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-I", "-c", code], check=False).returncode == 0
