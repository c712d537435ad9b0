"""Sets as bits: both directions, below and above the size from which numpy takes over."""

from __future__ import annotations

import pytest

from pdacon.base.bit_sets import members, set_of


@pytest.mark.parametrize("numbers", [[], [0], [5, 1, 5], [511], [512, 0], [513, 3, 513], [2000, 1999, 7], {600, 2}])
def test_members_are_those_that_went_in(numbers: list[int]) -> None:
    bits = set_of(numbers)
    assert bits == sum(1 << number for number in {*numbers})
    assert list(members(bits)) == sorted({*numbers})
