"""Values that are listed as texts, of which one may begin another: masks against the texts themselves."""

from __future__ import annotations

import json
from typing import Any

import pytest

import pdacon
from pdacon import Grammar, Vocabulary

PIECES = [b"10", b"00", b"000", b"0}", b"1}", b"00}", b"-1", b'"a', b'a"', b'a"}', b": 1", b': "', b"1, ", b", "]
WORDS = Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), *PIECES, None], eos_ids=[256 + len(PIECES)])


@pytest.mark.parametrize(
    "values",
    [[1, 1000, 1_000_000], [1, 10, 100, "1", "a"], [-1, -10, 0, None], ["a", "aa", "", 1, 11], [10, 1]],
    ids=str,
)
def test_masks(values: list[Any]) -> None:
    schema = {"type": "object", "properties": {"f": {"enum": values}}, "required": ["f"], "additionalProperties": False}
    constraint = pdacon.compile(Grammar.from_json_schema(schema), WORDS)
    texts = [json.dumps({"f": value}).encode() for value in values]
    for before in {text[:k] for text in texts for k in range(len(text))}:
        matcher = constraint.matcher()
        assert matcher.accept_bytes(before)
        allowed = {WORDS.tokens[token] for token in matcher.allowed_tokens()}
        expected = {piece for piece in WORDS.tokens if piece and any(text.startswith(before + piece) for text in texts)}
        assert allowed == expected, before
