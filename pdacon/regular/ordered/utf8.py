"""Sets of characters -> deterministic automata over their UTF-8 bytes.

A set is a sorted tuple of disjoint inclusive code point ranges without surrogates. The automaton is the minimal
acyclic one, up to the final state, which the caller supplies: equal suffixes are one node, so ``\\w`` with its 700
ranges takes about 310 nodes, and every node's edges are disjoint.

Source: K. Thompson, UTF-8 sequences of a range, as described in R. Cox, "Regular Expression Matching in the Wild"
(2010). Here a set is cut into blocks of 64 code points by trailing byte, which shares suffixes without a second pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import TypeAlias

from pdacon.regular.ordered.labels import FIRST_SYMBOL, spelling

Ranges: TypeAlias = tuple[tuple[int, int], ...]
Edges: TypeAlias = tuple[tuple[int, int, int], ...]

FINAL = -1
"""The target of an edge that completes a character."""

_ENCODINGS = (  # first and last code point of each length, the lead byte that a zero payload would have
    (0x0, 0x7F, 0x00, 1),
    (0x80, 0x7FF, 0xC0, 2),
    (0x800, 0xFFFF, 0xE0, 3),
    (0x10000, 0x10FFFF, 0xF0, 4),
)


def continuations(lead: int) -> tuple[tuple[int, int], ...]:
    """What can follow the first byte of a character: a first and a last byte for each of those to come."""
    if not 0xC2 <= lead <= 0xF4:
        return ()
    first = {0xE0: (0xA0, 0xBF), 0xED: (0x80, 0x9F), 0xF0: (0x90, 0xBF), 0xF4: (0x80, 0x8F)}.get(lead, (0x80, 0xBF))
    return (first, *[(0x80, 0xBF)] * (0 if lead < 0xE0 else 1 if lead < 0xF0 else 2))


@dataclass(frozen=True, slots=True, eq=False)
class ByteTrie:
    """The UTF-8 bytes of a set of characters; compared by identity, as equal sets give the same object."""

    # Children come before parents; target is a node or ``FINAL``. The last node is the root; no nodes: empty set.
    nodes: tuple[Edges, ...]


@lru_cache(maxsize=512)
def single_bytes(ranges: Ranges) -> ByteTrie:
    """The automaton of a set of bytes: where the text is no UTF-8, each of them is a character. Parameters as below."""
    return ByteTrie((tuple((first, last, FINAL) for first, last in ranges),) if ranges else ())


@lru_cache(maxsize=512)
def byte_trie(ranges: Ranges) -> ByteTrie:
    """Build the automaton of a set.

    ``ranges``: ascending, disjoint, inclusive, without surrogates.
    Returns: cached. Costs a few microseconds per range, the first time.
    """
    known: dict[Edges, int] = {}
    root: list[tuple[int, int, int]] = []
    for first, last, lead, length in _ENCODINGS:
        if ranges and ranges[-1][1] >= first:
            clipped = [(max(lo, first), min(hi, last)) for lo, hi in ranges if lo <= last and hi >= first]
            root += _edges(clipped, lead, length, known)
    if root:
        known.setdefault(tuple(root), len(known))
    return ByteTrie(tuple(known))


def with_spellings(characters: ByteTrie, symbols: Iterable[int]) -> ByteTrie:
    """The automaton of a set, and of the spellings of some labels, which are given as their symbols."""
    spellings = sorted({spelling(symbol - FIRST_SYMBOL) for symbol in symbols})
    nodes = list(characters.nodes)
    root = list(nodes.pop()) if nodes else []
    for first, group in groupby(spellings, key=itemgetter(0)):
        root.append((first, first, len(nodes)))
        nodes.append(tuple((last, last, FINAL) for _, last in group))
    return ByteTrie((*nodes, tuple(root)))


def _edges(ranges: Iterable[tuple[int, int]], base: int, length: int, known: dict[Edges, int]) -> Edges:
    """The edges that read the first of ``length`` bytes; ``base`` is the byte that stands for block 0."""
    if length == 1:
        return tuple((base + lo, base + hi, FINAL) for lo, hi in ranges)
    edges: list[tuple[int, int, int]] = []
    for (first, last), pieces in groupby(_pieces(ranges, 6 * (length - 1)), key=itemgetter(0)):
        child = _edges([piece for _, piece in pieces], 0x80, length - 1, known)
        node = known.setdefault(child, len(known))
        if edges and edges[-1][1] == base + first - 1 and edges[-1][2] == node:
            edges[-1] = (edges[-1][0], base + last, node)
        else:
            edges.append((base + first, base + last, node))
    return tuple(edges)


def _pieces(ranges: Iterable[tuple[int, int]], shift: int) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Cut ranges at the borders of blocks of 2**shift code points: (first block, last block), (range in the block)."""
    mask = (1 << shift) - 1
    for lo, hi in ranges:
        while lo <= hi:
            first = lo >> shift
            if lo & mask == 0 and hi - lo >= mask:
                last = ((hi + 1) >> shift) - 1
                yield (first, last), (0, mask)
            else:
                last = first
                yield (first, last), (lo & mask, min(hi - (first << shift), mask))
            lo = (last + 1) << shift
