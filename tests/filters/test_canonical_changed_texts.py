"""Canonical masks where the tokenizer changes some texts, by a normal form, or reads added tokens in them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from support.byte_level_tokenizers import STYLES, TOKENIZERS, merging, spell, with_normalizer
from support.canonical_oracle import (
    JSON_TEXTS,
    followers,
    require_equal_masks,
    require_walks,
    spelled,
)
from tokenizers import AddedToken, Regex, Tokenizer, normalizers, pre_tokenizers

import pdacon
from pdacon import Matcher, Vocabulary
from pdacon.errors import EmptyLanguageError, VocabularyError

NORMALIZED = {
    "marks": [
        "a\u0327\u0301",
        "\u0301",
        "\u0301\u0327",
        "日\u0301",
        "\u0e17\u0e48",
        "\u0928\u093c",
        "\u0915\u093c",
        "\u05d0\u05b7",
    ],
    "accents": ["é", "e\u0301", "x\u0301", "e", "ệ", "e\u0323\u0302", "ê\u0323", "x\u0323\u0301", "x\u0301\u0323"],
    "Hangul": ["한", "ᄒ", "ᄒ\u1161", "하\u11ab", "하", "\u1161", "가\u11a7"],
    "special": ["<|im_end|>", "a<|im_end|>", "<|im_end|", "<|im_", "<|im_end||>", "\u212b", "Å"],
}


def normal(texts: Iterable[str]) -> list[str]:
    return [
        text
        for text in texts
        if unicodedata.is_normalized("NFC", text) and "<|im_end|>" not in text and "<|im_start|>" not in text
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", NORMALIZED)
@pytest.mark.parametrize("style", ["qwen", "gpt2"])
def test_texts_that_the_tokenizer_changes_are_left_out(style: str, name: str) -> None:
    tokenizer, vocabulary = with_normalizer(*TOKENIZERS[style][:2])
    words = NORMALIZED[name]
    constraint = pdacon.compile(pdacon.Grammar.from_choices(words), vocabulary, canonical=tokenizer)
    kept = normal(words)
    assert 0 < len(kept) < len(words)
    for text in kept:
        assert tokenizer.decode(tokenizer.encode(text).ids) == text
    require_equal_masks(constraint, followers(kept, lambda text: tokenizer.encode(text).ids, vocabulary.eos_ids[0]))


@pytest.mark.slow
def test_a_small_world_of_marks() -> None:
    tokenizer, vocabulary = with_normalizer(*TOKENIZERS["qwen"][:2])
    letters = "ea\u0301\u0323\u0302"
    constraint = pdacon.compile(pdacon.Grammar.from_regex(f"[{letters}]{{0,4}}"), vocabulary, canonical=tokenizer)
    texts = normal(spelled(letters, 4))
    require_equal_masks(constraint, followers(texts, lambda text: tokenizer.encode(text).ids, vocabulary.eos_ids[0]))


ADDED = {
    "tags": ["<think>", "</think>", "<t", "<tool>"],
    "overlapping": ["ab", "abab", "babb", "aa", "aab "],
    "spaces": ["  ", "   ", " a"],
}


def with_added(words: Iterable[str], *, normalized: bool, form: bool) -> tuple[Any, Vocabulary]:
    made = Tokenizer.from_str(TOKENIZERS["qwen"][0].to_str())
    if form:
        made.normalizer = normalizers.NFC()
    made.add_tokens([AddedToken(word, special=False, normalized=normalized) for word in words])
    return made, Vocabulary.from_huggingface(made, eos_ids=made.token_to_id("<end>"))


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("name", ADDED)
def test_added_tokens_stand_where_their_text_does(name: str, normalized: bool) -> None:
    tokenizer, vocabulary = with_added(ADDED[name], normalized=normalized, form=False)
    letters = {"tags": "<t>k", "overlapping": "ab ", "spaces": " a\n"}[name]
    texts = spelled(letters, 5 if len(letters) == 3 else 4)
    texts += [a + b + c for a in ("", "x<", "</t") for b in ADDED[name] for c in ("", "y", " ", "<think")]
    texts = [text for text in dict.fromkeys(texts) if "<end>" not in text]
    constraint = pdacon.compile(pdacon.Grammar.from_choices(texts), vocabulary, canonical=tokenizer)
    require_equal_masks(constraint, followers(texts, lambda text: tokenizer.encode(text).ids, vocabulary.eos_ids[0]))


@pytest.mark.slow
@pytest.mark.parametrize("normalized", [False, True])
def test_added_tokens_beside_a_normalizer(normalized: bool) -> None:
    tokenizer, vocabulary = with_added(["<e", "ee"], normalized=normalized, form=True)
    texts = spelled("<e\u0301\u0323", 4)
    kept = [text for text in texts if tokenizer.decode(tokenizer.encode(text).ids) == text]
    assert 0 < len(kept) < len(texts)
    constraint = pdacon.compile(pdacon.Grammar.from_choices(texts), vocabulary, canonical=tokenizer)
    require_equal_masks(constraint, followers(kept, lambda text: tokenizer.encode(text).ids, vocabulary.eos_ids[0]))


def test_json_with_added_tokens() -> None:
    tokenizer, vocabulary = with_added(["<think>", "</think>", '":', "  "], normalized=False, form=True)
    constraint = pdacon.compile("json", vocabulary, canonical=tokenizer)
    require_walks(constraint, lambda text: tokenizer.encode(text).ids, 6)
    for text in [*JSON_TEXTS, '{"<think>": "<</think>"}']:
        assert constraint.matcher().validate_tokens(tokenizer.encode(text).ids) == len(tokenizer.encode(text).ids)
        assert constraint.accepts(text)


def test_texts_that_a_grammar_forces_may_have_marks() -> None:
    """Arabic, Thai and Hindi: what follows a string is found, and so is that some words cannot be in NFC."""
    tokenizer, vocabulary = with_normalizer(*TOKENIZERS["qwen"][:2])
    grammar = 'start: /[0-9]{1,2}/? ("\u0e17\u0e35\u0e48" | "\u0627\u064b" | "e\u0301" | "ey" | "\u0928\u093c" | "x")'
    constraint = pdacon.compile(grammar, vocabulary, canonical=tokenizer)
    for word in ("\u0e17\u0e35\u0e48", "\u0627\u064b", "x"):
        for before in ("", "1", "12"):
            ids = tokenizer.encode(before + word).ids
            assert constraint.matcher().validate_tokens([*ids, vocabulary.eos_ids[0]]) == len(ids) + 1, before + word
    assert constraint.statistics()["canonical_searches_cut"] == 0
    matcher = constraint.matcher()
    assert matcher.accept_bytes(b"1e")
    accent = vocabulary.tokens.index(b"\xcc")
    assert accent not in matcher.allowed_tokens()
    assert not matcher.accept_bytes("\u0301".encode())
    assert not constraint.accepts("1e\u0301")
    with pytest.raises(EmptyLanguageError, match="normal form"):
        pdacon.compile(pdacon.Grammar.from_choices(["e\u0301", "\u0928\u093c"]), vocabulary, canonical=tokenizer)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("normalizer", [with_normalizer, lambda *made: made], ids=["nfc", "plain"])
def test_no_bytes_lead_where_nothing_goes_on(style: str, normalizer: Callable[..., Any]) -> None:
    """Not before an accent, either, which the tokenizer would put into the letter before it."""
    tokenizer, vocabulary, _ = TOKENIZERS[style]
    tokenizer, vocabulary = normalizer(tokenizer, vocabulary)
    words = ["e\u0301", "f\u0327\u0301x", "1e", "12345", "a\u0301 b", "<end>", "\u1100\u1161", "x\n\n y"]
    form = tokenizer.normalizer or normalizers.Sequence([])
    possible = [word for word in words if word != "<end>" and form.normalize_str(word) == word]
    grammar = pdacon.Grammar.from_choices(words)
    constraint = pdacon.compile(grammar, vocabulary, canonical=tokenizer)
    for word in words:
        for end in range(1, len(word) + 1):
            matcher, before = constraint.matcher(), word[:end]
            goes_on = any(other.startswith(before) for other in possible)
            assert matcher.accept(before) == goes_on, before
            assert not goes_on or matcher.is_accepting() or matcher.allowed_tokens()
        matcher = constraint.matcher()  # a byte at a time: the rest of a character may follow
        assert all(matcher.accept_bytes(bytes([byte])) for byte in word.encode()) == (word in possible)


def test_the_normalizer_is_named_where_it_refuses() -> None:
    tokenizer, vocabulary = with_normalizer(*TOKENIZERS["qwen"][:2])
    constraint = pdacon.compile(pdacon.Grammar.from_choices(["\u212b", "x"]), vocabulary, canonical=tokenizer)
    matcher = constraint.matcher()
    first = vocabulary.tokens.index("\u212b".encode()[:1])
    assert not matcher.explain(first).allowed
    assert "canonical" in matcher.explain(first).reason


def test_json_of_a_tokenizer_with_a_normalizer() -> None:
    tokenizer, vocabulary = with_normalizer(*TOKENIZERS["qwen"][:2])
    constraint = pdacon.compile("json", vocabulary, canonical=tokenizer)
    require_walks(constraint, lambda text: tokenizer.encode(text).ids, 6)
    for text in JSON_TEXTS:
        assert constraint.matcher().validate_tokens(tokenizer.encode(text).ids) == len(tokenizer.encode(text).ids)


def test_other_normalizers_are_refused() -> None:
    tokenizer, vocabulary = with_normalizer(*TOKENIZERS["gpt2"][:2])
    for normalizer, name in (
        (normalizers.Replace(Regex("a(?=b)"), "c"), "Replace"),
        (normalizers.Prepend("x"), "Prepend"),
    ):
        tokenizer.normalizer = normalizer
        with pytest.raises(VocabularyError, match=name):
            pdacon.compile("json", vocabulary, canonical=tokenizer)


def endings(matcher: Matcher, ids: list[int], most: int) -> Iterator[list[int]]:
    """The tokens of texts that go on with the last of these, by so many tokens more at most, shortest first."""
    matcher = matcher.fork()
    assert matcher.accept_token(ids[-1])
    if matcher.is_accepting():
        yield ids
    for longer in range(most):
        for token in set(matcher.allowed_tokens()) - {0}:
            yield from endings(matcher, [*ids, token], longer)


@pytest.mark.parametrize(
    "pattern",
    [
        "α\u030d+y",
        "(α\u030d+)+y",
        "α(\u030d|\u0345)+y",
        "(α|e|\u0301)\u030d*(\u0301\u030d)*y",
        "[αe]+(\u030d|\u0345|\u0323\u030d)*(\u0301y|\u0345)",
        "((α|\u0323)(\u030d|\u0345\u0301)*y)+",
    ],
)
def test_marks_go_round_in_a_grammar(pattern: str) -> None:
    """Which marks may follow depends on the letter before them, in each round; the texts are those of `re`."""
    marks = [spell(mark) for mark in ("\u030d", "\u0345", "\u0301", "\u0323", "α")]
    tokenizer = merging([(first, second) for first, second in marks])
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    vocabulary = Vocabulary.from_huggingface(tokenizer, eos_ids=0)
    constraint = pdacon.compile(pdacon.Grammar.from_regex(pattern), vocabulary, canonical=tokenizer)
    texts = [text for text in normal(spelled("αey\u030d\u0345\u0301\u0323", 6)) if re.fullmatch(pattern, text)]
    assert texts
    for prefix, tokens in followers(texts, lambda text: list(tokenizer.encode(text).ids), 0).items():
        matcher = constraint.matcher()
        assert all(map(matcher.accept_token, prefix)), prefix
        allowed = set(matcher.allowed_tokens())
        assert tokens <= allowed, (prefix, matcher.text)
        for token in allowed - tokens - {0}:  # of longer texts
            ids = next(endings(matcher, [*prefix, token], 4))
            text = b"".join(vocabulary.tokens[one] or b"" for one in ids).decode()
            assert re.fullmatch(pattern, text)
            assert tokenizer.encode(text).ids == ids
