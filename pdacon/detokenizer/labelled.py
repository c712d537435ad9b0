"""Sets of tokens that have a name, and special tokens: what a grammar may ask for beside text.

Source: T. Koo, F. Liu and L. He, "Automata-based constraints for language model decoding" (2024), Table 1.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from pdacon.errors import VocabularyError

TEXT_LABELS = ("TEXT_TOKEN", "PARAGRAPH_TOKEN")
"""The labels of every vocabulary."""


def text_labels(tokens: Sequence[bytes | None]) -> dict[str, tuple[int, ...]]:
    """The tokens of `TEXT_LABELS`: those whose text is whole characters, and of these those without a newline."""
    text = tuple(i for i, token in enumerate(tokens) if token and _is_text(token))
    return {"TEXT_TOKEN": text, "PARAGRAPH_TOKEN": tuple(i for i in text if b"\n" not in (tokens[i] or b""))}


def _is_text(token: bytes) -> bool:
    try:
        token.decode()
    except UnicodeDecodeError:
        return False
    return True


def checked_names(names: Mapping[str, int], size: int) -> Mapping[str, int]:
    """Special tokens by name, each with an id of the vocabulary."""
    for name in names:
        if not isinstance(name, str) or not name:
            raise VocabularyError(f"special_tokens: {name!r:.40} is no name of a special token")
    return MappingProxyType({name: _id(token, name, size) for name, token in names.items()})


def checked_labels(
    labels: Mapping[str, Iterable[int]], size: int, ends: Sequence[int]
) -> Mapping[str, tuple[int, ...]]:
    """Labels, each with its ids in order."""
    checked = {}
    for name, ids in labels.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise VocabularyError(f"{name!r:.40} is no name for a label; one is a word such as IMAGE")
        if isinstance(ids, str | bytes) or not isinstance(ids, Iterable):
            raise VocabularyError(f"label {name} needs a sequence of ids, not {ids!r:.40}")
        checked[name] = tuple(sorted({_id(token, name, size) for token in ids}))
        if not checked[name]:
            raise VocabularyError(f"label {name} has no tokens; give it at least one id")
        if end := next((i for i in checked[name] if i in ends), None):
            raise VocabularyError(f"label {name}: token {end} ends a text, so it cannot be in one; leave it out")
    return MappingProxyType(checked)


def _id(token: Any, name: str, size: int) -> int:
    try:
        i = operator.index(token)
    except TypeError:
        raise VocabularyError(f"{name}: {token!r:.40} is not the id of a token") from None
    if not 0 <= i < size:
        raise VocabularyError(f"{name}: token {i} is not in this vocabulary of {size} tokens (0 to {size - 1})")
    return i
