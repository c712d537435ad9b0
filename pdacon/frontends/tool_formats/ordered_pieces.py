"""Pieces in order: of a text, one after the other; of members, those that may come, in their order or in any."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pdacon.base.graphs import reachable
from pdacon.frontends.structural_tags.pieces import EMPTY, LoopPiece, Piece, TextPiece, either, sequence
from pdacon.grammar.expressions import InOrder, OneOf, Repeated

_MOST_INLINE = 8
"""Of more members what comes after one is a rule of its own."""


def in_order(pieces: Iterable[Piece]) -> Piece:
    """Pieces one after the other, each of which ends where it is known to end: texts among them stay apart."""
    kept = [
        part
        for piece in pieces
        for part in (piece.items if isinstance(piece, InOrder) else (piece,))
        if not (isinstance(part, TextPiece) and part.is_only_empty)
    ]
    if not kept:
        return TextPiece(EMPTY, "")
    return kept[0] if len(kept) == 1 else InOrder(tuple(kept))


def closed_by(piece: Piece, end: str, place: str) -> Piece:
    """A piece with a text behind it that ends each text of the piece, and is nowhere else in them."""
    if not end:
        return piece
    if isinstance(piece, TextPiece):
        whole = sequence([piece, TextPiece((end,), place)])
        assert isinstance(whole, TextPiece)
        return whole if whole.words is not None else TextPiece(whole.set, place, end)
    if isinstance(piece, OneOf):
        return either([closed_by(item, end, place) for item in piece.items])
    if isinstance(piece, InOrder) and isinstance(piece.items[-1], TextPiece | OneOf):
        return in_order([*piece.items[:-1], closed_by(piece.items[-1], end, place)])
    return in_order([piece, TextPiece((end,), place)])


def some_members(
    pieces: Sequence[Piece],
    required: frozenset[int],
    is_any_order: bool,
    other: Piece | None = None,
    between: Piece | None = None,
) -> Piece:
    """At least one member: all that are required, in their order or in any, and as many others as may be.

    Others come behind those of ``pieces``, or in any order anywhere; ``between`` stands between two members.
    """
    if other is None:
        return _listed(pieces, required, is_any_order, None, between)
    another = other if between is None else in_order([between, other])
    more: Piece = Repeated(another, 0, None)
    if not pieces:
        return in_order([other, more])
    listed = _listed(pieces, required, is_any_order, another, between)
    if not is_any_order:
        return listed if required else OneOf((listed, in_order([other, more])))
    behind = listed if between is None else in_order([between, listed])
    rest: Piece = behind if required else Repeated(behind, 0, 1)
    return OneOf((listed, in_order([other, more, rest])))


def _listed(
    pieces: Sequence[Piece], required: frozenset[int], is_any_order: bool, another: Piece | None, between: Piece | None
) -> Piece:
    """At least one of some members, and all that are required; what comes after it ends with others.

    What comes after one is made once for each set of members that may come next, for the smallest sets first. It has
    all others in it, so that the parser need not know before one comes that no member that is listed does.
    """
    nexts: dict[frozenset[int], list[tuple[int, frozenset[int]]]] = {}

    def sets_after(left: frozenset[int]) -> list[frozenset[int]]:
        behind = {k: left - {k} if is_any_order else frozenset(other for other in left if other > k) for k in left}
        nexts[left] = [(k, after) for k, after in sorted(behind.items()) if not required & left - after - {k}]
        return [after for _, after in nexts[left]]

    more: Piece | None = None if another is None else Repeated(another, 0, None)
    if more is not None and is_any_order:
        pieces, more = [in_order([piece, more]) for piece in pieces], None
    others = pieces if between is None else [in_order([between, piece]) for piece in pieces]
    everything = frozenset(range(len(pieces)))
    tails: dict[frozenset[int], Piece] = {frozenset(): TextPiece(EMPTY, "") if more is None else more}
    for left in sorted(reachable([everything], sets_after), key=len):
        if nexts[left] and left != everything:
            members = _alternatives(nexts[left], tails, others)
            if more is not None and another is not None and not required & left:
                members = OneOf((members, in_order([another, more])))
            if len(pieces) > _MOST_INLINE:  # as a rule of its own, since rules are written out without optional parts
                members = LoopPiece("", members)
            tails[left] = members if required & left else Repeated(members, 0, 1)
    return _alternatives(nexts[everything], tails, pieces)


def _alternatives(
    nexts: Sequence[tuple[int, frozenset[int]]], tails: Mapping[frozenset[int], Piece], pieces: Sequence[Piece]
) -> Piece:
    alternatives = [in_order([pieces[k], tails[after]]) for k, after in nexts]
    return alternatives[0] if len(alternatives) == 1 else OneOf(tuple(alternatives))


def at_least_one(pieces: Sequence[Piece]) -> Piece:
    """At least one of some arguments, in their order; what comes after one is the same piece wherever it comes."""
    first: list[Piece] = []
    rest: Piece = TextPiece(EMPTY, "")
    for piece in reversed(pieces):
        first.append(InOrder((piece, rest)))
        rest = InOrder((Repeated(piece, 0, 1), rest))
    return either(first)


def with_name(name: Piece, arguments: Piece, rest: Piece) -> Piece:
    """A call whose name is directly before its arguments: the name is one text with what comes after it.

    By itself it could be the beginning of another tool's name.
    """
    first, *others = arguments.items if isinstance(arguments, InOrder) else (arguments,)
    if not (isinstance(first, Repeated) and first.least == 0):
        return in_order([after(name, arguments), rest])
    again = [first] if first.most is None else []
    without = with_name(name, in_order(others), rest) if others else sequence([name, rest])
    return either([with_name(name, in_order([first.item, *again, *others]), rest), without])


def after(text: Piece, piece: Piece) -> Piece:
    """A piece that a text comes before, which is put into each of its alternatives."""
    if isinstance(piece, OneOf):
        return either([after(text, item) for item in piece.items])
    if isinstance(piece, InOrder):
        return in_order([after(text, piece.items[0]), *piece.items[1:]])
    if isinstance(text, TextPiece) and isinstance(piece, TextPiece):
        whole = text.then(piece)
        return whole if whole.words is not None else TextPiece(whole.set, piece.place, piece.closer)
    return in_order([text, piece])
