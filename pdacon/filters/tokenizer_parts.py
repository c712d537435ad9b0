"""What a tokenizer is made of: the pairs that it merges, and where it splits texts beforehand.

BPE only, over bytes or over characters as SentencePiece's is. Each other family, and each part that changes texts or
that is unknown, is refused by name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdacon.detokenizer import Vocabulary
from pdacon.detokenizer.byte_level import bytes_of, bytes_of_all
from pdacon.detokenizer.decoders import flattened
from pdacon.detokenizer.sentencepiece_model import (
    BPE,
    BYTE,
    BYTE_PIECE,
    NORMAL,
    SPACE,
    UNIGRAM,
    UNUSED,
    USER_DEFINED,
    Model,
)
from pdacon.errors import VocabularyError
from pdacon.filters.spaces import Prefix, Spaces, sentencepiece_of, spaces_of
from pdacon.filters.split_regex import program_of
from pdacon.filters.splitting import SplitAutomaton, split_automaton
from pdacon.filters.tokenizer_texts import added_tokens, backend_of, ranked_of
from pdacon.filters.unigram import paths_of, paths_of_model
from pdacon.filters.unspanned_cuts import Borders, borders_of
from pdacon.filters.word_pieces import Words, is_word_piece, word_borders, words_of

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
"""The regex of the pre-tokenizer ByteLevel of tokenizers."""

_WAY_OUT = "compile without canonical"
_NOTHING = np.empty(0, np.uint8)


@dataclass(frozen=True, slots=True)
class Parts:
    """Of a BPE, a WordPiece or a unigram model."""

    splits: SplitAutomaton  # Where a text is split
    # uint8[classes]: of a BPE over characters, the classes of those that are no token; empty: it is over bytes.
    bytewise: NDArray[np.uint8]
    # int32[n, 4]: left token, right token, rank, and what they become; empty where ``ranks`` say it.
    pairs: NDArray[np.int32]
    # int32[V]: the rank of each token, -1 for others; any two tokens become the one that spells both. Empty where
    # ``pairs`` say it.
    ranks: NDArray[np.int32]
    # uint8[V]: 1 for the tokens that take part, 2 for those that stand for a byte of what is no token, 3 for those that
    # never merge, 0 for others.
    roles: NDArray[np.uint8]
    whole: bool  # Whether a pretoken that is a token is that token, whatever its pairs make of it
    prefix: Prefix = "never"  # When a space is put before a text
    words: Words | None = None  # What a WordPiece or a unigram model does instead of merging


def parts_of(tokenizer: Any, vocabulary: Vocabulary) -> Parts:
    """Take a tokenizer apart.

    Raises VocabularyError: it is of another family, or changes texts before it splits them.
    """
    if (ranked := ranked_of(tokenizer)) is not None:
        return _of_ranks(*ranked, vocabulary)
    if (backend := backend_of(tokenizer)) is not None:
        if is_word_piece(backend):
            return _of_word_pieces(backend, vocabulary)
        try:
            unread = added_tokens(tokenizer).excluded
        except ValueError as error:
            raise _refusal(f"texts are changed or split by {error}") from error
        return _of_json(json.loads(backend.to_str()), vocabulary, unread)
    if (model := sentencepiece_of(tokenizer)) is not None:
        return _of_sentencepiece(model, vocabulary)
    raise _refusal(f"a {type(tokenizer).__name__} does not say what it is made of")


def _refusal(what: str) -> VocabularyError:
    return VocabularyError(f"canonical is for BPE, WordPiece and Unigram; of this tokenizer, {what}; {_WAY_OUT}")


def _of_ranks(encoding: Any, offset: int, vocabulary: Vocabulary) -> Parts:
    try:
        pattern, texts = encoding._pat_str, encoding._mergeable_ranks
    except AttributeError as error:
        raise _refusal(f"this version of tiktoken does not show its {error.name}") from error
    ranks = np.full(vocabulary.size, -1, np.int32)
    for text, rank in texts.items():
        if rank + offset >= vocabulary.size or vocabulary.tokens[rank + offset] != text:
            raise _other_token(rank + offset, text)
        ranks[rank + offset] = rank
    splits = _splits((pattern,), dollar_is_end=True)
    return Parts(splits, _NOTHING, np.empty((0, 4), np.int32), ranks, (ranks >= 0).astype(np.uint8), True)


def _of_word_pieces(backend: Any, vocabulary: Vocabulary) -> Parts:
    try:
        words = words_of(json.loads(backend.to_str()), backend, vocabulary)
    except ValueError as error:
        raise _refusal(str(error)) from error
    return _of_words(words, Borders(word_borders(), np.zeros(2, np.uint8)), "always")


def _of_unigram(state: dict[str, Any], vocabulary: Vocabulary) -> Parts:
    try:
        spaces = spaces_of(state["normalizer"], state["pre_tokenizer"])
        words, borders = paths_of(state, spaces, vocabulary)
    except ValueError as error:
        raise _refusal(str(error)) from error
    return _of_words(words, borders, "never" if spaces is None else spaces.prefix)


def _of_words(words: Words, borders: Borders, prefix: Prefix) -> Parts:
    roles = np.where(words.kinds > 0, 3, 0).astype(np.uint8)
    pairs, ranks = np.empty((0, 4), np.int32), np.empty(0, np.int32)
    return Parts(borders.splits, borders.bytewise, pairs, ranks, roles, False, prefix, words)


def _of_json(state: dict[str, Any], vocabulary: Vocabulary, unread: AbstractSet[str]) -> Parts:
    model = state["model"]
    kind = model.get("type", "BPE")
    if kind == "Unigram":
        return _of_unigram(state, vocabulary)
    if kind != "BPE":
        raise _refusal(f"the model is {kind}")
    for option in ("dropout", "continuing_subword_prefix", "end_of_word_suffix"):
        if model.get(option):
            raise _refusal(f"the model has {option}")
    try:
        spaces = spaces_of(state["normalizer"], state["pre_tokenizer"])
    except ValueError as error:
        raise _refusal(f"texts in which spaces are {SPACE} are changed or split by {error}") from error
    if spaces is not None:
        return _of_characters(state, spaces, vocabulary, unread)
    if model.get("byte_fallback"):
        raise _refusal(f"the model has byte_fallback, and spaces are not written as {SPACE}")
    steps = list(flattened(state["pre_tokenizer"], "pretokenizers"))
    if "ByteLevel" not in [step["type"] for step in steps]:
        raise _refusal("texts do not become bytes: there is no pre-tokenizer ByteLevel")
    patterns = tuple(pattern for step in steps for pattern in _patterns(step))
    words: dict[str, int] = model["vocab"]
    added = {token["id"] for token in state["added_tokens"]}
    roles = np.zeros(vocabulary.size, np.uint8)
    for (word, i), text in zip(words.items(), bytes_of_all(list(words)), strict=True):
        if i in added:
            continue
        if i >= vocabulary.size or vocabulary.tokens[i] != text:
            raise _other_token(i, word)
        roles[i] = 1
    splits = _splits(patterns, dollar_is_end=False)
    pairs = _pairs(model, vocabulary, unread, bytes_of)
    return Parts(splits, _NOTHING, pairs, np.empty(0, np.int32), roles, bool(model.get("ignore_merges")))


def _pairs(
    model: dict[str, Any], vocabulary: Vocabulary, unread: AbstractSet[str], spelled: Callable[[str], bytes]
) -> NDArray[np.int32]:
    """The merges, without those of tokens whose texts are never read; they have no text in the vocabulary."""
    words, never_read = model["vocab"], {text.encode() for text in unread}
    tokens = [text or b"" for text in vocabulary.tokens]
    mute = {word for word, i in words.items() if i >= vocabulary.size or vocabulary.tokens[i] is None}
    pairs = []
    for rank, merge in enumerate(model["merges"]):
        left, right = merge.split(" ") if isinstance(merge, str) else merge
        made = left + right
        if mute.isdisjoint((left, right, made)):
            one, other, both = words[left], words[right], words[made]
            if tokens[one] + tokens[other] != tokens[both]:
                raise _refusal(
                    f"{left!r:.40} and {right!r:.40} become token {both}, which is {tokens[both]!r:.40} in the "
                    f"vocabulary, where they are {tokens[one]!r:.40} and {tokens[other]!r:.40}; an added token that is "
                    "normalized may be spelled otherwise than the model's"
                )
            pairs.append((one, other, rank, both))
        elif never_read.isdisjoint(spelled(one) for one in (left, right, made) if one in mute):
            silent = next(one for one in (left, right, made) if one in mute)
            raise _refusal(f"{left!r:.40} and {right!r:.40} merge, and {silent!r:.40} has no text in the vocabulary")
    return np.array(pairs, np.int32).reshape(-1, 4)


def _bytes_of_piece(word: str) -> bytes:
    return word.replace(SPACE, " ").encode()


def _of_characters(state: dict[str, Any], spaces: Spaces, vocabulary: Vocabulary, unread: AbstractSet[str]) -> Parts:
    """Of a BPE over characters, as `tokenizers` runs what was SentencePiece's."""
    model = state["model"]
    silent = {token["id"] for token in state["added_tokens"]}
    pieces = {i: word for word, i in model["vocab"].items() if i not in silent}
    _require_space(pieces.values())
    used, roles = _roles(pieces, bool(model.get("byte_fallback")), vocabulary)
    borders = borders_of(used.values(), _bytes_of(roles, vocabulary), before_spaces=spaces.split)
    whole = bool(model.get("ignore_merges"))
    pairs, ranks = _pairs(model, vocabulary, unread, _bytes_of_piece), np.empty(0, np.int32)
    return Parts(borders.splits, borders.bytewise, pairs, ranks, roles, whole, spaces.prefix)


