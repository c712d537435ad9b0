"""Finds where a value of JSON ends, in a text that comes in pieces.

In: a value that is valid. Out: where it ends, and what is missing if it has not. An object, an array and a string end
with their last character; a number or a constant ends before the first character that is in none.
"""

from __future__ import annotations

_CLOSERS = {"{": "}", "[": "]"}
IN_SCALAR = frozenset("0123456789+-.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")


class JsonScanner:
    """Reads one value.

    Attributes
    ----------
    begun, done : bool
        Whether a character of the value has come, and whether its last one has.
    is_scalar : bool
        Whether it is a number or a constant.
    in_string : bool
        Whether the text so far ends within a string.
    """

    __slots__ = ("_after_backslash", "_closers", "begun", "done", "in_string", "is_scalar")

    def __init__(self) -> None:
        self._closers: list[str] = []
        self._after_backslash = False
        self.begun = self.done = self.in_string = self.is_scalar = False

    def scan(self, text: str, at: int) -> int:
        """Read on from a place; where what has come of the value ends in the text."""
        length = len(text)
        while at < length and not self.done:
            if self.in_string:
                at = self._scan_string(text, at, length)
                continue
            character = text[at]
            if self.is_scalar:
                if character not in IN_SCALAR:
                    self.done = True
                    return at
            elif character == '"':
                self.in_string = self.begun = True
            elif character in "{[":
                self._closers.append(_CLOSERS[character])
                self.begun = True
            elif character in "}]" and self._closers:
                self._closers.pop()
                self.done = not self._closers
            elif not self._closers and character in IN_SCALAR:
                self.is_scalar = self.begun = True
            at += 1
        return at

    def _scan_string(self, text: str, at: int, length: int) -> int:
        if self._after_backslash:
            self._after_backslash = False
            return at + 1
        quote = text.find('"', at)
        backslash = text.find("\\", at, length if quote < 0 else quote)
        if backslash >= 0:
            self._after_backslash = True
            return backslash + 1
        if quote < 0:
            return length
        self.in_string = False
        self.done = not self._closers
        return quote + 1

    @property
    def missing(self) -> str:
        """What would close all that is open."""
        return '"' * self.in_string + "".join(reversed(self._closers))
