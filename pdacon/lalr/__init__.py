"""Builds LALR(1) tables of productions, and names their conflicts.

In: `GrammarData`, of which only terminals, nonterminals, productions and starts are read. Out: frozen Tables
that equal those of stock Lark row for row, and every conflict on the way, as data.

The room does not know what a terminal looks like, what a lexer does with an action row, or which conflicts
are acceptable: Tables hold Lark's resolution, the determinism room decides whether to refuse.

Invariant: for a grammar that Lark accepts, and without a cycle in `reads`, the action and goto rows equal
Lark's up to the numbering of states. Absent on purpose: default reductions, unit elimination, merging of
rows, canonical LR; each would change which terminals compete in a contextual lexer.

Worst cases: the number of LR states can be exponential in the size of the grammar; the action table is dense (S states
x all terminals); a recursive production of n symbols takes n^2 steps (8,000 nested repetitions: 2 s). States, bytes and
seconds are limited. The rest is linear in the closures and the relations, times the width of a terminal set.

Sources: F. DeRemer and T. Pennello, "Efficient Computation of LALR(1) Look-Ahead Sets", ACM TOPLAS 4(4),
1982; the behaviour of lark.parsers.lalr_analysis (Lark 1.3).
"""

from pdacon.lalr.columns import BlockTables, ColumnClasses, split_blocks
from pdacon.lalr.gotos import Gotos
from pdacon.lalr.layout import Imbalance, find_imbalances, open_parentheses, split_parentheses
from pdacon.lalr.parsing import reductions_of
from pdacon.lalr.tables import Conflict, Tables, build_tables

__all__ = [
    "BlockTables",
    "ColumnClasses",
    "Conflict",
    "Gotos",
    "Imbalance",
    "Tables",
    "build_tables",
    "find_imbalances",
    "open_parentheses",
    "reductions_of",
    "split_blocks",
    "split_parentheses",
]
