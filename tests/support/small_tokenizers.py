"""Small tokenizers of the families that users have, trained here: no hub is needed."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from io import BytesIO
from typing import Any

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

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
BYTE_TOKENS = [f"<0x{byte:02X}>" for byte in range(256)]


def train_byte_level(style: str, specials: list[str], size: int = 420, text: Sequence[str] = TEXT) -> Tokenizer:
    """GPT-2 and Llama 3: bytes written as characters."""
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
    tokenizer.train_from_iterator(text, trainer)
    return tokenizer


def train_split(patterns: Sequence[str], specials: list[str], size: int, text: Sequence[str]) -> Tokenizer:
    """Byte-level BPE with any regexes that split texts, one within the pieces of the other."""
    tokenizer = Tokenizer(models.BPE())
    splits = [pre_tokenizers.Split(Regex(pattern), behavior="isolated") for pattern in patterns]
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*splits, byte_level])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=specials,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(text, trainer)
    return tokenizer


def train_byte_fallback(size: int = 420, text: Sequence[str] = TEXT, strip: bool = True) -> Tokenizer:
    """Llama 2 and Mistral (and Gemma, without `strip`): pieces with ▁ for the space, bytes for what they lack."""
    tokenizer = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>", fuse_unk=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    steps: list[Any] = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    tokenizer.decoder = decoders.Sequence([*steps, decoders.Strip(" ", 1, 0)] if strip else steps)
    specials = ["<unk>", "<s>", "</s>", *BYTE_TOKENS]
    tokenizer.train_from_iterator(
        text,
        trainers.BpeTrainer(vocab_size=size, special_tokens=specials, show_progress=False, max_token_length=8),
    )
    # The bytes are words of the vocabulary, not special tokens: only training treats them so.
    state = tokenizer.to_str()
    tokenizer = Tokenizer.from_str(_only_special(state, specials[:3]))
    tokenizer.add_tokens([AddedToken("▁▁", special=False, normalized=False)])
    return tokenizer


def _only_special(state: str, specials: list[str]) -> str:
    content = json.loads(state)
    content["added_tokens"] = [token for token in content["added_tokens"] if token["content"] in specials]
    return json.dumps(content)


def train_metaspace(
    prepend_scheme: str = "always",
    split: bool = True,
    model: str = "Unigram",
    size: int = 200,
    text: Sequence[str] = TEXT,
) -> Tokenizer:
    """T5 and its like: pieces with ▁ for the space, and no bytes."""
    unigram = model == "Unigram"
    tokenizer = Tokenizer(models.Unigram() if unigram else models.BPE(unk_token="<unk>"))
    metaspace = {"prepend_scheme": prepend_scheme, "split": split}
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(**metaspace)
    tokenizer.decoder = decoders.Metaspace(**metaspace)
    specials = ["<pad>", "</s>", "<unk>"]
    trainer: Any = (
        trainers.UnigramTrainer(vocab_size=size, special_tokens=specials, unk_token="<unk>", show_progress=False)
        if unigram
        else trainers.BpeTrainer(vocab_size=size, special_tokens=specials, show_progress=False)
    )
    tokenizer.train_from_iterator(text, trainer)
    return tokenizer


def train_word_piece(cleanup: bool = True, size: int = 300, text: Sequence[str] = TEXT) -> Tokenizer:
    """BERT: ## continues a word, a space comes before every other token."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece(cleanup=cleanup)
    trainer = trainers.WordPieceTrainer(vocab_size=size, special_tokens=["[UNK]", "[SEP]"], show_progress=False)
    tokenizer.train_from_iterator(text, trainer)
    return tokenizer


def train_word_level(text: Sequence[str] = TEXT) -> Tokenizer:
    """Whole words and no decoder: the tokens are joined by spaces."""
    tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.train_from_iterator(
        text, trainers.WordLevelTrainer(special_tokens=["[UNK]", "[END]"], show_progress=False)
    )
    return tokenizer


