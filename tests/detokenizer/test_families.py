"""The bytes of any ids are what the tokenizer decodes them to, less one leading space where it strips one."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

import pytest
from support.small_tokenizers import ENDS, FAMILIES, REFUSED, TEXT, end_of, train_byte_level, train_word_piece
from tokenizers import AddedToken, Tokenizer, decoders, models
from transformers import PreTrainedTokenizerFast

from pdacon.detokenizer import Vocabulary
from pdacon.errors import VocabularyError


@cache
def trained(family: str) -> tuple[Tokenizer, Vocabulary]:
    tokenizer = FAMILIES[family](TEXT)
    tokenizer.add_tokens(
        [
            AddedToken("<tool>", special=False),
            AddedToken(" x ", special=False, lstrip=True, rstrip=True),
            AddedToken("two words", special=False, single_word=True),
        ]
    )
    tokenizer.add_special_tokens(["<special>"])
    return tokenizer, Vocabulary.from_huggingface(tokenizer, eos_ids=[end_of(tokenizer)])


def decoded(vocab: Vocabulary, ids: list[int], byte_tokens: frozenset[int] = frozenset()) -> str:
    """What a tokenizer should print. Byte tokens that do not go together are printed as one U+FFFD each."""
    pieces: list[str] = []
    run: list[bytes] = []
    whole: list[bytes] = []
    for i in [*ids, -1]:
        if i in byte_tokens:
            run.append(vocab.tokens[i] or b"")
            continue
        if run:
            text = b"".join(run)
            try:
                pieces.append(text.decode())
            except UnicodeDecodeError:
                pieces.append("\ufffd" * len(run))
            run = []
        if i >= 0:
            whole.append(vocab.tokens[i] or b"")
            pieces.append((vocab.tokens[i] or b"").decode("utf-8", "replace"))
    if not byte_tokens:
        return b"".join(whole).decode("utf-8", "replace")
    return "".join(pieces)


@pytest.mark.parametrize("family", FAMILIES)
def test_random_ids_are_what_their_bytes_spell(
    family: str, scaled: Callable[[int], int], tally: Callable[..., None]
) -> None:
    tokenizer, vocab = trained(family)
    random = Random(family)
    ids = [i for i, text in enumerate(vocab.tokens) if text]
    byte_tokens = frozenset(i for i in ids if "fallback" in family and (tokenizer.id_to_token(i) or "")[:3] == "<0x")
    odd = 0
    for _ in range(scaled(400)):
        row = random.choices(ids, k=random.randint(1, 12))
        expected = decoded(vocab, row, byte_tokens)
        got = tokenizer.decode(row, skip_special_tokens=True)
        if vocab.strip_leading_space:
            expected = expected.removeprefix(" ")
        if got != expected:
            # The only exception: the first token, where the notes say so.
            rest = decoded(vocab, row[1:], byte_tokens)
            assert got.endswith(rest), row
            assert expected.endswith(rest), row
            assert got.removesuffix(rest) == tokenizer.decode(row[:1]), row
            assert "first token" in "".join(vocab.notes), row
            odd += 1
    tally(rows=scaled(400), rows_with_an_odd_first_token=odd)
    assert odd == 0 or "Metaspace" in family or "WordPiece" in family or "WordLevel" in family


@pytest.mark.parametrize("family", FAMILIES)
def test_text_comes_back(family: str) -> None:
    """What the tokenizer encodes, its bytes spell: exactly, where it can spell the text at all."""
    tokenizer, vocab = trained(family)
    for text in TEXT[:3]:
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        got = vocab.decode(ids).decode()
        if vocab.strip_leading_space:
            got = got.removeprefix(" ")
        assert got == tokenizer.decode(ids)
        if "byte" in family:
            assert got == text if vocab.strip_leading_space or "Gemma" not in family else f" {text}"


@pytest.mark.parametrize(
    ("family", "strips"),
    [
        ("byte-level BPE, GPT-2", False),
        ("byte fallback, Llama 2", True),
        ("byte fallback, Gemma", False),
        ("Metaspace, always", True),
        ("Metaspace, first", True),
        ("Metaspace, never", False),
        ("WordPiece", True),
        ("WordLevel", True),
    ],
)
def test_which_strip_a_leading_space(family: str, strips: bool) -> None:
    assert trained(family)[1].strip_leading_space is strips


@pytest.mark.parametrize("family", FAMILIES)
def test_what_has_no_text(family: str) -> None:
    tokenizer, vocab = trained(family)
    for name in (*ENDS, "<special>", "<unk>", "[UNK]", "<s>", "<pad>"):
        i = tokenizer.token_to_id(name)
        assert i is None or vocab.tokens[i] is None, name
    assert vocab.tokens[tokenizer.token_to_id("<tool>")] in (b"<tool>", b" <tool>")


def test_bytes_of_the_fallback_are_single_bytes() -> None:
    tokenizer, vocab = trained("byte fallback, Llama 2")
    assert all(vocab.tokens[tokenizer.token_to_id(f"<0x{byte:02X}>")] == bytes([byte]) for byte in range(256))
    assert b" " in vocab.tokens  # and another one: ▁
    assert vocab.tokens.count(b" ") == 2


def test_the_unknown_token_has_no_text_even_if_nobody_calls_it_special() -> None:
    unigram = Tokenizer(models.Unigram([("a", -1.0), ("<what>", 0.0)], unk_id=1))
    unigram.decoder = decoders.Metaspace()
    assert Vocabulary.from_huggingface(unigram, eos_ids=[]).tokens == (b"a", None)
    without = Tokenizer(models.Unigram([("a", -1.0), ("b", -1.0)]))
    without.decoder = decoders.Metaspace()
    assert Vocabulary.from_huggingface(without, eos_ids=[]).tokens == (b"a", b"b")
    bpe = Tokenizer(models.BPE({"a": 0, "<what>": 1}, [], unk_token="<what>"))
    bpe.decoder = decoders.Fuse()
    assert Vocabulary.from_huggingface(bpe, eos_ids=[]).tokens == (b"a", None)


def test_added_tokens_are_what_the_normalizer_makes_of_them() -> None:
    """That is what the library decodes them to."""
    tokenizer = FAMILIES["byte fallback, Llama 2"](TEXT)
    tokenizer.add_tokens([AddedToken("<n>", special=False), AddedToken("<v>", special=False, normalized=False)])
    vocab = Vocabulary.from_huggingface(tokenizer, eos_ids=[2])
    assert vocab.tokens[-2:] == (b" <n>", b"<v>")
    assert tokenizer.decode([vocab.size - 1, vocab.size - 2]) == "<v> <n>"


def test_word_piece_says_what_its_first_token_is() -> None:
    tokenizer, vocab = trained("WordPiece")
    continuation = next(i for i in range(len(vocab)) if (tokenizer.id_to_token(i) or "").startswith("##"))
    text = tokenizer.id_to_token(continuation)
    assert vocab.tokens[continuation] == text[2:].encode()
    assert tokenizer.decode([continuation]) == text
    (note,) = vocab.notes
    assert "first token" in note
    assert "WordPiece" in note


@pytest.mark.parametrize("family", REFUSED)
def test_what_depends_on_neighbours_is_refused_by_name(family: str) -> None:
    with pytest.raises(VocabularyError, match=rf"{family}.*not supported.*from_tokens"):
        Vocabulary.from_huggingface(REFUSED[family](), eos_ids=[])


def test_an_unknown_stage_is_refused() -> None:
    class Custom:
        def decode(self, tokens: list[str]) -> str:
            return "".join(reversed(tokens))

        def decode_chain(self, tokens: list[str]) -> list[str]:
            return tokens[::-1]

    backend = Tokenizer(models.BPE({"a": 0, "b": 1}, []))
    backend.decoder = decoders.Decoder.custom(Custom())
    with pytest.raises(VocabularyError, match=r"from_tokens"):
        Vocabulary.from_huggingface(backend, eos_ids=[])


def test_a_wrapper_with_a_decoding_of_its_own_is_refused() -> None:
    class Loud(PreTrainedTokenizerFast):
        def _decode(self, *arguments: Any, **options: Any) -> str:
            return super()._decode(*arguments, **options).upper()

    wrapped = Loud(tokenizer_object=train_byte_level("gpt2", ["<|endoftext|>"]), eos_token="<|endoftext|>")
    with pytest.raises(VocabularyError, match="Loud decodes tokens in a way of its own"):
        Vocabulary.from_huggingface(wrapped)


def test_cleaning_up_is_noted() -> None:
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=train_word_piece(), eos_token="[SEP]", clean_up_tokenization_spaces=True
    )
    assert any("clean_up_tokenization_spaces=False" in note for note in Vocabulary.from_huggingface(wrapped).notes)
