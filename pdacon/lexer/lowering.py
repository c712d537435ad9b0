"""Terminals and LALR tables -> the lexing automaton of a grammar, its contexts and what they rename.

In: the grammar's patterns, and for each LR state the terminals of its row. Out: a `Lexer`. Terminals that compete are
ordered as Lark's lexers try them; a string that a regex matches whole is absorbed by it, and becomes a name that the
regex's lexemes can have. The native core makes the automaton deterministic.

Source: lark 1.3.1, ``lexer.py`` (the order of terminals, ``_create_unless``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdacon._native import _core
from pdacon.cancelling import CancelEvent, Watch, stop_if_set, until_set
from pdacon.errors import LimitExceededError, UnsupportedGrammarError
from pdacon.grammar import Grammar, GroupNameClash, Terminal, group_name_clashes, group_names
from pdacon.lalr import Tables
from pdacon.lexer.patterns import compile_terminal
from pdacon.lexer.program import Program


@dataclass(frozen=True, slots=True)
class Context:
    """What Lark's lexer looks for in some LR states.

    Attributes
    ----------
    alternation : tuple of int
        Terminals in the order in which they are tried; the first that matches wins.
    renames : tuple of (int, tuple of int)
        A regex, and the keywords that it absorbs: a lexeme of the regex that one of them matches whole takes the
        name of the first that does.
    """

    alternation: tuple[int, ...]
    renames: tuple[tuple[int, tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Lexer:
    """The lexing automaton of a grammar, and which context each LR state reads in.

    Attributes
    ----------
    contexts : tuple of Context
    context_of_state : int32[S], read-only
        Index of the context in which the next lexeme is read when this LR state is on top.
    contexts_after : tuple of tuple of int
        For each terminal the contexts in which the next lexeme is read when it has been shifted.
    automaton : LexingAutomaton
        The native automaton; context i is entry i.
    """

    grammar: Grammar
    contexts: tuple[Context, ...]
    context_of_state: NDArray[np.int32]
    contexts_after: tuple[tuple[int, ...], ...]
    automaton: _core.LexingAutomaton = field(repr=False)
    nfa: _core.Nfa = field(repr=False)


@dataclass(frozen=True, slots=True)
class Collision:
    """Two terminals of one context that match the same text at the same priority, neither a keyword of the other."""

    first: int
    """The terminal that Lark's order prefers."""
    second: int
    witness: bytes
    """A shortest text that both match."""
    following: bytes = b""
    """A shortest text that has to be behind it for that; look-ahead may ask for one."""


@dataclass(frozen=True, slots=True)
class UnboundedLookahead:
    """A match that no bounded number of bytes decides.

    After ``prefix`` the bytes ``loop`` can follow any number of times, and it is still open whether the lexeme ends
    where ``terminal`` matched (its name; None if it is an ignored one) or goes on.
    """

    terminal: int | None
    prefix: bytes
    loop: bytes


