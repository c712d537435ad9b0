"""Labels within patterns: characters that no text has, and the bytes that they are to an automaton."""

from __future__ import annotations

FIRST_SYMBOL = 0xD800
"""The character of label 0; a surrogate, which is in no text."""
FIRST_BYTE = 0xF5
"""The bytes from here on are in no UTF-8. Two of them spell a label."""
RADIX = 0x100 - FIRST_BYTE
MOST_LABELS = RADIX * RADIX


def spelling(number: int) -> bytes:
    return bytes((FIRST_BYTE + number // RADIX, FIRST_BYTE + number % RADIX))
