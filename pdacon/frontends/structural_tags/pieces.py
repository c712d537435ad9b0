"""What a structural tag consists of: sets of texts, grammars and special tokens, one after the other, as alternatives,
or repeated; what is repeated is never empty.

Texts that lie side by side are one set, whatever they were: where one of them ends within it need not be known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, reduce
from typing import TypeAlias

from pdacon.frontends.insertion.borders import end_of, set_of
from pdacon.frontends.json_schema import Schema
from pdacon.grammar import GrammarData
from pdacon.grammar.expressions import InOrder, OneOf, Repeated, Tree
from pdacon.grammar.labels import Label
from pdacon.regular import RegularSet

EMPTY = ("",)


class TextPiece:
    """A set of texts, or some words, of which the set is made when it is asked for.

    Attributes
    ----------
    words : tuple of str or None
        The texts, where they were given as words.
    place : str
        The format that they come from, as a JSON pointer.
    closer : str or None
        A text that is known to stand at the end of each of them, and nowhere else in them.
    """

    def __init__(self, texts: RegularSet | tuple[str, ...], place: str, closer: str | None = None) -> None:
        self._texts, self.closer = texts, closer
        self.words = texts if isinstance(texts, tuple) else None
        self.place = place

    @cached_property
    def set(self) -> RegularSet:
        return RegularSet.from_choices(self._texts) if isinstance(self._texts, tuple) else self._texts

    @property
    def has_empty(self) -> bool:
        """Whether the empty text is one of them."""
        return "" in (self.set if self.words is None else self.words)

    @property
    def is_only_empty(self) -> bool:
        """Whether there is no other text than the empty one."""
        return self.words == EMPTY if self.words is not None else self.set == _empty_set()

    def then(self, other: TextPiece) -> TextPiece:
        """The texts of this piece, each with one of the other's behind it."""
        if self.words is None or other.words is None or len(other.words) > 1:
            return TextPiece(self.set + other.set, self.place)
        (end,) = other.words
        return TextPiece(tuple(word + end for word in self.words), self.place)


@dataclass(frozen=True, slots=True)
class GrammarPiece:
    """The sentences of a grammar."""

    grammar: GrammarData
    place: str


@dataclass(frozen=True, slots=True)
class Token:
    """A special token, by its name."""

    name: str
    place: str


@dataclass(frozen=True, slots=True)
class TextTokens(Token):
    """One token with a text, or more.

    Attributes
    ----------
    label : Label
        Which tokens there are.
    most : int or None
        How many there may be; None: any number.
    """

    label: Label
    most: int | None


@dataclass(frozen=True, slots=True)
class SchemaPiece(Token):
    """A value of a schema in a tag that is read on demand: like a token, it is nothing that a text has."""

    schema: Schema


@dataclass(frozen=True, slots=True)
class LatePiece(Token):
    """A piece of a tag that is read on demand, which is made when a text comes to it.

    No text of it is the beginning of another one, and none is empty.

    Attributes
    ----------
    first : frozenset of int
        The bytes that its texts begin with.
    schemas : tuple of Schema
        Those whose values are in it.
    make : callable
        Makes the piece; it does not fail.
    """

    first: frozenset[int]
    schemas: tuple[Schema, ...] = field(compare=False)
    make: Callable[[], Piece] = field(compare=False)


@dataclass(eq=False)
class LoopPiece:
    """A piece that is a rule of its own: it may have itself within it, as values have values. It is never empty.

    Attributes
    ----------
    piece : Piece or None
        What it is; None while that is being made.
    is_used : bool
        Whether it is within something.
    """

    place: str
    piece: Piece | None = None
    is_used: bool = False


Piece: TypeAlias = Tree[TextPiece | GrammarPiece | Token | LoopPiece]


def grammar_piece(grammar: GrammarData, place: str) -> GrammarPiece | TextPiece:
    """The sentences of a grammar: its texts, where it is one terminal and nothing else."""
    texts = end_of(grammar).texts
    return GrammarPiece(grammar, place) if texts is None else TextPiece(texts, place)


