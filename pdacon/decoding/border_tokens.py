"""What has to come after a text for it to be over.

A model says nothing of where a text ends but by the next token: an end token, or one that begins something new. So the
probability of a text is that of its tokens and of a border after them (Pimentel and Meister 2024, "How to compute the
probability of a word").
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from pdacon.detokenizer import Vocabulary

Border = Literal["end", "word", "any"]


def border_tokens(caller: str, border: Border, vocabulary: Vocabulary, columns: int) -> NDArray[np.bool_]:
    """Which tokens are a border: bool[columns], as wide as the model's scores.

    ``caller``: what errors name. ``border``: the end tokens; besides those, all tokens that begin with something else
    than a letter, a digit or ``_``; or whatever there is, so that nothing is asked of what follows.
    Raises ValueError: it is none of the three.
    """
    if border not in get_args(Border):
        raise ValueError(f"{caller}: border is one of {', '.join(map(repr, get_args(Border)))}, not {border!r:.40}")
    if border == "any":
        return np.ones(columns, np.bool_)
    tokens = np.zeros(columns, np.bool_)
    tokens[list(vocabulary.eos_ids)] = True
    if border == "word":
        for token, text in enumerate(vocabulary.tokens):
            if text and _begins_no_word(text):
                tokens[token] = True
    return tokens


def _begins_no_word(text: bytes) -> bool:
    """Whether the first character is there as a whole, and none of a word."""
    for length in range(1, 5):
        try:
            first = text[:length].decode()
        except UnicodeDecodeError:
            continue
        return not (first.isalnum() or first == "_")
    return False
