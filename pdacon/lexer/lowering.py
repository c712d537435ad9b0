"""Terminals and LALR tables -> the lexing automaton of a grammar.

In: the grammar's patterns, and the contexts that its tables make (`contexts`). Out: a `Lexer`. The programs of all
terminals get one numbering, and one automaton for what lies behind a lexeme; the native core makes them deterministic,
with one entry for each context.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pdacon._native import _core
from pdacon.base.cancelling import every, look
from pdacon.base.graphs import Numbering
from pdacon.base.limits import LARGE, Limits
from pdacon.errors import LimitExceededError, UnsupportedGrammarError
from pdacon.grammar import GrammarData
from pdacon.lalr import Tables
from pdacon.lexer.contexts import Context, clashes_in, make_contexts
from pdacon.lexer.terminals import compile_terminal, one_text
from pdacon.lexer.wanted import OUTSIDE, WHOLE, narrowed
from pdacon.regular.ordered.program import Program, remembered_automaton

_Numbers: TypeAlias = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Lexer:
    """The lexing automaton of a grammar, and which context each LR state reads in."""

    grammar: GrammarData
    contexts: tuple[Context, ...]
    # int32[S], read-only: index of the context in which the next lexeme is read when this LR state is on top.
    context_of_state: NDArray[np.int32]
    # For each terminal the contexts in which the next lexeme is read when it has been shifted.
    contexts_after: tuple[tuple[int, ...], ...]
    automaton: _core.LexingAutomaton = field(repr=False)  # The native automaton; context i is entry i
    nfa: _core.Nfa = field(repr=False)


@dataclass(frozen=True, slots=True)
class UnboundedLookahead:
    """A match that no bounded number of bytes decides.

    After ``prefix`` the bytes ``loop`` can follow any number of times, and it is still open whether the lexeme ends
    where ``terminal`` matched (its name; None if it is an ignored one) or goes on.
    """

    terminal: int | None
    prefix: bytes
    loop: bytes


def build_lexer(grammar: GrammarData, tables: Tables, limits: Limits = LARGE) -> Lexer:
    """Lower the terminals of a grammar to one lexing automaton.

    Parameters
    ----------
    tables : Tables
        Of the same grammar: their rows are the contexts of the contextual lexer. Those of `split_parentheses` for
        a grammar with layout.
    limits : Limits
        Most states of the automaton, and most memory for it and what it is made from.

    Raises
    ------
    UnsupportedGrammarError
        A terminal uses something of ``re`` that is not supported, or two of a context have groups of one name. The span
        is the terminal's.
    LimitExceededError
        "states", "bytes" or "seconds".
    CancelledError

    Notes
    -----
    An unbounded lookahead does not raise: the match is given up once round its loop. See `find_unbounded_lookahead`.

    Source: the meaning is that of ``lark.lexer.ContextualLexer`` and its keyword callbacks (Lark 1.3).
    """
    contexts, context_of_state, contexts_after = make_contexts(grammar, tables, limits.states)
    for clash in clashes_in(grammar, contexts):
        raise clash.error
    nfa = _make_nfa(grammar, limits.states)
    layout = grammar.layout
    try:
        automaton = _core.LexingAutomaton.make(
            nfa,
            ignored=np.array([k in grammar.ignore for k in range(len(grammar.terminals))], np.uint8),
            alternations=[list(context.alternation) for context in contexts],
            renames=[[(regex, list(keywords)) for regex, keywords in context.renames] for context in contexts],
            follow=contexts_after,
            starts=np.unique(context_of_state[list(tables.start_states)]).tolist(),
            newline=-1 if layout is None else layout.newline,
            tab_width=8 if layout is None else layout.tab_len,
            max_states=limits.states,
            max_bytes=limits.bytes,
            escaped_lines=layout is not None and layout.escaped,
        )
    except LimitExceededError as error:
        detail = _largest_patterns(grammar, limits.states)
        raise LimitExceededError(error.what, error.given, error.limit, detail) from None
    context_of_state.flags.writeable = False
    return Lexer(grammar, contexts, context_of_state, tuple(map(tuple, contexts_after)), automaton, nfa)


def find_unbounded_lookahead(lexer: Lexer) -> list[UnboundedLookahead]:
    """Every terminal whose matches can need an unbounded number of bytes more, once each, with a loop as witness."""
    names = len(lexer.grammar.terminals)
    return [
        UnboundedLookahead(label if label < names else None, prefix, loop)
        for label, prefix, loop in lexer.automaton.unbounded
    ]


_Piece = tuple[int, bytes] | tuple[int, bytes, bytes, bytes, bytes, bytes]
"""A terminal and its text, or the arrays of its program as bytes: kind, offset, lo, hi and target."""


def _make_nfa(grammar: GrammarData, max_states: int) -> _core.Nfa:
    """All programs in one numbering."""
    lexable = [k for k, terminal in enumerate(grammar.terminals) if terminal.pattern is not None]
    pieces = [_piece(grammar, k, max_states) for k in every(lexable, 1)]
    if None not in pieces and not grammar.within:
        return _core.Nfa.joined(len(grammar.terminals), pieces)
    programs = {k: _program(grammar, k, max_states) for k in lexable}
    look_behind, place_of = join_behind(list(programs.values()), max_states)
    wanted = np.zeros(0, np.uint8)
    if grammar.within:
        wanted = np.full(len(look_behind), WHOLE, np.uint8)
        for texts in grammar.within:
            look_behind, wanted, places = narrowed(look_behind, wanted, texts, max_states)
            place_of = place_of[:, places]
    look()
    sizes = np.cumsum([0, *(len(program) for program in programs.values())])
    edges = np.cumsum([0, *(len(program.target) for program in programs.values())])
    entries = np.full((len(grammar.terminals), len(look_behind)), -1, np.int32)
    for (index, program), base, places in zip(programs.items(), sizes, place_of, strict=False):
        entries[index] = program.entries[places] + base
    entries[:, : len(wanted)][:, wanted == OUTSIDE] = -1
    families = {program.family: len(program.entries) - 1 for program in programs.values() if program.family}
    leaves = np.zeros(0, np.int32)
    look()
    if families:
        look_behind, wanted, entries, leaves = _with_families(programs, sizes, families, look_behind, wanted, entries)
    return _core.Nfa.make(
        kind=_joined((program.kind for program in programs.values()), np.uint8),
        offset=_joined(
            [*(p.offset[:-1] + base for p, base in zip(programs.values(), edges, strict=False)), edges[-1:]]
        ),
        low=_joined((program.lo for program in programs.values()), np.uint8),
        high=_joined((program.hi for program in programs.values()), np.uint8),
        target=_joined(p.target + base for p, base in zip(programs.values(), sizes, strict=False)),
        owner=np.repeat(np.array(list(programs), np.int32), np.diff(sizes)),
        entry=entries.reshape(-1),
        behind=look_behind.reshape(-1),
        wanted=wanted,
        leaves=leaves,
    )


def _with_families(
    programs: Mapping[int, Program],
    sizes: Sequence[int] | NDArray[np.int_],
    families: Mapping[str, int],
    look_behind: _Numbers,
    wanted: NDArray[np.uint8],
    entries: _Numbers,
) -> tuple[_Numbers, NDArray[np.uint8], _Numbers, _Numbers]:
    """The automaton of the left context, the entries, and what matches leave, with what families have left.

    After the given states there is a copy of all of them for each entry of a family but its first. No byte leads to a
    copy, and from there as from its original: what is left is known where the next lexeme begins, and forgotten then.
    """
    count = len(look_behind)
    firsts = dict(zip(families, np.cumsum([0, *families.values()]).tolist(), strict=False))
    copies = sum(families.values())
    widened = np.tile(entries, (1, 1 + copies))
    leaves = []
    for (index, program), base in zip(programs.items(), sizes, strict=False):
        if not program.family:
            leaves.append(np.zeros(len(program), np.int32))
            continue
        first = firsts[program.family]
        for left, entry in enumerate(program.entries[1:].tolist(), first + 1):
            there = widened[index, left * count : (left + 1) * count]
            there[there >= 0] = entry + base
        leaves.append(np.where(program.leaves > 0, (program.leaves + first) * count, 0).astype(np.int32))
    return np.tile(look_behind, (1 + copies, 1)), np.tile(wanted, 1 + copies), widened, np.concatenate(leaves)


def _piece(grammar: GrammarData, index: int, max_states: int) -> _Piece | None:
    """The program of a terminal as the core takes it; None if it looks at its left context."""
    pattern = grammar.terminals[index].pattern
    assert pattern is not None
    if pattern.automaton is not None:
        if pattern.automaton.family or pattern.automaton.look_behind:
            return None
        own = pattern.automaton
    else:
        text = one_text(grammar, pattern)
        if text is not None and 0 < len(text) < max_states:
            return index, text
        program = _program(grammar, index, max_states)
        if not program.looks_ahead_only:
            return None
        own = remembered_automaton(program)
    return index, own.kind, own.offset, own.lo, own.hi, own.target


def _program(grammar: GrammarData, index: int, max_states: int) -> Program:
    terminal = grammar.terminals[index]
    try:
        return compile_terminal(grammar, terminal, max_states)
    except UnsupportedGrammarError as error:
        reason = f"terminal {terminal.name}: {error.reason}"
        raise UnsupportedGrammarError(reason, terminal.span, error.feature, error.advice) from None


def _joined(arrays: Iterable[NDArray[Any]], dtype: type[np.generic] = np.int32) -> NDArray[Any]:
    joined: NDArray[Any] = np.concatenate([np.zeros(0, dtype), *arrays]).astype(dtype)
    return joined


def join_behind(programs: Sequence[Program], max_states: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """One automaton for the left context of a lexeme of any terminal.

    Returns ``look_behind`` (int32[k, 256]): the product of the programs' automata, as far as it is reachable from their
    starts. ``places`` (int32[len(programs), k]): the state of each program's automaton in each state of the product.
    """
    tables: dict[bytes, NDArray[np.int32]] = {}
    keys = [program.look_behind.tobytes() for program in programs]
    for key, program in zip(keys, programs, strict=True):
        tables.setdefault(key, program.look_behind)
    factors = list(tables.values())
    states = Numbering((0,) * len(factors))
    rows: list[list[int]] = []
    for state in states:
        columns = [table[at].tolist() for table, at in zip(factors, state, strict=True)]
        rows.append([states[after] for after in (zip(*columns, strict=True) if columns else [()] * 256)])
        if len(states) > max_states:
            raise LimitExceededError("states", max_states + 1, max_states)
    place = dict(zip(tables, zip(*states, strict=True), strict=True)) if factors else {}
    places = np.array([place[key] for key in keys], np.int32).reshape(len(programs), len(states))
    return np.array(rows, np.int32), places


def _largest_patterns(grammar: GrammarData, max_states: int) -> str:
    """The terminals whose patterns are longest, to name with a limit."""
    lengths = {
        k: len(_program(grammar, k, max_states)) for k, t in enumerate(grammar.terminals) if t.pattern is not None
    }
    largest = sorted(lengths, key=lambda k: -lengths[k])[:3]
    shown = ", ".join(f"{grammar.describe_symbol(k)} ({lengths[k]:,} positions)" for k in largest)
    return f"the terminals with the largest patterns are {shown}"
