"""Constraints with hardly more memory than they need to be compiled."""

from __future__ import annotations

import pdacon
from pdacon import Constraint, Grammar, LimitExceededError, Limits, Vocabulary


def least_bytes(grammar: Grammar, vocabulary: Vocabulary) -> int:
    """The least limit of bytes, to a tenth, with which the grammar compiles."""
    size = 10_000
    while not _compiles(grammar, vocabulary, size):
        size += size // 10
    return size


def _compiles(grammar: Grammar, vocabulary: Vocabulary, size: int) -> bool:
    try:
        pdacon.compile(grammar, vocabulary, limits=Limits(bytes=size))
    except LimitExceededError as error:
        if error.what != "bytes":
            raise
        return False
    return True


def compile_with_little_room(grammar: Grammar, vocabulary: Vocabulary, times: float) -> Constraint:
    """A constraint with so many times the bytes that compiling takes."""
    most = int(least_bytes(grammar, vocabulary) * times)
    return pdacon.compile(grammar, vocabulary, limits=Limits(bytes=most))
