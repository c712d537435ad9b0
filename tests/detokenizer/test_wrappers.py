"""Tokenizers of transformers that are not fast: SentencePiece in Python, mistral-common, and what is refused."""

from __future__ import annotations

import shutil
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any

import pytest
from small_tokenizers import SENTENCEPIECE, train_sentencepiece
from transformers import AddedToken, ByT5Tokenizer

from pdacon.detokenizer import Vocabulary
from pdacon.errors import VocabularyError

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
    with pytest.raises(VocabularyError, match=r"Backwards decodes the pieces .* in a way of its own .*from_tokens"):
        Vocabulary.from_huggingface(tokenizer)


@pytest.mark.parametrize("file", ["tekken_240911.json", "tokenizer.model.v1"])
def test_mistral_common(file: str, tmp_path: Path) -> None:
    pytest.importorskip("mistral_common")
    from transformers import MistralCommonBackend

    source = Path(str(files("mistral_common"))) / "data" / file
    name = "tekken.json" if file.startswith("tekken") else file
    shutil.copy(source, tmp_path / name)
    tokenizer = MistralCommonBackend.from_pretrained(tmp_path)
    vocab = Vocabulary.from_huggingface(tokenizer)
    assert vocab.eos_ids == (tokenizer.eos_token_id,)
    build = Vocabulary.from_tekken if file.startswith("tekken") else Vocabulary.from_sentencepiece
    assert vocab == build(source)
    random = Random(0)
    ids = [i for i, text in enumerate(vocab.tokens) if text and text.isascii() and not text.startswith(b" ")]
    row = random.choices(ids, k=20)
    assert tokenizer.decode(row) == vocab.decode(row).decode()


def test_what_cannot_be_read_is_refused_with_a_way_out() -> None:
    with pytest.raises(VocabularyError, match=r"ByT5Tokenizer is not a fast tokenizer.*from_tokens"):
        Vocabulary.from_huggingface(ByT5Tokenizer())


def test_tiktoken_inside_is_named() -> None:
    tiktoken = pytest.importorskip("tiktoken")

    class Remote:
        tokenizer = tiktoken.Encoding("small", pat_str=".", mergeable_ranks={b"a": 0}, special_tokens={})

    with pytest.raises(VocabularyError, match=r"from_tiktoken\(tokenizer\.tokenizer\)"):
        Vocabulary.from_huggingface(Remote())
