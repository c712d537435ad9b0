"""What every reader of tokenizers hands back, before it is checked and becomes a `Vocabulary`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from pdacon.errors import VocabularyError


@dataclass(frozen=True, slots=True)
class Reading:
    """What a tokenizer or its file says about its ids."""

    # What id i adds to a text that has begun; None for special tokens, unknown tokens and unused ids.
    tokens: Sequence[bytes | None]
    eos_ids: tuple[int, ...] = ()  # The end tokens that the tokenizer names; empty if it names none
    strip_leading_space: bool = False  # Whether the tokenizer takes one space away where a decoded text begins
    notes: tuple[str, ...] = ()  # Where its decoding differs from the concatenation of bytes, a sentence for each
    # The names of its special tokens, as far as it tells.
    special_tokens: Mapping[str, int] = field(default_factory=dict)


def placed(texts: Iterable[tuple[int, bytes | None]], size: int) -> list[bytes | None]:
    """Put every text at its id; ids that are not given have none."""
    tokens: list[bytes | None] = [None] * size
    for i, text in texts:
        tokens[i] = text
    return tokens


# An id is an index into masks; a number like 2**40 in a damaged file must not become an allocation.
MOST_IDS = 1 << 24


def require_ids(ids: Iterable[int], source: str) -> int:
    """Return how wide a vocabulary with these ids is.

    Raises VocabularyError: an id is negative or beyond all reason.
    """
    ids = list(ids)
    low, high = min(ids, default=0), max(ids, default=-1)
    if low < 0 or high >= MOST_IDS:
        raise VocabularyError(f"{source} gives a token the id {low if low < 0 else high}; ids are 0 to {MOST_IDS - 1}")
    return high + 1


def some(items: Sequence[object], most: int = 3) -> str:
    shown = ", ".join(f"{item!r:.40}" for item in items[:most])
    return shown + (", ..." if len(items) > most else "")


def read_file(source: Any, wanted: str) -> bytes:
    """Return the bytes of a file.

    ``wanted``: what a caller may give, for the error.
    Raises VocabularyError: there is no such file, it cannot be read, or `source` is no path.
    """
    if not isinstance(source, (str, PathLike)):
        raise VocabularyError(f"{wanted} is needed, not {type(source).__name__}")
    try:
        return Path(source).read_bytes()
    except OSError as error:
        raise VocabularyError(f"cannot read {Path(source)}: {error.strerror or error}") from error
    except ValueError as error:  # a NUL or a lone surrogate in it
        raise VocabularyError(f"{str(source)!r} cannot be a path: {error}") from error
