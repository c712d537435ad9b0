"""The LALR(1) tables of a grammar, as Lark builds them, row by row.

In: productions. Out: `Tables`, with every conflict and the choice that Lark makes there. The native core
builds them.

Source: F. DeRemer and T. Pennello, "Efficient Computation of LALR(1) Look-Ahead Sets", TOPLAS 4(4), 1982.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from pdacon._native import _core
from pdacon.base.limits import LARGE, Limits
from pdacon.grammar.flat import AnyProduction, FlatProductions
from pdacon.grammar.grammar_data import GrammarData
from pdacon.lalr.gotos import Gotos

ConflictKind = Literal["shift/reduce", "reduce/reduce", "reads-cycle"]

_Kind = TypeVar("_Kind", bound=np.generic)

# In the order of the native enumerations.
_KINDS: tuple[ConflictKind, ...] = ("shift/reduce", "reduce/reduce", "reads-cycle")
_SETTLED: tuple[Literal["shift", "priority"] | None, ...] = (None, "shift", "priority")


class _Grammar(Protocol):
    """The part of a Grammar that the tables depend on."""

    @property
    def terminals(self) -> Sequence[object]: ...
    @property
    def nonterminals(self) -> Sequence[object]: ...
    @property
    def productions(self) -> Sequence[AnyProduction]: ...
    @property
    def starts(self) -> Sequence[int]: ...


@dataclass(frozen=True, slots=True)
class Conflict:
    """A place where the LALR(1) automaton has more than one thing to do.

    Attributes
    ----------
    kind : {"shift/reduce", "reduce/reduce", "reads-cycle"}
        A cyclic `reads` relation is never LR(k), and makes Lark's table depend on the order of its hashes.
    state : int
        The LR state; in a reads cycle the source of its first transition.
    terminal : int
        The lookahead, a symbol id (``$END`` included); in a reads cycle the nonterminal of that transition.
    productions : tuple of int
        Who wants to reduce, ascending: all candidates of a reduce/reduce conflict, the one that loses to the
        shift in a shift/reduce conflict; in a reads cycle the productions that can be empty along the cycle.
    shift_to : int
        The state that a shift of ``terminal`` leads to, or -1.
    settled : {"shift", "priority", None}
        How Lark settles it in silence: by shifting, by the strictly highest rule priority, or not at all
        (then Lark refuses the grammar, and the action entry holds the shift if there is one, else an error).
    chosen : int
        The production that wins by priority, else -1. It may still lose to a shift, which is then a
        shift/reduce conflict of its own.
    lark_only : bool
        With the lookaheads of DeRemer and Pennello there is no conflict of this kind at this state and
        terminal: it exists only because of the edges that Lark adds to `includes`.
    """

    kind: ConflictKind
    state: int
    terminal: int
    productions: tuple[int, ...]
    shift_to: int
    settled: Literal["shift", "priority"] | None
    chosen: int
    lark_only: bool


class _Rules:
    """The productions, those of the distinct starts after them; made when they are asked for."""

    def __init__(self, grammar: _Grammar, starts: Sequence[int]) -> None:
        self._grammar, self._starts = grammar, starts

    @cached_property
    def all(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """Left and right sides; -1 on the left of what is augmented."""
        return (*((p.lhs, p.rhs) for p in self._grammar.productions), *((-1, (start,)) for start in self._starts))

    @cached_property
    def closures(self) -> dict[int, list[tuple[int, int]]]:
        """For each nonterminal the items in which one of its productions begins."""
        found: dict[int, list[tuple[int, int]]] = {}
        for index, (lhs, _) in enumerate(self.all):
            found.setdefault(lhs, []).append((index, 0))
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """LALR(1) tables: S states, T terminals, N nonterminals. States are numbered breadth first.

    Column T of ``action`` is ``$END``, which is never shifted: a text is accepted when, while ``$END`` is fed,
    a reduce leaves ``end_states[i]`` on top, for a parse that began in ``start_states[i]``.

    Attributes
    ----------
    action : int32[S, T + 1], read-only
        0 error; k > 0 shift to state k - 1; k < 0 reduce production -k - 1.
    goto : Gotos
        The next state by state and nonterminal; nonterminal n is symbol T + 1 + n.
    start_states, end_states : tuple of int
        One per start of the grammar.
    accessing : int32[S], read-only
        The symbol by which a state is entered, -1 for start states.
    conflicts : tuple of Conflict
        Reads cycles first, then by state and terminal.
    origin : int32[S], read-only
        The LR state that each is a copy of: itself, unless `split_parentheses` made the tables.
    in_parens : bool[S], read-only
        Whether the state is inside parentheses, where an Indenter drops newlines. Only `split_parentheses` tells.
    """

    action: NDArray[np.int32]
    goto: Gotos
    start_states: tuple[int, ...]
    end_states: tuple[int, ...]
    accessing: NDArray[np.int32]
    conflicts: tuple[Conflict, ...]
    origin: NDArray[np.int32]
    in_parens: NDArray[np.bool_]
    _rules: _Rules = field(repr=False)
    _kernels: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]] = field(repr=False)

    @property
    def num_states(self) -> int:
        """The number S of LR states."""
        return len(self.accessing)

    def kernel(self, state: int) -> list[tuple[int, int]]:
        """The kernel items of a state as (production, dot), numbered as in `items`."""
        offset, production, dot = self._kernels
        begin, end = offset[state], offset[state + 1]
        return list(zip(production[begin:end].tolist(), dot[begin:end].tolist(), strict=True))

    def items(self, state: int) -> list[tuple[int, int]]:
        """The LR(0) items of a state as (production, dot): the kernel, then the rest of the closure.

        Production P + i, after the P productions of the grammar, is the augmented rule of the i-th distinct
        start: its right-hand side is that start alone.

        Cost: linear in the items.
        """
        items = self.kernel(state)
        seen: set[int] = set()
        for rule, position in items:  # grows while it is walked
            rhs = self._rules.all[rule][1]
            if position < len(rhs) and rhs[position] not in seen:
                seen.add(rhs[position])
                items += self._rules.closures.get(rhs[position], ())
        return items


def build_tables(grammar: _Grammar, limits: Limits = LARGE) -> Tables:
    """Build the LALR(1) tables of a grammar, with Lark's resolution of conflicts.

    Parameters
    ----------
    grammar : GrammarData
        Only ``terminals``, ``nonterminals``, ``productions`` and ``starts`` are read.
    limits : Limits
        Most LR states, and most memory for the tables and what they are made from, which is at most 8 GiB.

    Raises
    ------
    LimitExceededError
        A limit was reached ("states", "bytes" or "seconds").
    CancelledError
    ValueError
        The productions are malformed, or one is given twice.

    Notes
    -----
    Cost: JSON 0.04 ms, lark's python.lark (796 states) 2 ms. Linear in the closures of all states and in the
    relations, times T / 64.

    Source: DeRemer and Pennello 1982; see the room's charter.
    """
    starts = tuple(dict.fromkeys(grammar.starts))
    flat = grammar.flat_productions if isinstance(grammar, GrammarData) else FlatProductions.of(grammar.productions)
    native = _core.lalr_tables(
        num_terminals=len(grammar.terminals),
        num_nonterminals=len(grammar.nonterminals),
        lhs=flat.lhs,
        rhs_offset=flat.offset,
        rhs=flat.rhs,
        priority=flat.priority,
        starts=np.array(starts, np.int32),
        max_states=limits.states,
        max_bytes=limits.bytes,
    )
    start_of = {symbol: k for k, symbol in enumerate(starts)}
    return Tables(
        action=native.action,
        goto=Gotos(native.goto_offset, native.goto_nonterminal, native.goto_target, len(grammar.nonterminals)),
        start_states=tuple(int(native.start_states[start_of[s]]) for s in grammar.starts),
        end_states=tuple(int(native.end_states[start_of[s]]) for s in grammar.starts),
        accessing=native.accessing,
        conflicts=_conflicts(native),
        origin=_frozen(np.arange(len(native.accessing), dtype=np.int32)),
        in_parens=_frozen(np.zeros(len(native.accessing), np.bool_)),
        _rules=_Rules(grammar, starts),
        _kernels=(native.kernel_offset, native.kernel_production, native.kernel_dot),
    )


def _frozen(array: NDArray[_Kind]) -> NDArray[_Kind]:
    array.flags.writeable = False
    return array


def _conflicts(native: _core.LalrTables) -> tuple[Conflict, ...]:
    rows = native.conflicts.tolist()
    if not rows:
        return ()
    productions = native.conflict_productions.tolist()
    ends = [*(row[-1] for row in rows[1:]), len(productions)]
    return tuple(
        Conflict(
            kind=_KINDS[kind],
            state=state,
            terminal=symbol,
            productions=tuple(productions[first:end]),
            shift_to=shift_to,
            settled=_SETTLED[settled],
            chosen=chosen,
            lark_only=bool(lark_only),
        )
        for (kind, state, symbol, shift_to, settled, chosen, lark_only, first), end in zip(rows, ends, strict=False)
    )
