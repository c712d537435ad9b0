"""The examples of Cognetta, Pohl, Lee and Okazaki 2025, each by its section, with tokenizers trained here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from support.canonical_oracle import followers, require_equal_masks
from support.small_tokenizers import (
    SENTENCEPIECE,
    TEXT,
    train_byte_fallback,
    train_byte_level,
    train_metaspace,
    train_sentencepiece,
)

import pdacon
from pdacon import Vocabulary
from pdacon.filters import Characters

CORPUS = [*TEXT, *["Amazon Alphabet Cologne Berlin Munich seventeen 17 seventeen Hello World"] * 40]


def llama() -> tuple[Any, Vocabulary, Callable[[str], list[int]]]:
    """As `tokenizers` runs Llama 2: ▁ for each space, and one more in front."""
    made = train_byte_fallback(text=CORPUS)
    vocabulary = Vocabulary.from_huggingface(made, eos_ids=made.token_to_id("</s>"))
    return made, vocabulary, lambda text: list(made.encode(text, add_special_tokens=False).ids)


def llama_model() -> tuple[Any, Vocabulary, Callable[[str], list[int]]]:
    """As SentencePiece itself runs Llama 2."""
    import sentencepiece

    options = {**SENTENCEPIECE["Llama 2"], "split_digits": True}
    made = sentencepiece.SentencePieceProcessor(model_proto=train_sentencepiece(CORPUS, **options))
    return made, Vocabulary.from_sentencepiece(made), lambda text: list(made.encode(text))


def metaspace() -> tuple[Any, Vocabulary, Callable[[str], list[int]]]:
    """BPE over characters without bytes, split before each space."""
    made = train_metaspace("never", model="BPE", text=CORPUS, size=420)
    vocabulary = Vocabulary.from_huggingface(made, eos_ids=made.token_to_id("</s>"))
    return made, vocabulary, lambda text: list(made.encode(text, add_special_tokens=False).ids)


def gpt2() -> tuple[Any, Vocabulary, Callable[[str], list[int]]]:
    made = train_byte_level("gpt2", ["<end>"], text=CORPUS)
    vocabulary = Vocabulary.from_huggingface(made, eos_ids=made.token_to_id("<end>"))
    return made, vocabulary, lambda text: list(made.encode(text).ids)


TOKENIZERS = {"Llama 2": llama(), "Llama 2, SentencePiece": llama_model(), "Metaspace": metaspace(), "GPT-2": gpt2()}


@pytest.mark.parametrize("name", ["Llama 2", "Llama 2, SentencePiece"])
def test_figure_2_what_llama_does_to_texts_before_it_splits_them(name: str) -> None:
    """The grammar is in plain text; that a text begins with ▁, and spaces are ▁, is the tokenizer's business."""
    tokenizer, vocabulary, encode = TOKENIZERS[name]
    texts = ["Hello World", "Hello  World", "Hello", " Hello", "World "]
    for text in texts:
        assert vocabulary.decode(encode(text)).decode() == f" {text}"
    constraint = pdacon.compile(pdacon.Grammar.from_choices(texts), vocabulary, canonical=tokenizer)
    expected = followers(texts, encode, vocabulary.eos_ids[0])
    require_equal_masks(constraint, expected, strip_leading_space=True)
    # Behind something else no space is put there, and the first token is what begins a text with it or without.
    first = constraint.matcher().allowed_tokens()
    assert {vocabulary.tokens[token][:1] for token in first if vocabulary.tokens[token]} == {b"H", b"W", b" "}


@pytest.mark.parametrize("name", TOKENIZERS)
def test_section_3_3_companies(name: str) -> None:
    """``A`` begins both of ``Alphabet`` and ``Amazon``, and is no token of either."""
    tokenizer, vocabulary, encode = TOKENIZERS[name]
    texts = ["Alphabet", "Amazon"]
    prefixed = name.startswith("Llama")
    constraint = pdacon.compile(pdacon.Grammar.from_choices(texts), vocabulary, canonical=tokenizer)
    expected = followers(texts, encode, vocabulary.eos_ids[0])
    require_equal_masks(constraint, expected, strip_leading_space=prefixed)
    plain = pdacon.compile(pdacon.Grammar.from_choices(texts), vocabulary).matcher(strip_leading_space=prefixed)
    assert len(plain.allowed_tokens()) > len(expected[()])


