"""LR states that know the column of the innermost block, as far as it matters.

What may follow a newline can depend on the column that it leaves: ``/\\n+ */`` is followed by another newline only
where it ends in a blank. So columns fall into classes, and what a block is closed to has to be of the class that the
text goes on with. The classes of the open blocks are one more stack beside the parser's. They are read from its top as
the parentheses are (`pdacon.lalr.layout`): a copy of a state stands for it and for the classes of the innermost
blocks, as many as the rules at work in it will close, and one more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pdacon.base.limits import LARGE, Limits
from pdacon.errors import LimitExceededError, UnsupportedGrammarError
from pdacon.grammar import GrammarData, Layout
from pdacon.lalr.gotos import Gotos
from pdacon.lalr.layout import Levels, levels_of, most_counted
from pdacon.lalr.tables import Tables

Blocks: TypeAlias = tuple[int, ...]
"""The classes of the innermost blocks' columns, the innermost last; the text itself begins at column 0."""


@dataclass(frozen=True, slots=True)
class ColumnClasses:
    """Which columns are told apart: each of the first ``single`` ones, of the others the remainder by ``period``.

    The least column of a class is its number.
    """

    single: int = 0
    period: int = 1

    @property
    def count(self) -> int:
        """How many classes there are."""
        return self.single + self.period

    def inside(self, block: int, indent_len: int | None) -> range:
        """The classes that have a column further in than some column of a class, by a width if one is given."""
        if indent_len is None:
            return range(min(block + 1, self.single), self.count)
        column = block + indent_len
        if column >= self.single:
            column = self.single + (column - self.single) % self.period
        return range(column, column + 1)


@dataclass(frozen=True, slots=True, eq=False)
class BlockTables:
    """Tables whose states know the class of the innermost block's column.

    Attributes
    ----------
    tables : Tables
        Without kernels and conflicts of their own.
    parent : int32[S]
        The state of the given tables that each is a copy of.
    block : int32[S]
        The class of the innermost block's column.
    opened : int32[S, classes]
        Where INDENT leads to, by the class of the new block's column; -1: nowhere.
    """

    tables: Tables
    parent: NDArray[np.int32]
    block: NDArray[np.int32]
    opened: NDArray[np.int32]


def split_blocks(grammar: GrammarData, tables: Tables, classes: ColumnClasses, limits: Limits = LARGE) -> BlockTables:
    """Tables whose states know the class of the column of the innermost block.

    Parameters
    ----------
    tables : Tables
        Those of `split_parentheses`, of a grammar with layout that is balanced.
    limits : Limits
        Most LR states of the result.

    Raises
    ------
    UnsupportedGrammarError
        There are more classes than the first column and all others, and a rule opens or closes blocks for others.
    LimitExceededError
        "states".

    Notes
    -----
    Cost: nothing where there is one class, as in python.lark; else linear in the result.
    """
    layout = grammar.layout
    assert layout is not None
    if classes.count == 1:
        indent = tables.action[:, [layout.indent]]
        zeros = np.zeros(tables.num_states, np.int32)
        same = np.arange(tables.num_states, dtype=np.int32)
        return BlockTables(tables, same, zeros, np.where(indent > 0, indent - 1, -1).astype(np.int32))
    levels = levels_of(grammar, {layout.indent: 1, layout.dedent: -1})
    assert levels is not None
    if classes != ColumnClasses(1, 1):
        _check_own(grammar, classes, levels)
    return _Split(tables, classes, levels, layout, limits.states).result(grammar.end)


def _check_own(grammar: GrammarData, classes: ColumnClasses, levels: Levels) -> None:
    assert grammar.layout is not None
    first = grammar.end + 1
    for nonterminal in range(first, first + len(grammar.nonterminals)):
        if levels.net[nonterminal] or levels.low[nonterminal]:
            newline, indent, dedent = (
                grammar.terminals[k].name
                for k in (grammar.layout.newline, grammar.layout.indent, grammar.layout.dedent)
            )
            raise UnsupportedGrammarError(
                f"rule {grammar.nonterminals[nonterminal - first].name} opens or closes blocks for others, while what "
                f"may follow {newline} depends on how far its line is indented ({_told_apart(classes)})",
                grammar.nonterminals[nonterminal - first].span,
                "postlex",
                f"write {indent} and {dedent} into the same alternative, or let the newline take blanks alone after "
                r"its line break, as /(\r?\n[\t ]*)+/ does",
            )


