"""The terminals between values: brackets, commas and colons, with the blanks that the policy has around them."""

from __future__ import annotations

import re
from typing import Any

from pdacon.frontends.json_schema.productions import Productions, Text
from pdacon.frontends.json_schema.spelling import Spelling

_NAMES = {"{": "LBRACE", "}": "RBRACE", "[": "LSQB", "]": "RSQB", ",": "COMMA", ":": "COLON"}


class Punctuation:
    """Signs, as they stand within some arrays and objects; ``depth`` is how many of them are open around the value."""

    def __init__(self, out: Productions, written: Spelling) -> None:
        self._out, self._spelling, self._blanks = out, written, written.blanks

    def around(self, is_array: bool, depth: int) -> dict[str, Any]:
        """The signs of an array or an object, as the core takes them."""
        opening, closing = "[]" if is_array else "{}"
        return {
            "empty": self.empty(opening + closing, depth),
            "between": () if is_array else self.colon(),
            "opening": self.opening(opening, depth),
            "closing": self.closing(closing, depth),
            "comma": self.comma(depth),
        }

    def comma(self, depth: int) -> int:
        """Between two members or items of a value."""
        if self._blanks is None:
            return self._literal(self._spelling.comma + self._line(depth + 1))
        return self._free(",", self._blanks.before, self._blanks.after_comma)

    def colon(self) -> tuple[int, ...]:
        """Behind a name; nothing where that is part of the name."""
        return () if self._blanks is None else (self._free(":", self._blanks.before, self._blanks.after_colon),)

    def opening(self, sign: str, depth: int) -> int:
        """Before the first member or item."""
        if self._blanks is None:
            return self._literal(sign + self._line(depth + 1))
        return self._free(sign, "", self._blanks.inside)

    def closing(self, sign: str, depth: int) -> int:
        """Behind the last one."""
        if self._blanks is None:
            return self._literal(self._line(depth) + sign)
        return self._free(sign, self._blanks.inside, "")

    def empty(self, signs: str, depth: int) -> tuple[int, ...]:
        """An object or an array without anything in it."""
        if self._spelling.whitespace == "indent":
            return (self._out.terminal(("literal", signs), "EMPTY", lambda: Text("str", signs)),)
        # Where blanks are free, those behind the opening sign are all.
        return self.opening(signs[0], depth), self._literal(signs[1])

    def _line(self, depth: int) -> str:
        return "\n" + " " * (self._spelling.indent * depth) if self._spelling.whitespace == "indent" else ""

    def _literal(self, text: str) -> int:
        return self._out.terminal(("literal", text), _NAMES[text.strip()], lambda: Text("str", text))

    def _free(self, sign: str, before: str, behind: str) -> int:
        pattern = f"{before}{re.escape(sign)}{behind}"
        return self._out.terminal(_NAMES[sign], _NAMES[sign], lambda: Text("re", pattern))
