"""Byte-level BPE tokenizers of Hugging Face: from their alphabet back to bytes, checked by their own decoding.

Byte-level BPE writes every byte as one printable character: printable Latin-1 bytes stand for themselves, the
other 68 are U+0100 and up, in byte order (Radford et al. 2019, GPT-2's encoder). The decoder reverses
that for a token made of these characters only; any other token is its own text.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pdacon.errors import VocabularyError

_PRINTABLE = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))
_OTHERS = tuple(sorted(set(range(256)) - set(_PRINTABLE)))

# For str.translate: alphabet -> the Latin-1 character of its byte. Latin-1 characters outside the alphabet become
# one that Latin-1 cannot encode, so that a token which contains them is noticed.
_TO_LATIN_1 = {
    **dict.fromkeys(_OTHERS, "\uffff"),
    **{byte: chr(byte) for byte in _PRINTABLE},
    **{256 + index: chr(byte) for index, byte in enumerate(_OTHERS)},
}

_WHAT_WORKS = (
    "this version reads fast tokenizers with a BPE model and a ByteLevel decoder (GPT-2, Llama 3, Qwen, tekken); "
    "for others spell the tokens out with Vocabulary.from_tokens"
)


def read_tokens(tokenizer: Any) -> list[bytes | None]:
    """Return the bytes of every id of a byte-level BPE tokenizer, None for special tokens and unused ids.

    Parameters
    ----------
    tokenizer : transformers.PreTrainedTokenizerFast or tokenizers.Tokenizer

    Raises
    ------
    VocabularyError
        The tokenizer is of another family, or it decodes an id to something else than these bytes.
    """
    backend = _backend(tokenizer)
    _require_byte_level(backend)
    words: dict[str, int] = backend.get_vocab(with_added_tokens=True)
    added: dict[int, Any] = backend.get_added_tokens_decoder()
    tokens: list[bytes | None] = [None] * (max([*words.values(), *added], default=-1) + 1)
    for word, i in words.items():
        tokens[i] = _bytes_of(word)
    for i, token in added.items():
        tokens[i] = None if token.special else token.content.encode()
    for i in getattr(tokenizer, "all_special_ids", ()):
        if i is not None:  # a special token that was named but never added
            tokens[i] = None
    _check_against_decoding(backend, tokens)
    return tokens


def _backend(tokenizer: Any) -> Any:
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if not all(hasattr(backend, name) for name in ("model", "decoder", "decode_batch", "get_added_tokens_decoder")):
        raise VocabularyError(
            f"{type(tokenizer).__name__} is not a fast tokenizer (no tokenizers.Tokenizer is behind it); {_WHAT_WORKS}"
        )
    return backend


def _require_byte_level(backend: Any) -> None:
    model = type(backend.model).__name__
    decoders = _decoder_names(backend.decoder)
    if model == "BPE" and decoders and set(decoders) == {"ByteLevel"} and not backend.model.end_of_word_suffix:
        return
    chain = "+".join(decoders) or "no"
    if model == "WordPiece" or "WordPiece" in decoders:
        family = f"WordPiece ({model} model, {chain} decoder)"
    elif model == "Unigram":
        family = f"Unigram, as in SentencePiece ({chain} decoder)"
    elif {"Metaspace", "ByteFallback"}.intersection(decoders):
        family = f"SentencePiece/Metaspace ({model} model, {chain} decoder)"
    else:
        family = f"{model} with {chain} decoder"
        if model == "BPE" and backend.model.end_of_word_suffix:
            family += f" and end-of-word suffix {backend.model.end_of_word_suffix!r}"
    raise VocabularyError(f"tokenizers of the family {family} are not supported; {_WHAT_WORKS}")


def _decoder_names(decoder: Any) -> list[str]:
    if decoder is None:
        return []
    state = json.loads(decoder.__getstate__())
    parts = state["decoders"] if state["type"] == "Sequence" else [state]
    return [part["type"] for part in parts]


def _bytes_of(word: str) -> bytes:
    try:
        return word.translate(_TO_LATIN_1).encode("latin-1")
    except UnicodeEncodeError:
        return word.encode()


def _check_against_decoding(backend: Any, tokens: Sequence[bytes | None]) -> None:
    """Decode every id alone, and those that are no whole characters once more between bytes that complete them."""
    ids = [i for i, text in enumerate(tokens) if text]
    texts = [text for text in tokens if text]
    alone = [text.decode("utf-8", "replace") for text in texts]
    _compare(backend, tokens, ids, [[i] for i in ids], alone)

    single = {text: i for i, text in enumerate(tokens) if text and len(text) == 1}
    partial: list[int] = []
    contexts: list[list[int]] = []
    whole: list[str] = []
    for i, text, lossy in zip(ids, texts, alone, strict=True):
        if "\ufffd" not in lossy:
            continue
        before, after = _completing(text)
        around = [single.get(bytes([byte]), -1) for byte in before + after]
        if -1 not in around:
            partial.append(i)
            contexts.append([*around[: len(before)], i, *around[len(before) :]])
            whole.append((before + text + after).decode("utf-8", "replace"))
    _compare(backend, tokens, partial, contexts, whole)


def _compare(
    backend: Any, tokens: Sequence[bytes | None], ids: list[int], contexts: list[list[int]], expected: list[str]
) -> None:
    decoded: list[str] = backend.decode_batch(contexts, skip_special_tokens=False)
    if decoded == expected:
        return
    i, want, got = next(row for row in zip(ids, expected, decoded, strict=True) if row[1] != row[2])
    raise VocabularyError(
        f"token {i} stands for {tokens[i]!r}, which reads {want!r:.60}, but the tokenizer decodes it to {got!r:.60}; "
        "give its true text with Vocabulary.from_tokens"
    )


def _completing(text: bytes) -> tuple[bytes, bytes]:
    """Return bytes before and after which make whole characters of `text`, if any do.

    Any three-byte lead does for two continuation bytes, so the character need not be the one that was cut.
    """
    leading = len(text) - len(text.lstrip(_CONTINUATION))
    before = (b"", b"\xc3", b"\xe1", b"\xf1")[leading] if leading <= 3 else b""
    trailing = len(text) - len(text.rstrip(_CONTINUATION))
    start = len(text) - trailing - 1
    if start < 0:  # continuation bytes only: `before` has started a character of exactly this length
        return before, b""
    lead = text[start]
    needed = 1 + (lead >= 0xC0) + (lead >= 0xE0) + (lead >= 0xF0)
    missing = needed - 1 - trailing
    if missing <= 0:
        return before, b""
    # The second byte of E0 and F0 must not spell a shorter form.
    second = {0xE0: b"\xa0", 0xF0: b"\x90"}.get(lead, b"\x80")
    return before, b"\x80" * missing if trailing else second + b"\x80" * (missing - 1)


_CONTINUATION = bytes(range(0x80, 0xC0))
