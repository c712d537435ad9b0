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
every thread; a thread that reaches its end has *matched* and cuts all threads after it, because whatever they find
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

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pdacon.lexer.wanted import OUTSIDE, WHOLE
from pdacon.pda.indentation import NO_LINE, OUTERMOST, Line, Margin, ends, feed, is_skipped
from pdacon.pda.machine import LookBehind, Machine, Thread
from pdacon.pda.stack import Stack


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

    A byte costs as much as there are threads here and in the fallbacks, which nest as deep as the grammar's lookahead
    reaches: without limit for an open comment, say, where ``/`` may also stand for itself.
    """

    machine: Machine
    stack: Stack
    # The threads of the lexeme that has been begun, in order; all of them come before the fallback. Beside a pending
    # one the configuration if its match is the lexeme (None: the text cannot go on from it); None beside others.
    threads: tuple[tuple[Thread, Configuration | None], ...]
    # Threads of the strings that regexes of the context absorb. They never match; they tell which string a regex's
    # lexeme is.
    keyword_threads: tuple[Thread, ...]
    # The configuration if the last match is the lexeme, with the pushback read; None if there is no match or if the
    # text cannot go on from it.
    fallback: Configuration | None
    look_behind: LookBehind  # What lies behind the next byte
    fresh: bool  # Whether no byte of a lexeme has been read
    margin: Margin  # The columns of the open blocks and the number of open parentheses, for a grammar with layout
    line: Line  # What has been read of the line after the lexeme, if that can be a newline
    # For reports, and no part of the value: what lay behind the lexeme that has been begun, how many bytes of it have
    # been read, and the lexeme before it, None at the start of the text.
    origin: LookBehind
    length: int
    last: Lexeme | None

    @classmethod
    def initial(cls, machine: Machine, start: int = 0) -> Configuration:
        """The configuration of the empty text, for the start symbol ``grammar.starts[start]``."""
        return cls._between(
            machine, Stack(machine.start_states[start]), OUTERMOST, machine.look_behind_of_nothing(), None
        )

    @classmethod
    def between(cls, machine: Machine, stack: Stack, margin: Margin, look_behind: LookBehind) -> Configuration:
        """The configuration between two lexemes, of a text that is not known."""
        return cls._between(machine, stack, margin, look_behind, None)

    @classmethod
    def _between(
        cls, machine: Machine, stack: Stack, margin: Margin, look_behind: LookBehind, last: Lexeme | None
    ) -> Configuration:
        """The configuration between two lexemes."""
        context = machine.context(stack.state)
        threads = tuple([(thread, None) for thread in machine.entry(context.terminals, look_behind)])
        keyword_threads = machine.entry(context.absorbed, look_behind)
        return cls(
            machine, stack, threads, keyword_threads, None, look_behind, True, margin, NO_LINE, look_behind, 0, last
        )

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
        look_behind = machine.look_behind_after(self.look_behind, byte)
        if machine.wanted(look_behind) == OUTSIDE:
            return None
        moved = machine.move(self.reading, byte)
        keyword_threads = self._step_keywords(byte)
        line = self._line_after(byte, (*(thread for _, thread in moved), *keyword_threads))
        fallback = None if self.fallback is None else stepped[id(self.fallback)]
        threads: list[tuple[Thread, Configuration | None]] = []
        for index, thread in moved:
            before, ended = self.threads[index]
            if machine.pending(before):
                ended = None if ended is None else stepped[id(ended)]
            elif machine.matched(thread) or machine.pending(thread):
                ended = self._commit(
                    thread[0], keyword_threads, machine.look_behind_of_match(look_behind, thread), line
                )
            if machine.matched(thread):
                fallback = ended
                break
            threads.append((thread, ended))
        if not threads:
            return fallback
        return Configuration(
            machine,
            self.stack,
            tuple(threads),
            keyword_threads,
            fallback,
            look_behind,
            False,
            self.margin,
            line,
            self.origin,
            self.length + 1,
            self.last,
        )

    @property
    def reading(self) -> tuple[Thread, ...]:
        """The threads alone."""
        return tuple([thread for thread, _ in self.threads])

    def _step_keywords(self, byte: int) -> tuple[Thread, ...]:
        return tuple(thread for _, thread in self.machine.move(self.keyword_threads, byte))

    def _line_after(self, byte: int, threads: tuple[Thread, ...]) -> Line:
        layout = self.machine.grammar.layout
        if layout is None or all(terminal != layout.newline for terminal, _ in threads):
            return NO_LINE
        return self.line.after(byte, layout)

    def _commit(
        self, terminal: int, keyword_threads: tuple[Thread, ...], look_behind: LookBehind, line: Line
    ) -> Configuration | None:
        """The configuration if the lexeme is what ``terminal`` has matched; ignored text goes before renaming."""
        machine = self.machine
        length = self.length + 1
        if terminal in machine.ignore:
            lexeme = Lexeme(terminal, length, True, self.last)
            return self._between(machine, self.stack, self.margin, look_behind, lexeme)
        name = self._named(terminal, keyword_threads)
        fed = feed(machine, self.stack, self.margin, name, line.column)
        if fed is None:
            return None
        dropped = is_skipped(machine.grammar.layout, self.margin, name)
        return self._between(machine, *fed, look_behind, Lexeme(name, length, dropped, self.last))

    def _named(self, terminal: int, keyword_threads: tuple[Thread, ...]) -> int:
        """The string that a regex's lexeme is, if it is one of those that the regex absorbs; else the regex."""
        strings = self.machine.context(self.stack.state).keywords.get(terminal)
        if strings is None:
            return terminal
        complete = {thread[0] for thread in keyword_threads if self.machine.matched(thread)}
        return next((string for string in strings if string in complete), terminal)

    def alternatives(self) -> Iterator[Configuration]:
        """This configuration, and what the text is if a match that is not certain turns out to be the lexeme."""
        pending = [self]
        while pending:
            alternative = pending.pop()
            yield alternative
            if alternative.fallback is not None:
                pending.append(alternative.fallback)
            pending += [ended for _, ended in reversed(alternative.threads) if ended is not None]

    def _value(self) -> tuple[object, ...]:
        """What makes up the value, of each alternative in turn."""
        return tuple(
            (
                at.stack,
                tuple((thread, ended is None) for thread, ended in at.threads),
                at.keyword_threads,
                at.fallback is None,
                at.look_behind,
                at.fresh,
                at.margin,
                at.line,
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
        after the match. See `step` for what becomes of the text then.
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
        if machine.wanted(self.look_behind) != WHOLE:
            return False
        last = self.at_end()
        return last is not None and ends(machine, last.stack, last.margin)

    def at_end(self) -> Configuration | None:
        """What the end of the text makes of it: a configuration between lexemes; None if it cannot end here."""
        machine = self.machine
        configuration: Configuration | None = self
        while configuration is not None and not configuration.fresh:
            decided = (ended for thread, ended in configuration.threads if machine.matched_at_end(thread))
            configuration = next(decided, configuration.fallback)
        return configuration
