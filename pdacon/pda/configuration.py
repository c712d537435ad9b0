"""The executable meaning of a grammar, one byte at a time, in plain Python.

This module defines what the native core must compute; it is no second engine. It takes no shortcut that would need a
proof: it runs the patterns as ordered threads, keeps one alternative for the case that they die, and runs every reduce
chain on the real stack. The tests compare it with stock Lark on all short texts, and the native core with both.

In: a Grammar, its LALR Tables, the pattern Programs of its terminals. Out: a :class:`Configuration` per text. It does
not know vocabularies, and it does not compute liveness: a configuration that is not None may still be a dead end.

How a text is read
------------------
A *context* is what can be lexed after a shift: the terminals in the action row of the LR state on top, and the ignored
ones. A lexeme starts with one thread per terminal of the context, in the order in which Lark tries them. A byte moves
every thread; a thread that reaches its end has *matched* and cuts all threads behind it, because whatever they find
would come second. The match is not certain while threads before it are alive. So it is kept as the *fallback*: the
configuration that the text has if this match is the lexeme. That configuration reads on beside the threads, so the
bytes after the match (the pushback) are lexed in it as they arrive, in the context of its own stack, with threads and a
fallback of its own. When the threads die, the fallback is the configuration; when there is none, the text is no prefix
of a sentence. The end of the text kills the threads.

A pattern with look-ahead at its end can match on a condition. Its thread is then *pending*: it keeps the configuration
that the text has if this match is the lexeme, which reads on like a fallback, and it cuts nothing until what follows
has met the condition. Look-behind sees all of the text, so where a lexeme begins depends on what lies *behind* it.

References: R. Cox, "Regular expression matching: the virtual machine approach" (2009), for ordered threads; DeRemer &
Pennello, TOPLAS 4(4), 1982, for the tables; Lark 1.3 for the order of terminals and for which keywords are absorbed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from pdacon.lexer import ANY_SIZE, compile_terminal
from pdacon.lexer.program import MATCH, PENDING, PENDING_OR_END, epsilon_closure
from pdacon.pda.indentation import OUTERMOST, Margin, column_after, ends, feed, is_skipped
from pdacon.pda.reduces import Reduces
from pdacon.pda.stack import Stack

if TYPE_CHECKING:
    from pdacon.grammar import Grammar, Terminal
    from pdacon.lalr import Tables

Thread: TypeAlias = tuple[int, int]
"""A terminal and a state of its Program."""

Behind: TypeAlias = tuple[int, ...]
"""What lies behind a point of the text: the state of each distinct automaton ``Program.behind``."""


@dataclass(frozen=True, slots=True)
class Context:
    """What can be lexed after a shift.

    Attributes
    ----------
    terminals
        The terminals in the order in which they are tried, without those that a regex has absorbed.
    keywords
        For each regex that absorbs strings, these strings in the same order. A lexeme of the regex that one of them
        matches in full is that string instead.
    """

    terminals: tuple[int, ...]
    keywords: dict[int, tuple[int, ...]]


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

    def __init__(self, grammar: Grammar, tables: Tables) -> None:
        self.grammar = grammar
        self.tables = tables
        self.ignore = grammar.ignore
        self.start_states = tuple(tables.start_states)
        self._end_of_start = dict(zip(tables.start_states, tables.end_states, strict=True))
        self._action: list[list[int]] = tables.action.tolist()
        self._goto: list[list[int]] = tables.goto.tolist()
        productions = [(production.lhs - grammar.end - 1, len(production.rhs)) for production in grammar.productions]
        self._reduces = Reduces(self._action, self._goto, productions)
        programs = {
            index: compile_terminal(grammar, terminal, ANY_SIZE)
            for index, terminal in enumerate(grammar.terminals)
            if terminal.pattern is not None
        }
        self._states = {index: program.states() for index, program in programs.items()}
        self._entries: dict[int, list[int]] = {index: program.entries.tolist() for index, program in programs.items()}
        behind = {program.behind.tobytes(): program.behind.tolist() for program in programs.values()}
        self._behind: list[list[list[int]]] = list(behind.values())
        self._behind_of = {index: list(behind).index(program.behind.tobytes()) for index, program in programs.items()}
        lexable = [self._lexable(state) for state in range(len(self._action))]
        distinct = {terminals: self._context(terminals) for terminals in set(lexable)}
        self.contexts = tuple(distinct[terminals] for terminals in lexable)
        self._begun: dict[tuple[tuple[int, ...], Behind], tuple[Thread, ...]] = {}
        self._moves: dict[tuple[tuple[Thread, ...], int], tuple[tuple[int, Thread], ...]] = {}

    # Contexts

    def _lexable(self, state: int) -> frozenset[int]:
        if self.grammar.options.lexer == "basic":
            return frozenset(self._states)
        row = self._action[state]
        layout = self.grammar.layout
        always = self.ignore if layout is None else self.ignore | {layout.newline}
        return frozenset(t for t in self._states if row[t] != 0 or t in always)

    def _context(self, lexable: frozenset[int]) -> Context:
        """Order the terminals and take out absorbed strings.

        A string is absorbed by a regex of the same priority that, matched against the string's value, matches exactly
        that. It still competes on its own unless its flags are among the regex's: ``"if"i`` beside ``/[a-z]+/`` reads
        ``IF``.
        """
        terminals = self.grammar.terminals
        ordered = sorted(lexable, key=lambda t: _rank(terminals[t]))
        keywords: dict[int, tuple[int, ...]] = {}
        gone: set[int] = set()
        for regex in ordered:
            pattern = terminals[regex].pattern
            if pattern is None or pattern.kind != "re":
                continue
            absorbed = tuple(string for string in ordered if self._absorbs(terminals[regex], terminals[string]))
            if absorbed:
                keywords[regex] = absorbed
            gone.update(s for s in absorbed if (string := terminals[s].pattern) and string.flags <= pattern.flags)
        return Context(tuple(t for t in ordered if t not in gone), keywords)

    def _absorbs(self, regex: Terminal, string: Terminal) -> bool:
        if regex.pattern is None or string.pattern is None or string.pattern.kind != "str":
            return False
        if regex.priority != string.priority:
            return False
        match = re.match(regex.pattern.regexp, string.pattern.value, self.grammar.options.g_regex_flags)
        return match is not None and match.group() == string.pattern.value

    # Lexing

    def behind_nothing(self) -> Behind:
        """What lies behind the start of the text."""
        return (0,) * len(self._behind)

    def behind_after(self, behind: Behind, byte: int) -> Behind:
        """What lies behind, one byte later."""
        return tuple(table[state][byte] for table, state in zip(self._behind, behind, strict=True))

    def behind_text(self, text: bytes) -> Behind:
        """What lies behind a whole text. Mostly its last bytes tell, so that it is read from its end."""
        return tuple(_state_behind(table, text) for table in self._behind)

    def entry(self, terminals: Iterable[int], behind: Behind) -> tuple[Thread, ...]:
        """The threads with which a lexeme starts."""
        key = tuple(terminals), behind
        known = self._begun.get(key)
        if known is None:
            starts = [(t, self._entries[t][behind[self._behind_of[t]]]) for t in key[0]]
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


@dataclass(frozen=True, slots=True, eq=False)
class Lexeme:
    """A lexeme of so many bytes, what the parser was told, or what was ignored, and the lexeme before it."""

    terminal: int
    length: int
    ignored: bool
    previous: Lexeme | None = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Configuration:
    """What has been read so far, as far as it matters for what may follow. Values are frozen, comparable and hashable.

    Attributes
    ----------
    stack
        The LR states.
    threads
        The threads of the lexeme that has been begun, in order; all of them come before the fallback. Beside a pending
        one the configuration if its match is the lexeme (None: the text cannot go on from it); None beside others.
    keyword_threads
        Threads of the strings that regexes of the context absorb. They never match; they tell which string a regex's
        lexeme is.
    fallback
        The configuration if the last match is the lexeme, with the pushback read; None if there is no match or if the
        text cannot go on from it.
    behind
        What lies behind the next byte.
    fresh
        Whether no byte of a lexeme has been read.
    margin
        The columns of the open blocks and the number of open parentheses, for a grammar with layout.
    column
        Where the next line begins if the lexeme is a newline that ends here. None if it can be no newline, or has no
        line break yet.
    origin
        What lay behind the lexeme that has been begun; for reports, no part of the value.
    length
        How many bytes of a lexeme have been read; for reports, no part of the value.
    last
        The lexeme before that one; None at the start of the text. For reports, no part of the value.

    Notes
    -----
    A byte costs as much as there are threads here and in the fallbacks, which nest as deep as the grammar's lookahead
    reaches: without limit for an open comment, say, where ``/`` may also stand for itself.
    """

    machine: Machine
    stack: Stack
    threads: tuple[tuple[Thread, Configuration | None], ...]
    keyword_threads: tuple[Thread, ...]
    fallback: Configuration | None
    behind: Behind
    fresh: bool
    margin: Margin
    column: int | None
    origin: Behind
    length: int
    last: Lexeme | None

    @classmethod
    def initial(cls, machine: Machine, start: int = 0) -> Configuration:
        """The configuration of the empty text, for the start symbol ``grammar.starts[start]``."""
        return cls._between(machine, Stack(machine.start_states[start]), OUTERMOST, machine.behind_nothing(), None)

    @classmethod
    def between(cls, machine: Machine, stack: Stack, margin: Margin, behind: Behind) -> Configuration:
        """The configuration between two lexemes, of a text that is not known."""
        return cls._between(machine, stack, margin, behind, None)

    @classmethod
    def _between(
        cls, machine: Machine, stack: Stack, margin: Margin, behind: Behind, last: Lexeme | None
    ) -> Configuration:
        """The configuration between two lexemes."""
        context = machine.contexts[stack.state]
        absorbed = dict.fromkeys(string for strings in context.keywords.values() for string in strings)
        threads = tuple((thread, None) for thread in machine.entry(context.terminals, behind))
        keyword_threads = machine.entry(absorbed, behind)
        return cls(machine, stack, threads, keyword_threads, None, behind, True, margin, None, behind, 0, last)

    def step(self, byte: int) -> Configuration | None:
        """Read one byte. None: no sentence starts with the text."""
        stepped: dict[int, Configuration | None] = {}  # of each alternative, by its identity; inner ones come first
        for alternative in reversed(list(self.alternatives())):
            if id(alternative) not in stepped:
                stepped[id(alternative)] = alternative._step(byte, stepped)
        return stepped[id(self)]

    def _step(self, byte: int, stepped: Mapping[int, Configuration | None]) -> Configuration | None:
        """Read one byte, which the alternatives within have read."""
        machine = self.machine
        behind = machine.behind_after(self.behind, byte)
        moved = machine.move(self.reading, byte)
        keyword_threads = self._step_keywords(byte)
        column = self._column_after(byte, (*(thread for _, thread in moved), *keyword_threads))
        fallback = None if self.fallback is None else stepped[id(self.fallback)]
        threads: list[tuple[Thread, Configuration | None]] = []
        for index, thread in moved:
            before, ended = self.threads[index]
            if machine.pending(before):
                ended = None if ended is None else stepped[id(ended)]
            elif machine.matched(thread) or machine.pending(thread):
                ended = self._commit(thread[0], keyword_threads, behind, column)
            if machine.matched(thread):
                fallback = ended
                break
            threads.append((thread, ended))
        if not threads:
            return fallback
        return replace(
            self,
            threads=tuple(threads),
            keyword_threads=keyword_threads,
            fallback=fallback,
            behind=behind,
            fresh=False,
            column=column,
            length=self.length + 1,
        )

    @property
    def reading(self) -> tuple[Thread, ...]:
        """The threads alone."""
        return tuple(thread for thread, _ in self.threads)

    def _step_keywords(self, byte: int) -> tuple[Thread, ...]:
        return tuple(thread for _, thread in self.machine.move(self.keyword_threads, byte))

    def _column_after(self, byte: int, threads: tuple[Thread, ...]) -> int | None:
        layout = self.machine.grammar.layout
        if layout is None or all(terminal != layout.newline for terminal, _ in threads):
            return None
        return column_after(self.column, byte, layout)

    def _commit(
        self, terminal: int, keyword_threads: tuple[Thread, ...], behind: Behind, column: int | None
    ) -> Configuration | None:
        """The configuration if the lexeme is what ``terminal`` has matched; ignored text goes before renaming."""
        machine = self.machine
        length = self.length + 1
        if terminal in machine.ignore:
            lexeme = Lexeme(terminal, length, True, self.last)
            return self._between(machine, self.stack, self.margin, behind, lexeme)
        name = self._named(terminal, keyword_threads)
        fed = feed(machine, self.stack, self.margin, name, column)
        if fed is None:
            return None
        dropped = is_skipped(machine.grammar.layout, self.margin, name)
        return self._between(machine, *fed, behind, Lexeme(name, length, dropped, self.last))

    def _named(self, terminal: int, keyword_threads: tuple[Thread, ...]) -> int:
        """The string that a regex's lexeme is, if it is one of those that the regex absorbs; else the regex."""
        complete = {thread[0] for thread in keyword_threads if self.machine.matched(thread)}
        strings = self.machine.contexts[self.stack.state].keywords.get(terminal, ())
        return next((string for string in strings if string in complete), terminal)

    def alternatives(self) -> Iterator[Configuration]:
        """This configuration, and what the text is if a match that is not certain turns out to be the lexeme."""
        pending: list[Configuration | None] = [self]
        while pending:
            alternative = pending.pop()
            if alternative is not None:
                yield alternative
                pending += [alternative.fallback, *(ended for _, ended in reversed(alternative.threads))]

    def _value(self) -> tuple[object, ...]:
        """What makes up the value, of each alternative in turn."""
        return tuple(
            (
                at.stack,
                tuple((thread, ended is None) for thread, ended in at.threads),
                at.keyword_threads,
                at.fallback is None,
                at.behind,
                at.fresh,
                at.margin,
                at.column,
            )
            for at in self.alternatives()
        )

    def __eq__(self, other: object) -> bool:
        return self._value() == other._value() if isinstance(other, Configuration) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._value())

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._value()}>"

    def restart(self) -> Configuration:
        """The configuration before the lexeme that has been begun."""
        return self._between(self.machine, self.stack, self.margin, self.origin, self.last)

    def match(self, byte: int) -> int | None:
        """The terminal that matches with one more byte, as the parser would be told, whether it takes it or not.

        None if no thread matches. A match whose condition is still open counts; not the byte that decides it, which is
        behind the match. See `step` for what becomes of the text then.
        """
        machine = self.machine
        ends = (
            thread[0]
            for index, thread in machine.move(self.reading, byte)
            if (machine.matched(thread) or machine.pending(thread)) and not machine.pending(self.reading[index])
        )
        terminal = next(ends, None)
        if terminal is None or terminal in machine.ignore:
            return terminal
        return self._named(terminal, self._step_keywords(byte))

    def takes(self, terminal: int) -> bool:
        """Whether a lexeme can be this terminal here: the parser takes it, or never sees it."""
        if terminal in self.machine.ignore or is_skipped(self.machine.grammar.layout, self.margin, terminal):
            return True
        return self.machine.shift(self.stack, terminal) is not None

    def read(self, text: bytes) -> Configuration | None:
        """Read bytes one after the other."""
        configuration: Configuration | None = self
        for byte in text:
            if configuration is None:
                break
            configuration = configuration.step(byte)
        return configuration

    def ends(self) -> bool:
        """Whether the text is a sentence."""
        machine = self.machine
        configuration: Configuration | None = self
        while configuration is not None and not configuration.fresh:
            decided = (ended for thread, ended in configuration.threads if machine.matched_at_end(thread))
            configuration = next(decided, configuration.fallback)
        return configuration is not None and ends(machine, configuration.stack, configuration.margin)


def _state_behind(table: list[list[int]], text: bytes) -> int:
    """The state in which an automaton is behind a text."""
    entered = {state for row in table for state in row}
    after = list(range(len(table)))  # of each state before what has been looked at
    for byte in reversed(text[1:]):
        possible = {after[state] for state in entered}
        if len(possible) == 1:
            return possible.pop()
        after = [after[row[byte]] for row in table]
    return after[table[0][text[0]]] if text else 0


def _rank(terminal: Terminal) -> tuple[int, int, int, str]:
    """Lark tries the terminals of a context in ascending order of this."""
    if terminal.pattern is None:
        raise ValueError(f"{terminal.name} has no pattern")
    return -terminal.priority, -terminal.pattern.max_width, -len(terminal.pattern.value), terminal.name
