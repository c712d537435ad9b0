"""Where a text leads, and the lexemes that it is read as: what the native core tells, in the terms of `pdacon.pda`.

The native core reads the text; the configuration is made for where its last lexeme begins, and reads only that. So the
cost is that of accepting the text, and of what is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pdacon._native import _core
from pdacon.errors import ArtifactError
from pdacon.grammar import GrammarData
from pdacon.lalr import open_parentheses
from pdacon.lexer.contexts import lexing_order
from pdacon.matching.explanation import Cut
from pdacon.pda import Configuration, LexemeReader, Machine, Margin
from pdacon.regular.ordered.program import from_automaton
from pdacon.regular.ordered.running import Runner, runner_of


@dataclass(frozen=True, slots=True)
class Located:
    """Where a text leads."""

    place: Configuration
    cuts: tuple[Cut, ...]  # The last lexemes of those that were asked for, in the order of the text
    earlier: int  # How many there are before these
    symbols: list[int]  # The parser's stack, in symbols from its bottom


def locate(
    machine: Machine,
    start: int,
    matcher: _core.Matcher,
    text: bytes,
    reader: LexemeReader | None,
    *,
    since: int = 0,
    most: int | None = 0,
) -> Located:
    """Where a text leads that the constraint of a matcher allows, whatever that has read.

    ``start``: index of the start rule. ``reader``: what reads the lexeme that is open; None: step by step, which also
    counts what has been read. ``since``: asked for are the lexemes whose ends become certain after so many bytes.
    ``most``: at most so many; None: all.
    """
    grammar = machine.grammar
    count, rows, begin, stack, columns = matcher._trace(text, since, -1 if most is None else most)
    symbols: list[int] = stack.tolist()
    margin = Margin((0, *columns.tolist()), open_parentheses(grammar, symbols))
    if machine.leaves_something:
        whole = matcher._trace(text, 0, -1)[1].reshape(-1, 4).tolist()
        behind = machine.look_behind_of_lexemes(
            text[:begin], ((row[0], row[1], row[2]) for row in whole if row[2] <= begin)
        )
    else:
        behind = machine.look_behind_of_text(text[:begin])
    between = Configuration.between(machine, machine.stack_of(start, symbols), margin, behind)
    place = between.read(text[begin:]) if reader is None else reader.read(between, text[begin:])
    if place is None:
        raise disagreement(f"the ones accept {text[-80:]!r}, and the other has no configuration for it")
    cuts = tuple(_cuts(grammar, text, rows.reshape(-1, 4).tolist()))
    return Located(place, cuts, count - len(cuts), symbols)


def disagreement(what: str) -> ArtifactError:
    """The error where a constraint's tables do otherwise than its grammar: only a file that was changed has such."""
    return ArtifactError(
        f"the constraint is damaged: its tables are not those of its grammar ({what}); compile the grammar again"
    )


def _cuts(grammar: GrammarData, text: bytes, rows: list[list[int]]) -> Iterator[Cut]:
    ignored = _Ignored(grammar, text)
    names: dict[int, str] = {}
    for label, begin, end, dropped in rows:
        terminal = label if label < grammar.end else ignored.terminal(begin, end)
        if terminal not in names:
            names[terminal] = grammar.describe_symbol(terminal)
        yield Cut(names[terminal], text[begin:end], "ignored" if dropped else "shifted")


class _Ignored:
    """Tells which terminal a lexeme is that is ignored: the lexer makes no difference between these.

    All of them are looked for wherever a lexeme begins. So it is the first of them, in Lark's order, that matches
    there: if anything else came before it, the lexeme would not be ignored.
    """

    def __init__(self, grammar: GrammarData, text: bytes) -> None:
        terminals = [(k, grammar.terminals[k]) for k in grammar.ignore if grammar.terminals[k].pattern is not None]
        self._ordered = sorted(terminals, key=lambda each: lexing_order(each[1]))
        self._options = grammar.options
        self._bytes = text
        self._text: str | bytes | None = None
        self._patterns: list[tuple[int, re.Pattern[Any] | Runner]] = []
        self._at = 0, 0  # a byte, and which character it is
        self._behind: dict[int, tuple[int, int]] = {}  # by terminal a byte, and what lies behind it

    def terminal(self, begin: int, end: int) -> int:
        """The terminal of the lexeme from one byte to another; to be asked in the order of the text."""
        if len(self._ordered) == 1:
            return self._ordered[0][0]
        if self._text is None:
            self._begin()
        first, last = self._character(begin), self._character(end)
        for terminal, pattern in self._patterns:
            if isinstance(pattern, Runner):
                known, behind = self._behind.get(terminal, (0, 0))
                behind = pattern.look_behind_after(behind, self._bytes[known:begin])
                self._behind[terminal] = begin, behind
                if pattern.match_end(memoryview(self._bytes)[begin:], behind) == end - begin:
                    return terminal
                continue
            match = pattern.match(self._text, first)
            if match is not None and match.end() == last:
                return terminal
        raise disagreement(f"the ones ignore {self._bytes[begin:end]!r}, and the other has no ignored terminal for it")

    def _begin(self) -> None:
        as_bytes = self._options.use_bytes
        self._text = self._bytes if as_bytes else self._bytes.decode("utf-8", "ignore")
        for index, terminal in self._ordered:
            assert terminal.pattern is not None
            if terminal.pattern.automaton is not None:
                self._patterns.append((index, runner_of(from_automaton(terminal.pattern.automaton))))
                continue
            regexp = terminal.pattern.regexp
            pattern = re.compile(regexp.encode("latin-1") if as_bytes else regexp, self._options.g_regex_flags)
            self._patterns.append((index, pattern))

    def _character(self, byte: int) -> int:
        if self._options.use_bytes:
            return byte
        known, characters = self._at
        self._at = byte, characters + len(self._bytes[known:byte].decode("utf-8", "ignore"))
        return self._at[1]
