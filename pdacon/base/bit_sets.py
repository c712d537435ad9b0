"""Sets of small numbers as the bits of one integer: bit k is set if k is a member.

Numbers go in and such a set comes out, or the other way round; of both directions the cost is linear.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

_WIDE = 512
"""From so many bits on numpy is faster than a loop over the members."""


def set_of(numbers: Collection[int]) -> int:
    """The set with these members. Cost: linear in the largest one, and in their number."""
    most = max(numbers, default=0)
    if most <= _WIDE:
        return sum({1 << number for number in numbers})
    flags = np.zeros(most + 1, np.uint8)
    flags[list(numbers)] = 1
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")


def members(mask: int) -> Iterator[int]:
    """The members of a set, ascending. Cost: linear in the largest one."""
    if mask.bit_length() > _WIDE:
        data = np.frombuffer(mask.to_bytes(mask.bit_length() // 8 + 1, "little"), np.uint8)
        yield from np.flatnonzero(np.unpackbits(data, bitorder="little")).tolist()
        return
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
