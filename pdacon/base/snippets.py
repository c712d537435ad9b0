"""Source lines with the places in them underlined, as compilers show them.

In: a text and places in it. Out: numbered lines of it, with the places underlined; errors that have such lines.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from pdacon.errors import GrammarError, Span

_TAB = 4
_MOST_LINES = 4  # of one place; more of a long alternative tell no more
_GAP = "..."


_WIDTH = 100
_INDENT = "  "
_BEFORE, _AFTER = 1000, 500  # bytes of a line around a place


@dataclass(frozen=True, slots=True)
class Mark:
    """A place to underline: with ``^`` what a finding is about, with ``-`` what belongs to it."""

    span: Span
    sign: str = "^"
    label: str = ""


def snippet(source: str, marks: Iterable[Mark], width: int, indent: str) -> list[str]:
    """The lines of ``source`` that are marked, numbered, each with its marks below; no line is wider than ``width``.

    Places that the source does not have are left out. Linear in the source.
    """
    lines = source.split("\n")
    rows: dict[int, list[Mark]] = {}
    for mark in marks:
        last = min(_last_line(mark.span), mark.span.line + _MOST_LINES - 1, len(lines))
        for number in range(mark.span.line, last + 1):
            rows.setdefault(number, []).append(mark)
    if not rows:
        return []
    digits = len(str(max(rows)))
    shown: list[str] = []
    previous = None
    for number, here in sorted(rows.items()):
        if previous is not None and number > previous + 1:
            shown.append(f"{indent}{_GAP}")
        previous = number
        shown += _numbered(lines[number - 1], number, here, width, f"{indent}{{:>{digits}}} | ")
    return shown


@contextmanager
def shown_in(text: str, path: str | None) -> Iterator[None]:
    """Let errors about a grammar show the line that they are about: of its text, or of a file that it imports."""
    try:
        yield
    except GrammarError as error:
        add_excerpt(error, text, path)
        raise


def add_excerpt(error: GrammarError, text: str, path: str | None) -> None:
    """Add the line that an error is about, if the error has a place and none was added."""
    span = error.span
    if span is None or error.excerpt:
        return
    if span.path != path and span.path is not None:
        text = ""
        with suppress(OSError, UnicodeDecodeError):
            text = Path(span.path).read_text(encoding="utf-8")
    lines = snippet(text, [Mark(span)], _WIDTH, _INDENT)
    if lines and not lines[0].endswith("|"):  # an empty line shows nothing
        error.show("\n".join(lines))


def line_around(text: bytes, place: int, number: int, width: int, indent: str = _INDENT) -> list[str]:
    """The line of a text with a byte of it, and a mark below that; ``number`` is the line's."""
    begin = max(text.rfind(b"\n", 0, place) + 1, place - _BEFORE)
    end = text.find(b"\n", place, place + _AFTER)
    before = text[begin:place].decode("utf-8", "replace")
    line = before + text[place : place + _AFTER if end < 0 else end].decode("utf-8", "replace")
    column = len(before) + 1
    mark = Mark(Span(None, number, column, number, column + 1))
    return _numbered(line, number, [mark], width, f"{indent}{{:>{len(str(number))}}} | ")


def _last_line(span: Span) -> int:
    """A span that ends before the first column of a line has nothing on that line."""
    return span.end_line - 1 if span.end_column == 1 and span.end_line > span.line else span.end_line


def _numbered(text: str, number: int, marks: Sequence[Mark], width: int, gutter: str) -> list[str]:
    cells = [_cell(c) for c in text.rstrip("\r")]
    places = [_columns(cells, mark.span, number) for mark in marks]
    room = max(width - len(gutter.format(number)), 20)
    start, stop = _window(cells, places[0], room)
    before, after = _GAP if start else "", _GAP if stop < len(cells) else ""
    rows = [gutter.format(number) + before + "".join(cells[start:stop]) + after]
    for (begin, end), mark in zip(places, marks, strict=True):
        begin, end = max(begin, start), min(max(end, begin + 1), max(stop, begin + 1))
        blank = columns("".join(cells[start:begin])) + len(before)
        if begin > stop or (begin < end <= start):
            continue
        line = " " * blank + mark.sign * max(columns("".join(cells[begin:end])), 1)
        label = f" {mark.label}" if mark.label and _last_line(mark.span) == number else ""
        rows += [gutter.format("") + row for row in _labelled(line, label, blank, room)]
    return [row.rstrip() for row in rows]


def _labelled(line: str, label: str, blank: int, room: int) -> list[str]:
    """The label after the underline, or below it where it does not fit."""
    if not label or columns(line + label) <= room:
        return [line + label]
    return [line, " " * max(min(blank, room - columns(label)), 0) + label.lstrip()]


def _columns(cells: Sequence[str], span: Span, number: int) -> tuple[int, int]:
    """The characters of a line that the span has, from and to; indentation is left out after its first line."""
    begin = span.column - 1 if number == span.line else next((i for i, c in enumerate(cells) if c.strip()), 0)
    end = span.end_column - 1 if number == span.end_line else len(cells)
    return min(begin, len(cells)), max(min(end, len(cells)), begin)


def _window(cells: Sequence[str], place: tuple[int, int], room: int) -> tuple[int, int]:
    """The characters to show of a line: all, or as many around the place as fit."""
    if columns("".join(cells)) <= room:
        return 0, len(cells)
    room -= 2 * len(_GAP)
    begin, end = place
    stop = start = begin
    used = 0
    while stop < len(cells) and stop < max(end, begin + 1) and used + columns(cells[stop]) <= room:
        used += columns(cells[stop])
        stop += 1
    # What is left of the room goes to both sides alike.
    while used < room and (start > 0 or stop < len(cells)):
        if start > 0 and (used := used + columns(cells[start - 1])) <= room:
            start -= 1
        if stop < len(cells) and (used := used + columns(cells[stop])) <= room:
            stop += 1
    return start, stop


def _cell(character: str) -> str:
    """A character as it is shown: tabs as spaces, what is not printable as a dot."""
    if character == "\t":
        return " " * _TAB
    return character if character.isprintable() or _width(character) == 0 else "·"


def columns(text: str) -> int:
    """How many columns of a terminal a text takes: two for wide East Asian characters, none for combining ones."""
    return sum(map(_width, text))


def _width(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
