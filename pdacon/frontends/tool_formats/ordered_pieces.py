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


def members_in_order(
    pieces: Sequence[Piece], required: frozenset[int], is_any_order: bool, between: Piece | None = None
) -> Piece:
    """At least one of some members, and all that are required, in their order or in any.

    What comes after one is made once for each set of members that may come next, for the smallest sets first.
    ``between`` stands between two of them.
    """
    nexts: dict[frozenset[int], list[tuple[int, frozenset[int]]]] = {}

    def sets_after(left: frozenset[int]) -> list[frozenset[int]]:
        behind = {k: left - {k} if is_any_order else frozenset(other for other in left if other > k) for k in left}
        nexts[left] = [(k, after) for k, after in sorted(behind.items()) if not required & left - after - {k}]
        return [after for _, after in nexts[left]]

    others = pieces if between is None else [in_order([between, piece]) for piece in pieces]
    everything = frozenset(range(len(pieces)))
    tails: dict[frozenset[int], Piece] = {frozenset(): TextPiece(EMPTY, "")}
    for left in sorted(reachable([everything], sets_after), key=len):
        if nexts[left] and left != everything:
            members = _alternatives(nexts[left], tails, others)
            if len(pieces) > _MOST_INLINE:  # as a rule of its own, since rules are written out without optional parts
                members = LoopPiece("", members)
            tails[left] = members if required & left else Repeated(members, 0, 1)
    return _alternatives(nexts[everything], tails, pieces)


def _alternatives(
    nexts: Sequence[tuple[int, frozenset[int]]], tails: Mapping[frozenset[int], Piece], pieces: Sequence[Piece]
) -> Piece:
    alternatives = [in_order([pieces[k], tails[after]]) for k, after in nexts]
    return alternatives[0] if len(alternatives) == 1 else OneOf(tuple(alternatives))
