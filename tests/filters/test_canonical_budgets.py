"""Budgets under canonical filtering: no text is cut off, none meets a dead end, and bounds are near to what is true.

Of finite languages every text is encoded (`support.canonical_budgets`); of others texts are drawn at random, which must
end within their budgets and be what the tokenizer makes of them.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import pytest
from support.canonical_budgets import Compared, compare_budgets, least_of
from support.canonical_oracle import BLANKS, BLANKS_TEXTS, WORDS, followers, spelled
from support.real_vocabularies import coded
from support.small_tokenizers import TEXT, train_byte_fallback, train_byte_level, train_metaspace, train_word_piece
from tokenizers import Tokenizer

import pdacon
from pdacon import Constraint, Vocabulary
from pdacon.errors import MatcherError

CORPUS = [*TEXT, "Amazon Alphabet Amazon Apple  aaa a'll 'S ab1 12 123 1234 ab aab abb aba bab [[ ]] [] {} "] * 3
MAKERS: dict[str, Callable[[], Tokenizer]] = {
    "GPT-2": lambda: train_byte_level("gpt2", ["</s>"], 440, CORPUS),
    "Llama 3": lambda: train_byte_level("llama3", ["</s>"], 440, CORPUS),
    "Llama 2": lambda: train_byte_fallback(text=CORPUS),
    "Unigram": lambda: train_metaspace("never", text=CORPUS, size=120),
    "WordPiece": lambda: train_word_piece(text=CORPUS),
}
UNITS = ("tokens", "bytes")
WORLDS = [("ab", 7), ("a \n", 5), ("aA'l", 4), (" 1a.", 4), ("aé日 ", 4), ("[]", 7), ("a[]", 5)]


@cache
def small(name: str) -> tuple[Tokenizer, Vocabulary, bool]:
    """A tokenizer, its tokens, and whether it puts a space before a text, which is none of it."""
    tokenizer = MAKERS[name]()
    end = tokenizer.token_to_id("[SEP]" if name == "WordPiece" else "</s>")
    vocabulary = Vocabulary.from_huggingface(tokenizer, eos_ids=end)
    return tokenizer, vocabulary, vocabulary.strip_leading_space


def ids_of(name: str, text: str) -> list[int]:
    return list(small(name)[0].encode(text, add_special_tokens=False).ids)


def kept(name: str, texts: list[str]) -> list[str]:
    """Those that the tokenizer gives back as they are."""
    tokenizer, _, _ = small(name)
    silent = {tokenizer.token_to_id(word) for word in ("[UNK]", "[SEP]", "<unk>")}
    return [
        text for text in texts if silent.isdisjoint(ids_of(name, text)) and tokenizer.decode(ids_of(name, text)) == text
    ]


def compare(name: str, grammar: Any, texts: list[str], unit: str, found: Compared) -> None:
    tokenizer, vocabulary, spaced = small(name)
    texts = kept(name, texts)
    if texts:
        constraint = pdacon.compile(grammar, vocabulary, canonical=tokenizer)
        expected = followers(texts, lambda text: ids_of(name, text), vocabulary.eos_ids[0])
        compare_budgets(constraint, expected, unit, found, strip_leading_space=spaced)


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", MAKERS)
def test_masks_of_finite_languages_are_within_what_is_true(name: str, unit: str, scaled: Callable[[int], int]) -> None:
    found = Compared()
    for letters, most in WORLDS:
        escaped = letters.replace("[", "\\[").replace("]", "\\]")
        for least in (0, most):
            texts = [text for text in spelled(letters, most) if len(text) >= least]
            grammar = pdacon.Grammar.from_regex(f"[{escaped}]{{{least},{most}}}")
            compare(name, grammar, texts, unit, found)
    if name != "WordPiece":  # with which whole words are no texts behind others, so that nothing may be left of these
        for words in WORDS.values():
            compare(name, pdacon.Grammar.from_choices(words), words, unit, found)
        compare(name, pdacon.Grammar.from_lark(BLANKS), BLANKS_TEXTS, unit, found)
        rng = random.Random(name)
        for _ in range(scaled(40)):
            letters = rng.choice(["ab", "a[]", " ab", "Amazon", "12.", "a'l"])
            words = ["".join(rng.choices(letters, k=rng.randint(1, 9))) for _ in range(rng.randint(1, 8))]
            compare(name, pdacon.Grammar.from_choices(sorted(set(words))), sorted(set(words)), unit, found)
    assert found.places > 1_000
    assert found.beyond == found.missing == 0  # bounds, but in worlds as small as these they are what is true


@cache
def real(name: str, grammar: str) -> tuple[Constraint, Callable[[str], list[int]]]:
    """A constraint on a tokenizer that mistral-common has, and what encodes behind other text."""
    known, data = coded(name), files("mistral_common") / "data"
    tokenizer: Any
    if name == "tekken":
        tekkenizer = pytest.importorskip("mistral_common.tokens.tokenizers.tekken").Tekkenizer
        tokenizer = tekkenizer.from_file(str(data / "tekken_240911.json"))
    else:
        sentencepiece = pytest.importorskip("sentencepiece")
        path = data / "mistral_instruct_tokenizer_240323.model.v3"
        tokenizer = sentencepiece.SentencePieceProcessor(model_file=str(path))
    source: Any = pdacon.Grammar.from_json_schema(RECORD) if grammar == "record" else grammar
    return pdacon.compile(source, known.vocabulary, canonical=tokenizer), known.encode_inside


RECORD = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "tags": {"type": "array", "items": {"enum": ["red", "green"]}},
        "zip": {"type": "string", "pattern": "^[0-9]{5}$"},
    },
    "required": ["name", "zip"],
}


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(("name", "grammar"), [("tekken", "json"), ("tekken", "record"), ("SentencePiece", "json")])
def test_random_texts_end_within_their_budgets(
    name: str, grammar: str, unit: str, scaled: Callable[[int], int]
) -> None:
    constraint, encode = real(name, grammar)
    rng = random.Random(grammar)
    least, end = least_of(constraint.matcher(), unit), constraint.vocabulary.eos_ids[0]
    short = pdacon.Budget(**{unit: least - 1})
    with pytest.raises(ValueError, match=f"a budget of {short} is too small: the shortest sentence has {least}"):
        constraint.matcher(budget=short)
    for _ in range(scaled(6)):
        budget = rng.randint(least, least + (30 if unit == "tokens" else 120))
        matcher = constraint.matcher(budget=pdacon.Budget(**{unit: budget}, soft=rng.choice([None, budget // 2])))
        ids: list[int] = []
        while len(allowed := [token for token in matcher.allowed_tokens() if token != end]):
            ids.append(rng.choice(allowed))
            assert matcher.accept_token(ids[-1])
        assert matcher.is_accepting()
        assert (len(ids) if unit == "tokens" else len(matcher.text.encode())) <= budget
        assert encode(matcher.text) == ids
        assert constraint.accepts(matcher.text)


def brackets(tokens: int | None = None) -> pdacon.Matcher:
    tokenizer, vocabulary, _ = small("GPT-2")
    made = pdacon.compile(pdacon.Grammar.from_lark('start: "[" start* "]" | /[a-z]+/'), vocabulary, canonical=tokenizer)
    return made.matcher(budget=None if tokens is None else pdacon.Budget(tokens=tokens))


@pytest.mark.slow
def test_deep_stacks_are_closed_in_time() -> None:
    matcher = brackets(300)
    opening = matcher._explainer.tokens.index(b"[")
    depth = 0
    while matcher.accept_token(opening):
        depth += 1
    assert depth > 100
    while not matcher.is_accepting():
        assert matcher.accept_token(matcher.allowed_tokens()[0])
    assert matcher.text.count("[") == matcher.text.count("]")


def test_rollback_fork_and_reset_keep_the_budget() -> None:
    matcher = brackets(6)
    masks = []
    while allowed := [token for token in matcher.allowed_tokens() if not matcher.is_accepting()]:
        masks.append((matcher.allowed_tokens(), matcher.tokens_left, matcher.least_tokens()))
        assert matcher.accept_token(allowed[0])
    for count in range(1, len(masks) + 1):
        other = matcher.fork()
        other.rollback(count)
        assert (other.allowed_tokens(), other.tokens_left, other.least_tokens()) == masks[-count]
    matcher.reset()
    assert (matcher.allowed_tokens(), matcher.tokens_left, matcher.least_tokens()) == masks[0]


def test_a_budget_from_where_the_text_is() -> None:
    matcher = brackets()
    assert matcher.accept_bytes(b"[[")
    least = matcher.least_tokens()
    with pytest.raises(ValueError, match=f"the nearest sentence takes {least}"):
        matcher.keep_within(pdacon.Budget(tokens=least - 1))
    matcher.keep_within(pdacon.Budget(tokens=least))
    assert not matcher.has_exact_budgets
    assert matcher.forced_tokens() == matcher.allowed_tokens()
    while not matcher.is_accepting():
        assert matcher.accept_token(matcher.allowed_tokens()[0])
    assert matcher.text == "[[]]"
    matcher.rollback(1)
    matcher.keep_within(pdacon.Budget(bytes=7))
    assert matcher.bytes_left == 7


def test_bytes_count_as_one_token() -> None:
    matcher = brackets(3)
    assert matcher.accept_bytes(b"[")
    assert (matcher.tokens_left, matcher.least_tokens()) == (2, 1)
    assert matcher.accept_bytes(b"")
    assert not matcher.accept_bytes(b"[[[")  # after which no text ends within a token
    assert matcher.accept_bytes(b"abc")
    assert (matcher.tokens_left, matcher.least_tokens()) == (1, 1)
    assert matcher.accept_bytes(b"]")
    assert (matcher.tokens_left, matcher.allowed_tokens()) == (0, list(small("GPT-2")[1].eos_ids))


def test_drafts_are_checked_against_the_budget() -> None:
    matcher = brackets(4)
    opening = matcher._explainer.tokens.index(b"[")
    accepted = matcher.validate_tokens([opening] * 9)
    assert 0 < accepted < 4
    for _ in range(accepted):
        assert matcher.accept_token(opening)
    assert not matcher.accept_token(opening)
    words = np.zeros(-(-matcher._explainer.vocabulary_size // 32), dtype=np.int32)
    matcher.fill_bitmask(words)
    assert words.any()


@pytest.mark.slow
def test_what_cannot_end_in_its_tokens_is_an_error() -> None:
    tokenizer, vocabulary, _ = small("GPT-2")
    python = pdacon.compile("python", vocabulary, canonical=tokenizer)
    with pytest.raises((ValueError, MatcherError), match="postlex"):
        python.matcher(budget=pdacon.Budget(tokens=100))
