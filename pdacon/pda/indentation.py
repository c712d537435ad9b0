"""What Lark's ``Indenter``, or a FixedWidthIndenter, does between the lexer and the parser.

The parser gets each lexeme's terminal, then, after a newline, what the columns after it make of the next line, and at
the end of the text, or before what ends an indented part of it, what closes the blocks that are still open.

Source: ``lark.indenter`` (Lark 1.3).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial, reduce
from typing import Protocol

from pdacon.grammar import GrammarData, Layout
from pdacon.pda.stack import Stack

NEWLINE, TAB, SPACE = b"\n\t "


class _Parser(Protocol):
    @property
    def grammar(self) -> GrammarData: ...
    def shift(self, stack: Stack, terminal: int) -> Stack | None: ...
    def accepts(self, stack: Stack) -> bool: ...


@dataclass(frozen=True, slots=True)
class Margin:
    """Where an Indenter stands. A grammar without layout never leaves the first one."""

    # Where the open blocks begin, outermost first; the text itself is the block at column 0.
    columns: tuple[int, ...] = (0,)
    parens: int = 0  # How many parentheses are open


OUTERMOST = Margin()


@dataclass(frozen=True, slots=True)
class Line:
    """What has been read of a newline, as far as the line after it is concerned."""

    # Where the line begins if the newline ends here. None if it can be no newline, or has no line break yet.
    column: int | None = None
    # What has been read of an escape, where lines are escaped: it stands for a character when it is whole.
    escape: bytes = b""

    def after(self, byte: int, layout: Layout) -> Line:
        """One byte later.

        Everything after the last line break counts: blanks in a comment, too. What is no blank has no width.
        """
        if layout.escaped:
            read = self.escape + bytes([byte])
            if read == b"\\" or (read[:2] == b"\\u" and len(read) < 6):
                return Line(self.column, read)
            if len(read) > 1:
                byte = ord(json.loads(b'"%b"' % read))
        if byte == NEWLINE:
            return Line(0)
        width = {SPACE: 1, TAB: layout.tab_len}.get(byte, 0)
        return Line(None if self.column is None else self.column + width)


NO_LINE = Line()


def is_skipped(layout: Layout | None, margin: Margin, terminal: int) -> bool:
    """Whether a lexeme is a newline inside parentheses, which the parser does not get to see."""
    return layout is not None and terminal == layout.newline and margin.parens > 0


def feed(
    parser: _Parser, stack: Stack, margin: Margin, terminal: int, column: int | None
) -> tuple[Stack, Margin] | None:
    """What a lexeme leads to; None where Lark raises.

    ``column``: of a newline: where the next line begins.
    """
    layout = parser.grammar.layout
    if is_skipped(layout, margin, terminal):
        return stack, margin
    if layout is not None and terminal == layout.newline:
        return _feed_newline(parser, layout, stack, margin, column)
    if layout is not None and terminal in layout.closers:
        closed = _closed(parser, layout, stack, margin)
        if closed is None:
            return None
        stack, margin = closed, Margin((0,), margin.parens)
    shifted = parser.shift(stack, terminal)
    if shifted is None or layout is None:
        return None if shifted is None else (shifted, margin)
    parens = margin.parens + (terminal in layout.opens) - (terminal in layout.closes)
    return None if parens < 0 else (shifted, Margin(margin.columns, parens))


def _feed_newline(
    parser: _Parser, layout: Layout, stack: Stack, margin: Margin, column: int | None
) -> tuple[Stack, Margin] | None:
    shifted = parser.shift(stack, layout.newline)
    if column is None:
        return None  # Lark trips over a newline without a line break.
    columns = margin.columns
    if column > columns[-1]:
        if layout.indent_len not in (None, column - columns[-1]):
            return None
        columns = (*columns, column)
        shifted = shifted and parser.shift(shifted, layout.indent)
    while column < columns[-1]:
        columns = columns[:-1]
        shifted = shifted and parser.shift(shifted, layout.dedent)
    if shifted is None or column != columns[-1]:
        return None
    return shifted, Margin(columns, margin.parens)


def ends(parser: _Parser, stack: Stack, margin: Margin) -> bool:
    """Whether the text may end: the open blocks are closed first, in parentheses too."""
    layout = parser.grammar.layout
    closed = stack if layout is None else _closed(parser, layout, stack, margin)
    return closed is not None and parser.accepts(closed)


def _closed(parser: _Parser, layout: Layout, stack: Stack, margin: Margin) -> Stack | None:
    """The stack after a DEDENT for each open block."""
    closed: Stack | None = stack
    for _ in margin.columns[1:]:
        closed = closed and parser.shift(closed, layout.dedent)
    return closed


def parser_terminals(layout: Layout, lexemes: Iterable[tuple[int, int, int]], text: bytes) -> list[tuple[int, int]]:
    """What the parser gets of a sentence's lexemes, with INDENT and DEDENT, each with the index of a lexeme.

    ``lexemes``: terminals, and where in the text each begins and ends; without newlines that count for nothing.
    Returns: a terminal, and the lexeme that it is, or before which it is made.
    """
    found: list[tuple[int, int]] = []
    columns = [0]
    index = 0

    def close_down_to(column: int, before: int) -> None:
        while columns[-1] > column:
            columns.pop()
            found.append((layout.dedent, before))

    for index, (terminal, begin, end) in enumerate(lexemes):
        if terminal in layout.closers:
            close_down_to(0, index)
        found.append((terminal, index))
        if terminal != layout.newline:
            continue
        column = reduce(partial(Line.after, layout=layout), text[begin:end], NO_LINE).column or 0
        if column > columns[-1]:
            columns.append(column)
            found.append((layout.indent, index + 1))
        close_down_to(column, index + 1)
    close_down_to(0, index + 1)
    return found
