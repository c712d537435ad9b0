"""Tokenizers of transformers that run in Python: their words, under the reading that proves right.

Each such class has a decoding of its own. Read are those on SentencePiece, where ``▁`` becomes a space and ``<0x41>``
is the letter A or six characters, and those whose words are single bytes (ByT5). A reading counts only if the
tokenizer decodes all its tokens to it.
"""

from __future__ import annotations

from typing import Any

from pdacon.detokenizer.decoders import WAY_OUT, Decoder
from pdacon.detokenizer.raw_vocabulary import Reading, placed
from pdacon.detokenizer.sentencepiece_model import BYTE_PIECE, CONTROL, UNKNOWN, UNUSED, model_bytes, parse
from pdacon.detokenizer.verification import Comparison
from pdacon.errors import VocabularyError


def read_slow(tokenizer: Any) -> Reading:
    """Return what every id of a tokenizer in Python stands for.

    Raises VocabularyError: it decodes tokens in a way of its own.
    """
    words = [_word(tokenizer, i) for i in range(len(tokenizer))]
    silent = {i for i in tokenizer.all_special_ids if i is not None}
    silent.update(i for i, token in tokenizer.added_tokens_decoder.items() if token.special)
    pieces = hasattr(tokenizer, "sp_model")
    mute = _mute_pieces(tokenizer.sp_model) if pieces else set()
    ids = [i for i, word in enumerate(words) if word and i not in silent and word not in mute]
    failures = []
    for read in (_with_bytes, _literally) if pieces else (_single_bytes,):
        texts = read([words[i] for i in ids])
        tokens = placed(zip(ids, texts, strict=True), len(words))
        alone = frozenset(i for i in ids if len(tokens[i] or b"") == 1 and len(words[i]) in (1, 6))
        comparison = Comparison(lambda row: _decode(tokenizer, row), False, ids, tokens, texts, alone, inside=True)
        try:
            comparison.check()
        except VocabularyError as error:
            failures.append(error)
            continue
        end = tokenizer.eos_token_id
        strips, notes = _at_the_ends(tokenizer, comparison)
        if read is _literally and any(BYTE_PIECE.fullmatch(word) for word in words):
            notes.append("the tokenizer prints byte pieces as <0x0A>, so that is what they stand for here")
        special = {words[i]: i for i in sorted(silent) if i < len(words) and words[i]}
        return Reading(tokens, () if end is None else (end,), strips, tuple(notes), special)
    raise VocabularyError(
        f"{type(tokenizer).__name__} is not a fast tokenizer and decodes tokens in a way of its own ({failures[0]}); "
        f"load it with use_fast=True, or {WAY_OUT}"
    ) from failures[0]


def _word(tokenizer: Any, i: int) -> str:
    try:
        return tokenizer.convert_ids_to_tokens(i) or ""
    except (IndexError, KeyError, ValueError):
        return ""  # a gap


def _mute_pieces(model: Any) -> set[str]:
    """Control, unknown and unused pieces: they are nobody's text, whatever is printed for them."""
    return {piece for piece, kind in parse(*model_bytes(model)).pieces if kind in (CONTROL, UNKNOWN, UNUSED)}


def _with_bytes(words: list[str]) -> list[bytes]:
    return Decoder(raw="ByteFallback").spell([word.replace("▁", " ") for word in words])


def _literally(words: list[str]) -> list[bytes]:
    return [word.replace("▁", " ").encode() for word in words]


def _single_bytes(words: list[str]) -> list[bytes]:
    return [word.encode("latin-1" if len(word) == 1 and word < "\u0100" else "utf-8") for word in words]


def _decode(tokenizer: Any, row: list[int]) -> str:
    text: str = tokenizer.decode(row, skip_special_tokens=True, clean_up_tokenization_spaces=False)
    return text


def _at_the_ends(tokenizer: Any, comparison: Comparison) -> tuple[bool, list[str]]:
    """Find out what the tokenizer strips where a text begins and where it ends."""
    anchor = comparison.anchor
    assert anchor is not None  # or the comparison would have failed
    spaced = next((i for i in comparison.ids if comparison.first[i].startswith(b" ")), None)
    bare = next((i for i in comparison.ids if comparison.first[i] == b" "), None)
    strips = spaced is not None and not _decode(tokenizer, [spaced, anchor]).startswith(" ")
    notes = []
    if bare is not None and not _decode(tokenizer, [anchor, bare]).endswith(" "):
        notes.append("the tokenizer drops white space at both ends of what it decodes")
    return strips, notes
