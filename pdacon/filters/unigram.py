"""Unigram models: the best path through a text, piece by piece from each space on.

In: the JSON of a `tokenizers.Tokenizer`, and how it writes spaces. Out: the scores of its tokens.

Source: Kudo 2018, "Subword regularization".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pdacon.detokenizer import Vocabulary
from pdacon.detokenizer.sentencepiece_model import SPACE
from pdacon.filters.characters import NUM_CODE_POINTS
from pdacon.filters.spaces import Spaces
from pdacon.filters.word_pieces import Words, star_arrays

_PENALTY = 10.0
"""By so much less than any token a character adds that is none."""


def paths_of(state: dict[str, Any], spaces: Spaces | None, vocabulary: Vocabulary) -> Words:
    """Take a unigram model apart.

    Raises
    ------
    ValueError
        It is not cut at each space, or has what is not supported; the message says what stands in the way.
    """
    model = state["model"]
    if spaces is None or not spaces.split:
        raise ValueError("the model is Unigram, and texts are not split at each space (Metaspace with split)")
    if model.get("byte_fallback"):
        raise ValueError("the model is Unigram with byte_fallback")
    silent = {token["id"] for token in state["added_tokens"]}
    used, scores = np.zeros(vocabulary.size, np.uint8), np.zeros(vocabulary.size)
    single = set()
    for i, (word, score) in enumerate(model["vocab"]):
        if i in silent or i >= vocabulary.size or vocabulary.tokens[i] is None:
            continue
        text = word.replace(SPACE, " ")
        if vocabulary.tokens[i] != text.encode():
            raise ValueError(f"token {i} is {word!r:.40}, and another one in the vocabulary")
        used[i], scores[i] = 1, score
        if len(text) == 1:
            single.add(text)
    if " " not in single:
        raise ValueError(f"{SPACE} by itself is no piece")
    classes = np.full(NUM_CODE_POINTS, -1, np.int32)
    classes[list(map(ord, single))] = 0
    star = star_arrays(classes, [[0]], np.ones(1, np.uint8))
    unknown = min(score for _, score in model["vocab"]) - _PENALTY
    return Words(used, 0, star, scores, unknown)
