"""Reads a value as Python writes it, in a text that comes in pieces, and says it as JSON.

In: strings in either quotes, numbers, ``None``, ``False``, ``True``, lists and dicts. Out: pieces of JSON, each as soon
as it is certain. The value ends before a comma or a closing bracket that is not its own.
"""

from __future__ import annotations

import re
import unicodedata

from pdacon.frontends.tool_formats.json_scanner import IN_SCALAR
from pdacon.frontends.tool_formats.scalars import CONSTANTS, between_quotes

_ESCAPE = re.compile(
    r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\}|[0-7]{1,3}|\n|[^xuUN0-7])", re.DOTALL
)
_BEGINS_ESCAPE = re.compile(
    r"\\(?:x[0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|N(?:\{[\w ()-]*)?)?", re.ASCII
)  # the beginning of an escape, as long as more of it may come
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_SIMPLE = {
    "\n": "",
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    "'": "'",
    '"': '"',
}
"""What a character stands for behind a backslash; the other ones leave the backslash as it is."""


class UnexpectedTextError(ValueError):
    """A text that is not allowed where it came: the place is its argument."""


class PythonScanner:
    """Reads one value.

    Attributes
    ----------
    done : bool
        Whether what comes next is after it.
    """

    __slots__ = ("_depth", "_quote", "_word", "done")

    def __init__(self) -> None:
        self._depth = 0
        self._quote = ""
        self._word = ""
        self.done = False

    def scan(self, text: str, at: int) -> tuple[int, str]:
        """Read on from a place; how far what has come is certain, and what it says as JSON.

        Raises UnexpectedTextError: an escape is of no character.
        """
        out: list[str] = []
        while at < len(text) and not self.done:
            if self._quote:
                after = self._string(text, at, out)
                if after == at:
                    break
                at = after
                continue
            sign = text[at]
            if sign in IN_SCALAR:
                self._word += sign
                at += 1
                continue
            if self._word:
                out.append(CONSTANTS.get(self._word, self._word))
                self._word = ""
            if sign in "\"'":
                self._quote = sign
                out.append('"')
            elif sign in "[{":
                self._depth += 1
                out.append(sign)
            elif self._depth == 0 and sign in ",)]}":
                self.done = True
                break
            else:
                self._depth -= sign in "]}"
                out.append(sign)
            at += 1
        return at, "".join(out)

    def _string(self, text: str, at: int, out: list[str]) -> int:
        """Characters of a string up to its quote; an escape that has not ended is held back."""
        quote = text.find(self._quote, at)
        stop = len(text) if quote < 0 else quote
        backslash = text.find("\\", at, stop)
        stop = stop if backslash < 0 else backslash
        out.append(between_quotes(text[at:stop]))
        if stop == len(text):
            return stop
        if text[stop] == self._quote:
            self._quote = ""
            out.append('"')
            return stop + 1
        escape = _ESCAPE.match(text, stop)
        if escape is None and not _BEGINS_ESCAPE.fullmatch(text, stop):
            raise UnexpectedTextError(stop)
        if escape is None or (escape.end() == len(text) and escape[0][1] in "01234567"):
            return stop
        if _SURROGATE.match(escape[0]):
            out.append(escape[0])
        else:
            try:
                out.append(between_quotes(_character(escape[0])))
            except (KeyError, ValueError, OverflowError):
                raise UnexpectedTextError(stop) from None
        return escape.end()


def _character(escape: str) -> str:
    """What an escape stands for. `ast.literal_eval` would say it too, but warns of some, which a model may write.

    Raises KeyError, ValueError or OverflowError: there is no such character.
    """
    kind, rest = escape[1], escape[2:]
    if kind in "xuU":
        return chr(int(rest, 16))
    if kind == "N":
        characters = unicodedata.lookup(rest[1:-1])
        if len(characters) > 1:  # Python has no escape for a sequence that has a name
            raise KeyError(escape)
        return characters
    if kind in "01234567":
        return chr(int(escape[1:], 8))
    return _SIMPLE.get(kind, escape)
