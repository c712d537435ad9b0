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
from functools import partial

import numpy as np
from numpy.typing import NDArray

from pdacon._native import _core
from pdacon.base.cancelling import every
from pdacon.errors import UnsupportedGrammarError
from pdacon.grammar import GrammarData, GroupNameClash, Terminal, group_name_clashes, group_names
from pdacon.lalr import Tables
from pdacon.lexer.ignoring import always_by_state, are_companions, companions
from pdacon.regular.ordered.patterns import STATES_LIMIT, compile_pattern
from pdacon.regular.ordered.program import from_automaton
from pdacon.regular.ordered.running import Runner, runner_of


@dataclass(frozen=True, slots=True)
class Context:
    """What Lark's lexer looks for in some LR states."""

    alternation: tuple[int, ...]  # Terminals in the order in which they are tried; the first that matches wins
    # A regex, and the keywords that it absorbs: a lexeme of the regex that one of them matches whole takes the name of
    # the first that does. If that is a string that is ignored, the parser takes it nowhere.
    renames: tuple[tuple[int, tuple[int, ...]], ...]


def lexing_order(terminal: Terminal) -> tuple[int, int, int, str]:
    """Lark tries the terminals of a context in ascending order of this."""
    ranked = terminal.ranked
    assert ranked.pattern is not None
    pattern = ranked.pattern.unescaped
    return -ranked.priority, -pattern.max_width, -len(pattern.value), ranked.name


def make_contexts(
    grammar: GrammarData, tables: Tables, max_states: int = STATES_LIMIT
) -> tuple[tuple[Context, ...], NDArray[np.int32], list[list[int]]]:
    """The contexts, that of each LR state, and for each terminal those of the states that a shift of it enters.

    A newline is followed by what an Indenter makes of it, or by what came before it, where it is dropped.
    ``max_states`` is for a pattern's program.
    """
    terminals, layout = grammar.terminals, grammar.layout
    lexable = [k for k, terminal in enumerate(terminals) if terminal.pattern is not None]
    order = sorted(lexable, key=lambda k: lexing_order(terminals[k]))
    always = np.zeros(len(terminals), np.uint8)
    action = np.ascontiguousarray(tables.action)
    if grammar.islands:
        looked_for = np.pad(always_by_state(grammar, tables), ((0, 0), (0, 1)))
        action = np.where((action == 0) & looked_for, np.int32(-1), action)
    else:
        always[lexable if grammar.options.lexer == "basic" else list(grammar.ignore)] = 1
        if layout is not None:
            always[layout.newline] = 1
    sets, of_state, after = _core.lexical_contexts(action, np.array(order, np.int32), always)
    if layout is not None:
        made = *after[layout.newline], *after[layout.indent], *after[layout.dedent]
        after[layout.newline] = sorted({*made, *of_state[tables.in_parens].tolist()})
    absorbs = _Absorption(grammar, max_states)
    contexts = tuple(Context(*absorbs.without_keywords(members)) for members in every(sets, 1))
    return contexts, of_state, after


def find_group_name_clashes(grammar: GrammarData, tables: Tables) -> list[GroupNameClash]:
    """The terminals that `build_lexer` refuses because of the groups of another one of the same context."""
    if not any(map(group_names, grammar.terminals)):
        return []
    contexts, _, _ = make_contexts(grammar, tables)
    return list(clashes_in(grammar, contexts))


def clashes_in(grammar: GrammarData, contexts: Iterable[Context]) -> Iterator[GroupNameClash]:
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


@dataclass(frozen=True, slots=True)
class _Absorbed:
    """Of the strings that were asked about those that a regex absorbs, and of these the ones that compete no longer."""

    asked: set[int]
    strings: set[int]
    embedded: set[int]


