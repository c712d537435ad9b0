"""Terminals narrowed to a set of texts: the same matches in the same order of preference, of which only some are left.

A terminal's program is an ordered automaton, and a set of texts is a deterministic one. All threads of the first are
in the same state of the second, so their product has the threads of the first in their order, less those whose text the
set does not have: it matches what a backtracking matcher would find that goes on until the text is in the set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from pdacon.base.graphs import Numbering, reachable
from pdacon.base.quoting import did_you_mean
from pdacon.errors import EmptyLanguageError, LimitExceededError, UnsupportedGrammarError
from pdacon.grammar import GrammarData
from pdacon.grammar.model import Pattern, Terminal
from pdacon.lexer import compile_terminal
from pdacon.regular import RegularSet
from pdacon.regular.ordered import Program
from pdacon.regular.ordered.program import MATCH, PENDING, PENDING_OR_END, SPLIT, Edges, to_automaton
from pdacon.regular.records import TextSet

_FREE = -1
"""The state of the set behind a lexeme: what is looked at there need not be in it."""


def with_texts_within(grammar: GrammarData, texts: RegularSet) -> GrammarData:
    """A grammar of those sentences that are in a set: see `Grammar.__and__`.

    Raises
    ------
    UnsupportedGrammarError
        The grammar has labels, or is over bytes.
    EmptyLanguageError, LimitExceededError
    """
    if grammar.labels:
        raise UnsupportedGrammarError(
            f"{grammar.labels[0]} is a token and no text, and a regular set has texts; leave one of them out",
            feature="token labels",
        )
    if grammar.options.use_bytes:
        raise UnsupportedGrammarError(
            "the texts of a grammar with use_bytes are bytes, and a regular set has strings; load the grammar without "
            "use_bytes",
            feature="regular-set",
        )
    return replace(grammar, within=(*grammar.within, texts.text_set()))


def with_terminals_within(grammar: GrammarData, names: Sequence[str], texts: RegularSet, limit: int) -> GrammarData:
    """A grammar in which some terminals have only texts of a set.

    Parameters
    ----------
    grammar : GrammarData
    names : sequence of str
        Of terminals; also literals, as the grammar has them.
    texts : RegularSet
    limit : int
        The most states of a terminal.

    Raises
    ------
    ValueError
        The grammar has no such terminal.
    UnsupportedGrammarError
        A terminal looks at the text before it, or is a part of one that several lexemes make up; or the grammar is over
        bytes.
    EmptyLanguageError
        No text of a terminal is in the set.
    LimitExceededError
    """
    if grammar.options.use_bytes:
        raise UnsupportedGrammarError(
            "the texts of a grammar with use_bytes are bytes, and a filter has characters; load the grammar without "
            "use_bytes",
            feature="regular-set",
        )
    chosen = {_number(grammar, name) for name in names}
    within = texts.text_set()
    return replace(
        grammar,
        terminals=tuple(
            _narrowed(grammar, terminal, within, limit) if number in chosen else terminal
            for number, terminal in enumerate(grammar.terminals)
        ),
    )


def _number(grammar: GrammarData, name: str) -> int:
    for number, terminal in enumerate(grammar.terminals):
        if name in (terminal.name, terminal.literal) and terminal.pattern is not None:
            return number
    names = [terminal.literal or terminal.name for terminal in grammar.terminals if terminal.pattern is not None]
    hint = did_you_mean(name, names) or f"there are {', '.join(names[:20])}"
    raise ValueError(f"InTerminals: the grammar has no terminal {name!r:.60}; {hint}".rstrip("; "))


def _narrowed(grammar: GrammarData, terminal: Terminal, texts: TextSet, limit: int) -> Terminal:
    program = compile_terminal(grammar, terminal, limit)
    name = terminal.literal or terminal.name
    if not program.looks_ahead_only or program.family:
        raise UnsupportedGrammarError(
            f"{name} looks at the text before it, so that no filter can be for it alone; give one for the whole text",
            terminal.span,
            feature="look-behind",
        )
    product = _product(program, texts, limit)
    if product is None:
        raise EmptyLanguageError(f"no text of the terminal {name} is in {texts.name}", terminal.span)
    assert terminal.pattern is not None
    own = terminal.pattern
    # Its widths stay, by which Lark orders terminals.
    pattern = Pattern("automaton", "", frozenset(), "", own.min_width, own.max_width, to_automaton(product))
    within = texts.name if terminal.within is None else f"{terminal.within} and {texts.name}"
    return replace(terminal, pattern=pattern, within=within)


def _product(program: Program, texts: TextSet, limit: int) -> Program | None:
    """The program with only the texts of a set; None: there are none."""
    states, rows, accepting = program.states(), _rows(texts), texts.accepting
    numbers = Numbering((0, 0))
    pairs: list[tuple[int, Edges]] = []

    def number(state: int, place: int) -> int:
        own = numbers[state, 0 if states[state][0] == MATCH else place]
        if own >= limit:
            raise LimitExceededError("states", own + 1, limit)
        return own

    def ends(place: int) -> bool:
        return place == _FREE or bool(accepting[place])

    def goes_on(state: int, place: int) -> int | None:
        """The number of a state that a thread comes to; None: it dies there."""
        kind = states[state][0]
        if kind in (MATCH, PENDING, PENDING_OR_END):
            return number(state, _FREE) if ends(place) else None
        return number(state, place)

    for state, place in numbers:
        kind, edges = states[state]
        own_edges: list[tuple[int, int, int]] = []
        for low, high, target in edges:
            if kind == SPLIT or place == _FREE:
                if (to := goes_on(target, place)) is not None:
                    own_edges.append((low, high, to))
                continue
            for first, last, behind in rows[place]:
                if max(low, first) <= min(high, last) and (to := goes_on(target, behind)) is not None:
                    own_edges.append((max(low, first), min(high, last), to))
        pairs.append((kind, tuple(own_edges)))
    return _trimmed(pairs)


def _rows(texts: TextSet) -> list[Edges]:
    offset, target = (np.frombuffer(array, "<i4").tolist() for array in (texts.offset, texts.target))
    edges = list(zip(texts.lo, texts.hi, target, strict=True))
    return [tuple(edges[first:last]) for first, last in pairwise(offset)]


def _trimmed(states: list[tuple[int, Edges]]) -> Program | None:
    """The program of the states that can come to a match."""
    before: list[list[int]] = [[] for _ in states]
    for state, (_, edges) in enumerate(states):
        for _, _, target in edges:
            before[target].append(state)
    matches = [state for state, (kind, _) in enumerate(states) if kind == MATCH]
    live = set(reachable(matches, before.__getitem__))
    if 0 not in live:
        return None
    numbers = {state: number for number, state in enumerate(sorted(live))}
    kept = [
        (kind, [edge for edge in edges if edge[2] in live])
        for state, (kind, edges) in enumerate(states)
        if state in live
    ]
    arcs = [edge for _, edges in kept for edge in edges]
    return Program(
        kind=np.array([kind for kind, _ in kept], np.uint8),
        offset=np.cumsum([0, *(len(edges) for _, edges in kept)]).astype(np.int32),
        lo=np.array([low for low, _, _ in arcs], np.uint8),
        hi=np.array([high for _, high, _ in arcs], np.uint8),
        target=np.array([numbers[target] for _, _, target in arcs], np.int32),
        entries=np.zeros(1, np.int32),
        look_behind=np.zeros((1, 256), np.int32),
    )
