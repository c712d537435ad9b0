"""A grammar lowered for its executable meaning: contexts, threads and tables, looked up one step at a time.

In: a Grammar and its LALR Tables. Out: a `Machine`, which moves threads by a byte and stacks by a terminal. It keeps no
place in a text: `pdacon.pda.configuration` says how a text is read with it, and what the words mean.

References: R. Cox, "Regular expression matching: the virtual machine approach" (2009), for ordered threads; Lark 1.3
for the order of terminals and for which keywords are absorbed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

import numpy as np

from pdacon.grammar import GrammarData, Terminal
from pdacon.lalr import Tables
from pdacon.lexer import compile_terminal
from pdacon.lexer.contexts import flags_of, is_piece_of, is_regex, lexing_order
from pdacon.lexer.ignoring import always_by_state, are_companions, companions
from pdacon.lexer.wanted import OUTSIDE, WHOLE, table_of
from pdacon.pda.reduces import Reduces
from pdacon.pda.stack import Stack
from pdacon.regular.ordered import ANY_SIZE
from pdacon.regular.ordered.program import MATCH, PENDING, PENDING_OR_END, Program, epsilon_closure, from_automaton
from pdacon.regular.ordered.running import runner_of

Thread: TypeAlias = tuple[int, int]
"""A terminal and a state of its Program."""

LookBehind: TypeAlias = tuple[int, ...]
"""The left context of a point of the text, as look-behind sees it: the state of each distinct automaton
``Program.behind``, and of each set that the text has to be in."""


@dataclass(frozen=True, slots=True)
class Context:
    """What can be lexed after a shift."""

    # The terminals in the order in which they are tried, without those that a regex has absorbed.
    terminals: tuple[int, ...]
    # For each regex that absorbs strings, these strings in the same order. A lexeme of the regex that one of them
    # matches in full is that string instead.
    keywords: dict[int, tuple[int, ...]]
    absorbed: tuple[int, ...]  # All of these strings, each once


class Machine:
    """A grammar lowered for :class:`Configuration`: contexts by LR state, patterns by terminal, tables as lists.

    Logically frozen; it remembers entries and byte moves that were asked for before.

    Parameters
    ----------
    grammar
        The grammar; ``options.lexer`` says whether contexts depend on the LR state ("contextual") or not ("basic").
    tables
        ``build_tables(grammar)``.
    """

    def __init__(self, grammar: GrammarData, tables: Tables) -> None:
        self.grammar = grammar
        self.tables = tables
        self.ignore = grammar.ignore
        self.start_states = tuple(tables.start_states)
        self._end_of_start = dict(zip(tables.start_states, tables.end_states, strict=True))
        self._action: list[list[int]] = tables.action.tolist()
        self._goto = tables.goto.rows()
        productions = [(production.lhs - grammar.end - 1, len(production.rhs)) for production in grammar.productions]
        self._reduces = Reduces(self._action, self._goto, productions)
        programs = {
            index: compile_terminal(grammar, terminal, ANY_SIZE)
            for index, terminal in enumerate(grammar.terminals)
            if terminal.pattern is not None
        }
        self._states = {index: program.states() for index, program in programs.items()}
        self._entries: dict[int, list[int]] = {index: program.entries.tolist() for index, program in programs.items()}
        look_behind = {_key(program): program.look_behind.tolist() for program in programs.values()}
        self._look_behind: list[list[list[int]]] = list(look_behind.values())
        self._leaves: dict[int, list[int]] = {i: p.leaves.tolist() for i, p in programs.items() if p.family}
        tables_of_sets = [table_of(texts) for texts in grammar.within]
        self._wanted = [said.tolist() for _, said in tables_of_sets]
        self._look_behind += [table.tolist() for table, _ in tables_of_sets]  # none is for a terminal
        self._look_behind_of = {index: list(look_behind).index(_key(program)) for index, program in programs.items()}
        self._always = always_by_state(grammar, tables) if grammar.islands else None
        self._companions = companions(grammar)
        self._contexts: dict[int | frozenset[int], Context] = {}
        self._begun: dict[tuple[tuple[int, ...], LookBehind], tuple[Thread, ...]] = {}
        self._moves: dict[tuple[tuple[Thread, ...], int], tuple[tuple[int, Thread], ...]] = {}

    # Contexts

    def context(self, state: int) -> Context:
        """The context of an LR state, made when it is first asked for: few of a large grammar's are."""
        context = self._contexts.get(state)
        if context is None:
            lexable = self._lexable(state)
            context = self._contexts.get(lexable) or self._context(lexable)
            self._contexts[state] = self._contexts[lexable] = context
        return context

    def _lexable(self, state: int) -> frozenset[int]:
        if self.grammar.options.lexer == "basic":
            return frozenset(self._states)
        row = self._action[state]
        layout = self.grammar.layout
        if self._always is not None:
            always = frozenset(np.flatnonzero(self._always[state]).tolist())
        else:
            always = self.ignore if layout is None else self.ignore | {layout.newline}
        return frozenset(t for t in self._states if row[t] != 0 or t in always)

    def _context(self, lexable: frozenset[int]) -> Context:
        """Order the terminals and take out absorbed strings.

        A string is absorbed by a regex of the same priority that, matched against the string's value, matches exactly
        that. It still competes on its own unless its flags are among the regex's: ``"if"i`` beside ``/[a-z]+/`` reads
        ``IF``.
        """
        terminals, pieces = self.grammar.terminals, self.grammar.border_pieces
        ordered = sorted(lexable, key=lambda t: lexing_order(terminals[t]))
        keywords: dict[int, tuple[int, ...]] = {}
        gone: set[int] = set()
        for regex in ordered:
            if not is_regex(self.grammar, regex):
                continue
            absorbed = tuple(
                string
                for string in ordered
                if are_companions(self._companions, regex, string)
                and self._absorbs(terminals[regex], terminals[string])
            )
            if absorbed and regex not in pieces:
                keywords[regex] = tuple(pieces.get(string, string) for string in absorbed)
            own = flags_of(self.grammar, regex)
            gone.update(string for string in absorbed if flags_of(self.grammar, string) <= own)
        strings = tuple(dict.fromkeys(chain.from_iterable(keywords.values())))
        return Context(tuple(t for t in ordered if t not in gone), keywords, strings)

    def _absorbs(self, regex: Terminal, string: Terminal) -> bool:
        own, other = regex.ranked.pattern, string.ranked.pattern
        if own is None or other is None or not own.is_escaped_like(other):
            return False
        pattern, literal = own.unescaped, other.unescaped
        if literal.kind != "str" or regex.priority != string.priority or not is_piece_of(regex, literal.value):
            return False
        if pattern.automaton is not None:
            return runner_of(from_automaton(pattern.automaton)).matches_whole(literal.value.encode())
        match = re.match(pattern.regexp, literal.value, self.grammar.options.g_regex_flags)
        return match is not None and match.group() == literal.value

    # Lexing

    def look_behind_of_nothing(self) -> LookBehind:
        """The left context at the start of the text."""
        return (0,) * len(self._look_behind)

    def look_behind_after(self, look_behind: LookBehind, byte: int) -> LookBehind:
        """The left context one byte later."""
        return tuple(table[state][byte] for table, state in zip(self._look_behind, look_behind, strict=True))

    def wanted(self, look_behind: LookBehind) -> int:
        """What the sets that the text has to be in say of it: `BEGINNING`, `WHOLE` or `OUTSIDE`."""
        if not self._wanted:
            return WHOLE
        said = [states[state] for states, state in zip(reversed(self._wanted), reversed(look_behind), strict=False)]
        return OUTSIDE if OUTSIDE in said else min(said)

    def sets_without(self, text: bytes, *, whole: bool) -> list[str]:
        """The names of the sets that have no text that begins so, or that do not have this text, if it is whole."""
        look_behind = self.look_behind_of_text(text)[len(self._look_behind) - len(self._wanted) :]
        said = [states[state] for states, state in zip(self._wanted, look_behind, strict=True)]
        names = [texts.name for texts in self.grammar.within]
        return [name for name, one in zip(names, said, strict=True) if one == OUTSIDE or (whole and one != WHOLE)]

    def look_behind_of_text(self, text: bytes) -> LookBehind:
        """The left context after a whole text. Mostly its last bytes tell, so that it is read from its end."""
        return tuple(_state_behind(table, text) for table in self._look_behind)

    def look_behind_of_match(self, look_behind: LookBehind, thread: Thread) -> LookBehind:
        """The left context after a lexeme, from that after its bytes and from what a thread leaves that has matched."""
        terminal, state = thread
        if terminal not in self._leaves or not self._leaves[terminal][state]:
            return look_behind
        at = self._look_behind_of[terminal]
        return (*look_behind[:at], self._leaves[terminal][state], *look_behind[at + 1 :])

    @property
    def leaves_something(self) -> bool:
        """Whether lexemes leave what their bytes alone do not say."""
        return bool(self._leaves)

    def look_behind_of_lexemes(self, text: bytes, lexemes: Iterable[tuple[int, int, int]]) -> LookBehind:
        """The left context after a whole text of lexemes, each with its terminal, where it begins and where it ends."""
        look_behind = self.look_behind_of_text(text)
        left, ended = look_behind, 0
        for terminal, begin, end in lexemes:
            threads: tuple[Thread, ...] = ()
            if terminal in self._leaves:
                threads = self.entry((terminal,), left if begin == ended else look_behind)
            for byte in text[begin:end] if threads else b"":
                threads = tuple(thread for _, thread in self.move(threads, byte))
            left, ended = look_behind, end
            for thread in threads:
                left = self.look_behind_of_match(left, thread)
        return left if ended == len(text) else look_behind

    def entry(self, terminals: Iterable[int], look_behind: LookBehind) -> tuple[Thread, ...]:
        """The threads with which a lexeme starts."""
        key = tuple(terminals), look_behind
        known = self._begun.get(key)
        if known is None:
            starts = [(t, self._entries[t][look_behind[self._look_behind_of[t]]]) for t in key[0]]
            known = self._begun[key] = tuple(thread for _, thread in self._reach(enumerate(starts)))
        return known

    def move(self, threads: tuple[Thread, ...], byte: int) -> tuple[tuple[int, Thread], ...]:
        """The threads, in order, that one byte leads to, each with the index of the one that it comes from."""
        known = self._moves.get((threads, byte))
        if known is None:
            moved = [
                (index, (terminal, target))
                for index, (terminal, state) in enumerate(threads)
                for low, high, target in self._states[terminal][state][1]
                if low <= byte <= high and not self.matched((terminal, state))
            ]
            known = self._moves[threads, byte] = tuple(self._reach(moved))
        return known

    def matched(self, thread: Thread) -> bool:
        """Whether a thread is at the end of its Program."""
        return self._kind(thread) == MATCH

    def pending(self, thread: Thread) -> bool:
        """Whether a thread has matched if what follows says so."""
        return self._kind(thread) in (PENDING, PENDING_OR_END)

    def matched_at_end(self, thread: Thread) -> bool:
        """Whether a pending thread has matched if the text ends here."""
        return self._kind(thread) == PENDING_OR_END

    def _kind(self, thread: Thread) -> int:
        return self._states[thread[0]][thread[1]][0]

    def _reach(self, threads: Iterable[tuple[int, Thread]]) -> Iterator[tuple[int, Thread]]:
        """Follow the ordered empty edges: depth first, each state once, at its first visit."""
        seen: dict[int, set[int]] = {}
        for index, (terminal, start) in threads:
            for state in epsilon_closure(self._states[terminal], start, seen.setdefault(terminal, set())):
                yield index, (terminal, state)

    # Parsing

    def stack_of(self, start: int, symbols: Iterable[int]) -> Stack:
        """The stack that grammar symbols lead to from the start state of ``grammar.starts[start]``."""
        states = [self.start_states[start]]
        first = self.grammar.end + 1
        for symbol in symbols:
            below = states[-1]
            states.append(self._action[below][symbol] - 1 if symbol < first else self._goto[below][symbol - first])
        return Stack.of(states)

    def shift(self, stack: Stack, terminal: int) -> Stack | None:
        """The stack after the reduces that ``terminal`` asks for and its shift; None where the tables have an error."""
        for reduced in self._reduces.chain(stack, terminal):
            action = self._action[reduced.state][terminal]
            if action > 0:
                return reduced.push(action - 1)
        return None

    def accepts(self, stack: Stack) -> bool:
        """Whether a reduce at the end of the text leads to the start symbol; tables have no shift of the end."""
        return any(self._is_end(reduced) for reduced in self._reduces.chain(stack, self.grammar.end))

    def _is_end(self, stack: Stack) -> bool:
        """Whether it is the start state and, on that, what the whole text leads to."""
        start = stack.below
        return start is not None and start.below is None and stack.state == self._end_of_start[start.state]


def _key(program: Program) -> tuple[str, bytes]:
    return program.family, program.look_behind.tobytes()


def _state_behind(table: list[list[int]], text: bytes) -> int:
    """The state of an automaton after a text."""
    entered = {state for row in table for state in row}
    after = list(range(len(table)))  # of each state before what has been looked at
    for byte in reversed(text[1:]):
        possible = {after[state] for state in entered}
        if len(possible) == 1:
            return possible.pop()
        after = [after[row[byte]] for row in table]
    return after[table[0][text[0]]] if text else 0
