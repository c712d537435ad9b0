"""Tokenizers of transformers that are not fast: SentencePiece in Python, mistral-common, and what is refused."""

from __future__ import annotations

import base64
import json
import shutil
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any

import pytest
import transformers
from support.small_tokenizers import SENTENCEPIECE, train_sentencepiece
from transformers import AddedToken, ByT5Tokenizer

from pdacon.detokenizer import Vocabulary
from pdacon.errors import VocabularyError

pytest.importorskip("sentencepiece")
slow = pytest.importorskip("transformers.tokenization_utils_sentencepiece")


def slow_tokenizer(name: str, folder: Path) -> Any:
    path = folder / "spiece.model"
    path.write_bytes(train_sentencepiece(**SENTENCEPIECE[name]))
    tokenizer = slow.SentencePieceBackend(vocab_file=str(path), unk_token="<unk>", eos_token="</s>")
    tokenizer.add_tokens([AddedToken("<call>", special=False)])
    return tokenizer


@pytest.mark.parametrize("name", SENTENCEPIECE)
def test_slow_sentencepiece(name: str, tmp_path: Path) -> None:
    tokenizer = slow_tokenizer(name, tmp_path)
    vocab = Vocabulary.from_huggingface(tokenizer)
    assert vocab.eos_ids == (tokenizer.eos_token_id,)
    assert vocab.strip_leading_space == any((text or b"").startswith(b" ") for text in vocab.tokens)
    assert vocab.tokens[tokenizer.convert_tokens_to_ids("<call>")] == b"<call>"
    for silent in ("<s>", "<unk>", "[INST]"):
        assert silent.encode() not in vocab.tokens
    random = Random(name)
    ids = [i for i, text in enumerate(vocab.tokens) if text]
    for _ in range(100):
        row = random.choices(ids, k=random.randint(1, 12))
        decoded = tokenizer.decode(row, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        assert decoded == vocab.decode(row).decode().strip()  # it strips both ends, which the notes say
    assert not name.startswith("Llama") or any("both ends" in note for note in vocab.notes)
    assert ("<0x0A>" in "".join(vocab.notes)) == ("byte_fallback" in SENTENCEPIECE[name])


def test_slow_sentencepiece_with_a_decoding_of_its_own(tmp_path: Path) -> None:
    class Backwards(slow.SentencePieceBackend):  # type: ignore[misc]
        def convert_tokens_to_string(self, tokens: list[str]) -> str:
            return str(super().convert_tokens_to_string(tokens[::-1]))

    slow_tokenizer("T5", tmp_path)
    tokenizer = Backwards(vocab_file=str(tmp_path / "spiece.model"), unk_token="<unk>", eos_token="</s>")
    with pytest.raises(VocabularyError, match=r"Backwards is not .* in a way of its own .*from_tokens"):
        Vocabulary.from_huggingface(tokenizer)


def tekken_file() -> dict[str, Any]:
    """As small as mistral-common takes it: the bytes, and the special tokens of old files."""
    entries = [{"rank": i, "token_bytes": base64.b64encode(bytes([i])).decode(), "token_str": None} for i in range(256)]
    config = {"default_vocab_size": 286, "default_num_special_tokens": 30, "version": "v3", "pattern": "."}
    return {"config": {**config, "num_vocab_tokens": 256}, "vocab": entries, "version": 1, "type": "Tekken"}


@pytest.mark.parametrize("kind", ["tekken", "SentencePiece"])
def test_mistral_common(kind: str, tmp_path: Path) -> None:
    pytest.importorskip("mistral_common")
    if kind == "tekken":
        (tmp_path / "tekken.json").write_text(json.dumps(tekken_file()))
        expected = Vocabulary.from_tekken(tmp_path / "tekken.json")
        tokenizers = pytest.importorskip("mistral_common.tokens.tokenizers.mistral")
        assert Vocabulary.from_tekken(tokenizers.MistralTokenizer.from_file(tmp_path / "tekken.json")) == expected
    else:
        shutil.copy(Path(str(files("mistral_common"))) / "data" / "tokenizer.model.v1", tmp_path)
        expected = Vocabulary.from_sentencepiece(tmp_path / "tokenizer.model.v1")
    tokenizer = transformers.MistralCommonBackend.from_pretrained(tmp_path)
    vocab = Vocabulary.from_huggingface(tokenizer)
    assert vocab == expected
    assert vocab.eos_ids == (tokenizer.eos_token_id,)
    random = Random(0)
    ids = [i for i, text in enumerate(vocab.tokens) if text and text.isascii() and not text.startswith(b" ")]
    row = random.choices(ids, k=20)
    assert tokenizer.decode(row) == vocab.decode(row).decode()


def test_tokens_that_are_bytes() -> None:
    tokenizer = ByT5Tokenizer()
    plain = Vocabulary.from_huggingface(tokenizer)
    tokenizer.add_tokens([AddedToken("<call>", special=False)])
    vocab = Vocabulary.from_huggingface(tokenizer)
    assert vocab.tokens[3:259] == tuple(bytes([byte]) for byte in range(256))
    assert vocab.tokens == (*plain.tokens, b"<call>")
    assert set(vocab.tokens[:3]) | set(vocab.tokens[259:-1]) == {None}
    assert not vocab.strip_leading_space
    text = "naïve 日本語 <call>\n"
    assert vocab.decode(tokenizer.encode(text, add_special_tokens=False)) == text.encode()


FAST = ["Albert", "Bert", "GPT2", "Gemma", "Llama", "Nllb", "Qwen2", "Roberta", "T5", "Whisper", "XLMRoberta", "XLNet"]


@pytest.mark.parametrize("name", FAST)
def test_classes_of_transformers(name: str) -> None:
    """As they are without a file, with words added."""
    tokenizer = getattr(transformers, f"{name}Tokenizer")()
    tokenizer.add_tokens(["hello", " world", "Foo bar", "日é"])
    vocab = Vocabulary.from_huggingface(tokenizer, eos_ids=[])
    random = Random(name)
    ids = [i for i, text in enumerate(vocab.tokens) if text]
    for _ in range(50):
        row = random.choices(ids, k=random.randint(1, 8))
        spelt = vocab.decode(row).decode("utf-8", "replace")
        decoded = tokenizer.decode(row, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        assert decoded == (spelt.removeprefix(" ") if vocab.strip_leading_space else spelt) or vocab.notes


def test_a_tokenizer_without_text() -> None:
    tokenizer = transformers.GPT2Tokenizer()
    assert set(Vocabulary.from_huggingface(tokenizer).tokens) == {None}


@pytest.mark.parametrize("name", ["CLIP", "OpenAIGPT"])
def test_classes_of_transformers_that_mark_ends_of_words(name: str) -> None:
    with pytest.raises(VocabularyError, match=r"at the end of a text|after the last token"):
        Vocabulary.from_huggingface(getattr(transformers, f"{name}Tokenizer")(), eos_ids=[])


@pytest.mark.slow
def test_a_real_model_read_both_ways() -> None:
    """The same pieces, as transformers' Llama tokenizer and as the file they come from."""
    pytest.importorskip("mistral_common")
    path = Path(str(files("mistral_common"))) / "data" / "tokenizer.model.v1"
    words, _, merges = slow.SentencePieceExtractor(str(path)).extract()
    fast = Vocabulary.from_huggingface(transformers.LlamaTokenizer(vocab=words, merges=merges))
    vocab = Vocabulary.from_sentencepiece(path)
    assert fast == vocab
    assert fast.fingerprint == vocab.fingerprint
    assert fast.strip_leading_space


@pytest.mark.parametrize("tokenizer", [object(), 3.5, {"vocab": {}}])
def test_what_is_no_tokenizer_is_refused_with_a_way_out(tokenizer: Any) -> None:
    with pytest.raises(VocabularyError, match=r"is not a fast tokenizer.*from_tokens"):
        Vocabulary.from_huggingface(tokenizer)


def test_a_processor_is_told_from_its_tokenizer() -> None:
    class Processor:
        tokenizer = transformers.LlamaTokenizer()

    with pytest.raises(VocabularyError, match=r"Processor is not a fast tokenizer but a processor: .*\.tokenizer"):
        Vocabulary.from_huggingface(Processor())


def test_tiktoken_inside_is_named() -> None:
    tiktoken = pytest.importorskip("tiktoken")

    class Remote:
        tokenizer = tiktoken.Encoding("small", pat_str=".", mergeable_ranks={b"a": 0}, special_tokens={})

    with pytest.raises(VocabularyError, match=r"from_tiktoken\(tokenizer\.tokenizer\)"):
        Vocabulary.from_huggingface(Remote())
