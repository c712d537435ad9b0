"""Canonical filtering for SentencePiece's BPE: characters merge over the whole text, and bytes are the last resort.

The texts are what stands behind something else, where no space is put before them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from support.canonical_oracle import (
    BLANKS,
    BLANKS_TEXTS,
    JSON_TEXTS,
    WORDS,
    followers,
    require_equal_masks,
    require_walks,
    spelled,
)
from support.real_vocabularies import coded
from support.small_tokenizers import SENTENCEPIECE, TEXT, train_byte_fallback, train_metaspace, train_sentencepiece
from tokenizers import Tokenizer, models

import pdacon
from pdacon import Vocabulary
from pdacon.errors import VocabularyError

CORPUS = [
    *TEXT,
    "Amazon Alphabet Amazon Apple  aaa a'll 'S ab1 12 123 1234  ",
    "'DON''T' FROM FOO",
    "aaaa aa  aaaaa",
] * 3


def without_prefix(tokenizer: Tokenizer) -> Tokenizer:
    """The same as it is behind something else."""
    state = json.loads(tokenizer.to_str())
    if state["normalizer"]:
        state["normalizer"]["normalizers"] = [
            one for one in state["normalizer"]["normalizers"] if one["type"] != "Prepend"
        ]
    if state["pre_tokenizer"]:
        state["pre_tokenizer"]["prepend_scheme"] = "never"
    return Tokenizer.from_str(json.dumps(state))


def of_tokenizers(tokenizer: Tokenizer) -> tuple[Any, Vocabulary, Callable[[str], list[int]]]:
    vocabulary = Vocabulary.from_huggingface(tokenizer, eos_ids=tokenizer.token_to_id("</s>"))
    inside = without_prefix(tokenizer)
    return tokenizer, vocabulary, lambda text: list(inside.encode(text, add_special_tokens=False).ids)


def of_sentencepiece(name: str, **options: Any) -> tuple[Any, Vocabulary, Callable[[str], list[int]]]:
    import sentencepiece

    processor = sentencepiece.SentencePieceProcessor(
        model_proto=train_sentencepiece(CORPUS, **{**SENTENCEPIECE[name], **options})
    )
    vocabulary = Vocabulary.from_sentencepiece(processor)

    def encode(text: str) -> list[int]:
        # After a character that is no piece, whose last byte is a border.
        ids = list(processor.encode("\x01" + text))
        return ids[[vocabulary.tokens[i] for i in ids].index(b"\x01") + 1 :]

    return processor, vocabulary, encode


TIES = {
    "▁": -0.1,
    "a": -0.3,
    "aa": -0.6,
    "aaa": -0.9,
    "▁a": -0.4,
    "b": -0.7,
    "ab": -1.0,
    "ba": -1.1,
    "▁b": -0.8,
    "bb": -1.3,
}
"""Paths of equal scores, and of scores that differ only by how sums are rounded."""


MAKERS: dict[str, Callable[[], tuple[Any, Vocabulary, Callable[[str], list[int]]]]] = {
    "Llama 2": lambda: of_tokenizers(train_byte_fallback(text=CORPUS)),
    "Gemma": lambda: of_tokenizers(train_byte_fallback(text=CORPUS, strip=False)),
    "Metaspace": lambda: of_tokenizers(train_metaspace(model="BPE", text=CORPUS)),
    "Metaspace, not split": lambda: of_tokenizers(train_metaspace("first", split=False, model="BPE", text=CORPUS)),
    "Unigram": lambda: of_tokenizers(train_metaspace(text=CORPUS, size=120)),
    "Unigram, larger": lambda: of_tokenizers(train_metaspace("first", text=CORPUS, size=300)),
    "SentencePiece": lambda: of_sentencepiece("Llama 2"),
    "SentencePiece, no prefix": lambda: of_sentencepiece("Gemma", normalization_rule_name="identity"),
}
TOKENIZERS = {name: make() for name, make in MAKERS.items()}
SMALL_WORLDS = [
    ("a ", 6),
    ("aA'l", 4),
    (" 1a.", 4),
    ("aé日 ", 4),
    ("\r\n /", 4),
    ("aB한d", 4),
    ("é🙂🙄", 3),
    ("a b", 5),
    ("ab", 7),
]


def kept(name: str, texts: list[str]) -> list[str]:
    """Those that the tokenizer gives back as they are."""
    _, vocabulary, encode = TOKENIZERS[name]
    return [text for text in texts if b"".join(vocabulary.tokens[i] or b"?" for i in encode(text)) == text.encode()]


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("name", MAKERS)
def test_masks_of_words_are_those_of_their_tokenizations(name: str, words: str) -> None:
    tokenizer, vocabulary, encode = TOKENIZERS[name]
    texts = kept(name, WORDS[words])
    constraint = pdacon.compile(pdacon.Grammar.from_choices(WORDS[words]), vocabulary, canonical=tokenizer)
    require_equal_masks(constraint, followers(texts, encode, vocabulary.eos_ids[0]))


@pytest.mark.parametrize(("letters", "most"), SMALL_WORLDS)
@pytest.mark.parametrize("name", MAKERS)
def test_masks_of_a_small_world_are_those_of_its_tokenizations(name: str, letters: str, most: int) -> None:
    tokenizer, vocabulary, encode = TOKENIZERS[name]
    constraint = pdacon.compile(pdacon.Grammar.from_regex(f"[{letters}]{{0,{most}}}"), vocabulary, canonical=tokenizer)
    require_equal_masks(constraint, followers(kept(name, spelled(letters, most)), encode, vocabulary.eos_ids[0]))


@pytest.mark.parametrize("name", MAKERS)
def test_a_grammar_may_force_what_follows_a_token(name: str) -> None:
    tokenizer, vocabulary, encode = TOKENIZERS[name]
    constraint = pdacon.compile(BLANKS, vocabulary, canonical=tokenizer)
    require_equal_masks(constraint, followers(kept(name, BLANKS_TEXTS), encode, vocabulary.eos_ids[0]))


@pytest.mark.parametrize("grammar", ["json", "sql"])
@pytest.mark.parametrize("name", MAKERS)
def test_what_is_generated_is_what_the_tokenizer_makes_of_it(name: str, grammar: str) -> None:
    tokenizer, vocabulary, encode = TOKENIZERS[name]
    constraint = pdacon.compile(grammar, vocabulary, canonical=tokenizer)
    require_walks(constraint, encode, 6)
    for text in kept(name, JSON_TEXTS if grammar == "json" else []):
        ids = encode(text)
        assert constraint.matcher().validate_tokens([*ids, vocabulary.eos_ids[0]]) == len(ids) + 1
    assert constraint.statistics()["canonical_searches_cut"] == 0


@pytest.mark.parametrize(("letters", "most"), SMALL_WORLDS)
@pytest.mark.parametrize("name", ["Llama 2", "SentencePiece"])
def test_a_space_is_put_before_a_text(name: str, letters: str, most: int) -> None:
    """At the start of all, where the first token loses it again: the tokenizer as it is, `decode` included."""
    tokenizer, vocabulary, _ = TOKENIZERS[name]

    def encode(text: str) -> list[int]:
        return list(tokenizer.encode(text) if name == "SentencePiece" else tokenizer.encode(text).ids)

    texts = [text for text in spelled(letters, most) if tokenizer.decode(encode(text)) == text]
    constraint = pdacon.compile(pdacon.Grammar.from_regex(f"[{letters}]{{0,{most}}}"), vocabulary, canonical=tokenizer)
    expected = followers(texts, encode, vocabulary.eos_ids[0])
    require_equal_masks(constraint, expected, strip_leading_space=True)


@pytest.mark.parametrize(
    "texts",
    [[""], ["", "a"], ["", "日"], ["", "ñ"], ["", " "], [" ", "  "], ["", "   "], ["", "  a", "b"], ["", " a", "a"]],
)
@pytest.mark.parametrize("name", ["Llama 2", "SentencePiece", "a space alone"])
def test_the_empty_text_has_no_tokens(name: str, texts: list[str]) -> None:
    """`▁` alone is decoded as nothing, too, and no text is tokenized so."""
    alone = name == "a space alone"  # each is a token that is read before all else
    tokenizer, vocabulary, _ = of_sentencepiece("Llama 2", user_defined_symbols=["▁"]) if alone else TOKENIZERS[name]
    end = vocabulary.eos_ids[0]

    def encode(text: str) -> list[int]:
        return list(tokenizer.encode(text).ids if name == "Llama 2" else tokenizer.encode(text))

    assert encode("") == []
    assert all(tokenizer.decode(encode(text)) == text for text in texts)
    constraint = pdacon.compile(pdacon.Grammar.from_choices(texts), vocabulary, canonical=tokenizer)
    expected = followers(texts, encode, end)
    require_equal_masks(constraint, expected, strip_leading_space=True)
    for prefix in expected:
        matcher = constraint.matcher(strip_leading_space=True)
        assert matcher.validate_tokens([*prefix, end]) == len(prefix) + (end in expected[prefix])
        assert all(map(matcher.accept_token, prefix))
        forced: list[int] = []
        while len(following := expected[(*prefix, *forced)]) == 1 and end not in following:
            forced += following
        assert matcher.forced_tokens() == forced
        assert matcher.accept_bytes(b"")
        assert set(matcher.allowed_tokens()) == expected[prefix]


@pytest.mark.parametrize("name", ["Llama 2", "SentencePiece"])
def test_after_a_prompt_a_space_is_a_text(name: str) -> None:
    tokenizer, vocabulary, encode = TOKENIZERS[name]
    constraint = pdacon.compile(pdacon.Grammar.from_choices(["", " ", "ñ"]), vocabulary, canonical=tokenizer)
    tokens = [*encode(" "), vocabulary.eos_ids[0]]
    for strip in (True, False, True):  # whatever the others have found before
        assert constraint.matcher(strip_leading_space=strip).validate_tokens(tokens) == (1 if strip else 2)


def test_why_a_space_alone_does_not_end() -> None:
    tokenizer, vocabulary, _ = TOKENIZERS["Llama 2"]
    constraint = pdacon.compile(pdacon.Grammar.from_regex("[ñ]?"), vocabulary, canonical=tokenizer)
    matcher = constraint.matcher(strip_leading_space=True)
    space = tokenizer.token_to_id("▁")
    assert matcher.explain(space).allowed
    assert matcher.accept_token(space)
    told = matcher.explain(vocabulary.eos_ids[0])
    assert not told.allowed
    assert "canonical: the tokenizer makes no tokens of the empty text" in told.reason


def test_a_space_that_is_put_only_sometimes_is_refused() -> None:
    tokenizer, vocabulary, _ = TOKENIZERS["Metaspace"]
    constraint = pdacon.compile("json", vocabulary, canonical=tokenizer)
    with pytest.raises(ValueError, match="unless blank"):
        constraint.matcher(strip_leading_space=True)


@pytest.mark.parametrize(("letters", "most"), [("ab", 7), ("a b", 6)])
def test_paths_of_equal_scores(letters: str, most: int) -> None:
    made = train_metaspace("first")
    made.model = models.Unigram([("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), *TIES.items()], unk_id=2)
    tokenizer, vocabulary, encode = of_tokenizers(made)
    constraint = pdacon.compile(pdacon.Grammar.from_regex(f"[{letters}]{{0,{most}}}"), vocabulary, canonical=tokenizer)
    require_equal_masks(constraint, followers(spelled(letters, most), encode, vocabulary.eos_ids[0]))


def test_a_byte_stands_for_no_character_that_is_a_token() -> None:
    """`<0x61>` and `a`: Cognetta et al. 2025, section 4.3."""
    tokenizer, vocabulary, encode = TOKENIZERS["Llama 2"]
    byte = tokenizer.token_to_id("<0x61>")
    assert vocabulary.tokens[byte] == b"a"
    choices = pdacon.Grammar.from_choices(["a", "ñ"])
    assert byte in pdacon.compile(choices, vocabulary).matcher().allowed_tokens()
    matcher = pdacon.compile(choices, vocabulary, canonical=tokenizer).matcher()
    assert matcher.allowed_tokens() == sorted([*encode("a"), encode("ñ")[0]])


def test_the_character_that_writes_spaces_is_in_no_text() -> None:
    tokenizer, vocabulary, _ = TOKENIZERS["Llama 2"]
    constraint = pdacon.compile(pdacon.Grammar.from_choices(["a▁b", "a b"]), vocabulary, canonical=tokenizer)
    assert constraint.accepts("a b")
    assert not constraint.accepts("a▁b")


@pytest.mark.slow
@pytest.mark.parametrize("words", WORDS)
def test_the_vocabulary_of_mistral(words: str) -> None:
    processor, known = real()
    texts = WORDS[words]
    constraint = pdacon.compile(pdacon.Grammar.from_choices(texts), known.vocabulary, canonical=processor)
    require_equal_masks(constraint, followers(texts, known.encode_inside, known.vocabulary.eos_ids[0]))


@pytest.mark.slow
def test_json_with_the_vocabulary_of_mistral() -> None:
    processor, known = real()
    constraint = pdacon.compile("json", known.vocabulary, canonical=processor)
    require_walks(constraint, known.encode_inside, 6)
    for text in JSON_TEXTS:
        ids = known.encode_inside(text)
        assert constraint.matcher().validate_tokens(ids) == len(ids)
    assert constraint.statistics()["canonical_searches_cut"] == 0


def real() -> tuple[Any, Any]:
    known = coded("SentencePiece")
    from importlib.resources import files

    import sentencepiece

    path = files("mistral_common") / "data" / "mistral_instruct_tokenizer_240323.model.v3"
    return sentencepiece.SentencePieceProcessor(model_file=str(path)), known


@pytest.mark.parametrize("name", ["T5", "characters"])
def test_other_models_of_sentencepiece_are_refused(name: str) -> None:
    processor, vocabulary, _ = of_sentencepiece(name)
    with pytest.raises(VocabularyError, match="no BPE"):
        pdacon.compile("json", vocabulary, canonical=processor)
