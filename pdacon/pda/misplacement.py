"""Lines that do not begin where a line can begin, for people to read."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

from pdacon.pda.configuration import Configuration
from pdacon.pda.indentation import NEWLINE, column_after, drops, feed

_BLANKS = b" \t\f"


@dataclass(frozen=True, slots=True)
class MisplacedLine:
    """A line, how it is indented, and how it could be.

    Attributes
    ----------
    blanks : bytes
        What it begins with, as far as it is known.
    column : int or None
        Where it begins, or where it stands so far; None if the newline takes no such blanks.
    begun : bool
        Whether what comes behind the blanks is known.
    columns : tuple of int
        Columns of open blocks in which a line can begin here, ascending.
    deeper : int or None
        The least column at which a block can begin here; None if none can.
    """

    blanks: bytes
    column: int | None
    begun: bool
    columns: tuple[int, ...]
    deeper: int | None


def misplaced_line(configuration: Configuration, read: bytes, rest: bytes) -> MisplacedLine | None:
    """The line that the text stands at the beginning of, if no line can begin where it does.

    Parameters
    ----------
    configuration : Configuration
        Where the text stands.
    read : bytes
        What was read last: at least ``configuration.length`` bytes.
    rest : bytes
        What comes next, and is refused; the line's blanks may go on there.
    """
    layout = configuration.machine.grammar.layout
    if layout is None:
        return None
    for at in configuration.alternatives():
        _, line_break, blanks = read[len(read) - at.length :].rpartition(b"\n")
        if at.fresh or not line_break or blanks.strip(_BLANKS):
            continue
        before = at.restart()
        if before.takes(layout.newline) and not drops(layout, before.margin, layout.newline):
            more = rest[: len(rest) - len(rest.lstrip(_BLANKS))]
            return _misplaced(before, at.read(more) if more else at, blanks + more, more != rest)
    return None


def _misplaced(before: Configuration, after: Configuration | None, blanks: bytes, begun: bool) -> MisplacedLine | None:
    """The same, from before the newline and from behind the blanks."""
    layout = before.machine.grammar.layout
    assert layout is not None
    column: int | None = column_after(None, NEWLINE, layout)
    for byte in blanks:
        column = column_after(column, byte, layout)
    if blanks and (after is None or after.column != column):
        column = None
    innermost = before.margin.columns[-1]
    further = innermost + (layout.indent_len or 1)
    deeper = further if _begins(before, further) else None
    columns = tuple(filter(lambda open_: _begins(before, open_), before.margin.columns))
    opens = deeper is not None and column is not None and column > innermost
    if column in columns or (opens and (layout.indent_len is None or column == deeper)):
        return None
    return MisplacedLine(blanks, column, begun, columns, deeper) if columns or deeper is not None else None


def _begins(before: Configuration, column: int) -> bool:
    """Whether anything can begin behind a newline that leaves a column."""
    machine, layout = before.machine, before.machine.grammar.layout
    assert layout is not None
    fed = feed(machine, before.stack, before.margin, layout.newline, column)
    if fed is None:
        return False
    stack, _ = fed
    context = machine.contexts[stack.state]
    terminals = {*context.terminals, *chain.from_iterable(context.keywords.values())}
    terminals -= machine.ignore | {layout.newline}
    return any(machine.shift(stack, terminal) is not None for terminal in terminals)
