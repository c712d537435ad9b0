"""How several texts are told from each other on standard output."""

from __future__ import annotations

import sys

from pdacon.cli.display import printable


class TextWriter:
    """Writes texts, each at once.

    A text ends with a line break. Once one of them has several lines, a line such as ``--- 2 ---`` stands before each
    but the first: what stands before the first such line is a text a line. Where a text could hold such a line, only
    ``null`` tells exactly where each ends: then a NUL byte ends each, which nothing else adds to.

    ``wanted``: how many there are to be. ``null``: whether a NUL ends each.
    """

    def __init__(self, wanted: int, *, null: bool = False) -> None:
        self._null = null
        # Who looks on sees a text as it comes, when it is not known yet whether it has several lines.
        self._watched = sys.stdout.isatty() and not null
        self._wanted, self._written, self._long = wanted, 0, False
        self.streams = not null and (self._watched or wanted == 1)
        """Whether a text may be written piece by piece, between `begin` and `end`."""

    def begin(self) -> None:
        """Write what stands before a text of which nothing is known."""
        if self._wanted > 1:
            _write(f"--- {self._written + 1} ---\n")

    def piece(self, text: str) -> None:
        """Write a part of a text."""
        _write(printable(text))

    def end(self) -> None:
        """Write what stands after a text."""
        _write("\0" if self._null else "\n")
        self._written += 1

    def whole(self, text: str, *, lines: int) -> None:
        """Write a text that has so many lines."""
        self._long = self._long or lines > 1
        if self._null:
            _write(text)
        else:
            if self._long and self._written:
                _write(f"--- {self._written + 1} ---\n")
            self.piece(text)
        self.end()


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
