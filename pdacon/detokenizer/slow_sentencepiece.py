"""Tokenizers of transformers that run on SentencePiece in Python: their words, under the reading that proves right.

Each such class has a decoding of its own. What they share is that ``▁`` becomes a space; whether ``<0x41>`` is the
letter A or six characters is found out. A reading counts only if the tokenizer decodes all its tokens to it.
"""

from __future__ import annotations

from typing import Any

from pdacon.detokenizer.decoders import WAY_OUT, Decoder
from pdacon.detokenizer.reading import Reading, placed
from pdacon.detokenizer.verification import Comparison
from pdacon.errors import VocabularyError


def read_slow_sentencepiece(tokenizer: Any) -> Reading:
    """Return what every id of a tokenizer with an ``sp_model`` stands for.

    Raises
    ------
    VocabularyError
        It decodes tokens in a way of its own.
    """
    words = [_word(tokenizer, i) for i in range(len(tokenizer))]
    silent = {i for i in tokenizer.all_special_ids if i is not None}
    silent.update(i for i, token in tokenizer.added_tokens_decoder.items() if token.special)
    ids = [i for i, word in enumerate(words) if word and i not in silent]
    failure: VocabularyError | None = None
    for raw in ("ByteFallback", ""):
        decoder = Decoder(inner=(_spaces,), raw=raw)
        texts = decoder.spell([words[i] for i in ids])
        tokens = placed(zip(ids, texts, strict=True), len(words))
        bytes_ids = frozenset(i for i in ids if decoder.is_raw(words[i]))
        comparison = Comparison(lambda row: _decode(tokenizer, row), False, ids, tokens, texts, bytes_ids, inside=True)
        try:
            comparison.check()
        except VocabularyError as error:
            failure = failure or error
            continue
        end = tokenizer.eos_token_id
        return Reading(tokens, () if end is None else (end,), *_at_the_ends(tokenizer, comparison))
    raise VocabularyError(
        f"{type(tokenizer).__name__} decodes the pieces of its SentencePiece model in a way of its own ({failure}); "
        f"load it with use_fast=True, or {WAY_OUT}"
    ) from failure


def _word(tokenizer: Any, i: int) -> str:
    try:
        return tokenizer.convert_ids_to_tokens(i) or ""
    except (IndexError, KeyError, ValueError):
        return ""  # a gap


def _spaces(words: list[str]) -> list[str]:
    return [word.replace("▁", " ") for word in words]


def _decode(tokenizer: Any, row: list[int]) -> str:
    text: str = tokenizer.decode(row, skip_special_tokens=True, clean_up_tokenization_spaces=False)
    return text


def _at_the_ends(tokenizer: Any, comparison: Comparison) -> tuple[bool, tuple[str, ...]]:
    """Find out what the tokenizer strips where a text begins and where it ends."""
    spaced = next(
        (i for i in comparison.ids if (text := comparison.first[i]).startswith(b" ") and text.strip() != b""), None
    )
    bare = next((i for i in comparison.ids if comparison.first[i] == b" "), None)
    strips = spaced is not None and not _decode(tokenizer, [spaced]).startswith(" ")
    notes = []
    if bare is not None and comparison.anchor is not None and _decode(tokenizer, [comparison.anchor, bare])[-1] != " ":
        notes.append("the tokenizer drops white space at both ends of what it decodes")
    return strips, tuple(notes)