def _told_apart(classes: ColumnClasses) -> str:
    if classes.single > 1:
        last = classes.single - 1
        return f"column {last} is another case than column {last + classes.period}"
    return f"by the remainder of its column divided by {classes.period}"


class _Split:
    def __init__(self, tables: Tables, classes: ColumnClasses, levels: Levels, layout: Layout, max_states: int) -> None:
        self._given = tables
        self._classes = classes
        self._levels = levels
        self._layout = layout
        self._most_states = max_states
        self._most = most_counted(tables, levels).tolist()
        self._number: dict[tuple[int, Blocks], int] = {}
        self._copies: list[tuple[int, Blocks]] = []
        self._shifts: list[tuple[int, int, int]] = []
        self._gotos: list[tuple[int, int, int]] = []
        self._opened: list[tuple[int, int, int]] = []

    def result(self, end: int) -> BlockTables:
        """The copies that come, from the starts on. Symbol ``end`` is ``$END``."""
        given = self._given
        text = (0,)
        starts = tuple(self._copy(state, text) for state in given.start_states)
        shifts = [np.flatnonzero(row > 0).tolist() for row in given.action]
        gotos = given.goto.rows()
        for copy, (state, blocks) in enumerate(self._copies):  # grows while it is walked
            for terminal in shifts[state]:
                target = int(given.action[state, terminal]) - 1
                if terminal != self._layout.indent:
                    self._shifts.append((copy, terminal, self._copy(target, self._after(blocks, terminal)) + 1))
                    continue
                inside = self._classes.inside(blocks[-1], self._layout.indent_len)
                inner = [(k, self._copy(target, (*blocks, k))) for k in inside]
                self._opened += [(copy, k, to) for k, to in inner]
                self._shifts.append((copy, terminal, inner[0][1] + 1))
            for nonterminal, target in gotos[state].items():
                blocks_after = self._after(blocks, end + 1 + nonterminal)
                self._gotos.append((copy, nonterminal, self._copy(target, blocks_after)))
        parent = np.array([state for state, _ in self._copies], np.int32)
        tables = replace(
            given,
            action=_with(given.action[parent], self._shifts),
            goto=Gotos.of(self._gotos, len(parent), given.goto.num_nonterminals),
            start_states=starts,
            end_states=tuple(self._copy(state, text) for state in given.end_states),
            accessing=given.accessing[parent],
            origin=given.origin[parent],
            in_parens=given.in_parens[parent],
            conflicts=(),
        )
        block = np.array([blocks[-1] for _, blocks in self._copies], np.int32)
        nowhere = np.full((len(parent), self._classes.count), -1, np.int32)
        return BlockTables(tables, parent, block, _with(nowhere, self._opened))

    def _after(self, blocks: Blocks, symbol: int) -> Blocks:
        """A block that a nonterminal leaves open is further in than the text, and of the one class that this has."""
        net, low = self._levels.net[symbol], self._levels.low[symbol]
        return blocks[: len(blocks) + low] + (1,) * (net - low)

    def _copy(self, state: int, blocks: Blocks) -> int:
        key = state, blocks[-self._most[state] :]
        number = self._number.setdefault(key, len(self._copies))
        if number == len(self._copies):
            self._copies.append(key)
            if self._most_states and number >= self._most_states:
                raise LimitExceededError("states", number + 1, self._most_states)
        return number


def _with(table: NDArray[np.int32], entries: list[tuple[int, int, int]]) -> NDArray[np.int32]:
    if entries:
        rows, columns, values = np.array(entries, np.int32).T
        table[rows, columns] = values
    table.flags.writeable = False
    return table
