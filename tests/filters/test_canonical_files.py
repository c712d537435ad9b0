"""Canonical constraints in files: one that is loaded allows what the one that was saved does, without the tokenizer.

A file has what the tokenizer is made of. Filters of equal tokenizers are shared in a process, so what is loaded here is
loaded as another process would.
"""

from __future__ import annotations

import json
import pickle
import random
import struct
from pathlib import Path
from typing import Any

import pytest
from support import c_library
from support.canonical_oracle import followers, require_equal_masks, require_walks, spelled
from support.hostile_files import require_no_harm, sections, sign
from support.small_tokenizers import (
    SENTENCEPIECE,
    TEXT,
    train_byte_level,
    train_metaspace,
    train_sentencepiece,
    train_word_piece,
)
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

import pdacon
from pdacon import Vocabulary
from pdacon._native import _core
from pdacon.artifact import stored_constraint
from pdacon.errors import ArtifactError

CORPUS = [*TEXT, "Amazon Alphabet aaa aa 'S ab1 12 123 1234  "] * 3
_FILTER = 48
"""The section with a tokenizer's definition."""


@pytest.fixture(autouse=True)
def other_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_constraint, "FILTERS", _core.Filters())


def byte_level(normalizer: Any = None, *, added: str = "") -> Tokenizer:
    made = train_byte_level("llama3", ["<end>"], 440, CORPUS)
    if normalizer is not None:
        made.normalizer = normalizer
    if added:
        made.add_tokens([added])
    return made


def sentencepiece() -> Any:
    import sentencepiece as library

    model = train_sentencepiece(CORPUS, **SENTENCEPIECE["Llama 2"])
    return library.SentencePieceProcessor(model_proto=model)


MAKERS = {
    "byte-level": byte_level,
    "normal form": lambda: byte_level(normalizers.NFC(), added="<tool>"),
    "lower case": lambda: byte_level(normalizers.Lowercase()),
    "characters": lambda: train_metaspace("always", model="BPE", text=CORPUS),
    "Unigram": lambda: train_metaspace("always", text=CORPUS, size=300),
    "Unigram, not split": lambda: train_metaspace("always", split=False, text=CORPUS, size=300),
    "WordPiece": lambda: train_word_piece(text=CORPUS),
    "SentencePiece": sentencepiece,
}


def vocabulary_of(tokenizer: Any) -> Vocabulary:
    if not hasattr(tokenizer, "to_str"):
        return Vocabulary.from_sentencepiece(tokenizer)
    end = next(i for i in map(tokenizer.token_to_id, ("<end>", "</s>", "[SEP]")) if i is not None)
    return Vocabulary.from_huggingface(tokenizer, eos_ids=end)


def of_transformers(tokenizer: Tokenizer) -> Any:
    transformers = pytest.importorskip("transformers")
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<end>")


@pytest.mark.parametrize("name", MAKERS)
def test_what_is_loaded_allows_what_was_saved(name: str) -> None:
    tokenizer = MAKERS[name]()
    vocabulary = vocabulary_of(tokenizer)
    saved = pdacon.compile(pdacon.Grammar.from_regex(" ?[aéA<](tool>)?( ?[a1]+)* ?"), vocabulary, canonical=tokenizer)
    data = saved.to_bytes()
    loaded = pdacon.Constraint.from_bytes(data, vocabulary)
    assert loaded.is_canonical
    assert loaded.may_strip_leading_space == saved.may_strip_leading_space
    assert loaded.to_bytes() == data
    rng = random.Random(name)
    for strip in {False, saved.may_strip_leading_space}:
        for _ in range(30):
            one, other = (each.matcher(strip_leading_space=strip) for each in (saved, loaded))
            for _ in range(12):
                allowed = one.allowed_tokens()
                assert other.allowed_tokens() == allowed
                assert other.is_accepting() == one.is_accepting()
                token = rng.choice(allowed or [0])
                assert one.accept_token(token) == other.accept_token(token) == bool(allowed)
                if one.is_terminated() or not allowed:
                    break


