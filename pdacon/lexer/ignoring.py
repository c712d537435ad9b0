"""What is looked for where, beside what the parser takes, in a grammar that has others in it.

In: a grammar with islands, and its tables. Out: for each LR state the terminals that are looked for there whatever its
row says: what is ignored, and of indented texts what ends lines and what ends the text. A state is in an island if the
productions at work in it are: those of its kernel, which began before the place where it stands. So what is ignored
changes after the first terminal of an island, and after the first one after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from pdacon.base.cancelling import every
from pdacon.errors import UnsupportedGrammarError
from pdacon.grammar import GrammarData
from pdacon.grammar.model import Island
from pdacon.lalr import Tables


def always_by_state(grammar: GrammarData, tables: Tables) -> NDArray[np.bool_]:
    """Which terminals are looked for in which LR states, whatever the row says: bool[S, T].

    Only those are told that a shift leads to. In an indented island its newlines are among them, as Lark's Indenter
    asks for; and where a block may be closed all that may stand after the island, which closes all blocks.

    Raises UnsupportedGrammarError: in some state it is open whether the text is within an island, so that two things
    would be ignored.
    """
    of_production = np.zeros(len(grammar.productions) + len(grammar.starts), np.int32)
    for number, island in enumerate(grammar.islands):
        of_production[island.first : island.last] = number + 1
    sets = [grammar.ignored_outside, *(island.ignore | _newline_of(island) for island in grammar.islands)]
    found = np.zeros((tables.num_states, len(grammar.terminals)), np.bool_)
    layout = grammar.layout
    for state in every(range(tables.num_states)):
        if tables.accessing[state] > grammar.end:
            continue  # a nonterminal led here: the next terminal is known already
        at_work = {int(of_production[production]) for production, _ in tables.kernel(state)}
        if len({sets[one] for one in at_work}) > 1:
            raise _open_where(grammar, int(tables.accessing[state]), at_work)
        found[state, list(sets[at_work.pop()])] = True
        if layout is not None and tables.action[state, layout.dedent]:
            found[state, list(layout.closers)] = True
    return found


def companions(grammar: GrammarData) -> Mapping[int, frozenset[int]]:
    """For each piece of ignored text at a border the terminals of the grammar that ignores it.

    Keywords are a matter of one grammar: a piece absorbs no strings of the other side, and is none of its keywords.
    """
    pieces = grammar.border_pieces
    if not pieces:
        return {}
    outside = set(range(len(grammar.productions)))
    sides: list[tuple[frozenset[int], set[int]]] = []
    for island in grammar.islands:
        own = range(island.first, island.last)
        outside.difference_update(own)
        sides.append((island.ignore, _terminals_of(grammar, own)))
    sides.append((grammar.ignored_outside, _terminals_of(grammar, outside)))
    return {
        piece: frozenset().union(*(terminals for ignore, terminals in sides if ignored in ignore))
        for piece, ignored in pieces.items()
    }


def _terminals_of(grammar: GrammarData, productions: Iterable[int]) -> set[int]:
    return {symbol for k in productions for symbol in grammar.productions[k].rhs if symbol < grammar.end}


def are_companions(beside: Mapping[int, frozenset[int]], one: int, other: int) -> bool:
    """Whether one of two terminals may be a keyword of the other, as far as borders are concerned; see `companions`."""
    return other in beside.get(one, (other,)) and one in beside.get(other, (one,))


def _newline_of(island: Island) -> frozenset[int]:
    return frozenset() if island.newline is None else frozenset({island.newline})


def _open_where(grammar: GrammarData, symbol: int, at_work: set[int]) -> UnsupportedGrammarError:
    names = " and ".join(grammar.islands[one - 1].name if one else "the outer grammar" for one in sorted(at_work))
    span = grammar.terminals[symbol].span if symbol < grammar.end else None
    return UnsupportedGrammarError(
        f"after {grammar.describe_symbol(symbol)} the text may be one of {names}, which ignore different text; begin "
        "one of them in another way, or let both ignore the same",
        span,
        feature="compose",
    )
