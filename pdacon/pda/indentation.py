"""What Lark's ``Indenter``, or a FixedWidthIndenter, does between the lexer and the parser.

The parser gets each lexeme's terminal, then, after a newline, what the columns after it make of the next line, and at
the end of the text what closes the blocks that are still open.

Source: ``lark.indenter`` (Lark 1.3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pdacon.grammar import Grammar, Layout
    from pdacon.pda.stack import Stack

NEWLINE, TAB, SPACE = b"\n\t "


class _Parser(Protocol):
    @property
    def grammar(self) -> Grammar: ...
    def shift(self, stack: Stack, terminal: int) -> Stack | None: ...
    def accepts(self, stack: Stack) -> bool: ...


@dataclass(frozen=True, slots=True)
class Margin:
    """Where an Indenter stands. A grammar without layout never leaves the first one.

    Attributes
    ----------
    columns
        Where the open blocks begin, outermost first; the text itself is the block at column 0.
    parens
        How many parentheses are open.
    """

    columns: tuple[int, ...] = (0,)
    parens: int = 0


OUTERMOST = Margin()


def column_after(column: int | None, byte: int, layout: Layout) -> int | None:
    """Where a line begins if the newline before it goes on with a byte; None before its first line break.

    Everything after the last line break counts: blanks in a comment, too. What is no blank has no width.
    """
    if byte == NEWLINE:
        return 0
    width = {SPACE: 1, TAB: layout.tab_len}.get(byte, 0)
    return None if column is None else column + width


def is_skipped(layout: Layout | None, margin: Margin, terminal: int) -> bool:
    """Whether a lexeme is a newline inside parentheses, which the parser does not get to see."""
    return layout is not None and terminal == layout.newline and margin.parens > 0


def feed(
    parser: _Parser, stack: Stack, margin: Margin, terminal: int, column: int | None
) -> tuple[Stack, Margin] | None:
    """What a lexeme leads to; None where Lark raises.

    Parameters
    ----------
    column
        Of a newline: where the next line begins.
    """
    layout = parser.grammar.layout
    if is_skipped(layout, margin, terminal):
        return stack, margin
    if layout is not None and terminal == layout.newline:
        return _feed_newline(parser, layout, stack, margin, column)
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
    closed: Stack | None = stack
    for _ in margin.columns[1:]:
        closed = None if closed is None or layout is None else parser.shift(closed, layout.dedent)
    return closed is not None and parser.accepts(closed)
