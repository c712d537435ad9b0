"""What can be tried next in a random text: a lexeme of each terminal that the parser waits for.

In: the text so far and its `Configuration`. Out: pieces with their weights: lexemes with or without a space before
them, lines, and comments. They look sensible; whether the grammar allows one is for a matcher to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Literal, TypeAlias

from pdacon.grammar import GrammarData, Terminal
from pdacon.lexer import compile_terminal
from pdacon.matching.lexemes import LexemeSampler, first_bytes
from pdacon.matching.listed import ListedTexts
from pdacon.pda import Configuration, expect
from pdacon.regular.ordered import ANY_SIZE

WordKind: TypeAlias = Literal["keyword", "name"] | None
"""Of a word: the only one of its terminal, or one of many; None: no word."""

_LISTED = 4.0  # of lexemes that the grammar lists, such as the names of a schema: they say more than free texts
_AS_LISTED = 0.95  # how often they are written as they are listed, and not in any way that matches
_IGNORED = 0.02  # the weight of comments, beside 1
_INDENT_LEN = 4  # of blocks that may be indented by any number of columns


class Pieces:
    """What can be tried next in a text: a lexeme of each terminal that the parser waits for."""

    def __init__(self, grammar: GrammarData) -> None:
        self._draw = [_drawer(grammar, terminal) for terminal in grammar.terminals]
        self._listed = ListedTexts(grammar)
        self._encoding = grammar.options.encoding
        self._ignored = sorted(grammar.ignore)
        self._layout = grammar.layout
        self._space = b" " if ord(" ") in ignorable(grammar) else b"\n"

    def moves(
        self,
        rng: Random,
        text: bytes,
        configuration: Configuration | None,
        airy: float,
        is_allowed: Callable[[bytes], bool],
    ) -> Iterator[tuple[bytes, float, WordKind]]:
        """Pieces, their weights, and of what kind of word each is.

        ``airy``: how often there is a space where there need not be one.
        ``is_allowed``: whether the text can go on with a piece, where somebody knows that sooner than this room.
        """
        if configuration is None:
            return
        space = self._space
        reading = _Reading(configuration, is_allowed)
        expected = expect(configuration)
        for terminal in expected.next or expected.unfinished:
            if terminal in self._ignored:
                continue
            if self._layout is not None and terminal == self._layout.newline:
                # Indentation by chance would hardly ever be that of a line before.
                columns = configuration.margin.columns
                further = columns[-1] + (self._layout.indent_len or _INDENT_LEN)
                line_break = b"\\n" if self._layout.escaped else b"\n"
                yield from ((line_break + b" " * column, 0.5, None) for column in (*columns, further))
                continue
            piece = self._piece(rng, terminal)
            if piece is None:
                continue
            liked = _LISTED if self._listed.is_list(terminal) else 1.0
            spaced = airy if text else 0.0
            if (_is_word(text[-1:]) and _is_word(piece[:1])) or not reading.begins_a_lexeme(piece):
                spaced = 0.99
            kind = self._kind(terminal, piece)
            yield piece, (1 - spaced) * liked, kind
            if spaced > 0:
                yield space + piece, spaced * liked, kind
        for terminal in self._ignored:
            piece = self._draw[terminal](rng)
            if piece is not None and not piece.decode("utf-8", "replace").isspace():  # a comment
                yield from ((comment, _IGNORED, None) for comment in _closed(reading, piece))

    def _kind(self, terminal: int, piece: bytes) -> WordKind:
        if not piece.decode("utf-8", "replace").isidentifier():
            return None
        return "keyword" if len(self._listed.of(terminal)) == 1 else "name"

    def _piece(self, rng: Random, terminal: int) -> bytes | None:
        listed = self._listed.of(terminal)
        if listed and rng.random() < _AS_LISTED:
            return rng.choice(listed).encode(self._encoding)
        return self._draw[terminal](rng)


class _Reading:
    """What a configuration is after texts of which many begin alike: what they have in common is read once."""

    def __init__(self, configuration: Configuration, is_allowed: Callable[[bytes], bool]) -> None:
        self._after: dict[bytes, Configuration | None] = {b"": configuration}
        self._is_allowed = is_allowed

    def after(self, text: bytes) -> Configuration | None:
        """None: no sentence goes on with the text."""
        for end in range(1, len(text) + 1):
            if text[:end] not in self._after:
                before = self._after[text[: end - 1]]
                self._after[text[:end]] = None if before is None else before.step(text[end - 1])
        return self._after[text]

    def begins_a_lexeme(self, piece: bytes) -> bool:
        """Whether a piece can follow, and none of its bytes goes on with what was read before."""
        # Once a lexeme has begun in the piece, later ones begin there, too: the rest is read only where it is not
        # known that it can be.
        first = 1 if self._is_allowed(piece) else len(piece)
        ends = range(first, len(piece) + 1)
        return any((after := self.after(piece[:end])) is not None and after.length <= end for end in ends)


def _is_word(byte: bytes) -> bool:
    return byte.isalnum() or byte == b"_"


def _closed(reading: _Reading, comment: bytes) -> Iterator[bytes]:
    """A comment, and the line break that ends it if one does; nothing if what comes after could still be in it."""
    for text in (comment, comment + b"\n"):
        after = reading.after(text)
        if after is not None and after.length <= len(text) - len(comment):
            yield text
            return


def _drawer(grammar: GrammarData, terminal: Terminal) -> Callable[[Random], bytes | None]:
    pattern = terminal.pattern
    if pattern is None:
        return lambda rng: None
    if pattern.kind == "str":
        fixed = pattern.value.encode(grammar.options.encoding)
        return lambda rng: fixed
    return LexemeSampler(compile_terminal(grammar, terminal, ANY_SIZE)).draw


def ignorable(grammar: GrammarData) -> set[int]:
    """The bytes that ignored text can begin with."""
    ignored = (grammar.terminals[i] for i in grammar.ignore)
    return {byte for terminal in ignored for byte in first_bytes(compile_terminal(grammar, terminal, ANY_SIZE))}
