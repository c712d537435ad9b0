"""Grammars and vocabularies as callers may give them to `compile`."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.real_vocabularies import coded
from support.small_tokenizers import train_byte_level

import pdacon
from pdacon import Grammar, Vocabulary, VocabularyError
from pdacon.detokenizer import vocabulary_of


def fake_model(width: int, ends: Any) -> Any:
    config = SimpleNamespace(get_text_config=lambda decoder: SimpleNamespace(vocab_size=width))
    return SimpleNamespace(config=config, generation_config=SimpleNamespace(eos_token_id=ends))


def test_the_ways_to_give_a_grammar(tmp_path: Path) -> None:
    (tmp_path / "my.lark").write_text('start: "x"\n')
    bytewise = Vocabulary.bytes()
    for given in ('start: "x"', '\n start: "x"\n', tmp_path / "my.lark", Grammar.from_lark('start: "x"')):
        assert pdacon.compile(given, bytewise).accepts("x")
        assert pdacon.check(given).ok
    assert pdacon.compile("json", bytewise).builtin_name == "json"
    assert pdacon.check("json").subject == "json"
    for wrong, error, words in [
        ("jsn", ValueError, "no built-in grammar 'jsn'; did you mean json"),
        (str(tmp_path / "my.lark"), ValueError, "give pathlib.Path"),
        ("my.lark", ValueError, "give pathlib.Path"),
        ("", pdacon.GrammarSyntaxError, "the grammar has no rules; write one"),
        (tmp_path / "no.lark", FileNotFoundError, "no.lark"),
        (b'start: "x"', TypeError, "compile: grammar must be a pdacon.Grammar, the name .* not bytes"),
        (None, TypeError, "not NoneType"),
    ]:
        with pytest.raises(error, match=words):
            pdacon.compile(wrong, bytewise)  # type: ignore[arg-type]


def test_one_token_for_each_byte() -> None:
    vocabulary = Vocabulary.bytes()
    assert vocabulary is Vocabulary.bytes()
    assert vocabulary.tokens == (*(bytes([byte]) for byte in range(256)), None)
    assert vocabulary.eos_ids == (256,)


@pytest.mark.slow
def test_tokenizers_of_all_packages() -> None:
    pytest.importorskip("mistral_common", reason="the vocabularies come with mistral-common")
    data = files("mistral_common") / "data"
    tekkenizer = pytest.importorskip("mistral_common.tokens.tokenizers.tekken").Tekkenizer
    tekken = tekkenizer.from_file(str(data / "tekken_240911.json"))
    assert vocabulary_of("t", tokenizer=tekken).fingerprint == coded("tekken").vocabulary.fingerprint
    path = str(data / "mistral_instruct_tokenizer_240323.model.v3")
    pieces = pytest.importorskip("sentencepiece").SentencePieceProcessor(model_file=path)
    assert vocabulary_of("t", tokenizer=pieces) == coded("SentencePiece").vocabulary
    tiktoken = pytest.importorskip("tiktoken")
    encoding = tiktoken.Encoding(
        "tiny",
        pat_str=r"\w+|\W+",
        mergeable_ranks={bytes([byte]): byte for byte in range(256)},
        special_tokens={"<|endoftext|>": 256},
    )
    assert vocabulary_of("t", tokenizer=encoding) == Vocabulary.bytes()
    assert vocabulary_of("t", tokenizer=encoding) is vocabulary_of("t", tokenizer=encoding)


def test_a_model_says_how_wide_and_how_it_ends() -> None:
    backend = train_byte_level("llama3", ["<bos>", "<eos>"])
    vocabulary = vocabulary_of("t", tokenizer=backend, model=fake_model(600, [1]))
    assert (vocabulary.size, vocabulary.eos_ids) == (600, (1,))
    other = vocabulary_of("t", tokenizer=backend, model=fake_model(600, [0]))
    assert other.eos_ids == (0,)
    constraint = pdacon.compile("json", tokenizer=backend, model=fake_model(600, 1))
    assert constraint.vocabulary == vocabulary


def test_what_is_no_vocabulary() -> None:
    backend = train_byte_level("llama3", ["<bos>", "<eos>"])
    for arguments, error, words in [
        ({}, TypeError, "compile: give a vocabulary or tokenizer="),
        ({"model": fake_model(3, 1)}, TypeError, "a model does not know what its ids spell"),
        ({"vocabulary": backend}, TypeError, "a tokenizer is given as tokenizer="),
        ({"vocabulary": Vocabulary.bytes(), "tokenizer": backend}, TypeError, "and not both"),
        ({"tokenizer": "gpt2"}, TypeError, "tokenizer='gpt2' is a name; load it first"),
        ({"tokenizer": __file__}, TypeError, "is a file; give vocabulary=, read with pdacon.Vocabulary.from_tekken"),
        ({"tokenizer": backend, "model": "gpt2"}, TypeError, "model must be a model of transformers, not str"),
        ({"tokenizer": object()}, VocabularyError, "no tokenizer that pdacon knows"),
    ]:
        with pytest.raises(error, match=words):
            pdacon.compile("json", **arguments)  # type: ignore[arg-type]
