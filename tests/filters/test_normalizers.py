"""What normalizers leave as it is: the tokenizers themselves say so, for the texts, for masks and for grammars."""

from __future__ import annotations

import json
import random
import unicodedata
from functools import lru_cache
from typing import Any

import pytest
from support.canonical_oracle import JSON_TEXTS, followers, require_equal_masks, require_walks, spelled
from support.small_tokenizers import (
    SENTENCEPIECE,
    TEXT,
    train_byte_fallback,
    train_byte_level,
    train_metaspace,
    train_sentencepiece,
)
from tokenizers import AddedToken, Regex, Tokenizer, normalizers, pre_tokenizers

import pdacon
from pdacon import Vocabulary
from pdacon.detokenizer.sentencepiece_model import parse
from pdacon.errors import EmptyLanguageError, VocabularyError
from pdacon.filters import Normalized
from pdacon.filters.canonical import Canonical
from pdacon.filters.normalizers import changes_of

LETTERS = [
    *"ab'` AB\t\n",
    "é",
    "e\u0301",
    "\u0301",
    "\u0323",
    "ﬁ",
    "Å",
    "\u212b",
    "ß",
    "İ",
    "Σ",
    "한",
    "\u1112",
    "\u1161",
    "\u11ab",
    "\u200b",
    "\ufeff",
    "，",
    "①",
    "…",
    "\u3000",
    "\x07",
    "\ufffd",
    "▁",
]
CASED = {"handle_chinese_chars": False, "lowercase": False, "strip_accents": False}


@lru_cache(maxsize=4)
def table(rule: str) -> bytes:
    """A table of SentencePiece, as a model of it has it."""
    options = {**SENTENCEPIECE["T5"], "normalization_rule_name": rule}
    return parse(train_sentencepiece(**options), "the model").charsmap


STEPS: dict[str, tuple[Any, bool]] = {
    "Lowercase": (normalizers.Lowercase(), True),
    "StripAccents": (normalizers.StripAccents(), True),
    "Nmt": (normalizers.Nmt(), True),
    "Strip": (normalizers.Strip(), True),
    "Strip, right": (normalizers.Strip(left=False), True),
    "a string": (normalizers.Replace("ab", "c"), True),
    "the same string": (normalizers.Replace("ab", "ab"), True),
    "blanks": (normalizers.Replace(Regex(r"\s+"), " "), True),
    "many spaces": (normalizers.Replace(Regex(r" {2,}"), "▁"), True),
    "NFKC": (normalizers.NFKC(), True),
    "NFC of NFKD": (normalizers.Sequence([normalizers.NFKD(), normalizers.NFC()]), True),
    "NFC after accents": (
        normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents(), normalizers.NFC()]),
        False,
    ),
    "NFC after a string": (
        normalizers.Sequence([normalizers.NFD(), normalizers.Replace("ab", "c"), normalizers.NFC()]),
        False,
    ),
    "NFD after a composed string": (
        normalizers.Sequence([normalizers.NFC(), normalizers.Replace("é", "c"), normalizers.NFC(), normalizers.NFD()]),
        False,
    ),
    "BERT": (normalizers.BertNormalizer(handle_chinese_chars=False), True),
    "BERT, cased": (normalizers.BertNormalizer(**CASED), True),
    "CLIP": (
        normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()]),
        True,
    ),
    "accents": (normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents()]), True),
    # What `tokenizers` composes depends on how long the cluster is; the set has none of it.
    "nmt_nfkc": (normalizers.Precompiled(table("nmt_nfkc")), False),
    "nmt_nfkc_cf": (normalizers.Precompiled(table("nmt_nfkc_cf")), False),
    "ALBERT": (
        normalizers.Sequence(
            [
                normalizers.Replace("``", '"'),
                normalizers.NFKD(),
                normalizers.StripAccents(),
                normalizers.Lowercase(),
                normalizers.Precompiled(table("nmt_nfkc")),
            ]
        ),
        False,
    ),
}


def is_old(text: str) -> bool:
    """Whether its characters have been in Unicode for long, of one category, so that every library knows them."""
    return all(unicodedata.ucd_3_2_0.category(one) == unicodedata.category(one) != "Cn" for one in text)