@pytest.mark.parametrize("name", TOKENIZERS)
def test_section_3_3_1_cities_are_known_by_their_first_token(name: str) -> None:
    """``Cologne|Berlin|Munich``: once a city is chosen, all that is left of it is forced, and so is its end."""
    tokenizer, vocabulary, encode = TOKENIZERS[name]
    texts = ["Cologne", "Berlin", "Munich"]
    prefixed = name.startswith("Llama")
    constraint = pdacon.compile(pdacon.Grammar.from_choices(texts), vocabulary, canonical=tokenizer)
    for text in texts:
        ids = encode(text)
        matcher = constraint.matcher(strip_leading_space=prefixed)
        shared = 0
        while len(matcher.allowed_tokens()) > 1 or shared == 0:
            assert matcher.accept_token(ids[shared])
            shared += 1
        assert matcher.forced_tokens() == ids[shared:]
        assert shared <= 2  # an isolated space, and the first letters


@pytest.mark.parametrize("name", TOKENIZERS)
def test_section_4_5_a_space_is_isolated_only_where_the_tokenizer_isolates_it(name: str) -> None:
    """`` seventeen`` begins with a token that has its space, `` 17`` may not: the space says nothing of what follows.

    Where the space is let stand alone before a word, the model sees what is followed by a digit alone in training, and
    seventeen gets the probability of 17.
    """
    tokenizer, vocabulary, encode = TOKENIZERS[name]
    texts = ["x seventeen", "x 17"]
    prefixed = name.startswith("Llama")
    space = max(token for token, text in enumerate(vocabulary.tokens) if text == b" ")  # one before may be a byte
    before = encode("x")
    isolated = [encode(text)[len(before)] == space for text in texts]
    assert not isolated[0]
    assert isolated[1] or name != "Llama 2, SentencePiece"  # which splits digits from all else
    for canonical in (None, tokenizer):
        made = pdacon.compile(pdacon.Grammar.from_choices(texts), vocabulary, canonical=canonical)
        matcher = made.matcher(strip_leading_space=prefixed)
        assert all(map(matcher.accept_token, before))
        if canonical is None:
            assert matcher.is_allowed(space)
            continue
        assert matcher.is_allowed(space) == any(isolated)
        if matcher.accept_token(space):
            assert [vocabulary.tokens[token] for token in matcher.allowed_tokens()] in ([b"1"], [b"17"])
        expected = followers(texts, encode, vocabulary.eos_ids[0])
        require_equal_masks(made, expected, strip_leading_space=prefixed)


@pytest.mark.parametrize("name", ["Llama 2", "Llama 2, SentencePiece"])
def test_section_4_3_bytes_only_for_what_has_no_other_spelling(name: str) -> None:
    """``<0x61>`` is never ``a``, and with ASCII alone no byte is left but those of rare characters."""
    tokenizer, vocabulary, _ = TOKENIZERS[name]
    text = pdacon.Grammar.from_regex("[ -~é\U0001f99c]{1,3}")
    byte_a = tokenizer.token_to_id("<0x61>") if name == "Llama 2" else tokenizer.piece_to_id("<0x61>")
    assert vocabulary.tokens[byte_a] == b"a"
    assert pdacon.compile(text, vocabulary).matcher().is_allowed(byte_a)
    made = pdacon.compile(text, vocabulary, canonical=tokenizer)
    assert not made.matcher().is_allowed(byte_a)
    parrot = tokenizer.token_to_id("<0xF0>") if name == "Llama 2" else tokenizer.piece_to_id("<0xF0>")
    assert made.matcher().is_allowed(parrot)
    ascii_only = pdacon.compile(text, vocabulary, canonical=tokenizer, filters=[Characters("ascii")])
    assert not ascii_only.matcher().is_allowed(parrot)