def _of_sentencepiece(model: Model, vocabulary: Vocabulary) -> Parts:
    """Of SentencePiece itself. BPE: any two neighbours become the piece that spells both, best scores first."""
    if model.space_is_suffix:
        raise _refusal("a space is put behind texts: treat_whitespace_as_suffix")
    prefix: Prefix = "always" if model.add_dummy_prefix else "never"
    if model.kind == UNIGRAM:
        try:
            words, cuts = paths_of_model(model, vocabulary)
        except ValueError as error:
            raise _refusal(str(error)) from error
        return _of_words(words, cuts, prefix)
    if model.kind != BPE:
        raise _refusal("the SentencePiece model is neither BPE nor Unigram")
    _require_space(word for word, kind in model.pieces if kind in (NORMAL, USER_DEFINED))
    pieces = {i: word for i, (word, kind) in enumerate(model.pieces) if kind == NORMAL}
    used, roles = _roles(pieces, False, vocabulary)
    for i, (word, kind) in enumerate(model.pieces):
        if kind == BYTE:
            roles[i] = _byte_role(i, word, vocabulary)
        elif kind == UNUSED:
            raise _refusal(f"the piece {word!r:.40} is unused")
    characters = {word for word in used.values() if len(word) == 1}
    if missing := sorted(set("".join(used.values())) - characters):
        raise _refusal(f"the character {missing[0]!r} is in pieces and is none itself")
    ranks = np.full(vocabulary.size, -1, np.int32)
    best_first = sorted(used, key=lambda i: -model.scores[i])
    rank_of = {score: rank for rank, score in enumerate(dict.fromkeys(model.scores[i] for i in best_first))}
    for i in used:
        ranks[i] = rank_of[model.scores[i]]
    borders = borders_of(used.values(), _bytes_of(roles, vocabulary), before_spaces=False)
    pairs = np.empty((0, 4), np.int32)
    return Parts(borders.splits, borders.bytewise, pairs, ranks, roles, False, prefix)


