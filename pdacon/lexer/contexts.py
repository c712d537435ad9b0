"""Lexical contexts: which terminals Lark's lexer looks for in which LR states, in which order, and what they rename.

In: a grammar and its LALR tables. Out: the distinct contexts, and that of each LR state. A string that a regex of equal
priority matches whole is absorbed by it: it competes no longer, and gives its name to the regex's lexemes.

Source: lark 1.3.1, ``lexer.py`` (``ContextualLexer``, ``BasicLexer``, ``_create_unless``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pdacon.cancelling import CancelEvent, until_set
from pdacon.errors import UnsupportedGrammarError
from pdacon.grammar import Grammar, GroupNameClash, Pattern, Terminal, group_name_clashes, group_names
from pdacon.lalr import Tables
from pdacon.lexer.patterns import STATES_LIMIT, compile_pattern
from pdacon.lexer.running import Runner


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


def lexing_order(terminal: Terminal) -> tuple[int, int, int, str]:
    """Lark tries the terminals of a context in ascending order of this."""
    assert terminal.pattern is not None
    return -terminal.priority, -terminal.pattern.max_width, -len(terminal.pattern.value), terminal.name


def make_contexts(
    grammar: Grammar, tables: Tables, stop: CancelEvent | None, max_states: int = STATES_LIMIT
) -> tuple[tuple[Context, ...], NDArray[np.int32]]:
    """The contexts, and that of each LR state; ``max_states`` is for a pattern's program."""
    lexable = [k for k, terminal in enumerate(grammar.terminals) if terminal.pattern is not None]
    rank = {k: at for at, k in enumerate(sorted(lexable, key=lambda k: lexing_order(grammar.terminals[k])))}
    sets, context_of_state = _terminals_by_state(grammar, tables, frozenset(lexable))
    absorbs = _Absorption(grammar, max_states, stop)
    contexts = tuple(
        _make_context(grammar, sorted(members, key=rank.__getitem__), absorbs) for members in until_set(sets, stop)
    )
    return contexts, context_of_state


def find_group_name_clashes(grammar: Grammar, tables: Tables) -> list[GroupNameClash]:
    """The terminals that `build_lexer` refuses because of the groups of another one of the same context."""
    if not any(map(group_names, grammar.terminals)):
        return []
    contexts, _ = make_contexts(grammar, tables, None)
    return list(clashes_in(grammar, contexts))


def clashes_in(grammar: Grammar, contexts: Iterable[Context]) -> Iterator[GroupNameClash]:
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


def find_contexts_after(grammar: Grammar, tables: Tables, context_of_state: NDArray[np.int32]) -> list[list[int]]:
    """For each terminal: the contexts of the LR states that a shift of it enters.

    A newline is followed by what an Indenter makes of it, or by what came before it, where it is dropped.
    """
    shifts = [column[column > 0] - 1 for column in tables.action[:, : len(grammar.terminals)].T]
    if (layout := grammar.layout) is not None:
        made = (shifts[layout.newline], shifts[layout.indent], shifts[layout.dedent])
        shifts[layout.newline] = np.concatenate([*made, np.flatnonzero(tables.in_parens)])
    return [np.unique(context_of_state[targets]).tolist() for targets in shifts]


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

    def __init__(self, grammar: Grammar, limit: int, stop: CancelEvent | None) -> None:
        self.grammar, self.limit, self.stop = grammar, limit, stop
        lexable = [k for k, terminal in enumerate(grammar.terminals) if terminal.pattern is not None]
        self.strings = frozenset(k for k in lexable if kind_of(grammar, k) == "str")
        self.known: dict[int, frozenset[int]] = {}

    def __call__(self, regex: int) -> frozenset[int]:
        if regex not in self.known:
            self.known[regex] = frozenset(self._absorbed(regex))
        return self.known[regex]

    def _absorbed(self, regex: int) -> Iterator[int]:
        terminals = self.grammar.terminals
        equals = [k for k in self.strings if terminals[k].priority == terminals[regex].priority]
        pattern = terminals[regex].pattern
        assert pattern is not None
        # An automaton is made by a front end, which leaves its own strings out of it.
        if not equals or pattern.automaton is not None:
            return
        # The pattern is over characters, as Lark compares it with strings even where a grammar is over bytes.
        flags = self.grammar.options.g_regex_flags
        runner: Runner | None = None
        with suppress(UnsupportedGrammarError):  # `build_lexer` says so, unless it is supported over bytes
            runner = Runner(compile_pattern(pattern.regexp, flags, self.limit, cancel=self.stop))
        for string in equals:
            literal = terminals[string].pattern
            assert literal is not None
            if self._matches_whole(pattern, runner, literal.value):
                yield string

    def _matches_whole(self, pattern: Pattern, runner: Runner | None, text: str) -> bool:
        if runner is None:
            found = re.match(pattern.regexp, text, self.grammar.options.g_regex_flags)
            return found is not None and found.group() == text
        return runner.matches_whole(text.encode("utf-8", "surrogatepass"))


def _make_context(grammar: Grammar, ordered: Sequence[int], absorbs: _Absorption) -> Context:
    strings = absorbs.strings.intersection(ordered)
    renames: list[tuple[int, tuple[int, ...]]] = []
    embedded: set[int] = set()
    for regex in ordered:
        if regex in strings or absorbs(regex).isdisjoint(strings):
            continue
        keywords = tuple(k for k in ordered if k in absorbs(regex))
        embedded.update(k for k in keywords if flags_of(grammar, k) <= flags_of(grammar, regex))
        if regex not in grammar.ignore:
            renames.append((regex, keywords))
    return Context(tuple(k for k in ordered if k not in embedded), tuple(renames))


def kind_of(grammar: Grammar, terminal: int) -> str:
    """Whether a terminal is a string ("str") or a regex ("re")."""
    pattern = grammar.terminals[terminal].pattern
    assert pattern is not None
    return pattern.kind


def flags_of(grammar: Grammar, terminal: int) -> frozenset[str]:
    """The flags of a terminal's pattern."""
    pattern = grammar.terminals[terminal].pattern
    assert pattern is not None
    return pattern.flags
