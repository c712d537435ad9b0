"""tiktoken encodings and files; tekken files and objects."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.small_tokenizers import train_byte_level

from pdacon.detokenizer import Vocabulary
from pdacon.detokenizer.byte_level import bytes_of
from pdacon.errors import VocabularyError

SPECIAL = {"<|endoftext|>": 500, "<|pad|>": 503}


@pytest.fixture(scope="module")
def ranks() -> dict[bytes, int]:
    words = train_byte_level("gpt2", []).get_vocab()
    return {bytes_of(word): i for word, i in words.items()}


@pytest.fixture(scope="module")
def encoding(ranks: dict[bytes, int]) -> Any:
    tiktoken = pytest.importorskip("tiktoken")
    return tiktoken.Encoding("small", pat_str=r"\S+|\s+", mergeable_ranks=ranks, special_tokens=SPECIAL)


@pytest.fixture
def file(ranks: dict[bytes, int], tmp_path: Path) -> Path:
    path = tmp_path / "small.tiktoken"
    path.write_bytes(b"".join(base64.b64encode(text) + b" %d\n" % i for text, i in ranks.items()))
    return path


def test_an_encoding(encoding: Any, scaled: Callable[[int], int], tally: Callable[..., None]) -> None:
    vocab = Vocabulary.from_tiktoken(encoding)
    assert vocab.size == encoding.n_vocab == 504
    assert vocab.eos_ids == (500,)
    assert vocab.tokens[500:] == (None,) * 4
    assert not vocab.strip_leading_space
    assert vocab.notes == ()
    random = Random(0)
    ids = [i for i, text in enumerate(vocab.tokens) if text]
    for _ in range(scaled(300)):
        row = random.choices(ids, k=random.randint(1, 12))
        assert vocab.decode(row) == encoding.decode_bytes(row)
    tally(rows=scaled(300))


def test_a_file_is_its_encoding(encoding: Any, file: Path) -> None:
    assert Vocabulary.from_tiktoken(file, special_tokens=SPECIAL) == Vocabulary.from_tiktoken(encoding)
    plain = Vocabulary.from_tiktoken(str(file), eos_ids=[3], size=512)
    assert plain.size == 512
    assert plain.eos_ids == (3,)


def test_a_file_without_special_tokens_needs_an_end(file: Path) -> None:
    with pytest.raises(VocabularyError, match="names no end token; give eos_ids"):
        Vocabulary.from_tiktoken(file)


def test_special_tokens_must_not_take_the_place_of_text(file: Path, encoding: Any) -> None:
    with pytest.raises(VocabularyError, match=r"at id 3, where special_tokens has '<s>'"):
        Vocabulary.from_tiktoken(file, special_tokens={"<s>": 3})
    with pytest.raises(VocabularyError, match="the id -1"):
        Vocabulary.from_tiktoken(file, special_tokens={"<s>": -1})
    with pytest.raises(VocabularyError, match="knows its special tokens"):
        Vocabulary.from_tiktoken(encoding, special_tokens={})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no tokens"),
        ("IQ== 0\nnonsense\n", "line 2: b'nonsense'"),
        ("IQ== 0\nI!== 1\n", "line 2"),
        ("IQ== 0\nIg== 0\n", "line 2: rank 0 is that of"),
        ("IQ== -1\n", "the id -1"),
        (f"IQ== {1 << 40}\n", "ids are 0 to"),
    ],
)
def test_damaged_files_are_refused_with_the_line(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "x.tiktoken"
    path.write_text(text)
    with pytest.raises(VocabularyError, match=words):
        Vocabulary.from_tiktoken(path, eos_ids=[])


@pytest.mark.parametrize("build", [Vocabulary.from_tiktoken, Vocabulary.from_tekken])
def test_what_is_no_path_is_refused(build: Callable[..., Vocabulary]) -> None:
    with pytest.raises(VocabularyError, match="is needed, not int"):
        build(3)
    with pytest.raises(VocabularyError, match="cannot read"):
        build("/nowhere/at/all")


def tekken_paths() -> list[Path]:
    pytest.importorskip("mistral_common")
    return sorted((Path(str(files("mistral_common"))) / "data").glob("tekken*.json"))


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 1])
def test_tekken_files_are_what_mistral_common_decodes(
    number: int, scaled: Callable[[int], int], tally: Callable[..., None]
) -> None:
    path = tekken_paths()[number]
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    tokenizer = Tekkenizer.from_file(path)
    vocab = Vocabulary.from_tekken(path)
    assert vocab.size == tokenizer.n_words
    assert vocab.eos_ids == (tokenizer.eos_id,)
    assert vocab == Vocabulary.from_tekken(tokenizer)
    random = Random(number)
    for _ in range(scaled(300)):
        row = random.choices(range(vocab.size), k=random.randint(1, 12))
        row = [i for i in row if vocab.tokens[i]]
        assert vocab.decode(row).decode("utf-8", "replace") == tokenizer.decode(row)
    for i in range(tokenizer.num_special_tokens):
        assert vocab.tokens[i] is None
    tally(rows=scaled(300))


def small_tekken(**changes: Any) -> dict[str, Any]:
    vocab = [{"rank": i, "token_bytes": base64.b64encode(bytes([i])).decode(), "token_str": None} for i in range(256)]
    content: dict[str, Any] = {
        "config": {"default_vocab_size": 266, "default_num_special_tokens": 10, "version": "v3", "pattern": "."},
        "vocab": vocab,
        "special_tokens": [
            {"rank": 0, "token_str": "<unk>", "is_control": True},
            {"rank": 1, "token_str": "<s>", "is_control": True},
            {"rank": 2, "token_str": "[TOOL]", "is_control": False},
            {"rank": 3, "token_str": "</s>", "is_control": True},
        ],
    }
    return {**content, **changes}


def test_a_small_tekken_file(tmp_path: Path) -> None:
    path = tmp_path / "tekken.json"
    path.write_text(json.dumps(small_tekken()))
    vocab = Vocabulary.from_tekken(path, size=300)
    assert vocab.tokens == (*[None] * 10, *[bytes([i]) for i in range(256)], *[None] * 34)
    assert vocab.eos_ids == (3,)
    path.write_text(json.dumps({**small_tekken(), "special_tokens": None}))
    assert Vocabulary.from_tekken(path).eos_ids == (2,)


@pytest.mark.parametrize("special", [{"<|endoftext|>": "258"}, {"<|endoftext|>": None}, {"x": 2.0}, ["x"], []])
def test_special_tokens_that_are_none_are_refused(special: Any, file: Path) -> None:
    with pytest.raises(VocabularyError, match="special_tokens"):
        Vocabulary.from_tiktoken(file, special_tokens=special)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"size": 2**70}, "size=.* too large"),
        ({"size": 600.0}, "size must be"),
        ({"size": "600"}, "size must be"),
        ({"eos_ids": b"\x01"}, "eos_ids must be"),
        ({"eos_ids": "1"}, "eos_ids must be"),
        ({"eos_ids": 2.0}, r"eos_ids\[0\] is 2.0"),
    ],
)
def test_arguments_of_readers_are_named(arguments: dict[str, Any], words: str, file: Path) -> None:
    with pytest.raises(VocabularyError, match=words):
        Vocabulary.from_tiktoken(file, **{"eos_ids": [3], **arguments})


@pytest.mark.parametrize("path", ["a\0b", "a\ud800b"])
@pytest.mark.parametrize("build", [Vocabulary.from_tiktoken, Vocabulary.from_tekken, Vocabulary.from_sentencepiece])
def test_paths_that_cannot_be_are_refused(build: Callable[..., Vocabulary], path: str) -> None:
    with pytest.raises(VocabularyError, match="cannot be a path"):
        build(path)


@pytest.mark.parametrize("i", [0.5, "0", None])
def test_ids_that_are_none_are_not_decoded(i: Any) -> None:
    with pytest.raises(VocabularyError, match="is not the id of a token"):
        Vocabulary.from_tokens([b"a"]).decode([i])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ([], "not a tekken.json"),
        ({}, "there is no 'config'"),
        (small_tekken(vocab=[]), "do not go with 0 tokens"),
        (small_tekken(vocab=[{"rank": 1}] * 256), "entry 0 of vocab is damaged: it has the rank 1"),
        (small_tekken(special_tokens=[3]), "special_tokens are damaged"),
        (small_tekken(vocab=5), "its vocab is int, not a list"),
        (small_tekken(vocab=None), "its vocab is NoneType, not a list"),
        (small_tekken(config={"default_vocab_size": math.inf, "default_num_special_tokens": 10}), "infinity"),
        (small_tekken(special_tokens=[{"rank": math.inf, "token_str": "</s>"}]), "special_tokens are damaged"),
        (small_tekken(special_tokens=[{"rank": 10, "token_str": "</s>"}]), "</s> has the id 10, .* below 10"),
        (small_tekken(special_tokens=[{"rank": -1, "token_str": "</s>"}]), "</s> has the id -1"),
        (small_tekken(config={"default_vocab_size": 1 << 40, "default_num_special_tokens": 1 << 40}), "do not go"),
    ],
)
def test_damaged_tekken_files_are_refused(content: Any, words: str, tmp_path: Path) -> None:
    path = tmp_path / "tekken.json"
    path.write_text(json.dumps(content))
    with pytest.raises(VocabularyError, match=words):
        Vocabulary.from_tekken(path)


def test_what_is_no_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tekken.json"
    for text in ("[" * 100_000, "\x00", '{"config": '):
        path.write_text(text)
        with pytest.raises(VocabularyError, match="is not a tekken"):
            Vocabulary.from_tekken(path)