def build_lexer(
    grammar: Grammar,
    tables: Tables,
    *,
    max_states: int = 1_000_000,
    max_bytes: int = 1 << 29,
    max_seconds: float = 0,
    cancel: CancelEvent | None = None,
) -> Lexer:
    """Lower the terminals of a grammar to one lexing automaton.

    Parameters
    ----------
    tables : Tables
        Of the same grammar: their rows are the contexts of the contextual lexer. Those of `split_parentheses` for
        a grammar with layout.
    max_states : int
        Most states of the automaton.
    max_bytes : int
        Most memory for the automaton and what it is made from; 0: no limit.
    max_seconds : float
        Most time, in seconds; 0: no limit.
    cancel : CancelEvent, optional
        Stops the work when it is set.

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
    watch = Watch(max_seconds, cancel)
    stop = watch if max_seconds else cancel  # asked for each state of a pattern: only where there is a limit
    contexts, context_of_state = _contexts(grammar, tables, stop)
    for clash in _group_name_clashes(grammar, contexts):
        raise clash.error
    nfa = _make_nfa(grammar, max_states, stop)
    contexts_after = _contexts_after(grammar, tables, context_of_state)
    make = partial(
        _core.LexingAutomaton.make,
        nfa,
        np.array([k in grammar.ignore for k in range(len(grammar.terminals))], np.uint8),
        [list(context.alternation) for context in contexts],
        [[(regex, list(keywords)) for regex, keywords in context.renames] for context in contexts],
        contexts_after,
        np.unique(context_of_state[list(tables.start_states)]).tolist(),
        -1 if grammar.layout is None else grammar.layout.newline,
        8 if grammar.layout is None else grammar.layout.tab_len,
        max_states,
        watch.left(),
        cancel,
        max_bytes,
    )
    try:
        automaton = make()
    except LimitExceededError as error:
        detail = _largest_patterns(grammar, max_states)
        raise LimitExceededError(error.what, error.given, error.limit, detail) from None
    context_of_state.flags.writeable = False
    return Lexer(grammar, contexts, context_of_state, tuple(map(tuple, contexts_after)), automaton, nfa)


def find_collisions(
    lexer: Lexer,
    *,
    max_states: int = 1_000_000,
    max_bytes: int = 1 << 29,
    max_seconds: float = 0,
    cancel: CancelEvent | None = None,
) -> list[Collision]:
    """Every pair of terminals between which only Lark's order chooses.

    Keywords that a regex absorbs are no collision: renaming settles them. Nor is it one if both match a text only where
    something follows that no terminal begins with there.
    """
    stop_if_set(cancel)
    flat = np.array(_rivals(lexer), np.int32).reshape(-1)
    found = _core.find_collisions(lexer.nfa, flat, _terminals_after(lexer), max_states, max_seconds, cancel, max_bytes)
    return [Collision(*collision) for collision in found]


def _terminals_after(lexer: Lexer) -> list[list[int]]:
    """For each terminal those that are looked for behind a lexeme of it, whatever it is then called."""
    after = [set(contexts) for contexts in lexer.contexts_after]
    for number, context in enumerate(lexer.contexts):
        for regex, keywords in context.renames:
            after[regex].update(*(lexer.contexts_after[keyword] for keyword in keywords))
        for terminal in lexer.grammar.ignore.intersection(context.alternation):
            after[terminal].add(number)
    return [sorted({k for context in contexts for k in lexer.contexts[context].alternation}) for contexts in after]


def find_unbounded_lookahead(lexer: Lexer) -> list[UnboundedLookahead]:
    """Every terminal whose matches can need an unbounded number of bytes more, once each, with a loop as witness."""
    names = len(lexer.grammar.terminals)
    return [
        UnboundedLookahead(label if label < names else None, prefix, loop)
        for label, prefix, loop in lexer.automaton.unbounded
    ]


def lexing_order(terminal: Terminal) -> tuple[int, int, int, str]:
    """Lark tries the terminals of a context in ascending order of this."""
    assert terminal.pattern is not None
    return -terminal.priority, -terminal.pattern.max_width, -len(terminal.pattern.value), terminal.name


def find_group_name_clashes(grammar: Grammar, tables: Tables) -> list[GroupNameClash]:
    """The terminals that `build_lexer` refuses because of the groups of another one of the same context."""
    if not any(map(group_names, grammar.terminals)):
        return []
    contexts, _ = _contexts(grammar, tables, None)
    return list(_group_name_clashes(grammar, contexts))


def _group_name_clashes(grammar: Grammar, contexts: Iterable[Context]) -> Iterator[GroupNameClash]:
    """Each of them once, though several contexts may have it."""
    named = frozenset(k for k, terminal in enumerate(grammar.terminals) if group_names(terminal))
    met: set[tuple[frozenset[str], str]] = set()
    for context in contexts:
        if not named.isdisjoint(context.alternation):
            for clash in group_name_clashes([grammar.terminals[k] for k in context.alternation]):
                key = frozenset((clash.terminal.name, clash.other.name)), clash.group
                if key not in met:
                    met.add(key)
                    yield clash


def _contexts(
    grammar: Grammar, tables: Tables, stop: CancelEvent | None
) -> tuple[tuple[Context, ...], NDArray[np.int32]]:
    """The contexts, and that of each LR state."""
    lexable = [k for k, terminal in enumerate(grammar.terminals) if terminal.pattern is not None]
    rank = {k: at for at, k in enumerate(sorted(lexable, key=lambda k: lexing_order(grammar.terminals[k])))}
    sets, context_of_state = _terminals_by_state(grammar, tables, frozenset(lexable))
    absorbs = _Absorption(grammar)
    contexts = tuple(
        _make_context(grammar, sorted(members, key=rank.__getitem__), absorbs) for members in until_set(sets, stop)
    )
    return contexts, context_of_state


def _terminals_by_state(
    grammar: Grammar, tables: Tables, lexable: frozenset[int]
) -> tuple[list[frozenset[int]], NDArray[np.int32]]:
    """The distinct sets of terminals, and which of them each LR state reads."""
    rows = tables.action[:, : len(grammar.terminals)] != 0
    if grammar.options.lexer == "basic":
        return [lexable], np.zeros(len(rows), np.int32)
    always = grammar.ignore & lexable
    if grammar.layout is not None:
        always |= {grammar.layout.newline}
    ids: dict[frozenset[int], int] = {}
    by_row: dict[bytes, int] = {}
    of_state = np.empty(len(rows), np.int32)
    for state, row in enumerate(rows):
        key = row.tobytes()
        if key not in by_row:
            members = lexable.intersection(np.flatnonzero(row).tolist()) | always
            by_row[key] = ids.setdefault(members, len(ids))
        of_state[state] = by_row[key]
    return list(ids), of_state


class _Absorption:
    """Which strings a regex takes for its own: those that ``re.match`` matches whole at equal priority."""

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar
        lexable = [k for k, terminal in enumerate(grammar.terminals) if terminal.pattern is not None]
        self.strings = frozenset(k for k in lexable if _kind(grammar, k) == "str")
        self.known: dict[int, frozenset[int]] = {}

    def __call__(self, regex: int) -> frozenset[int]:
        if regex not in self.known:
            self.known[regex] = frozenset(self._absorbed(regex))
        return self.known[regex]

    def _absorbed(self, regex: int) -> Iterator[int]:
        terminals = self.grammar.terminals
        # Python's `re` takes long for a long pattern, which is spared where no string could be absorbed.
        if rivals := [k for k in self.strings if terminals[k].priority == terminals[regex].priority]:
            pattern = terminals[regex].pattern
            assert pattern is not None
            match = re.compile(pattern.regexp, self.grammar.options.g_regex_flags).match
            for string in rivals:
                literal = terminals[string].pattern
                assert literal is not None
                found = match(literal.value)
                if found is not None and found.group() == literal.value:
                    yield string


def _make_context(grammar: Grammar, ordered: Sequence[int], absorbs: _Absorption) -> Context:
    strings = absorbs.strings.intersection(ordered)
    renames: list[tuple[int, tuple[int, ...]]] = []
    embedded: set[int] = set()
    for regex in ordered:
        if regex in strings or absorbs(regex).isdisjoint(strings):
            continue
        keywords = tuple(k for k in ordered if k in absorbs(regex))
        embedded.update(k for k in keywords if _flags(grammar, k) <= _flags(grammar, regex))
        if regex not in grammar.ignore:
            renames.append((regex, keywords))
    return Context(tuple(k for k in ordered if k not in embedded), tuple(renames))


def _kind(grammar: Grammar, terminal: int) -> str:
    pattern = grammar.terminals[terminal].pattern
    assert pattern is not None
    return pattern.kind


def _flags(grammar: Grammar, terminal: int) -> frozenset[str]:
    pattern = grammar.terminals[terminal].pattern
    assert pattern is not None
    return pattern.flags


def _make_nfa(grammar: Grammar, max_states: int, cancel: CancelEvent | None) -> _core.Nfa:
    """All programs in one numbering."""
    lexable = until_set((k for k, t in enumerate(grammar.terminals) if t.pattern is not None), cancel)
    programs = {k: _program(grammar, k, max_states, cancel) for k in lexable}
    behind, place_of = join_behind(list(programs.values()), max_states)
    sizes = np.cumsum([0, *(len(program) for program in programs.values())])
    edges = np.cumsum([0, *(len(program.target) for program in programs.values())])
    entries = np.full((len(grammar.terminals), len(behind)), -1, np.int32)
    for (index, program), base, places in zip(programs.items(), sizes, place_of, strict=False):
        entries[index] = program.entries[places] + base
    return _core.Nfa.make(
        _joined((program.kind for program in programs.values()), np.uint8),
        _joined([*(p.offset[:-1] + base for p, base in zip(programs.values(), edges, strict=False)), edges[-1:]]),
        _joined((program.lo for program in programs.values()), np.uint8),
        _joined((program.hi for program in programs.values()), np.uint8),
        _joined(p.target + base for p, base in zip(programs.values(), sizes, strict=False)),
        np.repeat(np.array(list(programs), np.int32), np.diff(sizes)),
        entries.reshape(-1),
        behind.reshape(-1),
    )


def _program(grammar: Grammar, index: int, max_states: int, cancel: CancelEvent | None = None) -> Program:
    terminal = grammar.terminals[index]
    try:
        return compile_terminal(grammar, terminal, max_states, cancel)
    except UnsupportedGrammarError as error:
        message = f"terminal {terminal.name}: {error}"
        raise UnsupportedGrammarError(message, terminal.span, error.feature) from None


def _joined(arrays: Iterable[NDArray[Any]], dtype: type[np.generic] = np.int32) -> NDArray[Any]:
    joined: NDArray[Any] = np.concatenate([np.zeros(0, dtype), *arrays]).astype(dtype)
    return joined


def join_behind(programs: Sequence[Program], max_states: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """One automaton for what lies behind a lexeme of any terminal.

    Returns
    -------
    behind : int32[k, 256]
        The product of the programs' automata, as far as it is reachable from their starts.
    places : int32[len(programs), k]
        The state of each program's automaton in each state of the product.
    """
    tables: dict[bytes, NDArray[np.int32]] = {}
    keys = [program.behind.tobytes() for program in programs]
    for key, program in zip(keys, programs, strict=True):
        tables.setdefault(key, program.behind)
    factors = list(tables.values())
    start = (0,) * len(factors)
    number = {start: 0}
    states = [start]
    rows: list[list[int]] = []
    for state in states:  # grows
        columns = [table[at].tolist() for table, at in zip(factors, state, strict=True)]
        row = []
        for after in zip(*columns, strict=True) if columns else [()] * 256:
            if after not in number:
                number[after] = len(states)
                states.append(after)
                if len(states) > max_states:
                    raise LimitExceededError("states", len(states), max_states)
            row.append(number[after])
        rows.append(row)
    place = dict(zip(tables, zip(*states, strict=True), strict=True)) if factors else {}
    places = np.array([place[key] for key in keys], np.int32).reshape(len(programs), len(states))
    return np.array(rows, np.int32), places


def _contexts_after(grammar: Grammar, tables: Tables, context_of_state: NDArray[np.int32]) -> list[list[int]]:
    """For each terminal: the contexts of the LR states that a shift of it enters.

    A newline is followed by what an Indenter makes of it, or by what came before it, where it is dropped.
    """
    shifts = [column[column > 0] - 1 for column in tables.action[:, : len(grammar.terminals)].T]
    if (layout := grammar.layout) is not None:
        made = (shifts[layout.newline], shifts[layout.indent], shifts[layout.dedent])
        shifts[layout.newline] = np.concatenate([*made, np.flatnonzero(tables.in_parens)])
    return [np.unique(context_of_state[targets]).tolist() for targets in shifts]


def _rivals(lexer: Lexer) -> list[tuple[int, int]]:
    """Pairs of equal priority in one alternation, of which neither names lexemes of the other."""
    grammar, contexts = lexer.grammar, lexer.contexts
    terminals = {k for context in contexts for k in context.alternation}
    priority = {k: grammar.terminals[k].priority for k in terminals}
    patterns = {k for k in terminals if not _is_one_text(grammar, k)}  # two texts are not the same one
    together = {
        frozenset(equals)
        for context in contexts
        for _, equals in groupby(sorted(context.alternation, key=priority.__getitem__), priority.__getitem__)
    }
    beside: dict[int, set[int]] = {k: set() for k in patterns}
    for equals in together:
        for pattern in patterns & equals:
            beside[pattern] |= equals
    order = {k: lexing_order(grammar.terminals[k]) for k in terminals}
    found = {
        (pattern, k) if order[pattern] < order[k] else (k, pattern) for pattern in patterns for k in beside[pattern]
    }
    for regex, keywords in {rename for context in contexts for rename in context.renames}:
        found.difference_update(pair for k in keywords for pair in ((regex, k), (k, regex)))
    return sorted(pair for pair in found if pair[0] != pair[1])


def _is_one_text(grammar: Grammar, terminal: int) -> bool:
    """Whether a terminal is a string, without flags that make it match others; Lark has each string once."""
    return _kind(grammar, terminal) == "str" and not _flags(grammar, terminal) and not grammar.options.g_regex_flags


def _largest_patterns(grammar: Grammar, max_states: int) -> str:
    """The terminals whose patterns are longest, to name with a limit."""
    lengths = {
        k: len(_program(grammar, k, max_states)) for k, t in enumerate(grammar.terminals) if t.pattern is not None
    }
    largest = sorted(lengths, key=lambda k: -lengths[k])[:3]
    shown = ", ".join(f"{grammar.describe_symbol(k)} ({lengths[k]:,} positions)" for k in largest)
    return f"the terminals with the largest patterns are {shown}"
