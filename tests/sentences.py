"""A constraint that is its own definition: a finite list of sentences, looked through at every step.

It has the Matcher's interface, so that what uses a Matcher can be compared with the meaning of one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pdacon.detokenizer import Vocabulary


class SentenceConstraint:
    """The language that consists of the given sentences."""

    def __init__(self, vocabulary: Vocabulary, sentences: list[str]) -> None:
        self.vocabulary = vocabulary
        self.sentences = [sentence.encode() for sentence in sentences]
        self._allowed: dict[tuple[int, ...], list[int]] = {}
        self._masks: dict[tuple[int, ...], int] = {}

    def matcher(self, start: str | None = None) -> SentenceMatcher:
        assert start is None
        return SentenceMatcher(self, ())

    def mask_id(self, allowed: list[int]) -> int:
        return self._masks.setdefault(tuple(sorted(allowed)), len(self._masks))

    def allowed(self, ids: tuple[int, ...]) -> list[int]:
        """What may follow the given ids, token by token from the definition."""
        if ids not in self._allowed:
            self._allowed[ids] = self._define(ids)
        return self._allowed[ids]

    def _define(self, ids: tuple[int, ...]) -> list[int]:
        vocab = self.vocabulary
        ended = bool(ids) and ids[-1] in vocab.eos_ids
        text = vocab.decode(ids)
        if ended:
            return list(vocab.eos_ids)
        allowed = [
            i
            for i, token in enumerate(vocab.tokens)
            if token and any(sentence.startswith(text + token) for sentence in self.sentences)
        ]
        return allowed + (list(vocab.eos_ids) if text in self.sentences else [])


class SentenceMatcher:
    """What has been accepted, and nothing else."""

    def __init__(self, constraint: SentenceConstraint, ids: tuple[int, ...]) -> None:
        self.constraint, self.ids = constraint, ids

    def mask_id(self) -> int:
        return self.constraint.mask_id(self.constraint.allowed(self.ids))

    def fill_bitmask(self, bitmask: np.ndarray[Any, np.dtype[np.int32]], row: int = 0) -> None:
        bits = np.zeros(bitmask.shape[1] * 32, dtype=np.uint8)
        bits[self.constraint.allowed(self.ids)] = 1
        bitmask[row] = np.packbits(bits, bitorder="little").view(np.int32)

    def accept_token(self, token: int) -> bool:
        if self.is_terminated() or token not in self.constraint.allowed(self.ids):
            return False
        self.ids = (*self.ids, token)
        return True

    def rollback(self, n: int) -> None:
        assert 0 <= n <= len(self.ids)
        self.ids = self.ids[: len(self.ids) - n]

    def fork(self) -> SentenceMatcher:
        return SentenceMatcher(self.constraint, self.ids)

    def is_accepting(self) -> bool:
        return self.constraint.vocabulary.decode(self.ids) in self.constraint.sentences

    def is_terminated(self) -> bool:
        return bool(self.ids) and self.ids[-1] in self.constraint.vocabulary.eos_ids
