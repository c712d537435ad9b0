"""Artifacts: what is loaded gives the same masks, and what is damaged is an ArtifactError."""

from __future__ import annotations

from random import Random

import numpy
from fuzz.case import Case
from fuzz.finds import Found

import pdacon


def compare(rng: Random, case: Case, constraint: pdacon.Constraint, start: str, sentences: list[bytes]) -> None:
    """Save, load and damage a constraint."""
    try:
        data = constraint.to_bytes()
    except pdacon.ArtifactError as error:
        if "cannot be saved" in str(error):  # its lookahead is longer than the format's limit: documented
            return
        raise
    loaded = pdacon.Constraint.from_bytes(data, verify=rng.random() < 0.5)
    paths = rng.sample(sentences, min(3, len(sentences)))
    same_masks(case, constraint, loaded, start, paths)
    if loaded.vocabulary != constraint.vocabulary:
        raise Found("artifact", "the vocabulary that is loaded is another")
    if loaded.grammar.fingerprint != constraint.grammar.fingerprint:
        raise Found("artifact", "the grammar that is loaded is another")
    again = pdacon.Constraint.from_bytes(loaded.to_bytes(), verify=True)
    same_masks(case, constraint, again, start, paths)
    for _ in range(6):
        broken = damaged(rng, data)
        if broken != data:
            use_damaged(rng, case, constraint, broken, start, paths)


def damaged(rng: Random, data: bytes) -> bytes:
    """The bytes with something changed, left out or put in."""
    roll = rng.random()
    place = rng.randrange(len(data))
    if roll < 0.5:
        changed = bytearray(data)
        for _ in range(rng.choice([1, 1, 2, 8])):
            changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        return bytes(changed)
    if roll < 0.65:
        return data[:place]
    if roll < 0.75:
        return data + bytes(rng.randrange(1, 100))
    if roll < 0.9:
        length = rng.choice([1, 4, 8, 64])
        return data[:place] + rng.choice([bytes(length), b"\xff" * length]) + data[place + length :]
    other = rng.randrange(len(data))
    return data[:place] + data[other : other + 32] + data[place + 32 :]


def use_damaged(
    rng: Random, case: Case, constraint: pdacon.Constraint, broken: bytes, start: str, paths: list[bytes]
) -> None:
    """Verified it does not load; used without that it is refused sooner or later, or it answers as if it were whole."""
    try:
        pdacon.Constraint.from_bytes(broken, verify=True)
        verified = True
    except pdacon.ArtifactError:
        verified = False
    try:
        loaded = pdacon.Constraint.from_bytes(broken)
        same_masks(case, constraint, loaded, start, paths)
    except pdacon.ArtifactError:
        if verified:
            raise Found("artifact", "verified, and then it raises ArtifactError") from None


def same_masks(
    case: Case, constraint: pdacon.Constraint, loaded: pdacon.Constraint, start: str, paths: list[bytes]
) -> None:
    """The same masks along some sentences."""
    for path in [b"", *paths]:
        ours, theirs = constraint.matcher(start), loaded.matcher(start)
        for place in range(min(len(path), 12) + 1):
            if mask(case, ours) != mask(case, theirs):
                raise Found("artifact", "another mask after loading", start=start, text=path[:place])
            if ours.shortest_completion() != theirs.shortest_completion():
                raise Found("artifact", "another completion after loading", start=start, text=path[:place])
            if place < len(path):
                step = path[place : place + 1]
                if ours.accept_bytes(step) != theirs.accept_bytes(step):
                    raise Found("artifact", "accept_bytes differs after loading", start=start, text=path[:place])


def mask(case: Case, matcher: pdacon.Matcher) -> bytes:
    row = numpy.full((len(case.tokens) + 31) // 32, -1, dtype=numpy.int32)
    matcher.fill_bitmask(row)
    return row.tobytes()