@pytest.mark.slow
@pytest.mark.parametrize("name", STEPS)
def test_the_texts_that_stay_as_they_are(name: str) -> None:
    normalizer, exact = STEPS[name]
    left = changes_of([json.loads(normalizer.__getstate__())]).texts(form=True)
    rng = random.Random(1)
    texts = ["".join(rng.choices(LETTERS, k=rng.randrange(6))) for _ in range(4_000)]
    texts += [chr(code) for code in range(0x30000) if is_old(chr(code)) and not 0xD800 <= code < 0xE000]
    for text in texts:
        same = normalizer.normalize_str(text) == text
        if left is None or text in left:
            assert same, ascii(text)
        elif exact and not any("\x1c" <= one <= "\x1f" for one in text):  # blanks for Python, and not for Rust
            assert not same, ascii(text)


def byte_level(normalizer: Any) -> tuple[Any, Vocabulary]:
    made = train_byte_level("gpt2", ["<end>"], text=TEXT)
    made.normalizer = normalizer
    return made, Vocabulary.from_huggingface(made, eos_ids=made.token_to_id("<end>"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Lowercase", "StripAccents", "Strip", "blanks", "BERT, cased", "CLIP", "nmt_nfkc"])
def test_masks_under_other_normalizers(name: str) -> None:
    """Byte-level BPE: each mask of all texts over a few letters is that of those which come back as they were."""
    tokenizer, vocabulary = byte_level(STEPS[name][0])
    for letters, most in (("aA b", 4), ("e\u0301é", 3), ("a  \n", 3)):
        texts = spelled(letters, most)
        kept = [text for text in texts if tokenizer.decode(tokenizer.encode(text).ids) == text]
        constraint = pdacon.compile(pdacon.Grammar.from_choices(texts), vocabulary, canonical=tokenizer)
        require_equal_masks(constraint, followers(kept, lambda one: tokenizer.encode(one).ids, vocabulary.eos_ids[0]))


@pytest.mark.slow
def test_json_under_another_normalizer() -> None:
    tokenizer, vocabulary = byte_level(STEPS["CLIP"][0])
    constraint = pdacon.compile("json_dumps", vocabulary, canonical=tokenizer)
    require_walks(constraint, lambda text: tokenizer.encode(text).ids, 6)


def test_added_tokens_and_blanks_that_are_stripped() -> None:
    tokenizer, vocabulary = byte_level(normalizers.Strip())
    tokenizer.add_tokens([AddedToken("<a>", special=False, normalized=False)])
    vocabulary = Vocabulary.from_huggingface(tokenizer, eos_ids=tokenizer.token_to_id("<end>"))
    texts = ["x <a>", "x<a>", "x", " x", "x y"]
    constraint = pdacon.compile(pdacon.Grammar.from_choices(texts), vocabulary, canonical=tokenizer)
    kept = ["x", "x y"]
    require_equal_masks(constraint, followers(kept, lambda one: tokenizer.encode(one).ids, vocabulary.eos_ids[0]))


@pytest.mark.parametrize("model", ["Unigram", "BPE"])
def test_masks_of_pieces_under_a_table(model: str) -> None:
    """XLM-R and its like: a table of SentencePiece, and spaces written as ▁."""
    tokenizer = train_metaspace("never", text=[*TEXT, "café ﬁ e\u0301"] * 2, model=model)
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Precompiled(table("nmt_nfkc")), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    vocabulary = Vocabulary.from_huggingface(tokenizer, eos_ids=tokenizer.token_to_id("</s>"))
    for letters, most in (("aé ", 4), ("e\u0301é", 3), ("ﬁfi", 3)):
        texts = spelled(letters, most)
        encoded = {text: tokenizer.encode(text, add_special_tokens=False).ids for text in texts}
        kept = [
            text
            for text, ids in encoded.items()
            if b"".join(vocabulary.tokens[i] or b"?" for i in ids) == text.encode()
            and tokenizer.normalizer.normalize_str(text) == text
        ]
        constraint = pdacon.compile(pdacon.Grammar.from_choices(texts), vocabulary, canonical=tokenizer)
        require_equal_masks(constraint, followers(kept, encoded.__getitem__, vocabulary.eos_ids[0]))


@pytest.mark.parametrize("model", ["Unigram", "BPE"])
def test_masks_of_words_that_are_split_at_blanks(model: str) -> None:
    """T5: blanks between words become one space, and each word begins with it."""
    tokenizer = train_metaspace("always", text=TEXT, model=model)
    steps = [pre_tokenizers.WhitespaceSplit(), tokenizer.pre_tokenizer]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(steps)
    tokenizer.normalizer = normalizers.Precompiled(table("nmt_nfkc"))
    vocabulary = Vocabulary.from_huggingface(tokenizer, eos_ids=tokenizer.token_to_id("</s>"))
    for letters, most in (("ae ", 5), ("a \n\t", 3), ("éa\u3000 ", 3)):
        texts = spelled(letters, most)
        encoded = {text: tokenizer.encode(text, add_special_tokens=False).ids for text in texts}
        kept = [text for text, ids in encoded.items() if tokenizer.decode(ids) == text]
        assert 1 < len(kept) < len(texts)
        constraint = pdacon.compile(pdacon.Grammar.from_choices(texts), vocabulary, canonical=tokenizer)
        expected = followers(kept, encoded.__getitem__, vocabulary.eos_ids[0])
        require_equal_masks(constraint, expected, strip_leading_space=True)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([steps[0], pre_tokenizers.Metaspace(prepend_scheme="first")])
    with pytest.raises(VocabularyError, match="WhitespaceSplit"):
        pdacon.compile("json", vocabulary, canonical=tokenizer)


@pytest.mark.parametrize("extra", [False, True])
def test_masks_of_sentencepiece_with_a_table(extra: bool) -> None:
    """BPE of SentencePiece itself with its own normalization, as ``nmt_nfkc`` is by default."""
    import sentencepiece

    options = {**SENTENCEPIECE["Gemma"], "remove_extra_whitespaces": extra, "normalization_rule_name": "nmt_nfkc"}
    processor = sentencepiece.SentencePieceProcessor(model_proto=train_sentencepiece(**options))
    vocabulary = Vocabulary.from_sentencepiece(processor)
    for letters, most in (("aé b", 4), ("e\u0301é", 3), ("ﬁfi", 3), ("한\u1112\u1161", 3)):
        texts = spelled(letters, most)
        encoded = {text: list(processor.encode(text)) for text in texts}
        kept = [
            text
            for text, ids in encoded.items()
            if b"".join(vocabulary.tokens[i] or b"?" for i in ids) == text.encode()
        ]
        assert len(kept) < len(texts) or (letters == "aé b" and not extra)
        constraint = pdacon.compile(pdacon.Grammar.from_choices(texts), vocabulary, canonical=processor)
        require_equal_masks(constraint, followers(kept, encoded.__getitem__, vocabulary.eos_ids[0]))


def test_what_is_changed_where_spaces_are_written_already_is_refused() -> None:
    tokenizer = train_byte_fallback()
    steps = [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁"), normalizers.Lowercase()]
    tokenizer.normalizer = normalizers.Sequence(steps)
    vocabulary = Vocabulary.from_huggingface(tokenizer, eos_ids=tokenizer.token_to_id("</s>"))
    with pytest.raises(VocabularyError, match="Lowercase"):
        pdacon.compile("json", vocabulary, canonical=tokenizer)


# What a grammar loses.


def lower() -> Tokenizer:
    made: Tokenizer = byte_level(normalizers.Lowercase())[0]
    return made


def test_upper_case_under_lowercase() -> None:
    grammar = pdacon.Grammar.from_lark('start: "SELECT " NAME [" AS " NAME] | "x"\nNAME: /[A-Za-z]+/')
    found = grammar.unreachable(lower())
    assert found
    assert not found.everything
    assert found.normalizer == ("Lowercase",)
    assert found.sentence is not None
    assert found.becomes == found.sentence.lower() != found.sentence
    assert {one.name: (one.text, one.always) for one in found.terminals} == {
        '"SELECT "': ("SELECT ", True),
        '" AS "': (" AS ", True),
        "NAME": ("A", False),
    }
    assert "SELECT" in str(found)
    assert "some texts" in str(found)


def test_everything_is_changed() -> None:
    found = pdacon.Grammar.from_lark('start: "SELECT " /[a-z]/').unreachable(lower())
    assert found.everything
    assert "every sentence" in str(found)
    with pytest.raises(EmptyLanguageError, match="Lowercase"):
        pdacon.compile('start: "SELECT " /[a-z]/', Vocabulary.bytes(), filters=[Normalized(lower())])


@pytest.mark.slow
def test_a_letter_and_an_accent_are_two_terminals() -> None:
    found = pdacon.Grammar.from_lark('start: "e" ACUTE? "x"\nACUTE: "\u0301"').unreachable(
        byte_level(normalizers.NFC())[0]
    )
    assert found.sentence == "e\u0301x"
    assert found.becomes == "éx"
    assert not found.everything
    assert found.terminals == ()


def test_nothing_is_changed() -> None:
    for tokenizer in (lower(), byte_level(None)[0]):
        found = pdacon.Grammar.from_lark('start: "a" | /[0-9]+/').unreachable(tokenizer)
        assert not found
        assert "leaves each sentence" in str(found)


def test_blanks_at_the_ends() -> None:
    found = pdacon.Grammar.from_lark('start: " "? "a" " " "b"').unreachable(byte_level(normalizers.Strip())[0])
    assert found.sentence == " a b"
    assert found.terminals == ()


def test_a_table_of_sentencepiece() -> None:
    import sentencepiece

    processor = sentencepiece.SentencePieceProcessor(model_proto=train_sentencepiece(**SENTENCEPIECE["T5"]))
    found = pdacon.Grammar.from_lark('start: "of" "ﬁ"? "ce" " "*').unreachable(processor)
    assert found.normalizer == ("table of normalization", "remove_extra_whitespaces")
    assert found.sentence == "ofce "
    assert [one.name for one in found.terminals] == ['"ﬁ"']


def test_the_filter_leaves_out_what_is_changed() -> None:
    grammar = 'start: "SELECT " | "select " NAME\nNAME: /[A-Za-z]+/'
    made = pdacon.compile(grammar, Vocabulary.bytes(), filters=[Normalized(lower())])
    assert made.accepts("select a")
    assert not made.accepts("select A")
    matcher = made.matcher()
    assert [bytes([token]) for token in matcher.allowed_tokens()] == [b"s"]
    assert "Lowercase" in matcher.explain(ord("S")).reason
    whole = pdacon.compile(grammar, byte_level(normalizers.Lowercase())[1], filters=[Normalized(byte_level(None)[0])])
    assert whole.accepts("SELECT ")


def test_normalizers_that_are_not_known_are_refused() -> None:
    tokenizer = byte_level(normalizers.Replace(Regex("a(?=b)"), ""))[0]
    for ask in (
        lambda: pdacon.Grammar.builtin("json").unreachable(tokenizer),
        lambda: Normalized(tokenizer).texts(),
        lambda: Canonical(tokenizer).texts(),
    ):
        with pytest.raises(VocabularyError, match="Replace"):
            ask()


@pytest.mark.parametrize("given", ["tokenizer.json", lower().to_str(), None, 5, pdacon, Tokenizer])
def test_what_is_no_tokenizer_is_refused(given: Any) -> None:
    for ask in (
        lambda: pdacon.Grammar.from_lark('start: "SELECT"').unreachable(given),
        lambda: Normalized(given).texts(),
        lambda: Canonical(given).texts(),
    ):
        with pytest.raises(VocabularyError, match=f"a {type(given).__name__} does not say what it does to texts"):
            ask()


@pytest.mark.slow
def test_json_strings_under_nfkc() -> None:
    tokenizer, _ = byte_level(normalizers.NFKC())
    found = pdacon.Grammar.builtin("json").unreachable(tokenizer)
    assert found.sentence is not None
    assert tokenizer.normalizer.normalize_str(found.sentence) == found.becomes != found.sentence
    made = pdacon.compile("json", Vocabulary.bytes(), filters=[Normalized(tokenizer)])
    assert all(made.accepts(text) for text in JSON_TEXTS)
    assert not made.accepts('"ﬁ"')
