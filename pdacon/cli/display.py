"""How texts, places and lists are shown on a terminal."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable
from textwrap import fill

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from pdacon.base.quoting import head, line_and_column, quote

# Each has a contrast of four to one and more on black and on white (WCAG 2.2); terminals with fewer colours take the
# nearest one.
RED, GREEN, ORANGE, TEAL, BLUE, PURPLE = "#df2b35", "#1f8a3b", "#b06a00", "#00858f", "#3a76d8", "#b5489f"

_WIDEST, _NARROWEST = 110, 40
_SHOWN = 40  # characters of a text that are enough to recognise the place


def width() -> int:
    """Columns to write in: the terminal's, within reason; where there is none, the widest."""
    return max(_NARROWEST, min(shutil.get_terminal_size((_WIDEST, 24)).columns, _WIDEST))


def show(text: Text) -> None:
    """Print lines that are wrapped already, in colour if standard output is a terminal and NO_COLOR is not set."""
    _Console(highlight=False, soft_wrap=True, color_system=None if os.environ.get("NO_COLOR") else "auto").print(text)


def tell(line: str) -> None:
    """Write a line to standard error; on a terminal it is wrapped between words."""
    shown = fill(line, width(), subsequent_indent=" " * 4, break_long_words=False) if sys.stderr.isatty() else line
    sys.stderr.write(f"{shown}\n")


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to the command what a reader that has gone means; by itself rich ends the process with 1."""
        raise BrokenPipeError


def listed(head: str, items: Iterable[str]) -> list[str]:
    """Lines with a list in them, wrapped between the items."""
    lines, gap = [head], " "
    for item in [*items] or ["(nothing)"]:
        if cell_len(lines[-1] + gap + item) > width() and lines[-1] != head:
            lines.append(" " * 4 + item)
        else:
            lines[-1] += gap + item
        gap = "  "
    return lines


def head_of(text: bytes, length: int | None = None) -> str:
    """The beginning of a text, quoted; how long it is if that is not all. ``length``: of the text, if this is less."""
    return head(text, _SHOWN, length)


def place_after(before: bytes) -> str:
    """Where what comes after ``before`` is: line and column in characters from 1, and the byte from 0."""
    line, column = line_and_column(before)
    return f"line {line}, column {column} (byte {len(before)})"


def readable(texts: Iterable[bytes]) -> list[str]:
    """Distinct texts, quoted; whole printable characters first, then the short ones."""
    return [quote(text) for text in sorted(set(texts), key=_readability)]


def _readability(text: bytes) -> tuple[bool, int, bytes]:
    return not text.decode("utf-8", "replace").replace("\ufffd", "\0").isprintable(), len(text), text


def printable(text: str) -> str:
    """The text as it is, but for control characters where standard output is a terminal that would obey them."""
    if not sys.stdout.isatty():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode("ascii") for c in text)
