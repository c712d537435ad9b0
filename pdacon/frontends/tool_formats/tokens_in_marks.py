"""Marks in which special tokens stand, and free text before a mark in which one stands behind other text, the lead,
such as the ``<`` of ``<｜DSML｜calls>``.

In: marks, the names of tokens, and what free text never has. Out: pieces. The lead may be text, too: so the text is cut
behind each lead, where the token may come or more text.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from pdacon.frontends.structural_tags.free_text import FreeText
from pdacon.frontends.structural_tags.pieces import EMPTY, Piece, TextPiece, Token, sequence
from pdacon.grammar.expressions import InOrder, OneOf, Repeated
from pdacon.regular import RegularSet

_ANY = RegularSet.from_regex("(?s).*")
_SOME = RegularSet.from_regex("(?s).+")


def mark_piece(mark: str, tokens: Collection[str], place: str) -> Piece:
    """A mark, in which the first names of ``tokens`` are these tokens."""
    parts: list[Piece] = [TextPiece((mark,), place)]
    for token in tokens:
        parts = [part for piece in parts for part in _cut_at(token, piece)]
    return sequence(parts)


def _cut_at(token: str, piece: Piece) -> Iterator[Piece]:
    """A fixed text cut where it has a special token."""
    if not isinstance(piece, TextPiece):
        yield piece
        return
    first, *others = (piece.words or EMPTY)[0].split(token)
    yield TextPiece((first,), piece.place)
    for other in others:
        yield Token(token, piece.place)
        yield TextPiece((other,), piece.place)


class LedText(NamedTuple):
    """Free text that ends with the lead, and all free text."""

    up_to: Piece
    whole: Piece


def lead_of(mark: str, tokens: Collection[str]) -> str:
    """What stands before the first special token in a mark; nothing if it has none."""
    first = min((place for token in tokens if (place := mark.find(token)) >= 0), default=0)
    return mark[:first]


def may_lead(lead: str, stops: Sequence[str]) -> bool:
    """Whether free text, which has none of ``stops``, goes on in the same way behind each lead."""
    return not any(lead in stop for stop in stops)


def led_text(lead: str, stops: tuple[str, ...], place: str) -> LedText:
    """Free text without ``stops``, where `may_lead` holds."""
    free = FreeText(stops).texts
    # Behind a lead a text has no rest of a stop that begins with the lead's end, and ends with the next lead, perhaps
    # with the rest of one that begins within the lead.
    stopped = _rests(lead, stops)
    behind = free - (stopped + _ANY) if stopped else free
    next_leads = _ANY + RegularSet.from_choices([lead]) | _rests(lead, [lead])
    first, rest = FreeText((lead,)).up_to(lead), FreeText((lead,)).texts
    up_to = InOrder((
        TextPiece(free & first, place, lead),
        Repeated(TextPiece(behind & (next_leads - (next_leads + _SOME)), place), 0, None),
    ))  # fmt: skip
    last = TextPiece(behind - (next_leads + _ANY), place)
    return LedText(up_to, OneOf((InOrder((*up_to.items, last)), TextPiece(free & rest, place))))


def _rests(lead: str, texts: Sequence[str]) -> RegularSet:
    """What is left of texts that begin with an end of the lead, which is not all of them."""
    return RegularSet.from_choices([text[k:] for text in texts for k in range(1, len(text)) if lead.endswith(text[:k])])
