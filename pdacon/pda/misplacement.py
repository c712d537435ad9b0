"""Lines that do not begin where a line can begin, for people to read.

In: a `Configuration` at the beginning of a line, and the blanks there. Out: the column of the line, and those that it
could have. The parser's stack says which: it is closed block by block, and each time asked what can begin.
"""

from __future__ import annotations

from dataclasses import dataclass

from pdacon.pda.configuration import Configuration
from pdacon.pda.indentation import SPACE, TAB, is_skipped
from pdacon.pda.lexeme_reader import LexemeReader
from pdacon.pda.machine import Machine
from pdacon.pda.stack import Stack

_BLANKS = b" \t\f"


@dataclass(frozen=True, slots=True)
class MisplacedLine:
    """A line, how it is indented, and how it could be."""

    blanks: bytes  # What it begins with, as far as it is known
    column: int | None  # Where it begins, or where it stands so far; None if the newline takes no such blanks
    begun: bool  # Whether what comes after the blanks is known
    columns: tuple[int, ...]  # Columns of open blocks in which a line can begin here, ascending
    deeper: int | None  # The least column at which a block can begin here; None if none can


def misplaced_line(
    configuration: Configuration, read: bytes, rest: bytes, reader: LexemeReader | None = None
) -> MisplacedLine | None:
    """The line that the text stands at the beginning of, if no line can begin where it does.

    Parameters
    ----------
    configuration : Configuration
        Where the text stands.
    read : bytes
        What was read last: at least ``configuration.length`` bytes.
    rest : bytes
        What comes next, and is refused; the line's blanks may go on there.
    reader : LexemeReader, optional
        One that may have read the lexeme.
    """
    layout = configuration.machine.grammar.layout
    if layout is None or layout.escaped:
        return None
    reader = LexemeReader() if reader is None else reader
    for at in configuration.alternatives():
        _, line_break, blanks = read[len(read) - at.length :].rpartition(b"\n")
        if at.fresh or not line_break or blanks.strip(_BLANKS):
            continue
        before = at.restart()
        if before.takes(layout.newline) and not is_skipped(layout, before.margin, layout.newline):
            more = rest[: len(rest) - len(rest.lstrip(_BLANKS))]
            return _misplaced(before, reader.read(at, more), blanks + more, more != rest)
    return None


def _misplaced(before: Configuration, after: Configuration | None, blanks: bytes, begun: bool) -> MisplacedLine | None:
    """The same, from before the newline and from after the blanks."""
    layout = before.machine.grammar.layout
    assert layout is not None
    column: int | None = blanks.count(SPACE) + layout.tab_len * blanks.count(TAB)
    if blanks and (after is None or after.line.column != column):
        column = None
    innermost = before.margin.columns[-1]
    columns, opened = _line_starts(before)
    deeper = innermost + (layout.indent_len or 1) if opened else None
    opens = deeper is not None and column is not None and column > innermost
    if column in columns or (opens and (layout.indent_len is None or column == deeper)):
        return None
    return MisplacedLine(blanks, column, begun, columns, deeper) if columns or deeper is not None else None


def _line_starts(before: Configuration) -> tuple[tuple[int, ...], bool]:
    """The columns of open blocks in which something can begin after a newline, and whether it can in a block there."""
    machine, layout = before.machine, before.machine.grammar.layout
    assert layout is not None
    stack = machine.shift(before.stack, layout.newline)
    inside = None if stack is None else machine.shift(stack, layout.indent)
    columns: list[int] = []
    for column in reversed(before.margin.columns):
        if stack is None:
            break
        if _begins(machine, stack):
            columns.append(column)
        stack = machine.shift(stack, layout.dedent)
    return tuple(reversed(columns)), inside is not None and _begins(machine, inside)


def _begins(machine: Machine, stack: Stack) -> bool:
    """Whether anything can begin on a stack but newlines and what is ignored."""
    context = machine.context(stack.state)
    terminals = {*context.terminals, *context.absorbed}
    if machine.grammar.layout is not None:
        terminals.discard(machine.grammar.layout.newline)
    return any(machine.shift(stack, terminal) is not None for terminal in terminals - machine.ignore)
