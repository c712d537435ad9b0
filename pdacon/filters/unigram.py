"""Unigram models: the best path through a text, piece by piece.

In: the JSON of a `tokenizers.Tokenizer` and how it writes spaces, or a SentencePiece model. Out: the scores of its
tokens, where a text is cut for certain, and by how much sums of scores may be rounded.

Source: Kudo 2018, "Subword regularization".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf, isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdacon.detokenizer import Vocabulary
from pdacon.detokenizer.sentencepiece_model import BYTE_PIECE, NORMAL, SPACE, UNUSED, USER_DEFINED, Model
from pdacon.filters.characters import NUM_CODE_POINTS
from pdacon.filters.spaces import Spaces
from pdacon.filters.unspanned_cuts import Borders, borders_of
from pdacon.filters.word_pieces import Words, star_arrays, word_borders

_PENALTY = 10.0
"""By so much less than any token a character adds that is none."""
_EXACT_BITS = 33
"""Multiples of 2**-33 have exact sums up to 2**20, in numbers of 53 bits."""
_KEPT_BITS = 24
"""Scores that are no such multiples are rounded to multiples of 2**-24, so that states come back."""
_MARGIN = 2.0**-18
"""How far paths of such scores may differ, and be the other way round in the library, which rounds its sums."""
_MARGIN_OF_SINGLES = 2.0**-9
"""The same where sums have 24 bits, as in SentencePiece: 32 roundings of sums below 2**11, 4 below 2**14."""


class Paths(NamedTuple):
    """A unigram model."""

    words: Words
    borders: Borders  # Where a text is cut for certain


def paths_of(state: dict[str, Any], spaces: Spaces | None, vocabulary: Vocabulary) -> Paths:
    """Take a unigram model of `tokenizers` apart.

    Raises ValueError: spaces are not written as ▁, or it has what is not supported; the message says what stands in the
    way.
    """
    model = state["model"]
    if spaces is None:
        raise ValueError(f"the model is Unigram, and spaces are not written as {SPACE}")
    silent = {token["id"] for token in state["added_tokens"]}
    pieces = {
        i: (word, score)
        for i, (word, score) in enumerate(model["vocab"])
        if i not in silent and not (model.get("byte_fallback") and BYTE_PIECE.fullmatch(word))
    }
    unknown = _lowest(model["vocab"]) - _PENALTY
    return _paths(pieces, unknown, vocabulary, is_split=spaces.split, single=False)


def paths_of_model(model: Model, vocabulary: Vocabulary) -> Paths:
    """Take a unigram model of SentencePiece itself apart.

    Raises ValueError: it has pieces that are not supported; the message names one.
    """
    for word, kind in model.pieces:
        if kind in (UNUSED, USER_DEFINED):
            raise ValueError(f"the piece {word!r:.40} is {'unused' if kind == UNUSED else 'user-defined'}")
    pieces = {i: (word, model.scores[i]) for i, (word, kind) in enumerate(model.pieces) if kind == NORMAL}
    unknown = _lowest(pieces.values()) - _PENALTY
    return _paths(pieces, unknown, vocabulary, is_split=False, single=True)


def _lowest(scores: Iterable[tuple[str, float | None]]) -> float:
    """The lowest score. One that is no number is None in the JSON of `tokenizers`."""
    lowest = inf
    for word, score in scores:
        if score is None or not isfinite(score):
            raise ValueError(f"the piece {word!r:.40} has no finite score")
        lowest = min(lowest, score)
    return lowest


def _paths(
    pieces: Mapping[int, tuple[str, float]], unknown: float, vocabulary: Vocabulary, *, is_split: bool, single: bool
) -> Paths:
    used, scores = np.zeros(vocabulary.size, np.uint8), np.zeros(vocabulary.size)
    texts = []
    for i, (word, score) in pieces.items():
        if i < vocabulary.size and vocabulary.tokens[i] is None:
            continue
        text = word.replace(SPACE, " ")
        if i >= vocabulary.size or vocabulary.tokens[i] != text.encode():
            raise ValueError(f"token {i} is {word!r:.40}, and another one in the vocabulary")
        used[i], scores[i] = 1, score
        texts.append(text)
    characters = {text for text in texts if len(text) == 1}
    if " " not in characters:
        raise ValueError(f"{SPACE} by itself is no piece")
    classes = np.full(NUM_CODE_POINTS, -1, np.int32)
    classes[list(map(ord, characters))] = 0
    star = star_arrays(classes, [[0]], np.ones(1, np.uint8))
    numbers = np.array([unknown])
    if not is_split:
        scores, numbers = _beside_each_other(scores, unknown, single=single)
    return Paths(Words(used, 0, star, scores, numbers), _borders(texts, characters, is_split=is_split))


def _beside_each_other(
    scores: NDArray[np.float64], unknown: float, *, single: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The scores, where only their differences can be known; and that of what is unknown, with the margin."""
    numbers = [*scores.tolist(), unknown]
    bits = max(number.as_integer_ratio()[1].bit_length() - 1 for number in numbers)
    margin = _MARGIN_OF_SINGLES if single else 0.0 if bits <= _EXACT_BITS else _MARGIN
    if bits > _EXACT_BITS:
        scores, unknown = np.round(scores * 2.0**_KEPT_BITS) / 2.0**_KEPT_BITS, round(unknown, 6)
    return scores, np.array([unknown, margin])


def _borders(texts: Iterable[str], characters: set[str], *, is_split: bool) -> Borders:
    listed = list(texts)
    if is_split or not any(" " in text[1:] for text in listed):
        return Borders(word_borders(), np.zeros(2, np.uint8))
    if missing := sorted(set("".join(listed)) - characters):
        raise ValueError(f"the character {missing[0]!r} is in pieces and is none itself")
    return borders_of(listed, (), before_spaces=False)
