"""The space that some tokenizers strip at the start of a text: masks against a real SentencePiece tokenizer itself."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from random import Random
from typing import Any

import numpy as np
import pytest
from support.definition import mask_of
from support.lark_oracle import accepts
from support.small_tokenizers import end_of, train_word_piece

import pdacon
from pdacon import Constraint, EmptyLanguageError, Vocabulary

TEXTS = ['{"a": [1, 2.5e3, "x\\né中"], "b": {"c": null}}', "[]", " [ ]", '"  two spaces"', "-1", "true", "  null  "]


@pytest.fixture(scope="module")
def processor() -> Any:
    sentencepiece = pytest.importorskip("sentencepiece")
    pytest.importorskip("mistral_common", reason="the vocabulary comes with mistral-common")
    return sentencepiece.SentencePieceProcessor(model_file=str(files("mistral_common") / "data" / "tokenizer.model.v1"))


@pytest.fixture(scope="module")
def constraint(processor: Any) -> Constraint:
    vocabulary = Vocabulary.from_sentencepiece(processor)
    assert vocabulary.strip_leading_space
    return pdacon.compile(pdacon.Grammar.builtin("json"), vocabulary)


@pytest.mark.parametrize("text", TEXTS)
def test_what_the_tokenizer_encodes_is_allowed(constraint: Constraint, processor: Any, text: str) -> None:
    ids = processor.encode(text)
    matcher = constraint.matcher(strip_leading_space=True)
    assert matcher.validate_tokens(ids) == len(ids)
    assert all(matcher.accept_token(token) for token in ids)
    assert matcher._text() == text.encode()
    assert matcher.is_accepting()


def test_the_first_mask_is_what_decodes_to_the_beginning_of_a_text(constraint: Constraint, processor: Any) -> None:
    vocabulary = constraint.vocabulary
    words = pdacon.compile(pdacon.Grammar.from_lark('start: WORD (", " WORD)*\nWORD: /[a-z]+/'), vocabulary)
    mask = mask_of(words.matcher(strip_leading_space=True), vocabulary.size)
    assert len(mask) > 2 * len(mask_of(words.matcher(), vocabulary.size))
    for token, text in enumerate(vocabulary.tokens):
        if text and text.isascii() and not processor.is_byte(token):  # <0x20> keeps its space, as the notes say
            # In front of a second token, because the decoder strips a text that is all spaces.
            shown = processor.decode([token, processor.piece_to_id("x")])[:-1]
            assert (token in mask) == words.matcher().accept_bytes(shown.encode()), text


def test_walks_decode_to_what_was_accepted(
    constraint: Constraint, processor: Any, scaled: Callable[[int], int], tally: Callable[..., None]
) -> None:
    random = Random(1)
    vocabulary = constraint.vocabulary
    for _ in range(scaled(25)):
        matcher = constraint.matcher(strip_leading_space=True)
        ids: list[int] = []
        while len(ids) < 20 and not matcher.is_terminated():
            row = np.zeros((vocabulary.size + 31) // 32, np.int32)
            matcher.fill_bitmask(row)
            allowed = np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little"))
            ids.append(int(random.choice(allowed)))
            assert matcher.accept_token(ids[-1])
        text = vocabulary.decode([token for token in ids if token not in vocabulary.eos_ids]).removeprefix(b" ")
        assert matcher._text() == text
        assert accepts(constraint.grammar, text + matcher.shortest_completion())
        if "\ufffd" not in processor.decode(ids):
            assert processor.decode(ids) == text.decode()
            tally(decoded=1)


def test_forced_tokens_begin_with_the_space(constraint: Constraint, processor: Any) -> None:
    grammar = pdacon.Grammar.from_lark('start: "SELECT name FROM " /[a-z]+/')
    matcher = pdacon.compile(grammar, constraint.vocabulary).matcher(strip_leading_space=True)
    tokens = matcher.forced_tokens(processor.encode)
    assert [processor.id_to_piece(token) for token in tokens] == ["▁SE", "LECT", "▁name", "▁FROM"]
    assert processor.encode("SELECT name FROM people")[: len(tokens)] == tokens
    assert matcher.forced_tokens() == tokens


def test_nothing_is_forced_that_a_stripped_token_can_avoid_in_a_vocabulary_without_bytes() -> None:
    vocabulary = pdacon.Vocabulary.from_tokens([None, b" ab", b"cd"], eos_ids=[0])
    constraint = pdacon.compile(pdacon.Grammar.from_lark('start: "ab" | "cd"'), vocabulary)
    matcher = constraint.matcher(strip_leading_space=True)
    assert matcher.is_allowed(1)
    assert matcher.is_allowed(2)
    assert matcher.forced_bytes() == b""
    assert constraint.matcher().forced_bytes() == b"cd"


def test_a_language_that_only_the_start_of_all_can_spell() -> None:
    """Each word of a WordPiece vocabulary has a space before it, but as the first one of all."""
    tokenizer = train_word_piece(text=["the quick brown fox"] * 9)
    vocabulary = Vocabulary.from_huggingface(tokenizer, eos_ids=end_of(tokenizer))
    grammar = pdacon.Grammar.from_choices(["quick fox", "quick quick fox"])
    assert pdacon.check(grammar, vocabulary).ok
    for constraint in (
        pdacon.compile(grammar, vocabulary),
        pdacon.compile(grammar, vocabulary, eager=True),
        pdacon.compile(grammar, vocabulary, canonical=tokenizer),
    ):
        matcher = constraint.matcher(strip_leading_space=True)
        assert matcher.validate_tokens(ids := tokenizer.encode("quick fox").ids) == len(ids)
        with pytest.raises(EmptyLanguageError, match=r"strip_leading_space=True"):
            constraint.matcher()
    with pytest.raises(EmptyLanguageError, match="lacks bytes"):
        pdacon.compile(pdacon.Grammar.from_choices(["7"]), vocabulary)