def _require_space(words: Iterable[str]) -> None:
    """Without that piece its three bytes are written, if anything, which are no space when they are read again."""
    if SPACE not in words:
        raise _refusal(f"{SPACE} by itself is no piece")


def _roles(
    pieces: dict[int, str], byte_fallback: bool, vocabulary: Vocabulary
) -> tuple[dict[int, str], NDArray[np.uint8]]:
    """The texts of the pieces that take part, and the roles of all tokens."""
    roles = np.zeros(vocabulary.size, np.uint8)
    used = {}
    for i, word in pieces.items():
        if byte_fallback and BYTE_PIECE.fullmatch(word):
            roles[i] = _byte_role(i, word, vocabulary)
            continue
        text = word.replace(SPACE, " ")
        if i >= vocabulary.size or vocabulary.tokens[i] not in (text.encode(), None):
            raise _other_token(i, word)
        if vocabulary.tokens[i] is not None:  # that of <unk> is none
            used[i], roles[i] = text, 1
    return used, roles


def _bytes_of(roles: NDArray[np.uint8], vocabulary: Vocabulary) -> list[int]:
    return [ord(vocabulary.tokens[i] or b"") for i in np.flatnonzero(roles == 2)]


def _byte_role(i: int, word: str, vocabulary: Vocabulary) -> int:
    if i >= vocabulary.size or vocabulary.tokens[i] != bytes([int(word[3:5], 16)]):
        raise _other_token(i, word)
    return 2


def _other_token(i: int, word: str | bytes) -> VocabularyError:
    return _refusal(f"token {i} is {word!r:.40}, and another one in the vocabulary")


@lru_cache(maxsize=16)
def _splits(patterns: tuple[str, ...], *, dollar_is_end: bool) -> SplitAutomaton:
    return split_automaton([program_of(pattern, dollar_is_end=dollar_is_end) for pattern in patterns])


def _patterns(step: dict[str, Any]) -> Iterator[str]:
    kind = step["type"]
    if kind == "ByteLevel":
        if step.get("add_prefix_space"):
            raise _refusal("a space is put before texts: add_prefix_space")
        if step.get("use_regex", True):
            yield GPT2
    elif kind == "Digits":
        yield r"\p{N}" if step.get("individual_digits") else r"\p{N}+"
    elif kind == "Split" and step["behavior"] == "Isolated" and not step["invert"]:
        pattern = step["pattern"]
        yield pattern["Regex"] if "Regex" in pattern else re.escape(pattern["String"])
    else:
        how = f" ({step['behavior']}{', inverted' if step['invert'] else ''})" if kind == "Split" else ""
        raise _refusal(f"texts are split by the pre-tokenizer {kind}{how}")
