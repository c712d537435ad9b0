"""Integers of any length as texts, and back, where Python itself stops at some thousands of digits.

In: digits, or JSON with them. Out: integers. A grammar takes integers of any length, and their values have to be read.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

_PIECE = 600
"""Digits that `int` reads whatever the limit is (``sys.set_int_max_str_digits`` takes none below 640)."""


def integer_of(text: str) -> int:
    """The integer that decimal digits mean, with a sign or without: pieces of them, put together pair by pair.

    Cost: as multiplication of numbers of that size, which is less than the square of the length.
    """
    digits = text.lstrip("-")
    first = len(digits) % _PIECE
    pieces = [int(digits[:first] or 0), *(int(digits[k : k + _PIECE]) for k in range(first, len(digits), _PIECE))]
    base = 10**_PIECE
    while len(pieces) > 1:
        if len(pieces) % 2:
            pieces.insert(0, 0)
        pieces = [high * base + low for high, low in zip(pieces[::2], pieces[1::2], strict=True)]
        base *= base
    return -pieces[0] if text.startswith("-") else pieces[0]


def text_of(number: int) -> str:
    """The decimal digits of an integer."""
    try:
        return int.__repr__(number)
    except ValueError:
        return str(Decimal(number))


def json_value(text: str, parse_float: Callable[[str], Any] | None = None) -> Any:
    """What ``json.loads`` makes of a text, with integers of any length.

    Raises
    ------
    ValueError
        It is no JSON.
    RecursionError
        It is nested too deeply.
    """
    try:
        return json.loads(text, parse_float=parse_float)
    except json.JSONDecodeError:
        raise
    except ValueError:  # of the limit on digits
        return json.loads(text, parse_float=parse_float, parse_int=integer_of)
