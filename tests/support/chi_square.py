"""Pearson's test: whether texts come as often as they are said to."""

from __future__ import annotations

import math
from collections.abc import Mapping


def is_far(counts: Mapping[str, int], expected: Mapping[str, float]) -> float:
    """By how many standard deviations Pearson's statistic is above its expectation.

    Rare texts are one cell with the next, so that each is expected five times or more, as the approximation wants it.
    """
    total, cells, count, mean = sum(counts.values()), list[tuple[int, float]](), 0, 0.0
    for text in sorted(expected, key=lambda text: expected[text]):
        count, mean = count + counts.get(text, 0), mean + expected[text] * total
        if mean >= 5:
            cells.append((count, mean))
            count, mean = 0, 0.0
    assert len(cells) > 2
    statistic = sum((count - mean) ** 2 / mean for count, mean in cells)
    return (statistic - (len(cells) - 1)) / math.sqrt(2 * (len(cells) - 1))
