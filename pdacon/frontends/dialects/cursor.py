"""A place in a text that is being read, and the errors that name it."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NoReturn

from pdacon.base.quoting import quoted
from pdacon.errors import GrammarSyntaxError, Span, UnsupportedGrammarError

_HALF_OF_A_PAIR = re.compile("[\ud800-\udfff]")


class Cursor:
    """Reads a text from left to right; ``at`` is the place.

    Raises
    ------
    GrammarSyntaxError
        The text has half of a surrogate pair, which no text in UTF-8 has.
    """

    def __init__(self, text: str, path: str | None) -> None:
        self.text, self.path, self.at = text, path, 0
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]
        if half := _HALF_OF_A_PAIR.search(text):
            self.fail(f"half of a surrogate pair (U+{ord(half[0]):04X}) is in no text; leave it out", half.start())

    def span(self, start: int, end: int | None = None) -> Span:
        """The place from ``start`` up to ``end``, or up to the cursor."""
        line, column = self._place(start)
        end_line, end_column = self._place(self.at if end is None else end)
        return Span(self.path, line, column, end_line, end_column)

    def _place(self, at: int) -> tuple[int, int]:
        line = bisect_right(self._lines, at)
        return line, at - self._lines[line - 1] + 1

    def fail(self, message: str, start: int | None = None, end: int | None = None) -> NoReturn:
        """It is no grammar."""
        begin = self.at if start is None else start
        raise GrammarSyntaxError(message, self.span(begin, end if end is not None else max(self.at, begin + 1)))

    def refuse(self, feature: str, message: str, start: int, end: int | None = None) -> NoReturn:
        """It is a grammar, with something that cannot be had."""
        raise UnsupportedGrammarError(message, self.span(start, end), feature)

    def here(self) -> str:
        """What stands at the cursor, for messages."""
        if self.at >= len(self.text):
            return "the end of the text"
        match = re.compile(r"[\w-]+|\n|.").match(self.text, self.at)
        assert match is not None
        return "the end of the line" if match[0] == "\n" else quoted(match[0])

    def peek(self, count: int = 1) -> str:
        """The next characters; fewer at the end of the text."""
        return self.text[self.at : self.at + count]

    def take(self, text: str) -> bool:
        """Go past a text if it stands here."""
        stands_here = self.text.startswith(text, self.at)
        self.at += len(text) if stands_here else 0
        return stands_here

    def match(self, pattern: re.Pattern[str]) -> str | None:
        """Go past what a pattern matches here."""
        match = pattern.match(self.text, self.at)
        if match is None:
            return None
        self.at = match.end()
        return match[0]
