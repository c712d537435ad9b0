"""Texts from random tokens that the masks allow, each brought to its end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

import numpy as np

from pdacon import Constraint


def walked_texts(
    constraint: Constraint, count: int, longest: int = 40, samples: Sequence[bytes] = ()
) -> Iterator[tuple[str, int]]:
    """So many texts, and the number of tokens of each walk; these are short, so that not all is names and comments.

    A walk begins somewhere within one of the samples, if there are any.
    """
    vocabulary = constraint.vocabulary
    short = np.array([text is not None and text.isascii() and len(text) < 9 for text in vocabulary.tokens])
    mask = np.zeros((1, (vocabulary.size + 31) // 32), np.int32)
    random = Random(1)
    for _ in range(count):
        begun = b""
        if samples:
            sample = random.choice(samples)
            begun = sample[: random.randint(0, len(sample))]
        matcher = constraint.matcher()
        assert matcher.accept_bytes(begun)
        tokens: list[int] = []
        for _ in range(random.randint(1, longest)):
            matcher.fill_bitmask(mask)
            allowed = np.unpackbits(mask.view(np.uint8), bitorder="little")[: vocabulary.size].astype(bool)
            choices = np.flatnonzero(allowed & short)
            if not choices.size:
                break
            tokens.append(int(random.choice(choices)))
            assert matcher.accept_token(tokens[-1])
        yield (begun + vocabulary.decode(tokens) + matcher.shortest_completion()).decode(), len(tokens)