def value_piece(grammar: GrammarData, place: str) -> GrammarPiece | TextPiece:
    """The values of a schema: a set of texts if all are numbers or constants, which no sign ends."""
    start = grammar.starts[0]
    if not all(production.lhs == start and len(production.rhs) == 1 for production in grammar.productions):
        return grammar_piece(grammar, place)
    texts = RegularSet.from_choices([])
    for terminal in grammar.terminals:
        if terminal.pattern is None or not (matched := set_of(terminal.pattern)) <= _numbers_and_words():
            return grammar_piece(grammar, place)
        texts = texts | matched
    return TextPiece(texts, place)


@cache
def _numbers_and_words() -> RegularSet:
    """Texts without quotes, brackets and blanks: more than the numbers and the three words of JSON."""
    return RegularSet.from_regex("[-0-9a-z][-+.0-9a-zE]*")


def sequence(pieces: Iterable[Piece]) -> Piece:
    """Pieces one after the other; texts side by side become one set."""
    flat: list[Piece] = []
    for piece in pieces:
        for part in piece.items if isinstance(piece, InOrder) else (piece,):
            last = flat[-1] if flat else None
            if isinstance(last, TextPiece) and isinstance(part, TextPiece):
                flat[-1] = last.then(part)
            else:
                flat.append(part)
    kept = [part for part in flat if not (isinstance(part, TextPiece) and part.is_only_empty)]
    if not kept:
        return flat[0] if flat else TextPiece(EMPTY, "#")
    return kept[0] if len(kept) == 1 else InOrder(tuple(kept))


def either(pieces: Sequence[Piece]) -> Piece:
    """One of some pieces; those that are texts become one set."""
    flat = [part for piece in pieces for part in (piece.items if isinstance(piece, OneOf) else (piece,))]
    texts = [part for part in flat if isinstance(part, TextPiece)]
    others: list[Piece] = [part for part in flat if not isinstance(part, TextPiece)]
    if texts:
        others.append(texts[0] if len(texts) == 1 else _union(texts))
    return others[0] if len(others) == 1 else OneOf(tuple(others))


def repeated(piece: Piece, least: int, most: int | None) -> Piece:
    """A piece so many times; one that may be empty is repeated where it is not."""
    solid, may_be_empty = without_empty(piece)
    if solid is None or most == 0:
        return TextPiece(EMPTY, "#")
    if isinstance(solid, TextPiece):
        return TextPiece(solid.set.repeat(0 if may_be_empty else least, most), solid.place)
    return Repeated(solid, 0 if may_be_empty else least, most)


def without_empty(piece: Piece) -> tuple[Piece | None, bool]:
    """The piece without the empty text, None if there is nothing else; and whether that was in it.

    Of pieces that are empty only if all their parts are, the parts are not looked into: the second is False then, and
    the tables of the grammar have a conflict.
    """
    if isinstance(piece, TextPiece):
        if not piece.has_empty:
            return piece, False
        rest = piece.set - _empty_set()
        return (TextPiece(rest, piece.place) if rest else None), True
    if isinstance(piece, OneOf):
        parts = [without_empty(item) for item in piece.items]
        solid = [part for part, _ in parts if part is not None]
        return (either(solid) if solid else None), any(empty for _, empty in parts)
    if isinstance(piece, Repeated) and piece.least == 0:
        return Repeated(piece.item, 1, piece.most), True
    return piece, False


@cache
def _empty_set() -> RegularSet:
    return RegularSet.from_choices(EMPTY)


def _union(texts: Sequence[TextPiece]) -> TextPiece:
    words = [text.words for text in texts]
    if None not in words:
        return TextPiece(tuple(dict.fromkeys(word for some in words for word in some or ())), texts[0].place)
    return TextPiece(reduce(RegularSet.union, (text.set for text in texts)), texts[0].place)
