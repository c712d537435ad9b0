"""Canonical filtering for WordPiece, which takes the longest token at each place of a word."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from support.canonical_oracle import require_equal_masks, require_walks, spelled
from support.small_tokenizers import TEXT, train_word_piece
from tokenizers import Tokenizer, models, normalizers

import pdacon
from pdacon import Vocabulary
from pdacon.errors import EmptyLanguageError, VocabularyError

CORPUS = [*TEXT, "aaa aa aab abab babb ab b a ( ) . , ! don't unwanted wanted want un ant"] * 3


def with_words(pieces: list[str], *, most: int = 100) -> Tokenizer:
    """A vocabulary where the longest token is often not one with which the word can be finished."""
    made = Tokenizer.from_str(train_word_piece().to_str())
    words = ["[UNK]", "[SEP]", *pieces]
    made.model = models.WordPiece(
        {word: i for i, word in enumerate(words)}, unk_token="[UNK]", max_input_chars_per_word=most
    )
    return made


def with_normalizer() -> Tokenizer:
    made = train_word_piece(text=CORPUS)
    made.normalizer = normalizers.BertNormalizer()
    return made


TRICKY = ["a", "ab", "abc", "##b", "##bcd", "##c", "##d", "##ab", "##abb", "b", "##a", ".", "(", "c"]
MAKERS: dict[str, Callable[[], Tokenizer]] = {
    "cleaned": lambda: train_word_piece(text=CORPUS),
    "not cleaned": lambda: train_word_piece(cleanup=False, text=CORPUS),
    "normalizer": with_normalizer,
    "tricky": lambda: with_words(TRICKY),
    "short words": lambda: with_words(TRICKY, most=3),
}
TOKENIZERS = {name: make() for name, make in MAKERS.items()}
SMALL_WORLDS = [("ab ", 6), ("a.b ", 5), ("abcd", 6), ("a( .", 5), ("aAé ", 5), ("日a ", 4), ("[SEP] ", 5)]


def vocabulary_of(tokenizer: Tokenizer) -> Vocabulary:
    return Vocabulary.from_huggingface(tokenizer, eos_ids=tokenizer.token_to_id("[SEP]"))


def encode(tokenizer: Tokenizer, text: str) -> list[int]:
    return list(tokenizer.encode(text, add_special_tokens=False).ids)


def kept(tokenizer: Tokenizer, texts: list[str]) -> list[str]:
    """Those that the tokenizer gives back as they are."""
    silent = {tokenizer.token_to_id("[UNK]"), tokenizer.token_to_id("[SEP]")}
    coded = [(text, encode(tokenizer, text)) for text in texts]
    return [text for text, ids in coded if silent.isdisjoint(ids) and tokenizer.decode(ids) == text]


def test_pieces_that_the_vocabulary_lacks_are_refused() -> None:
    small, large = with_words(["a", "##a"]), with_words(["a", "##a", "aa"])
    vocabulary = vocabulary_of(small)
    assert encode(large, "aa") == [vocabulary.size]
    with pytest.raises(VocabularyError, match="is 'aa', and the vocabulary has no such"):
        pdacon.compile(pdacon.Grammar.from_choices([" aa"]), vocabulary, canonical=large)


def followers(tokenizer: Tokenizer, texts: list[str]) -> dict[tuple[int, ...], set[int]]:
    found: dict[tuple[int, ...], set[int]] = {}
    end = tokenizer.token_to_id("[SEP]")
    for text in texts:
        ids = [*encode(tokenizer, text), end]
        for at, token in enumerate(ids):
            found.setdefault(tuple(ids[:at]), set()).add(token)
    return found


@pytest.mark.parametrize(("letters", "most"), SMALL_WORLDS)
@pytest.mark.parametrize("name", MAKERS)
def test_masks_of_a_small_world_are_those_of_its_tokenizations(name: str, letters: str, most: int) -> None:
    tokenizer = TOKENIZERS[name]
    texts = spelled(letters, most)
    pattern = "".join("\\" + letter if letter in "[]" else letter for letter in letters)
    grammar = pdacon.Grammar.from_regex(f"[{pattern}]{{0,{most}}}")
    constraint = pdacon.compile(grammar, vocabulary_of(tokenizer), canonical=tokenizer)
    require_equal_masks(constraint, followers(tokenizer, kept(tokenizer, texts)), strip_leading_space=True)


def test_a_grammar_may_force_what_follows_a_token() -> None:
    """`ab` is a word, and no token goes on from it as `abx` needs."""
    tokenizer = TOKENIZERS["tricky"]
    for words in (["abcd", "ab a", "abb"], ["abc", "abd"], ["ab.", "ab (", "a b c"]):
        constraint = pdacon.compile(pdacon.Grammar.from_choices(words), vocabulary_of(tokenizer), canonical=tokenizer)
        require_equal_masks(constraint, followers(tokenizer, kept(tokenizer, words)), strip_leading_space=True)


def test_behind_something_else_a_text_begins_with_a_space() -> None:
    tokenizer = TOKENIZERS["cleaned"]
    vocabulary = vocabulary_of(tokenizer)
    constraint = pdacon.compile(pdacon.Grammar.from_choices([" the fox", " the dog"]), vocabulary, canonical=tokenizer)
    for text in ("the fox", "the dog"):
        ids = encode(tokenizer, text)
        assert constraint.matcher().validate_tokens([*ids, vocabulary.eos_ids[0]]) == len(ids) + 1


def test_a_word_of_too_many_characters_is_unknown() -> None:
    tokenizer = TOKENIZERS["short words"]
    assert encode(tokenizer, "abcd") == [tokenizer.token_to_id("[UNK]")]
    with pytest.raises(pdacon.EmptyLanguageError, match="gives back"):
        pdacon.compile(pdacon.Grammar.from_choices(["abcd"]), vocabulary_of(tokenizer), canonical=tokenizer)


@pytest.mark.parametrize("name", ["cleaned", "normalizer"])
def test_what_is_generated_is_what_the_tokenizer_makes_of_it(name: str) -> None:
    tokenizer = TOKENIZERS[name]
    constraint = pdacon.compile("start: /[a-z]+( [a-z]+| \\(|[.])*/", vocabulary_of(tokenizer), canonical=tokenizer)
    require_walks(constraint, lambda text: encode(tokenizer, text), 20, strip_leading_space=True)
    assert constraint.statistics()["canonical_searches_cut"] == 0


def test_other_parts_are_refused() -> None:
    made: Any = json.loads(TOKENIZERS["cleaned"].to_str())
    made["pre_tokenizer"] = {"type": "Whitespace"}
    tokenizer = Tokenizer.from_str(json.dumps(made))
    with pytest.raises(VocabularyError, match="pre_tokenizer is Whitespace"):
        pdacon.compile("json", vocabulary_of(tokenizer), canonical=tokenizer)


def test_a_start_at_which_no_token_may_come_is_an_error() -> None:
    """Each token at the beginning of a word has a space before it, and no sentence has: there is no empty mask."""
    tokenizer = with_words(["a", "b", "##a", "##b", "ab"])
    constraint = pdacon.compile(
        pdacon.Grammar.from_choices(["ab", "ba"]), vocabulary_of(tokenizer), canonical=tokenizer
    )
    with pytest.raises(EmptyLanguageError, match=r"a space before it; .*strip_leading_space=True"):
        constraint.matcher()
    with pytest.raises(EmptyLanguageError, match=r"strip_leading_space=True"):
        constraint.matcher(budget=pdacon.Budget(tokens=5))
    matcher = constraint.matcher(strip_leading_space=True)
    assert {constraint.vocabulary.tokens[token] for token in matcher.allowed_tokens()} == {b" ab", b" b"}
    assert constraint.accepts("ba")
    assert constraint.parse("ba") == "ba"
