"""Whether raw values are within what ``Annotated`` says: bounds, lengths, patterns.

In: `Metadata`, and a number or a string. Out: nothing, or `Mismatch`. A grammar has only values within them; they are
looked at to choose the member of a union that a text is of.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from pdacon.errors import LimitExceededError
from pdacon.frontends.long_integers import integer_of
from pdacon.frontends.types.constraints import Metadata
from pdacon.frontends.types.shapes import Mismatch, shown
from pdacon.regular import Dfa, Languages, PatternError, parse_pattern

_MOST_STATES = 100_000
_SURROGATE = re.compile("[\ud800-\udfff]")


def check_bounds(metadata: Metadata, value: Any, path: str) -> None:
    """Compare a number with bounds, exactly; a float is what ``repr`` says.

    Raises
    ------
    Mismatch
    """
    if not metadata.numeric:
        return
    number = exact(value)
    if any(bound is not None and number < exact(bound) for bound in (metadata.gt, metadata.ge)) or (
        metadata.gt is not None and number == exact(metadata.gt)
    ):
        raise Mismatch(path, f"{shown(value)} is below {metadata.ge if metadata.gt is None else metadata.gt}")
    if any(bound is not None and number > exact(bound) for bound in (metadata.lt, metadata.le)) or (
        metadata.lt is not None and number == exact(metadata.lt)
    ):
        raise Mismatch(path, f"{shown(value)} is above {metadata.le if metadata.lt is None else metadata.lt}")
    if metadata.multiple_of is not None and not _is_multiple(number, exact(metadata.multiple_of)):
        raise Mismatch(path, f"{shown(value)} is no multiple of {metadata.multiple_of}")


def check_count(least: int, most: int | None, count: int, unit: str, path: str) -> None:
    """Compare how many there are with bounds.

    Raises
    ------
    Mismatch
    """
    if count < least or (most is not None and count > most):
        raise Mismatch(path, f"it has {count} {unit}")


def check_characters(text: str, path: str) -> None:
    """See to it that a text can have a string; escapes have no half of a surrogate pair here, either.

    Raises
    ------
    Mismatch
    """
    if not text.isascii() and _SURROGATE.search(text):
        raise Mismatch(path, f"{shown(text)} has half of a surrogate pair, which no text in UTF-8 has")


def check_text(metadata: Metadata, text: str, path: str) -> None:
    """Compare a string with lengths, which count code points, and patterns, which are found anywhere in it.

    Raises
    ------
    Mismatch
    """
    check_characters(text, path)
    least, most = metadata.lengths
    if len(text) < least or (most is not None and len(text) > most):
        raise Mismatch(path, f"{shown(text)} has {len(text)} characters")
    for pattern in metadata.patterns:
        if not fits(pattern, text):
            raise Mismatch(path, f"{shown(text)} does not match {pattern}")


def fits(pattern: str, text: str) -> bool:
    """Whether a pattern, as ECMA-262 writes it, matches somewhere; True for one that cannot be read.

    Of such a pattern no grammar was made, or one that leaves it out and says so.
    """
    automaton = _automaton(pattern)
    return automaton is None or automaton.accepts(text)


@lru_cache(maxsize=256)
def _automaton(pattern: str) -> Dfa | None:
    languages = Languages()
    try:
        return languages.deterministic(languages.pattern(parse_pattern(pattern)), _MOST_STATES)
    except (PatternError, LimitExceededError, RecursionError):
        return None


def exact(number: Any) -> Decimal:
    """A number as it is written; decimals of any exponent are compared without being written out."""
    if isinstance(number, Fraction):
        return Decimal(number.numerator) / Decimal(number.denominator)
    return Decimal(number) if isinstance(number, int | Decimal) else Decimal(str(number))


def _is_multiple(number: Decimal, step: Decimal) -> bool:
    """Whether a quotient is an integer: modulo the step's digits, since an exponent may be large."""
    if not number:
        return True
    (_, digits, exponent), (_, step_digits, step_exponent) = number.as_tuple(), step.as_tuple()
    assert isinstance(exponent, int)
    assert isinstance(step_exponent, int)
    value, unit = (integer_of("".join(map(str, some))) for some in (digits, step_digits))
    shift = exponent - step_exponent
    if shift < 0:
        return -shift <= len(digits) + len(step_digits) and value % (unit * 10**-shift) == 0
    return value * pow(10, shift, unit) % unit == 0