FAMILIES: dict[str, Callable[[Sequence[str]], Tokenizer]] = {
    "byte-level BPE, GPT-2": lambda text: train_byte_level("gpt2", ["<|endoftext|>"], text=text),
    "byte-level BPE, Llama 3": lambda text: train_byte_level("llama3", ["<|endoftext|>"], text=text),
    "byte fallback, Llama 2": lambda text: train_byte_fallback(text=text),
    "byte fallback, Gemma": lambda text: train_byte_fallback(text=text, strip=False),
    "Metaspace, always": lambda text: train_metaspace(text=text),
    "Metaspace, first": lambda text: train_metaspace("first", text=text),
    "Metaspace, never": lambda text: train_metaspace("never", text=text),
    "Metaspace, not split": lambda text: train_metaspace(split=False, text=text),
    "Metaspace, BPE": lambda text: train_metaspace(model="BPE", text=text),
    "WordPiece": lambda text: train_word_piece(text=text),
    "WordPiece, not cleaned": lambda text: train_word_piece(cleanup=False, text=text),
    "WordLevel": lambda text: train_word_level(text=text),
}
ENDS = ("<|endoftext|>", "</s>", "[SEP]", "[END]")


def end_of(tokenizer: Tokenizer) -> int:
    """The end token of a tokenizer trained here."""
    return next(i for name in ENDS if (i := tokenizer.token_to_id(name)) is not None)


def train_sentencepiece(text: Sequence[str] = TEXT, **options: Any) -> bytes:
    """A SentencePiece model as its file would be."""
    import sentencepiece

    file = BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(text), model_writer=file, minloglevel=2, hard_vocab_limit=False, **options
    )
    return file.getvalue()


SENTENCEPIECE: dict[str, dict[str, Any]] = {
    "Llama 2": {
        "model_type": "bpe",
        "byte_fallback": True,
        "vocab_size": 400,
        "remove_extra_whitespaces": False,
        "normalization_rule_name": "identity",
        "user_defined_symbols": ["▁▁", "▁▁▁▁", "<tool>", "a b"],
        "control_symbols": ["[INST]"],
    },
    "Gemma": {
        "model_type": "bpe",
        "byte_fallback": True,
        "vocab_size": 400,
        "add_dummy_prefix": False,
        "remove_extra_whitespaces": False,
    },
    "T5": {"model_type": "unigram", "vocab_size": 160, "bos_id": -1, "pad_id": 0, "eos_id": 1, "unk_id": 2},
    "no dummy prefix": {"model_type": "unigram", "vocab_size": 160, "add_dummy_prefix": False},
    "space as suffix": {"model_type": "unigram", "vocab_size": 160, "treat_whitespace_as_suffix": True},
    "characters": {"model_type": "char", "vocab_size": 100},
    "words": {"model_type": "word", "vocab_size": 60},
}


def _with_decoder(decoder: Any) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE({"a": 0, "b": 1}, []))
    tokenizer.decoder = decoder
    return tokenizer


def _end_of_word() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE({"a": 0, "a</w>": 1}, [], end_of_word_suffix="</w>"))
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


REFUSED: dict[str, Callable[[], Tokenizer]] = {
    "end-of-word suffix": _end_of_word,
    "BPEDecoder": lambda: _with_decoder(decoders.BPEDecoder()),
    "CTC": lambda: _with_decoder(decoders.CTC()),
    "Replace": lambda: _with_decoder(decoders.Replace(Regex("a+"), " ")),
    "Strip": lambda: _with_decoder(decoders.Strip(" ", 1, 0)),
    "Fuse \\+ Strip": lambda: _with_decoder(decoders.Sequence([decoders.Fuse(), decoders.Strip(" ", 0, 1)])),
    "Fuse \\+ Replace": lambda: _with_decoder(decoders.Sequence([decoders.Fuse(), decoders.Replace("ab", "c")])),
    "ByteFallback \\+ Metaspace": lambda: _with_decoder(
        decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace()])
    ),
}