def test_a_loaded_one_allows_just_the_tokens_of_the_tokenizer(tmp_path: Path) -> None:
    tokenizer = byte_level()
    vocabulary = vocabulary_of(tokenizer)

    def encode(text: str) -> list[int]:
        return list(tokenizer.encode(text, add_special_tokens=False).ids)

    pdacon.compile(pdacon.Grammar.from_regex("[aA'l \n]{0,4}"), vocabulary, canonical=tokenizer).save(tmp_path / "a")
    loaded = pdacon.Constraint.load(tmp_path / "a", verify=True)
    require_equal_masks(loaded, followers(spelled("aA'l \n", 4), encode, vocabulary.eos_ids[0]))
    pdacon.compile("json", vocabulary, canonical=tokenizer).save(tmp_path / "json")
    require_walks(pickle.loads(pickle.dumps(pdacon.Constraint.load(tmp_path / "json"))), encode, 4)
    assert pdacon.Constraint.load(tmp_path / "json", tokenizer=of_transformers(tokenizer)).is_canonical


def test_a_tokenizer_that_names_no_end_is_compared_beside_the_vocabulary(tmp_path: Path) -> None:
    tokenizer = byte_level()
    vocabulary = vocabulary_of(tokenizer)
    file = tmp_path / "json"
    pdacon.compile("json", vocabulary, canonical=tokenizer).save(file)
    assert pdacon.Constraint.load(file, vocabulary, tokenizer=byte_level()).is_canonical
    with pytest.raises(ArtifactError, match="for another tokenizer"):
        pdacon.Constraint.load(file, vocabulary, tokenizer=lowered(tokenizer))
    with pytest.raises(TypeError, match=r"must be a pdacon\.Vocabulary"):
        pdacon.Constraint.load(file, tokenizer, tokenizer=tokenizer)
    pdacon.compile("json", vocabulary).save(file)
    with pytest.raises(TypeError, match="give vocabulary or tokenizer"):
        pdacon.Constraint.load(file, vocabulary, tokenizer=tokenizer)


def with_score(score: float) -> Tokenizer:
    pieces = [("<unk>", 0.0), ("<end>", 0.0), ("▁", -2.0), ("a", score)]
    made = Tokenizer(models.Unigram(pieces, unk_id=0))
    made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never")
    made.decoder = decoders.Metaspace(prepend_scheme="never")
    return made


def test_other_scores_are_named(tmp_path: Path) -> None:
    one, other = with_score(-1.1), with_score(-1.1000000000000003)
    vocabulary = vocabulary_of(one)
    pdacon.compile('start: "a"', vocabulary, canonical=one).save(tmp_path / "a")
    with pytest.raises(ArtifactError, match="differ in their last digits"):
        pdacon.Constraint.load(tmp_path / "a", vocabulary, tokenizer=other)


def test_equal_tokenizers_have_one_filter() -> None:
    one, other = byte_level(), byte_level()
    made = [pdacon.compile("json", vocabulary_of(each), canonical=each) for each in (one, other)]
    assert made[0]._filter is not made[1]._filter
    assert made[0]._filter.native is made[1]._filter.native  # type: ignore[union-attr]
    loaded = [pdacon.Constraint.from_bytes(each.to_bytes())._filter for each in made]
    assert loaded[0].native is loaded[1].native  # type: ignore[union-attr]


def other_merges(tokenizer: Tokenizer) -> Tokenizer:
    state = json.loads(tokenizer.to_str())
    state["model"]["merges"] = state["model"]["merges"][::-1]
    return Tokenizer.from_str(json.dumps(state))


def lowered(tokenizer: Tokenizer) -> Tokenizer:
    made = Tokenizer.from_str(tokenizer.to_str())
    made.normalizer = normalizers.Lowercase()
    return made


@pytest.mark.parametrize("change", [other_merges, lowered])
def test_a_file_of_another_tokenizer_with_the_same_tokens_is_refused(change: Any, tmp_path: Path) -> None:
    tokenizer = byte_level()
    vocabulary, other = vocabulary_of(tokenizer), change(tokenizer)
    assert vocabulary_of(other) == vocabulary
    for each, wrong in ((tokenizer, other), (other, tokenizer)):
        try:
            made = pdacon.compile("json", vocabulary, canonical=each)
        except pdacon.VocabularyError:  # whose merges make no sense
            continue
        made.save(tmp_path / "json")
        with pytest.raises(ArtifactError, match=r"canonical for another tokenizer|none for it"):
            pdacon.Constraint.load(tmp_path / "json", tokenizer=of_transformers(wrong))


