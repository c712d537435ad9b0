"""How many cases tests try: the numbers that stand in them times ``--oracle-scale``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

Case = TypeVar("Case")

_scale = 1.0  # The session's; conftest.py sets it before any module of tests is imported.


def set_scale(scale: float) -> None:
    """Multiply all numbers from now on."""
    global _scale
    _scale = scale


def scaled(number: int) -> int:
    """How many cases to try, from how many are tried by default."""
    return max(1, round(number * _scale))


def every(nth: int, cases: Iterable[Case]) -> Iterator[Case]:
    """Each nth case only; all of them from ``--oracle-scale=nth`` on."""
    return islice(cases, 0, None, max(1, round(nth / _scale)))
