"""Byte-level tokenizers that split texts as those of models do, and ones of a few merges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

from pdacon import Vocabulary
from support.small_tokenizers import TEXT, train_byte_level, train_split

GPT4O = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
DEEPSEEK = (
    r"\p{N}{1,3}",
    r"[一-龥぀-ゟ゠-ヿ]+",
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+",
)
CORPUS = [
    *TEXT,
    "Amazon Alphabet Amazon Apple  \n\n  aaa a'll 'S ab1 12 123 1234\n   \r\n",
    "'DON''T' FROM FOO",
] * 3


def trained(style: str) -> tuple[Any, Vocabulary, Callable[[str], list[int]]]:
    patterns = {"gpt4o": (GPT4O,), "qwen": (QWEN,), "deepseek": DEEPSEEK}
    if style in patterns:
        tokenizer = train_split(patterns[style], ["<end>"], 440, CORPUS)
    else:
        tokenizer = train_byte_level(style, ["<end>"], 440, CORPUS)
    vocabulary = Vocabulary.from_huggingface(tokenizer, eos_ids=tokenizer.token_to_id("<end>"))
    return tokenizer, vocabulary, lambda text: list(tokenizer.encode(text, add_special_tokens=False).ids)


STYLES = ("gpt2", "llama3", "gpt4o", "qwen", "deepseek")
TOKENIZERS = {style: trained(style) for style in STYLES}


def with_normalizer(tokenizer: Any, vocabulary: Vocabulary) -> tuple[Any, Vocabulary]:
    """As Qwen's: texts are brought into NFC, and there are special tokens."""
    made = Tokenizer.from_str(tokenizer.to_str())
    made.normalizer = normalizers.NFC()
    made.add_special_tokens(["<|im_start|>", "<|im_end|>"])
    return made, Vocabulary.from_huggingface(made, eos_ids=vocabulary.eos_ids)


def spell(text: str) -> str:
    """A text in the letters that stand for its bytes."""
    ((spelling, _),) = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False).pre_tokenize_str(text)
    return spelling


def merging(merges: list[tuple[str, str]]) -> Tokenizer:
    """Bytes, and these merges."""
    words = ["</s>", *sorted(pre_tokenizers.ByteLevel.alphabet()), *("".join(merge) for merge in merges)]
    tokenizer = Tokenizer(models.BPE({word: i for i, word in enumerate(words)}, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["</s>"])
    return tokenizer