class _Absorption:
    """Which strings a regex takes for its own: those that ``re.match`` matches whole at equal priority."""

    def __init__(self, grammar: GrammarData, limit: int) -> None:
        self.grammar, self.limit = grammar, limit
        self.pieces, self.companions = grammar.border_pieces, companions(grammar)
        lexable = [k for k, terminal in enumerate(grammar.terminals) if terminal.pattern is not None]
        self.strings = frozenset(k for k in lexable if kind_of(grammar, k) == "str")
        self.regexes = frozenset(filter(partial(is_regex, grammar), lexable))
        self.known: dict[int, _Absorbed] = {}
        self.runners: dict[int, Runner | None] = {}

    def without_keywords(
        self, ordered: Sequence[int]
    ) -> tuple[tuple[int, ...], tuple[tuple[int, tuple[int, ...]], ...]]:
        """Of terminals that are looked for together those that compete, and what is renamed; see `Context`."""
        regexes, strings = self.regexes.intersection(ordered), self.strings.intersection(ordered)
        if not regexes or not strings:
            return tuple(ordered), ()
        grammar = self.grammar
        renames: list[tuple[int, tuple[int, ...]]] = []
        embedded: set[int] = set()
        for regex in ordered:
            if regex not in regexes:
                continue
            absorbed = self._absorbed(regex, strings)
            keywords = absorbed.strings & strings
            embedded |= absorbed.embedded & strings
            if keywords and regex not in grammar.ignore and regex not in self.pieces:
                renames.append((regex, tuple(self.pieces.get(k, k) for k in ordered if k in keywords)))
        return tuple(k for k in ordered if k not in embedded), tuple(renames)

    def _absorbed(self, regex: int, strings: frozenset[int]) -> _Absorbed:
        """What a regex absorbs of these strings, and of those that were asked about before: each is looked at once."""
        known = self.known.setdefault(regex, _Absorbed(set(), set(), set()))
        terminals = self.grammar.terminals
        for string in strings - known.asked:
            known.asked.add(string)
            if (
                terminals[string].priority == terminals[regex].priority
                and are_companions(self.companions, regex, string)
                and self._matches_whole(regex, string)
            ):
                known.strings.add(string)
                if flags_of(self.grammar, string) <= flags_of(self.grammar, regex):
                    known.embedded.add(string)
        return known

    def _matches_whole(self, regex: int, string: int) -> bool:
        pattern, literal = (self.grammar.terminals[k].ranked.pattern for k in (regex, string))
        assert pattern is not None
        assert literal is not None
        if not pattern.is_escaped_like(literal):
            return False
        pattern, literal = pattern.unescaped, literal.unescaped
        if not is_piece_of(self.grammar.terminals[regex], literal.value):
            return False
        # The pattern is over characters, as Lark compares it with strings even where a grammar is over bytes.
        flags = self.grammar.options.g_regex_flags
        if regex not in self.runners:
            self.runners[regex] = None
            with suppress(UnsupportedGrammarError):  # `build_lexer` says so, unless it is supported over bytes
                if pattern.automaton is not None:
                    program = from_automaton(pattern.automaton)
                else:
                    program = compile_pattern(pattern.regexp, flags, self.limit)
                self.runners[regex] = runner_of(program)
        runner = self.runners[regex]
        if runner is None:
            found = re.match(pattern.regexp, literal.value, flags)
            return found is not None and found.group() == literal.value
        return runner.matches_whole(literal.value.encode("utf-8", "surrogatepass"))


def is_regex(grammar: GrammarData, terminal: int) -> bool:
    """Whether a terminal absorbs strings.

    In a text of Lark's an automaton stands for a regex; a front end leaves its own strings out of its automata.
    """
    pattern = grammar.terminals[terminal].ranked.pattern
    if pattern is None or pattern.unescaped.kind == "str":
        return False
    return grammar.language in ("Lark", "llguidance", "several grammars") or pattern.unescaped.automaton is None


def is_piece_of(terminal: Terminal, text: str) -> bool:
    """Whether a text may be a piece of ignored text at a border, if that is what the terminal stands for."""
    own = terminal.pattern
    if own is None or terminal.in_place_of is None or own == terminal.in_place_of.pattern:
        return True
    return re.match(own.regexp, text) is not None


def kind_of(grammar: GrammarData, terminal: int) -> str:
    """Whether a terminal is a string ("str") or a regex ("re"); of an escaped one, what it means."""
    pattern = grammar.terminals[terminal].ranked.pattern
    assert pattern is not None
    return pattern.unescaped.kind


def flags_of(grammar: GrammarData, terminal: int) -> frozenset[str]:
    pattern = grammar.terminals[terminal].ranked.pattern
    assert pattern is not None
    return pattern.unescaped.flags
