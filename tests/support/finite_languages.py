"""A constraint whose meaning is a finite list of sentences, looked through from the definition."""

from __future__ import annotations

import json

import pdacon
from pdacon.detokenizer import Vocabulary
from pdacon.front.compiled import Compiled


class SentenceConstraint(pdacon.Constraint):
    """The language that consists of the given sentences: compiled, with its definition beside it."""

    def __init__(self, vocabulary: Vocabulary, sentences: list[str]) -> None:
        alternatives = " | ".join(json.dumps(sentence, ensure_ascii=False) for sentence in sentences if sentence)
        optional = "[{}]" if "" in sentences else "{}"
        made = pdacon.compile(pdacon.Grammar.from_lark(f"start: {optional.format(alternatives)}\n"), vocabulary)
        for name in Compiled.__slots__:
            if name != "__weakref__":
                setattr(self, name, getattr(made, name))
        self.sentences = [sentence.encode() for sentence in sentences]
        self._allowed: dict[tuple[int, ...], list[int]] = {}

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
