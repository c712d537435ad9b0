"""The automaton of payment cards' numbers: digits with a check digit, as long as the card's brand has them.

In: nothing. Out: an automaton that no pattern of a sensible length has.

Source: ISO/IEC 7812-1 for Luhn's check digit; Pydantic's ``PaymentCardNumber`` for the brands and their lengths.
"""

from __future__ import annotations

from functools import lru_cache

from pdacon.base.graphs import Numbering
from pdacon.base.limits import Limits
from pdacon.regular import Dfa, Ranges
from pdacon.regular.operations import of_ranges

_LENGTHS = {"4": (13, 16, 19), "5x": (16,), "3x": (15,)}
_OTHER = tuple(range(12, 20))
_BRANDS = {**{f"5{digit}": "5x" for digit in "12345"}, "34": "3x", "37": "3x"}
_LIMITS = Limits(states=100_000, bytes=64 << 20)
_DOUBLED = [digit * 2 - 9 * (digit > 4) for digit in range(10)]


@lru_cache(maxsize=1)
def card_number_automaton() -> Dfa:
    """A state says how many digits were read, the sums for an even and an odd number of them, and the brand."""
    number = Numbering((0, 0, 0, ""))
    rows: list[list[tuple[Ranges, int]]] = []
    accepting = []
    for count, even, odd, brand in number:
        row: list[tuple[Ranges, int]] = []
        for digit in range(10) if count < _OTHER[-1] else ():
            doubled = _DOUBLED[digit]
            first, second = (doubled, digit) if count % 2 == 0 else (digit, doubled)
            sums = (even + first) % 10, (odd + second) % 10
            point = ord("0") + digit
            row.append((((point, point),), number[(count + 1, *sums, _brand(brand, str(digit), count))]))
        rows.append(row)
        accepting.append((odd if count % 2 else even) == 0 and count in _LENGTHS.get(brand, _OTHER))
    return of_ranges(rows, accepting, _LIMITS)


def _brand(before: str, digit: str, count: int) -> str:
    """What the first digits say: the first one alone, or with the second one."""
    if count == 0:
        return digit if digit in "345" else "other"
    if count == 1 and before in "35":
        return _BRANDS.get(before + digit, "other")
    return before
