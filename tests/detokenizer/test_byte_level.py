from __future__ import annotations

from typing import Any

import pytest
from support.small_tokenizers import TEXT, train_byte_level
from tokenizers import AddedToken
from transformers import PreTrainedTokenizerFast

from pdacon.detokenizer import Vocabulary
from pdacon.errors import VocabularyError

SAMPLES = [*TEXT[:3], "𝄞 \u00ad\u00a0\u0000\x7f é\n\n  \t☃", "日本語のテキスト", "<tool_call>{}    x"]


@pytest.mark.parametrize("style", ["gpt2_style", "llama3_style"])
@pytest.mark.parametrize("text", SAMPLES)
def test_text_is_the_concatenation_of_token_bytes(style: str, text: str, request: pytest.FixtureRequest) -> None:
    tokenizer = request.getfixturevalue(style)
    vocab = Vocabulary.from_huggingface(tokenizer)
    assert vocab.decode(tokenizer.encode(text, add_special_tokens=False)) == text.encode()


def test_all_256_bytes_are_there(gpt2_style: PreTrainedTokenizerFast) -> None:
    tokens = set(Vocabulary.from_huggingface(gpt2_style).tokens)
    assert {bytes([b]) for b in range(256)} <= tokens


def test_special_tokens_are_nobodys_text(llama3_style: PreTrainedTokenizerFast) -> None:
    vocab = Vocabulary.from_huggingface(llama3_style)
    for i in llama3_style.all_special_ids:
        assert vocab.tokens[i] is None
    assert vocab.tokens[llama3_style.convert_tokens_to_ids("<|end_of_text|>")] is None  # special, but not named
    assert vocab.eos_ids == (llama3_style.eos_token_id,)


def test_added_tokens_are_their_literal_text(llama3_style: PreTrainedTokenizerFast) -> None:
    vocab = Vocabulary.from_huggingface(llama3_style)
    assert vocab.tokens[llama3_style.convert_tokens_to_ids("<tool_call>")] == b"<tool_call>"
    assert vocab.tokens[llama3_style.convert_tokens_to_ids("    ")] == b"    "


def test_several_end_tokens_and_padded_logits(llama3_style: PreTrainedTokenizerFast) -> None:
    ends = [llama3_style.convert_tokens_to_ids(name) for name in ("<|end_of_text|>", "<|eot_id|>")]
    vocab = Vocabulary.from_huggingface(llama3_style, size=512, eos_ids=ends)
    assert vocab.size == 512
    assert vocab.eos_ids == tuple(sorted(ends))
    assert set(vocab.tokens[len(llama3_style) :]) == {None}
    assert Vocabulary.from_huggingface(llama3_style, eos_ids=ends[0]).eos_ids == (ends[0],)


def test_too_small_a_size_is_refused(gpt2_style: PreTrainedTokenizerFast) -> None:
    with pytest.raises(VocabularyError, match=r"size=300 is too small.* id 390"):
        Vocabulary.from_huggingface(gpt2_style, size=300)


def test_an_end_token_is_needed() -> None:
    backend = train_byte_level("gpt2", [])
    with pytest.raises(VocabularyError, match="no end token; give eos_ids"):
        Vocabulary.from_huggingface(backend)
    assert Vocabulary.from_huggingface(backend, eos_ids=[]).eos_ids == ()


def test_gaps_between_ids_have_no_text() -> None:
    from tokenizers import Tokenizer, decoders, models

    backend = Tokenizer(models.BPE({"a": 0, "b": 3}, []))
    backend.decoder = decoders.ByteLevel()
    assert Vocabulary.from_huggingface(backend, eos_ids=[]).tokens == (b"a", None, None, b"b")


@pytest.mark.parametrize("tokenizer", [None, "gpt2", object()])
def test_what_is_no_fast_tokenizer_is_refused(tokenizer: Any) -> None:
    with pytest.raises(VocabularyError, match="not a fast tokenizer"):
        Vocabulary.from_huggingface(tokenizer)


def test_an_added_token_of_the_alphabet_is_what_the_decoder_makes_of_it() -> None:
    # The byte-level decoder takes this added token's characters, all in its alphabet, for bytes; it is no UTF-8 then.
    backend = train_byte_level("gpt2", [])
    backend.add_tokens([AddedToken("naïve", special=False), AddedToken("日é", special=False)])
    vocab = Vocabulary.from_huggingface(backend, eos_ids=[])
    assert vocab.tokens[backend.token_to_id("naïve")] == b"na\xefve"
    assert vocab.tokens[backend.token_to_id("日é")] == "日é".encode()


class _Lying:
    """A backend whose decoding of one id, alone or in context, is not what its alphabet says."""

    def __init__(self, backend: Any, at: int, alone: bool) -> None:
        self._backend, self._at, self._alone = backend, at, alone

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)

    def decode(self, ids: list[int], **options: Any) -> str:
        text: str = self._backend.decode(ids, **options)
        return text + "?" if self._at in ids and (len(ids) == 1) == self._alone else text


@pytest.mark.parametrize(
    ("token", "alone"),
    [("a", True), ("Ã", True), ("å", False), ("ð", False), ("¬", False), ("æĹ", False)],
)
def test_every_piece_is_checked(token: str, alone: bool) -> None:
    backend = train_byte_level("gpt2", [], size=460)
    at = backend.token_to_id(token)
    assert at is not None
    with pytest.raises(VocabularyError, match=f"token {at} stands for"):
        Vocabulary.from_huggingface(_Lying(backend, at, alone), eos_ids=[])


@pytest.mark.slow
def test_a_real_vocabulary(tekken: tuple[PreTrainedTokenizerFast, list[bytes | None]]) -> None:
    tokenizer, expected = tekken
    vocab = Vocabulary.from_huggingface(tokenizer)
    assert vocab == Vocabulary.from_tokens(expected, [2])
