"""The definition of a mask, by enumeration: which texts do the sentences of a grammar start with?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from pdacon import Constraint, Matcher
from support.small_grammars import SmallGrammar
from support.stock_lark import StockLark


@dataclass(frozen=True)
class Completions:
    """What can follow the texts that sentences start with, where tokens have to spell it.

    Attributes
    ----------
    shortest
        For each prefix of a sentence whose rest tokens can spell, the shortest such rest, then the least. Sentences are
        those of up to ``length`` characters over ``alphabet``.
    """

    shortest: Mapping[bytes, bytes]
    grammar: SmallGrammar
    length: int

    @classmethod
    def enumerate(cls, oracle: StockLark, start: str, length: int, tokens: Iterable[bytes]) -> Completions:
        shortest: dict[bytes, bytes] = {}
        pieces = frozenset(tokens)
        for sentence in oracle.sentences(length, start):
            text = oracle.grammar.encode(sentence)
            for cut in spelled_suffixes(text, pieces):
                rest = text[cut:]
                known = shortest.get(text[:cut])
                if known is None or (len(rest), rest) < (len(known), known):
                    shortest[text[:cut]] = rest
        return cls(shortest, oracle.grammar, length)

    def covers(self, text: bytes) -> bool:
        """Whether a text is one of those that were enumerated, sentence or not."""
        characters = self.grammar.decode(text)
        return (
            characters is not None and len(characters) <= self.length and set(self.grammar.alphabet) >= set(characters)
        )


@cache
def _lengths(tokens: frozenset[bytes]) -> list[int]:
    return sorted({len(token) for token in tokens} - {0})


def spelled_suffixes(text: bytes, tokens: frozenset[bytes]) -> list[int]:
    """The places from which on a text is a concatenation of tokens; its end is one of them."""
    lengths = _lengths(tokens)
    cuts = {len(text)}
    for cut in range(len(text) - 1, -1, -1):
        if any(cut + length in cuts and text[cut : cut + length] in tokens for length in lengths):
            cuts.add(cut)
    return sorted(cuts)


def mask_of(matcher: Matcher, size: int) -> frozenset[int]:
    """The mask as a set of tokens. Bits past the vocabulary and spare words have to be 0."""
    bitmask = np.full((1, size // 32 + 3), -1, dtype=np.int32)
    matcher.fill_bitmask(bitmask)
    bits = np.unpackbits(bitmask[0].view(np.uint8), bitorder="little")
    assert not bits[size:].any(), "a bit past the vocabulary is set"
    return frozenset(np.flatnonzero(bits).tolist())


def mask_by_id(constraint: Constraint, matcher: Matcher, size: int, start: str | None = None) -> frozenset[int]:
    """The mask as a set of tokens, through its id."""
    row = constraint.mask_table(start=start)[matcher.mask_id()]
    return frozenset(np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little")[:size]).tolist())
