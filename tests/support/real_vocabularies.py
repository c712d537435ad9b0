"""The two real vocabularies that mistral-common installs, each with its own tokenizer."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
import pytest

from pdacon import Constraint, Vocabulary

NAMES = ("tekken", "SentencePiece")


@dataclass(frozen=True)
class Coded:
    """A vocabulary and the canonical tokens of a text."""

    vocabulary: Vocabulary
    encode: Callable[[str], list[int]]

    def spells(self, text: str) -> bool:
        """Whether the tokens of a text spell it: a tokenizer may normalize it first."""
        strips = b" " if self.vocabulary.strip_leading_space else b""
        return self.vocabulary.decode(self.encode(text)).removeprefix(strips) == text.encode()

    def encode_inside(self, text: str) -> list[int]:
        """The tokens of a text after a line of another, where SentencePiece puts no space before it."""
        if not self.vocabulary.strip_leading_space:
            return self.encode(text)
        tokens = self.encode("\n" + text)
        return tokens[[self.vocabulary.tokens[token] for token in tokens].index(b"\n") + 1 :]


@cache
def tekken_vocabulary() -> Vocabulary:
    """131,072 ids, byte-level BPE, of which 1,000 are control tokens; 2 ends a text."""
    pytest.importorskip("mistral_common", reason="the tekken vocabulary comes with mistral-common")
    model = json.loads((files("mistral_common") / "data" / "tekken_240911.json").read_text())
    control = model["config"]["default_num_special_tokens"]
    entries = model["vocab"][: model["config"]["default_vocab_size"] - control]
    tokens = [None] * control + [base64.b64decode(entry["token_bytes"]) for entry in entries]
    return Vocabulary.from_tokens(tokens, eos_ids=[2])


@cache
def coded(name: str) -> Coded:
    """tekken: 131,072 ids, byte-level BPE. SentencePiece: 32,768 ids, BPE with bytes to fall back to."""
    pytest.importorskip("mistral_common", reason="the vocabularies come with mistral-common")
    data = files("mistral_common") / "data"
    if name == "tekken":
        tekkenizer = pytest.importorskip("mistral_common.tokens.tokenizers.tekken").Tekkenizer
        tokenizer = tekkenizer.from_file(str(data / "tekken_240911.json"))
        return Coded(tekken_vocabulary(), lambda text: list(tokenizer.encode(text, bos=False, eos=False)))
    sentencepiece = pytest.importorskip("sentencepiece")
    path = str(data / "mistral_instruct_tokenizer_240323.model.v3")
    processor = sentencepiece.SentencePieceProcessor(model_file=path)
    return Coded(Vocabulary.from_sentencepiece(processor), processor.encode)


def replay(constraint: Constraint, tokens: list[int]) -> None:
    """Assert that each of the tokens is in its mask, and an end token in the last one."""
    vocabulary = constraint.vocabulary
    mask = np.zeros((1, (vocabulary.size + 31) // 32), np.int32)
    matcher = constraint.matcher(max_rollback=0, strip_leading_space=vocabulary.strip_leading_space)
    for token in [*tokens, vocabulary.eos_ids[0]]:
        matcher.fill_bitmask(mask)
        assert mask[0, token // 32] >> token % 32 & 1, matcher.explain(token).render()
        assert matcher.accept_token(token)
