"""How a text is cut: by stock Lark's lexer, by the native lexing automaton, and by what defines it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import Any, TypeAlias

import lark
from lark.parser_frontends import PostLexConnector

from pdacon import Grammar
from pdacon.lalr import build_tables, split_parentheses
from pdacon.lexer import build_lexer
from pdacon.pda import Configuration, Machine, Stack
from pdacon.pda.indentation import NO_LINE, OUTERMOST, Margin, ends, feed

Lexeme: TypeAlias = tuple[str, int, int]
"""A terminal's name, and where it begins and ends, in bytes."""


def lexemes_of_lark(parser: lark.Lark, text: str | bytes, start: str | None = None) -> tuple[list[Lexeme], bool]:
    """What Lark's lexer gives before any postlexer, up to where Lark raises, and whether it does not."""
    interactive = parser.parse_interactive(text, start=start)
    thread = interactive.lexer_thread
    found: list[lark.Token] = []

    def recorded(stream: Iterator[lark.Token]) -> Iterator[lark.Token]:
        for token in stream:
            found.append(token)
            yield token

    connected = isinstance(thread.lexer, PostLexConnector)
    lexer: Any = thread.lexer.lexer if connected else thread.lexer
    tokens = recorded(lexer.lex(thread.state, interactive.parser_state))
    try:
        for token in thread.lexer.postlexer.process(tokens) if connected else tokens:
            interactive.feed_token(token)
        interactive.feed_eof()
        whole = True
    except Exception:  # Whatever Lark raises, the text ends there.
        whole = False
    offsets = _offsets(text)
    return [(t.type, offsets[t.start_pos or 0], offsets[t.end_pos or 0]) for t in found], whole


def _offsets(text: str | bytes) -> list[int]:
    """The byte at which each character begins, and the number of bytes."""
    sizes = [1] * len(text) if isinstance(text, bytes) else [len(character.encode()) for character in text]
    return [0, *accumulate(sizes)]


class NativeLexer:
    """The native lexing automaton, driven through the tables: a commit is fed to the parser at once."""

    def __init__(self, grammar: Grammar) -> None:
        tables = split_parentheses(grammar.data, build_tables(grammar.data))
        lexer = build_lexer(grammar.data, tables)
        self._grammar, self._automaton = grammar, lexer.automaton
        self._context_of_state: list[int] = lexer.context_of_state.tolist()
        self._parser = Machine(grammar.data, tables)
        self._classes = [self._automaton.byte_class(byte) for byte in range(256)]

    def lexemes(self, text: bytes, start: int = 0) -> tuple[list[Lexeme], bool]:
        """The lexemes that the parser gets or the Indenter drops, as far as they are certain; whether it is a sentence.

        The name of an ignored one is "": the automaton has forgotten it.
        """
        automaton, end = self._automaton, self._grammar.data.end
        stack, margin = Stack(self._parser.start_states[start]), OUTERMOST
        found: list[Lexeme] = []
        begin = at = 0
        state = automaton.entry(self._context_of_state[stack.state], 0)
        while state >= 0:
            inside = at < len(text)
            reached = automaton.next(state, self._classes[text[at]]) if inside else automaton.at_end(state)
            at += inside
            if reached < -1:
                label, behind, word = automaton.commit(reached)
                at -= len(word)
                read = [self._classes[byte] for byte in text[at : at + len(word)]]
                found.append(("" if label > end else self._grammar.data.symbol_name(label), begin, at))
                fed = (stack, margin) if label > end else self._feed(stack, margin, label, text[begin:at])
                if fed is None:
                    return found, False
                stack, margin = fed
                begin, reached = at, automaton.entry(self._context_of_state[stack.state], behind)
                assert self._landing(reached, word) == self._landing(reached, read)
            elif not inside:
                return found, reached == 0 and ends(self._parser, stack, margin)
            state = reached
        return found, False

    def _landing(self, state: int, word: list[int]) -> int | str:
        """Where the first lexeme of a residual leads: what stands for it does the same as what has been read."""
        for cls in word:
            if state < 0:
                break
            state = self._automaton.next(state, cls)
        return state if state >= -1 else f"label {self._automaton.commit(state)[0]}"

    def _feed(self, stack: Stack, margin: Margin, label: int, lexeme: bytes) -> tuple[Stack, Margin] | None:
        layout, line = self._grammar.data.layout, NO_LINE
        if layout is not None:
            for byte in lexeme:
                line = line.after(byte, layout)
        return feed(self._parser, stack, margin, label, line.column)


def lexemes_of_configuration(configuration: Configuration) -> list[Lexeme]:
    """The lexemes that have become certain; those that are ignored have no name."""
    grammar = configuration.machine.grammar
    cut: list[tuple[str, int]] = []
    last = configuration.last
    while last is not None:
        unseen = last.ignored and last.terminal in grammar.ignore  # a newline in parentheses has a name
        cut.append(("" if unseen else grammar.symbol_name(last.terminal), last.length))
        last = last.previous
    found, begin = [], 0
    for name, length in reversed(cut):
        found.append((name, begin, begin + length))
        begin += length
    return found
