"""What a structural tag consists of: sets of texts, grammars and special tokens, one after the other, as alternatives,
or repeated; what is repeated is never empty.

Texts that lie side by side are one set, whatever they were: where one of them ends within it need not be known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias

from pdacon.grammar import GrammarData
from pdacon.grammar.expressions import InOrder, OneOf, Repeated, Tree
from pdacon.regular import RegularSet

EMPTY = RegularSet.from_choices([""])


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A set of texts; ``place`` is the format that they come from, as a JSON pointer."""

    set: RegularSet
    place: str


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


Piece: TypeAlias = Tree[TextPiece | GrammarPiece | Token]


def sequence(pieces: Iterable[Piece]) -> Piece:
    """Pieces one after the other; texts side by side become one set."""
    flat: list[Piece] = []
    for piece in pieces:
        for part in piece.items if isinstance(piece, InOrder) else (piece,):
            last = flat[-1] if flat else None
            if isinstance(last, TextPiece) and isinstance(part, TextPiece):
                flat[-1] = TextPiece(last.set + part.set, last.place)
            else:
                flat.append(part)
    kept = [part for part in flat if not (isinstance(part, TextPiece) and part.set == EMPTY)]
    if not kept:
        return flat[0] if flat else TextPiece(EMPTY, "#")
    return kept[0] if len(kept) == 1 else InOrder(tuple(kept))


def either(pieces: Sequence[Piece]) -> Piece:
    """One of some pieces; those that are texts become one set."""
    flat = [part for piece in pieces for part in (piece.items if isinstance(piece, OneOf) else (piece,))]
    texts = [part for part in flat if isinstance(part, TextPiece)]
    others: list[Piece] = [part for part in flat if not isinstance(part, TextPiece)]
    if texts:
        others.append(texts[0] if len(texts) == 1 else TextPiece(_union(texts), texts[0].place))
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
        if "" not in piece.set:
            return piece, False
        rest = piece.set - EMPTY
        return (TextPiece(rest, piece.place) if rest else None), True
    if isinstance(piece, OneOf):
        parts = [without_empty(item) for item in piece.items]
        solid = [part for part, _ in parts if part is not None]
        return (either(solid) if solid else None), any(empty for _, empty in parts)
    if isinstance(piece, Repeated) and piece.least == 0:
        return Repeated(piece.item, 1, piece.most), True
    return piece, False


def _union(texts: Sequence[TextPiece]) -> RegularSet:
    return reduce(RegularSet.union, (text.set for text in texts))
