"""Which value a text stands for where strings have no quotes: one meaning for what is constrained and what is read.

In: a text, as a whole or in pieces. Out: the kind of value that it is, or that it is certain to be a string.
"""

from __future__ import annotations

import re
from collections.abc import Container
from json.encoder import encode_basestring

from pdacon.frontends.json_schema.facts import TYPES
from pdacon.frontends.json_schema.numbers import any_number

CONSTANTS = {"null": "null", "false": "false", "true": "true", "None": "null", "False": "false", "True": "true"}
"""The texts of constants in JSON and in Python, with the kind of value that each is."""
OPENINGS = {"{": "object", "[": "array"}
ALL_KINDS: frozenset[str] = frozenset(TYPES)
NUMBER = any_number(None)
"""A pattern of the texts that are numbers."""
_IS_NUMBER = re.compile(NUMBER).fullmatch


def reads_as(text: str, kinds: Container[str], python_constants: bool) -> str:
    """The kind of value that a text is, of a parameter that takes some kinds: a string if it is none of the others."""
    constant = CONSTANTS.get(text)
    if constant in kinds and (python_constants or text == constant):
        return str(constant)
    if "number" in kinds and _IS_NUMBER(text):
        return "number"
    container = OPENINGS.get(text[:1])
    return container if container is not None and container in kinds else "string"


def between_quotes(text: str) -> str:
    """A string as it stands between its quotes in JSON."""
    return encode_basestring(text)[1:-1]


def overlap(text: str, mark: str, at: int = 0) -> int:
    """How many characters at the end of a text, from a place on, may be the beginning of a mark."""
    longest = min(len(mark) - 1, len(text) - at)
    if text.find(mark[:1], len(text) - longest) < 0:  # as of most pieces
        return 0
    return next((size for size in range(longest, 0, -1) if text.endswith(mark[:size])), 0)


class StringInPieces:
    """Tells of a text that comes in pieces, as soon as it is certain, that `reads_as` has it as a string.

    Parameters
    ----------
    kinds : container of str
        The kinds of values that it may be.
    """

    def __init__(self, kinds: Container[str], python_constants: bool) -> None:
        self._kinds = kinds
        self._constants = [
            text for text, kind in CONSTANTS.items() if kind in kinds and (python_constants or text == kind)
        ]
        self._length = 0
        self._number: str | None = "begin" if "number" in kinds else None  # None: it is the beginning of no number
        self._may_be_container = False

    def is_certain_with(self, piece: str) -> bool:
        """Whether the text is a string, however it goes on after this piece of it."""
        if not piece or "string" not in self._kinds:
            return False
        if not self._length:
            self._may_be_container = OPENINGS.get(piece[0]) in self._kinds
        at, self._length = self._length, self._length + len(piece)
        self._constants = [text for text in self._constants if text.startswith(piece, at)]
        for character in piece if self._number else "":
            self._number = _NUMBER_STEPS[self._number].get(_CLASSES.get(character, character)) if self._number else None
        return not (self._constants or self._number or self._may_be_container)


_CLASSES = {**dict.fromkeys("123456789", "1"), "E": "e"}
_FRACTION_OR_EXPONENT = {".": "point", "e": "exponent"}
_NUMBER_STEPS: dict[str, dict[str, str]] = {
    "begin": {"-": "sign", "0": "zero", "1": "integer"},
    "sign": {"0": "zero", "1": "integer"},
    "zero": _FRACTION_OR_EXPONENT,
    "integer": {"0": "integer", "1": "integer", **_FRACTION_OR_EXPONENT},
    "point": {"0": "fraction", "1": "fraction"},
    "fraction": {"0": "fraction", "1": "fraction", "e": "exponent"},
    "exponent": {"+": "exponent sign", "-": "exponent sign", "0": "digits", "1": "digits"},
    "exponent sign": {"0": "digits", "1": "digits"},
    "digits": {"0": "digits", "1": "digits"},
}
"""The automaton of the beginnings of `NUMBER`, over classes of characters."""
