"""The multiples of a number -> automata over their spellings, by remainders.

In: what ``multipleOf`` says. Out: automata of the plain decimals, and of those with an exponent as Python writes them.
Scaled by a power of ten, the divisor is an integer p, and a number with digits D after which so many places are left is
a multiple of it if p divides D times a power of ten.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from pdacon.base.cancelling import every
from pdacon.base.graphs import Numbering
from pdacon.base.limits import Limits
from pdacon.errors import LimitExceededError
from pdacon.regular import Dfa, Ranges
from pdacon.regular.operations import of_ranges

State: TypeAlias = tuple[str | int, ...]
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

    def tens(self, remainder: int) -> int | None:
        """By how many tens a number of a remainder has to be multiplied to become a multiple; None: by no number."""
        for count in range(self.scaled.bit_length() + 1):
            if remainder * 10**count % self.scaled == 0:
                return count
        return None


@lru_cache(maxsize=256)
def plain_multiples(divisor: Divisor) -> Dfa:
    """The multiples without an exponent; other texts are not accepted.

    A state is (digits after the point that were read, remainder); -1: the point has not come yet; -2: nor a sign.
    """
    scaled, places = divisor.scaled, divisor.places

    def edges(state: State) -> list[tuple[str, State]]:
        after, remainder = _numbers(state)
        out: list[tuple[str, State]] = [("-", (-1, 0))] if after == -2 else []
        if after < places or (places == 0 and after < 0):
            following = after + 1 if after >= 0 else -1
            out += [(str(digit), (following, (remainder * 10 + digit) % scaled)) for digit in range(10)]
        else:
            out.append(("0", state))
        if after == -1:
            out.append((".", (0, remainder)))
        return out

    def accepts(state: State) -> bool:
        after, remainder = _numbers(state)
        return after > -2 and remainder * 10 ** (places - max(after, 0)) % scaled == 0

    return _built((-2, 0), edges, accepts)


@lru_cache(maxsize=256)
def large_multiples(divisor: Divisor) -> Dfa:
    """The multiples with ``e+``: which exponents do depends on the digits before."""
    scaled, places = divisor.scaled, divisor.places

    def edges(state: State) -> list[tuple[str, State]]:
        if state[0] != "digits":
            return _exponent_edges(state)
        after, remainder = _numbers(state[1:])
        out: list[tuple[str, State]] = [("-", state)] if after == -2 else [(".", ("digits", 0, remainder))]
        if after < _LARGEST_FRACTION:
            following = after + 1 if after >= 0 else -1
            out += [(str(digit), ("digits", following, (remainder * 10 + digit) % scaled)) for digit in range(10)]
        tens = divisor.tens(remainder)
        if after > -2 and tens is not None:
            out.append(("e", ("sign", "+", max(0, tens + max(after, 0) - places))))
        return out

    def accepts(state: State) -> bool:
        return state[0] == "exponent" and _numbers(state[2:])[1] >= _numbers(state[2:])[0]

    return _built(("digits", -2, 0), edges, accepts)


@lru_cache(maxsize=256)
def small_multiples(divisor: Divisor) -> Dfa:
    """The multiples with ``e-``: the last digit that is not 0 has to be within the divisor's places.

    A state is (digits after the point up to the last one that is not 0, zeros after that, remainder up to it).
    """
    scaled, places = divisor.scaled, divisor.places
    most = places - _SMALLEST  # digits after the point that can matter

    def edges(state: State) -> list[tuple[str, State]]:
        if state[0] != "digits":
            return _exponent_edges(state)
        after, zeros, remainder = _numbers(state[1:])
        out: list[tuple[str, State]] = []
        if after == -2:
            out.append(("-", state))
        if after < 0:
            out += [(str(digit), ("digits", -1, 0, digit % scaled)) for digit in range(1, 10) if after == -2]
            out += [(".", ("digits", 0, 0, remainder))] if after == -1 else []
        else:
            out.append(("0", ("digits", after, min(zeros + 1, max(0, most - after)), remainder)))
            if after + zeros < most:
                raised = remainder * 10 ** (zeros + 1)
                for digit in range(1, 10):
                    out.append((str(digit), ("digits", after + zeros + 1, 0, (raised + digit) % scaled)))
        tens = divisor.tens(remainder)
        if after > -2 and tens is not None and (largest := places - max(after, 0) - tens) >= _SMALLEST:
            out.append(("e", ("sign", "-", largest)))
        return out

    def accepts(state: State) -> bool:
        return state[0] == "exponent" and _numbers(state[2:])[1] <= _numbers(state[2:])[0]

    return _built(("digits", -2, 0, 0), edges, accepts)


def _exponent_edges(state: State) -> list[tuple[str, State]]:
    """Up to three digits of an exponent, after its sign; the state has the bound that it is compared with."""
    what, sign, bound = state[:3]
    if what == "sign":
        return [(str(sign), ("exponent", sign, bound, 0, 0))]
    most, read, count = _numbers(state[2:])
    out: list[tuple[str, State]] = []
    for digit in range(10) if count < 3 else ():
        exponent = read * 10 + digit
        if sign == "-" and exponent > most:
            break
        out.append((str(digit), ("exponent", sign, bound, min(exponent, most) if count else exponent, count + 1)))
    return out


def _numbers(state: State) -> list[int]:
    return [int(part) for part in state]


def _built(start: State, edges: Callable[[State], list[tuple[str, State]]], accepts: Callable[[State], bool]) -> Dfa:
    """The automaton of the states that are reached from one."""
    number = Numbering(start)
    rows: list[list[tuple[Ranges, int]]] = []
    for state in every(number):
        row: list[tuple[Ranges, int]] = []
        for character, target in edges(state):
            row.append((((ord(character), ord(character)),), number[target]))
        rows.append(row)
    return of_ranges(rows, list(map(accepts, every(number))), Limits(states=4 * _MOST_REMAINDERS, bytes=_MOST_BYTES))
