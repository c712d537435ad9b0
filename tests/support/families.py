"""Tiny tokenizers of every family, whose words are pieces of a small grammar's sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from pdacon import Vocabulary
from support.vocabularies import TinyVocabulary, pieces_of

END = "</s>"


def _byte_level(words: Sequence[str]) -> Vocabulary:
    """Every byte of the alphabet, and pieces of the sentences, characters cut apart or not."""
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    coder = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    coded = ["".join(part for part, _ in coder.pre_tokenize_str(word)) for word in words]
    cut = [word[1:] for word in coded if len(word) > 2]
    return _fast(models.BPE, sorted(alphabet) + coded + cut, decoders.ByteLevel())


def _byte_fallback(words: Sequence[str], strip: bool = True) -> Vocabulary:
    steps: list[Any] = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    decoder = decoders.Sequence([*steps, decoders.Strip(" ", 1, 0)] if strip else steps)
    return _fast(models.BPE, [f"<0x{byte:02X}>" for byte in range(256)] + _marked(words), decoder)


def _metaspace(words: Sequence[str], scheme: str = "always") -> Vocabulary:
    return _fast(models.Unigram, _marked(words), decoders.Metaspace(prepend_scheme=scheme))


def _word_piece(words: Sequence[str]) -> Vocabulary:
    return _fast(models.WordPiece, [*words, *(f"##{word}" for word in words)], decoders.WordPiece(cleanup=False))


def _word_level(words: Sequence[str]) -> Vocabulary:
    return _fast(models.WordLevel, words, None)


def _sentencepiece(words: Sequence[str], options: bytes = b"") -> Vocabulary:
    """A model as its file would be, written here: text and type of each piece, and options of the normalizer."""
    pieces = [("<unk>", 2), ("<s>", 3), (END, 3), *((f"<0x{byte:02X}>", 6) for byte in range(256))]
    pieces += [(word, 4 if len(word) > 3 else 1) for word in dict.fromkeys(_marked(words))]
    messages = [_field(1, word.encode()) + bytes([3 << 3, kind]) for word, kind in pieces]
    return Vocabulary.from_sentencepiece(b"".join(_field(1, message) for message in messages) + _field(3, options))


def _field(number: int, content: bytes) -> bytes:
    assert len(content) < 128
    return bytes([number << 3 | 2, len(content)]) + content


def _tiktoken(words: Sequence[str]) -> Vocabulary:
    import tiktoken

    texts = dict.fromkeys([*(bytes([byte]) for byte in range(256)), *(word.encode() for word in words)])
    ranks = {text: i for i, text in enumerate(texts)}
    special = {"<|endoftext|>": len(ranks) + 2, "<|pad|>": len(ranks)}
    return Vocabulary.from_tiktoken(
        tiktoken.Encoding("tiny", pat_str=r".|\n", mergeable_ranks=ranks, special_tokens=special)
    )


def _marked(words: Sequence[str]) -> list[str]:
    """As SentencePiece writes them, with and without a space before."""
    marked = [word.replace(" ", "▁") for word in words]
    return ["▁", *marked, *(f"▁{word}" for word in marked)]


def _fast(model: Any, words: Sequence[str], decoder: Any) -> Vocabulary:
    words = list(dict.fromkeys(["<unk>", END, *words]))
    ids = {word: i for i, word in enumerate(words)}
    if model is models.Unigram:
        tokenizer = Tokenizer(model([(word, -1.0) for word in words], unk_id=0))
    elif model is models.BPE:
        tokenizer = Tokenizer(model(ids, []))
    else:
        tokenizer = Tokenizer(model(ids, unk_token="<unk>"))
    tokenizer.add_special_tokens(["<unk>", END])
    if decoder is not None:
        tokenizer.decoder = decoder
    return Vocabulary.from_huggingface(tokenizer, eos_ids=[ids[END]])


TINY_FAMILIES: dict[str, Callable[[Sequence[str]], Vocabulary]] = {
    "byte-level BPE": _byte_level,
    "byte fallback": _byte_fallback,
    "byte fallback, not stripped": lambda words: _byte_fallback(words, strip=False),
    "Metaspace": _metaspace,
    "Metaspace, never": lambda words: _metaspace(words, "never"),
    "WordPiece": _word_piece,
    "WordLevel": _word_level,
    "SentencePiece": lambda words: _sentencepiece(words, b"\x20\x00"),
    "SentencePiece, nothing added": lambda words: _sentencepiece(words, b"\x18\x00\x20\x00"),
    "tiktoken": _tiktoken,
}


def tiny_family(family: str, alphabet: str, sentences: Sequence[str], random: Random) -> TinyVocabulary:
    """The vocabulary of a tokenizer whose words are the alphabet and pieces of sentences of up to four characters."""
    pieces = [*alphabet, *pieces_of(sentences, random, 10, 4)]
    vocabulary = TINY_FAMILIES[family](list(dict.fromkeys(pieces)))
    return TinyVocabulary(family, vocabulary.tokens, vocabulary.eos_ids, vocabulary.strip_leading_space)
