"""Canonical filtering for SentencePiece's BPE: characters merge over the whole text, and bytes are the last resort.

The texts are what stands behind something else, where no space is put before them.
"""

from __future__ import annotations

import json
import random
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
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers

import pdacon
from pdacon import Vocabulary
from pdacon.errors import EmptyLanguageError, VocabularyError

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
        # After a character that is no piece, which is a border, or its last byte is.
        ids = list(processor.encode("\x01" + text))
        return ids[[i == processor.unk_id() or vocabulary.tokens[i] == b"\x01" for i in ids].index(True) + 1 :]

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


def unigram_not_split(prepend_scheme: str, size: int) -> Tokenizer:
    """Scores are multiples of a power of two, so that no sum of the library's is rounded."""
    made = train_metaspace(prepend_scheme, split=False, text=CORPUS, size=size)
    pieces = json.loads(made.to_str())["model"]["vocab"]
    made.model = models.Unigram([(word, round(score * 2**10) / 2**10) for word, score in pieces], unk_id=2)
    return made


MAKERS: dict[str, Callable[[], tuple[Any, Vocabulary, Callable[[str], list[int]]]]] = {
    "Llama 2": lambda: of_tokenizers(train_byte_fallback(text=CORPUS)),
    "Gemma": lambda: of_tokenizers(train_byte_fallback(text=CORPUS, strip=False)),
    "Metaspace": lambda: of_tokenizers(train_metaspace(model="BPE", text=CORPUS)),
    "Metaspace, not split": lambda: of_tokenizers(train_metaspace("first", split=False, model="BPE", text=CORPUS)),
    "Unigram": lambda: of_tokenizers(train_metaspace(text=CORPUS, size=120)),
    "Unigram, larger": lambda: of_tokenizers(train_metaspace("first", text=CORPUS, size=300)),
    "Unigram, not split": lambda: of_tokenizers(unigram_not_split("first", 150)),
    "Unigram, not split, larger": lambda: of_tokenizers(unigram_not_split("always", 400)),
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


LONG = {"▁": -3.0, "a": -3.9, "ab": -7.8, "aaaa": -8.3, "b": -8.7}
"""Tokens that are under way from more places than the one to be read has bytes."""


SPANNING = {"▁": -1.0, "a": -2.0, "▁a": -2.5, "a▁": -2.5, "a▁a": -4.5, "b": -3.0, "▁▁": -1.75, "b▁b": -7.0, "aa": -4.0}
"""Over spaces, and equal in more ways than one."""


@pytest.mark.parametrize(
    ("pieces", "split"), [(TIES, True), (LONG, True), (SPANNING, False)], ids=["ties", "long", "spanning"]
)
@pytest.mark.parametrize(("letters", "most"), [("ab", 7), ("a b", 6)])
def test_paths_of_equal_scores(letters: str, most: int, pieces: dict[str, float], split: bool) -> None:
    made = train_metaspace("first", split=split)
    made.model = models.Unigram([("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), *pieces.items()], unk_id=2)
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


@pytest.mark.parametrize("pieces", [["a", "b"], ["a", "b", "▁a"]])
@pytest.mark.parametrize("marks", [True, False], ids=["Metaspace", "Replace"])
def test_a_space_that_is_no_piece_is_refused(pieces: list[str], *, marks: bool) -> None:
    """Three bytes are written for it, which are no space when they are read again."""
    words = ["<unk>", "</s>", *pieces, *(f"<0x{byte:02X}>" for byte in range(256))]
    tokenizer = Tokenizer(
        models.BPE({word: i for i, word in enumerate(words)}, [], unk_token="<unk>", byte_fallback=True)
    )
    if marks:
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never")
    else:
        tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    assert tokenizer.decode(tokenizer.encode("a b").ids) == "a▁b"
    vocabulary = Vocabulary.from_huggingface(tokenizer, eos_ids=1)
    with pytest.raises(VocabularyError, match="▁ by itself is no piece"):
        pdacon.compile(pdacon.Grammar.from_choices(["a b", "a"]), vocabulary, canonical=tokenizer)


def test_pieces_that_the_vocabulary_lacks_are_refused() -> None:
    """The tokenizer would write "aa" as a token that no mask has."""
    small, large = with_pieces({"▁": -2.0, "a": -1.0}), with_pieces({"▁": -2.0, "a": -1.0, "aa": -0.5})
    vocabulary = Vocabulary.from_huggingface(small, eos_ids=1)
    assert large.encode("aa").ids[-1] == vocabulary.size
    with pytest.raises(VocabularyError, match="is 'aa', and another one in the vocabulary"):
        pdacon.compile(pdacon.Grammar.from_choices(["aa"]), vocabulary, canonical=large)


@pytest.mark.parametrize("score", [float("nan"), float("inf"), -float("inf")])
def test_scores_that_are_no_numbers_are_refused(score: float) -> None:
    tokenizer = with_pieces({"▁": -2.0, "a": -1.0, "aa": score})
    vocabulary = Vocabulary.from_huggingface(tokenizer, eos_ids=1)
    with pytest.raises(VocabularyError, match="the piece 'aa' has no finite score"):
        pdacon.compile(pdacon.Grammar.from_choices(["aa"]), vocabulary, canonical=tokenizer)


@pytest.mark.parametrize("special", ["b", "ab"])
def test_merges_with_special_tokens_are_never_made(special: str) -> None:
    words = ["<pad>", "</s>", "<unk>", "▁", "a", "b", "c", "ab", "abc", "bc", "ca"]
    merges = [("a", "b"), ("ab", "c"), ("b", "c"), ("c", "a")]
    tokenizer = train_metaspace("never", model="BPE")
    tokenizer.model = models.BPE({word: i for i, word in enumerate(words)}, merges, unk_token="<unk>")
    tokenizer.add_special_tokens(["</s>", special])
    vocabulary = Vocabulary.from_huggingface(tokenizer, eos_ids=1)
    constraint = pdacon.compile(pdacon.Grammar.from_regex("[abc ]{1,5}"), vocabulary, canonical=tokenizer)
    texts = [text for text in spelled("abc ", 5) if text and special not in text]
    require_equal_masks(constraint, followers(texts, lambda text: list(tokenizer.encode(text).ids), 1))


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


AS_IT_IS = {"normalization_rule_name": "identity", "remove_extra_whitespaces": False}
ROUNDED: dict[str, Callable[[], tuple[Any, Vocabulary, Callable[[str], list[int]]]]] = {
    "T5": lambda: of_sentencepiece("T5", **AS_IT_IS),
    "no dummy prefix": lambda: of_sentencepiece("no dummy prefix", **AS_IT_IS),
    "over spaces": lambda: of_sentencepiece("T5", **AS_IT_IS, split_by_whitespace=False, vocab_size=200),
    "bytes": lambda: of_sentencepiece("T5", **AS_IT_IS, byte_fallback=True, vocab_size=400),
    "tokenizers": lambda: of_tokenizers(train_metaspace("first", split=False, text=CORPUS, size=200)),
    "ties": lambda: of_tokenizers(with_pieces(TIES)),
}
"""Unigram models whose library rounds sums that begin with the text."""


def with_pieces(pieces: dict[str, float]) -> Tokenizer:
    made = train_metaspace("first", split=False)
    made.model = models.Unigram([("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), *pieces.items()], unk_id=2)
    return made


@pytest.mark.parametrize(("letters", "most"), SMALL_WORLDS)
@pytest.mark.parametrize("name", ROUNDED)
def test_where_sums_are_rounded_nothing_is_lost(name: str, letters: str, most: int, tally: Any) -> None:
    """Two paths that are equal but for how sums are rounded are both allowed, and nothing else is."""
    tokenizer, vocabulary, encode = ROUNDED[name]()
    texts = [
        text
        for text in spelled(letters, most)
        if b"".join(vocabulary.tokens[i] or b"?" for i in encode(text)) == text.encode()
        and not (name == "bytes" and any(map(tokenizer.is_byte, encode(text))))  # characters that are no token are lost
    ]
    require_nothing_lost(tokenizer, vocabulary, encode, texts, letters, most, tally)


@pytest.mark.parametrize(("letters", "most"), [("a ", 6), ("a b", 5), ("ab", 7), ("aé ½", 4)])
def test_a_model_as_that_of_t5(letters: str, most: int, tally: Any) -> None:
    """With its table of normalization, from the start of all."""
    processor, vocabulary, _ = of_sentencepiece("T5")

    def encode(text: str) -> list[int]:
        return list(processor.encode(text))

    texts = [text for text in spelled(letters, most) if processor.decode(encode(text)) == text]
    require_nothing_lost(processor, vocabulary, encode, texts, letters, most, tally, strip_leading_space=True)


def require_nothing_lost(
    tokenizer: Any,
    vocabulary: Vocabulary,
    encode: Callable[[str], list[int]],
    texts: list[str],
    letters: str,
    most: int,
    tally: Any,
    *,
    strip_leading_space: bool = False,
) -> None:
    if len(texts) < 2:
        return
    end = vocabulary.eos_ids[0]
    constraint = pdacon.compile(pdacon.Grammar.from_regex(f"[{letters}]{{0,{most}}}"), vocabulary, canonical=tokenizer)
    canonical = {(*encode(text), end) for text in texts}
    begun: list[tuple[int, ...]] = [()]
    found = set()
    while begun:
        prefix = begun.pop()
        matcher = constraint.matcher(strip_leading_space=strip_leading_space)
        assert all(map(matcher.accept_token, prefix))
        allowed = matcher.allowed_tokens()
        assert allowed, prefix
        found |= {(*prefix, end)} if end in allowed else set()
        begun += [(*prefix, token) for token in allowed if token != end]
    assert canonical <= found
    for ids in found - canonical:
        text = vocabulary.decode(ids[:-1]).decode()
        own = encode(text.removeprefix(" ") if strip_leading_space else text)
        assert sum(scores_of(tokenizer, ids[:-1])) == pytest.approx(sum(scores_of(tokenizer, own)), abs=2**-8)
    assert constraint.statistics()["canonical_searches_cut"] == 0
    tally(canonical=len(canonical), let_in=len(found - canonical))


def scores_of(tokenizer: Any, ids: Any) -> list[float]:
    if hasattr(tokenizer, "get_score"):
        return [tokenizer.get_score(i) for i in ids]
    pieces = json.loads(tokenizer.to_str())["model"]["vocab"]
    return [pieces[i][1] for i in ids]


@pytest.mark.parametrize("name", ["T5", "tokenizers"])
def test_json_where_sums_are_rounded(name: str) -> None:
    """No dead end, whatever is chosen."""
    tokenizer, vocabulary, encode = ROUNDED[name]()
    constraint = pdacon.compile("json", vocabulary, canonical=tokenizer)
    for seed in range(6):
        rng = random.Random(seed)
        matcher = constraint.matcher()
        for _ in range(60):
            allowed = matcher.allowed_tokens()
            assert allowed, matcher.text
            assert matcher.accept_token(rng.choice(allowed))
            if matcher.is_terminated():
                break
    for text in JSON_TEXTS:
        ids = encode(text)
        if b"".join(vocabulary.tokens[i] or b"?" for i in ids) == text.encode():
            assert constraint.matcher().validate_tokens(ids) == len(ids)
    assert constraint.statistics()["canonical_searches_cut"] == 0


@pytest.mark.parametrize(
    ("name", "says"), [("characters", "neither BPE nor Unigram"), ("space as suffix", "treat_whitespace_as_suffix")]
)
def test_other_models_of_sentencepiece_are_refused(name: str, says: str) -> None:
    processor, vocabulary, _ = of_sentencepiece(name)
    with pytest.raises(VocabularyError, match=says):
        pdacon.compile("json", vocabulary, canonical=processor)


def with_thoughts(kind: str) -> tuple[Any, Vocabulary]:
    """A tokenizer with an added token that its family's filter leaves out of texts."""
    letters = "abcd<>think"
    if kind == "Unigram":
        scores = [("<unk>", 0.0), ("</s>", 0.0), *((letter, -2.0) for letter in "▁" + letters)]
        tokenizer = Tokenizer(models.Unigram(scores, unk_id=0))
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never")
        tokenizer.decoder = decoders.Metaspace(prepend_scheme="never")
    elif kind == "WordPiece":
        words = ["<unk>", "</s>", *letters, *(f"##{letter}" for letter in letters)]
        tokenizer = Tokenizer(models.WordPiece({word: i for i, word in enumerate(words)}, unk_token="<unk>"))
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        tokenizer.decoder = decoders.WordPiece(cleanup=False)
    else:
        words = ["<unk>", "</s>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
        tokenizer = Tokenizer(models.BPE({word: i for i, word in enumerate(words)}, []))
        tokenizer.normalizer = normalizers.Strip()
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<unk>", "</s>"])
    tokenizer.add_tokens([AddedToken("<think>", special=False, normalized=False)])
    return tokenizer, Vocabulary.from_huggingface(tokenizer, eos_ids=1)


@pytest.mark.parametrize("kind", ["Unigram", "WordPiece", "Strip"])
def test_texts_with_added_tokens_that_are_left_out_are_named(kind: str) -> None:
    tokenizer, vocabulary = with_thoughts(kind)
    for text in ("<think>", " <think>", "a<think>"):
        with pytest.raises(EmptyLanguageError, match="added tokens, such as '<think>'"):
            pdacon.compile(pdacon.Grammar.from_choices([text]), vocabulary, canonical=tokenizer)
        others = pdacon.compile(pdacon.Grammar.from_choices([text, "ab"]), vocabulary, canonical=tokenizer)
        matcher = others.matcher(strip_leading_space=kind == "WordPiece")
        while not matcher.is_accepting():
            assert matcher.accept_token(min(matcher.allowed_tokens()))
        assert matcher.text.strip() == "ab"


def test_an_added_token_that_is_spelled_otherwise_than_the_model_is_refused() -> None:
    """Its text is normalized: a space is put before it, and the id is that of what ``a`` and ``a`` become."""
    words = ["<unk>", "</s>", "a", "b", "▁", "aa"]
    tokenizer = Tokenizer(models.BPE({word: i for i, word in enumerate(words)}, [("a", "a")], unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    tokenizer.add_special_tokens(["</s>"])
    grammar = pdacon.Grammar.from_regex("[ab ]{1,4}")
    assert pdacon.compile(grammar, Vocabulary.from_huggingface(tokenizer, eos_ids=1), canonical=tokenizer).is_canonical
    tokenizer.add_tokens([AddedToken("aa", normalized=True)])
    with pytest.raises(
        VocabularyError, match=r"'a' and 'a' become token 5, which is b' aa'.*compile without canonical"
    ):
        pdacon.compile(grammar, Vocabulary.from_huggingface(tokenizer, eos_ids=1), canonical=tokenizer)
