"""Patterns of which each character leads to another state, and characters outside ASCII: their masks on demand."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from support.on_demand import walk_within
from support.real_vocabularies import coded
from support.scaling import scaled

import pdacon
from pdacon import Vocabulary

PIECES = [
    *"abZ0_-", " ", "é", "🙂", "字", "ж", "жа", "ééé", "字字", '"', "\\", "\\n", "\\u00e9", "aaaa",
]  # fmt: skip
WRONG = [b"a\xff", b"\xc3(", b"a\xe2\x28", b"\xed\xa0\x80", b"\xd0\xb6\xd0", b"\xd0\xb6\xd0\x28", b"\xb6a", b'\xb6"']


def vocabulary() -> Vocabulary:
    """Single bytes, and many tokens of up to 45 characters, of which some begin or end within a character."""
    random = Random(11)
    texts = []
    for _ in range(6000):
        some = random.choices(PIECES, k=random.randrange(1, 4))
        texts.append("".join(random.choices(some, k=random.randrange(1, random.choice([4, 20, 46])))).encode())
    cut = [text[random.randrange(2) : len(text) - random.randrange(3)] for text in texts]
    tokens = [*(bytes([byte]) for byte in range(256)), *dict.fromkeys(text for text in [*cut, *WRONG] if len(text) > 1)]
    return Vocabulary.from_tokens([*tokens, None], eos_ids=[len(tokens)])


TEXTS = vocabulary()
CHAINS = [
    "^[a-zA-Z0-9_-]{1,63}$", "^[a-zA-Z0-9_]{18}$", "^[a-zA-Z0-9é-￿]{0,25}$", "^[^-]{3,40}$", "^[^ ]+$", "^[^-]+-[^-]+$",
    r"^.{17,33}0$", r"^\S{20}", "^[^a]{0,2}[^b]*$", "^([a-z0-9A-Z_]{1,20}-)*[a-zA-Z0-9_]{1,20}$", "^é?[^é]+é$",
    r"^(\S+ ){0,5}\S+$", "^[a-z]+$", "^[ab0]{2,30}Z?$", "^[A-Zа-я]+[^A-Z]*$", "^(ж|字)[^ж]{16,18}$",
]  # fmt: skip


@pytest.mark.parametrize("pattern", CHAINS)
def test_strings(pattern: str) -> None:
    for seed in range(scaled(4)):
        walk_within({"type": "string", "pattern": pattern}, TEXTS, Random(seed), 20)


@pytest.mark.parametrize("pattern", CHAINS)
@pytest.mark.parametrize("counts", [{"maxLength": 20}, {"minLength": 4, "maxLength": 44}], ids=json.dumps)
def test_beside_counts(pattern: str, counts: dict[str, int]) -> None:
    for seed in range(scaled(2)):
        walk_within({"type": ["string", "null"], "pattern": pattern, **counts}, TEXTS, Random(seed), 20)


@pytest.mark.parametrize("pattern", CHAINS)
def test_names(pattern: str) -> None:
    schema = {"type": "object", "patternProperties": {pattern: {"type": "integer"}}, "additionalProperties": False}
    for seed in range(scaled(2)):
        walk_within(schema, TEXTS, Random(seed), 20)


@pytest.mark.parametrize("pattern", CHAINS)
def test_a_real_vocabulary(pattern: str) -> None:
    tokens = coded("tekken").vocabulary
    for counts in ({}, {"maxLength": 30}):
        walk_within({"type": "string", "pattern": pattern, **counts}, tokens, Random(len(pattern)), 8)


@pytest.mark.parametrize("length", [200, 65_535, 65_536, 65_540, 65_576])
@pytest.mark.parametrize("schema", [{"maxLength": 10}, {"pattern": "^[a-zA-Z0-9]{1,63}$"}])
def test_tokens_with_more_characters_than_sixteen_bits_count(length: int, schema: dict[str, Any]) -> None:
    vocabulary = Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), b"a" * length, None], eos_ids=[257])
    matcher = pdacon.compile(pdacon.Grammar.from_json_schema({"type": "string", **schema}), vocabulary).matcher()
    assert matcher.accept_bytes(b'"')
    assert 256 not in matcher.allowed_tokens()
    assert not matcher.is_allowed(256)
