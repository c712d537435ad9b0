"""Where a text is cut for certain: between two characters that stand side by side in no token.

SentencePiece merges over the whole text, so there are no pretokens. But what no token spans is a border whatever stands
around it, and so the text on its two sides is cut independently: a pretokenizer that the vocabulary implies. It may
have fewer borders than there are, and still nothing is lost: neighbours without a mark between them are compared.

In: the tokens. Out: the automaton over characters and marks that `splitting` makes of regexes, here one state for the
class of the last character.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pdacon.filters.characters import NUM_CODE_POINTS
from pdacon.filters.splitting import SplitAutomaton

_MOST_ALONE = 120
"""Characters with a class of their own: those that stand in most tokens."""
_UNSPELLED, _BYTES, _ALONE, _OTHERS = range(4)


@dataclass(frozen=True)
class Borders:
    """The automaton, and of which classes the characters are no token."""

    splits: SplitAutomaton
    # uint8[classes]: whether characters of a class have no token, so that they are spelled by bytes.
    bytewise: NDArray[np.uint8]


def borders_of(words: Iterable[str], single_bytes: Iterable[int], *, before_spaces: bool) -> Borders:
    """The borders that a vocabulary implies.

    ``words``: the texts of the tokens that take part. ``single_bytes``: the bytes that have a token, for characters
    that have none. ``before_spaces``: whether there is a border before each space as well.
    """
    listed = list(words)
    counts = Counter(letter for word in listed if len(word) > 1 for letter in set(word))
    classes = _spelled_by(frozenset(single_bytes))
    classes[[ord(word) for word in listed if len(word) == 1]] = _ALONE
    classes[[ord(letter) for letter in counts]] = _OTHERS
    often = sorted(counts, key=lambda letter: (-counts[letter], letter))[:_MOST_ALONE]
    if before_spaces:
        often = [" ", *(letter for letter in often if letter != " ")]
    for number, letter in enumerate(often, _OTHERS + 1):
        classes[ord(letter)] = number
    size = _OTHERS + 1 + len(often)
    joined = np.zeros((size, size), np.bool_)
    for word in listed:
        if len(word) > 1:
            row = classes[list(map(ord, word))]
            joined[row[:-1], row[1:]] = True
    if before_spaces:
        joined[:, _OTHERS + 1] = False
    # State 0 is the start, state 1 + c has read a character of class c.
    following = np.full((size + 1, size, 2), -1, np.int32)
    after = np.arange(1, size + 1, dtype=np.int32)
    following[0, :, 0] = after
    following[1:, :, 0] = np.where(joined, after, -1)
    following[1:, :, 1] = np.where(joined, -1, after)
    following[:, _UNSPELLED] = -1
    all_states = np.ones(size + 1, np.uint8)
    bytewise = np.zeros(size, np.uint8)
    bytewise[_BYTES] = 1
    return Borders(SplitAutomaton(classes, following, all_states, all_states), bytewise)


def _spelled_by(single_bytes: frozenset[int]) -> NDArray[np.uint8]:
    """By code point: whether bytes spell it."""
    classes = np.full(NUM_CODE_POINTS, _BYTES, np.uint8)
    if len(single_bytes) < 256:
        for code in range(NUM_CODE_POINTS) if single_bytes else ():
            if not single_bytes.issuperset(chr(code).encode(errors="surrogatepass")):
                classes[code] = _UNSPELLED
        if not single_bytes:
            classes[:] = _UNSPELLED
    return classes
