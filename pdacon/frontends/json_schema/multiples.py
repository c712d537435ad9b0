"""The multiples of a number -> automata over their spellings, by remainders.

In: what ``multipleOf`` says. Out: automata of the plain decimals, and of those with an exponent as Python writes them,
which the core makes (``frontends/multiples.hpp``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal, TypeAlias, get_args

from pdacon._native import _core
from pdacon.errors import LimitExceededError
from pdacon.regular import Dfa

Spelled: TypeAlias = Literal["plain", "large", "small"]
"""How numbers are spelled: as plain decimals, with ``e+``, or with ``e-``; in the order of the core's numbers."""
_SPELLED = get_args(Spelled)
_MOST_REMAINDERS = 20_000
_MOST_WITH_EXPONENTS = 5_000
_MOST_BYTES = 256 << 20  # of one automaton
_SMALLEST = 5  # the exponent after "e-" from which on Python writes one
_LARGEST_FRACTION = 16  # digits after the point of a number with "e+", whose exponent is no less


@dataclass(frozen=True, slots=True)
class Divisor:
    """A decimal, as ``scaled`` times ten to the power of ``-places``."""

    scaled: int
    places: int

    @classmethod
    def of(cls, number: Fraction) -> Divisor:
        """Raises LimitExceededError: it has too many remainders."""
        rest, places = number.denominator, 0
        for prime in (2, 5):
            count = 0
            while rest % prime == 0:
                rest, count = rest // prime, count + 1
            places = max(places, count)
        if rest != 1:
            raise LimitExceededError("states", math.inf, _MOST_REMAINDERS, fixed=True)
        scaled = int(number * 10**places)
        if scaled * (places + 2) > _MOST_REMAINDERS:
            given = min(scaled * (places + 2), 10**18)
            raise LimitExceededError("states", given, _MOST_REMAINDERS, fixed=True)
        return cls(scaled, places)

    @property
    def takes_exponents(self) -> bool:
        """Whether the automata of spellings with exponents are small enough."""
        small = max(0, self.places - _SMALLEST + 1) ** 2 // 2
        return self.scaled * max(_LARGEST_FRACTION + 1, small) <= _MOST_WITH_EXPONENTS


@lru_cache(maxsize=256)
def multiples(divisor: Divisor, spelled: Spelled) -> Dfa:
    """The multiples among numbers that are spelled so; of other texts it says anything."""
    number = _SPELLED.index(spelled)
    return Dfa(_core.multiples(divisor.scaled, divisor.places, number, 4 * _MOST_REMAINDERS, _MOST_BYTES))
