"""Tokenizers of Hugging Face: the words of the vocabulary, spelt out by the decoder, checked by their own decoding.

Which family a tokenizer belongs to is read off its decoder pipeline and never off the name of a class. Wrappers that
wrap no fast tokenizer are read through what they do wrap, if that is SentencePiece or mistral-common.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from pdacon.detokenizer.cache import cached
from pdacon.detokenizer.decoders import WAY_OUT, Decoder, read_decoder
from pdacon.detokenizer.raw_vocabulary import Reading, placed, require_ids, some
from pdacon.detokenizer.verification import check_backend, check_wrapper
from pdacon.errors import VocabularyError

WORTH_KEEPING = 10_000
"""Smaller vocabularies are read faster than they are found in the cache."""


def read_tokenizer(tokenizer: Any) -> Reading:
    """Return what every id of a tokenizer stands for.

    Cost: for 131,072 tokens 0.3 s; from the cache on disk 0.2 s, half of which goes into asking for the words.

    Raises VocabularyError: what a token adds to a text depends on its neighbours, or is not what the tokenizer itself
    decodes.
    """
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if not all(hasattr(backend, name) for name in ("model", "decoder", "decode_batch", "get_added_tokens_decoder")):
        return _read_other(tokenizer)
    decoder = read_decoder(backend.decoder)
    _require_known_words(backend, decoder)
    words, silent = _words(tokenizer, backend)

    def spell() -> Reading:
        return _spelt(backend, decoder, words, silent)

    reading = spell() if len(words) < WORTH_KEEPING else cached("huggingface", _content(backend, words, silent), spell)
    if backend is not tokenizer:
        check_wrapper(tokenizer, backend, [i for i, text in enumerate(reading.tokens) if text])
    return replace(
        reading,
        eos_ids=_ends_of(tokenizer),
        notes=(*reading.notes, *_notes_of_wrapper(tokenizer)),
        special_tokens={words[i]: i for i in sorted(silent) if words[i]},
    )


def _spelt(backend: Any, decoder: Decoder, words: list[str], silent: set[int]) -> Reading:
    ids = [i for i, word in enumerate(words) if word and i not in silent]
    written = [words[i] for i in ids]
    inner = decoder.spell(written)
    first = decoder.spell(written, first=True) if decoder.has_first_rule else inner
    tokens = placed(zip(ids, inner, strict=True), len(words))
    raw = frozenset(i for i in ids if decoder.is_raw(words[i])) if decoder.raw == "ByteFallback" else frozenset()
    check_backend(backend, decoder, ids, tokens, first, raw)
    notes = _notes(decoder, inner, first) if decoder.has_first_rule else ()
    return Reading(tokens, (), decoder.strips or decoder.has_first_rule, tuple(notes))


def _content(backend: Any, words: list[str], silent: set[int]) -> Iterable[bytes]:
    """Everything that the bytes of a tokenizer depend on, the library that decodes included."""
    from importlib.metadata import version

    yield version("tokenizers").encode()
    yield b"none" if backend.decoder is None else backend.decoder.__getstate__()
    yield array("I", map(len, words)).tobytes()
    yield "".join(words).encode()
    yield array("I", sorted(silent)).tobytes()


def _words(tokenizer: Any, backend: Any) -> tuple[list[str], set[int]]:
    """Return the word of every id, "" for unused ones, and the ids that stand for no text."""
    vocabulary: dict[str, int] = backend.get_vocab(with_added_tokens=True)
    added: dict[int, Any] = backend.get_added_tokens_decoder()
    words = [""] * require_ids([*vocabulary.values(), *added], type(tokenizer).__name__)
    for word, i in vocabulary.items():
        words[i] = word
    for i in added:
        # Not its content: what is decoded is the content after the normalizer, which may add ▁ or lower its case.
        words[i] = backend.id_to_token(i) or ""
    silent = {i for i, token in added.items() if token.special}
    silent.update(i for i in getattr(tokenizer, "all_special_ids", ()) if i is not None)
    silent.update(_unknown(backend))
    return words, silent


def _unknown(backend: Any) -> Iterable[int]:
    """Return the id of the unknown token, which stands for whatever the vocabulary lacks."""
    model = backend.model
    name = getattr(model, "unk_token", None)
    if name is not None:
        i = backend.token_to_id(name)
        return () if i is None else (i,)
    if type(model).__name__ != "Unigram":  # which does not say, so it is asked for a character that nothing has
        return ()
    try:
        found = model.tokenize(_NOWHERE)
    except Exception:  # the library's own; it has no unknown token
        return ()
    return [token.id for token in found if len(found) == 1 and token.value != backend.id_to_token(token.id)]


_NOWHERE = "\U0010fffd"  # for private use


def _require_known_words(backend: Any, decoder: Decoder) -> None:
    suffix = getattr(backend.model, "end_of_word_suffix", None)
    if suffix:
        raise VocabularyError(
            f"tokenizers with the end-of-word suffix {suffix!r} (decoder: {decoder}) are not supported: where a word "
            f"ends they add a space, but not at the end of a text; {WAY_OUT}"
        )


def _notes(decoder: Decoder, inner: list[bytes], first: list[bytes]) -> Iterable[str]:
    """Say where decoding is not the concatenation of bytes with one leading space less."""
    odd = [text for text, alone in zip(inner, first, strict=True) if text.removeprefix(b" ") != alone]
    if odd:
        yield (
            f"as the first token of a text {len(odd)} of {len(inner)} tokens are decoded to something else than "
            f"their bytes less one leading space ({decoder}): {some(odd)}"
        )


def _notes_of_wrapper(tokenizer: Any) -> Iterable[str]:
    if getattr(tokenizer, "clean_up_tokenization_spaces", False):
        yield (
            "the tokenizer is set to clean_up_tokenization_spaces, which rewrites what it decodes: pass "
            "clean_up_tokenization_spaces=False to its decode, or use Vocabulary.decode"
        )


def _ends_of(tokenizer: Any) -> tuple[int, ...]:
    end = getattr(tokenizer, "eos_token_id", None)
    return () if end is None else tuple(end) if isinstance(end, (list, tuple)) else (end,)


def _read_other(tokenizer: Any) -> Reading:
    """Read a tokenizer without a `tokenizers.Tokenizer` through what it wraps."""
    name = type(tokenizer).__name__
    if isinstance(tokenizer, str):
        raise VocabularyError(
            f"{tokenizer!r} is not a fast tokenizer but a name: load it with transformers.AutoTokenizer.from_pretrained"
        )
    inside = getattr(getattr(getattr(tokenizer, "tokenizer", None), "instruct_tokenizer", None), "tokenizer", None)
    if inside is not None:  # transformers' wrapper of mistral-common
        return _read_mistral(inside)
    if hasattr(getattr(tokenizer, "tokenizer", None), "convert_ids_to_tokens"):
        raise VocabularyError(f"{name} is not a fast tokenizer but a processor: give the tokenizer in it, .tokenizer")
    for attribute in ("tokenizer", "model", "encoder", "tiktoken", "enc"):
        if hasattr(getattr(tokenizer, attribute, None), "decode_single_token_bytes"):
            raise VocabularyError(
                f"{name} is not a fast tokenizer, but wraps tiktoken: use "
                f"pdacon.Vocabulary.from_tiktoken(tokenizer.{attribute}), and compare the ids of its special tokens"
            )
    if all(hasattr(tokenizer, name) for name in ("convert_ids_to_tokens", "added_tokens_decoder", "all_special_ids")):
        from pdacon.detokenizer.slow import read_slow

        return read_slow(tokenizer)
    raise VocabularyError(f"{name} is not a fast tokenizer (it wraps no tokenizers.Tokenizer); {WAY_OUT}")


def _read_mistral(inside: Any) -> Reading:
    from pdacon.detokenizer.sentencepiece_model import model_bytes, parse, reading_of
    from pdacon.detokenizer.tekken_file import read_tekkenizer

    if hasattr(inside, "id_to_byte_piece") and hasattr(inside, "is_byte"):
        return read_tekkenizer(inside)
    data, name = model_bytes(inside.file_path)
    return reading_of(parse(data, name), name)
