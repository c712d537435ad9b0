"""Small tokenizers of the families that users have, trained here: no hub is needed."""

from __future__ import annotations

from collections.abc import Callable

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

TEXT = [
    "The quick brown fox jumps over the lazy dog, 1234567890 times.",
    '{"name": "Zoë Müller", "city": "Kraków", "tags": ["日本語", "emoji 🙂🙃", "naïve café"]}',
    "SELECT a, b FROM t WHERE a >= 10 AND b <> 'x';\n\tend\r\n",
] * 20

# The pattern of Llama 3, which Qwen shares but for the length of numbers.
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)


def train_byte_level(style: str, specials: list[str], size: int = 420) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    if style == "gpt2":
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    else:
        split = pre_tokenizers.Split(Regex(LLAMA3), behavior="isolated")
        byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, byte_level])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=specials,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(TEXT, trainer)
    return tokenizer


def _metaspace() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    return tokenizer


def _unigram() -> Tokenizer:
    tokenizer = Tokenizer(models.Unigram([("<unk>", 0.0), ("a", -1.0)], unk_id=0))
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer


def _word_piece() -> Tokenizer:
    tokenizer = Tokenizer(models.WordPiece({"[UNK]": 0, "a": 1}, unk_token="[UNK]"))
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer


def _end_of_word() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE({"a": 0, "a</w>": 1}, [], end_of_word_suffix="</w>"))
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


OTHER_FAMILIES: dict[str, Callable[[], Tokenizer]] = {
    "SentencePiece/Metaspace": _metaspace,
    "Unigram": _unigram,
    "WordPiece": _word_piece,
    "end-of-word suffix": _end_of_word,
}