@pytest.mark.slow
def test_kept_in_memory_and_in_files(tmp_path: Path) -> None:
    tokenizer = byte_level()
    vocabulary, cache = vocabulary_of(tokenizer), pdacon.CompileCache(directory=tmp_path)
    plain = cache.compile("json", vocabulary)
    made = cache.compile("json", vocabulary, canonical=tokenizer)
    assert made.is_canonical
    assert not plain.is_canonical
    assert cache.compile("json", vocabulary, canonical=byte_level()) is made
    lower = cache.compile("json", vocabulary, canonical=lowered(tokenizer))
    assert lower.accepts('"a"') > lower.accepts('"A"')
    assert made.accepts('"A"')
    again = pdacon.CompileCache(directory=tmp_path)
    assert again.compile("json", vocabulary, canonical=tokenizer).is_canonical
    assert (cache.statistics()["misses"], again.statistics()["loads"]) == (3, 1)


def test_the_c_library(tmp_path: Path) -> None:
    tokenizer = byte_level(normalizers.NFC())
    ours = pdacon.compile("json", vocabulary_of(tokenizer), canonical=tokenizer)
    theirs = c_library.Constraint(ours.to_bytes())
    rng = random.Random(3)
    for _ in range(5):
        one, other = ours.matcher(), c_library.Matcher(theirs)
        for _ in range(20):
            row = ours.new_bitmask()[0]
            one.fill_bitmask(row)
            assert other.mask().tolist() == row.tolist()
            token = rng.choice(one.allowed_tokens())
            assert one.accept_token(token)
            assert other.accept_token(token)
            if one.is_terminated():
                break
    for refused in ({"max_tokens": 9}, {"strip_leading_space": True}):
        with pytest.raises(c_library.StatusError, match=r"canonical"):
            c_library.Matcher(theirs, **refused)


def filter_section(data: bytes) -> int:
    parts = [struct.unpack_from("<I", data, 32 + 32 * at)[0] for at in range(len(sections(data)))]
    return parts.index(_FILTER)


def use(constraint: pdacon.Constraint, rng: random.Random) -> None:
    for strip in {False, constraint.may_strip_leading_space}:
        matcher = constraint.matcher(strip_leading_space=strip)
        for _ in range(8):
            allowed = matcher.allowed_tokens()
            if not allowed or not matcher.accept_token(rng.choice(allowed)):
                break
        matcher.explain(0)
        matcher.forced_tokens()
    pdacon.Constraint.from_bytes(constraint.to_bytes())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["normal form", "characters", "Unigram", "WordPiece"])
def test_wrong_numbers_do_no_harm(name: str, scaled: Any, tally: Any) -> None:
    tokenizer = MAKERS[name]()
    saved = pdacon.compile(pdacon.Grammar.from_regex("[aé1 ]+"), vocabulary_of(tokenizer), canonical=tokenizer)
    data, rng = saved.to_bytes(), random.Random(name)
    number = filter_section(data)
    offset, size = sections(data)[number]
    for _ in range(scaled(40)):
        file = bytearray(data)
        for _ in range(rng.choice([1, 1, 2])):
            at = offset + rng.randrange(size // 4) * 4
            old = struct.unpack_from("<i", file, at)[0]
            new = rng.choice([-1, 0, 1, 2, 3, 100, 1 << 27, 2**31 - 1, -(2**31), old + 1, old - 1])
            struct.pack_into("<i", file, at, max(-(2**31), min(2**31 - 1, new)))
        sign(file, number)
        require_no_harm(file, lambda constraint: use(constraint, rng), tally)


def test_a_file_whose_settings_know_nothing_of_its_filter_is_refused() -> None:
    """What was compiled with canonical is never loaded as something else."""
    tokenizer = byte_level()
    data = pdacon.compile("json", vocabulary_of(tokenizer), canonical=tokenizer).to_bytes()
    said = json.loads(c_library.Constraint(data).settings())
    assert said["canonical"][0] == "never"
    file = bytearray(data)
    offset, size = sections(data)[0]
    text = bytes(file[offset : offset + size])
    begin = text.index(b'"canonical": [') + len(b'"canonical": [')
    end = text.index(b"]", begin)
    file[offset : offset + size] = text[:begin] + b" " * (end - begin) + text[end:]
    sign(file, 0)
    with pytest.raises(ArtifactError, match="another filter"):
        pdacon.Constraint.from_bytes(bytes(file))
