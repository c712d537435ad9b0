"""Listed names of which tokens spell parts: masks against the bytes of each token, read one by one."""

from __future__ import annotations

import json
from typing import Any

import pytest

import pdacon
from pdacon import Grammar, Vocabulary

NAMES = ["a", "ab", "abc", "abd", "key", "keyboard", "keys", "na\u00efve", "", "type"]
PIECES = [
    b"ab",
    b"abc",
    b"eyboard",
    b"key",
    b"keys",
    b"board",
    b'c"',
    b'd": ',
    b'y": 1',
    b'"a',
    b'"keyb',
    b'{"a',
    b'{"k',
]
PIECES += [
    b'oard": ',
    b', "ke',
    b's": [',
    b"na\xc3",
    b"\xafve",
    b'": "',
    b"zz",
    b"keyboards",
    b"typ",
    b'pe": t',
    b'""',
    b'": ',
]
VOCABULARY = Vocabulary.from_tokens(
    [*(bytes([byte]) for byte in range(256)), *PIECES, None], eos_ids=[256 + len(PIECES)]
)
MEMBERS: dict[str, Any] = {name: {"type": ["integer", "string"]} for name in NAMES}
SCHEMAS: list[dict[str, Any]] = [
    {"additionalProperties": False},
    {},
    {"additionalProperties": {"type": "boolean"}},
    {"required": ["key", "type"], "additionalProperties": False},
    {"required": ["keys"]},
    {"patternProperties": {"^k": True, "^x-[a-z]*$": {"type": "null"}}, "additionalProperties": False},
    {"patternProperties": {"board": {"type": "string"}}},
    {"propertyNames": {"maxLength": 4}},
    {"properties": {**MEMBERS, "ab": False, "keyboard": False}},
    {"properties": {**MEMBERS, "type": {"enum": ["a", "ab", "abc", "keyboard", 1, 10, True]}}},
]
TEXTS = [
    {"a": 1, "abc": 1, "keyboard": "x", "keys": 2, "type": "a"},
    {"key": 1, "keys": 1, "na\u00efve": "", "": 1, "type": "abc"},
    {"ab": 1, "zz": True, "keyboards": True, "type": 10},
    {"x-a": None, "kex": 1, "type": "keyboard"},
]


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_masks(schema: dict[str, Any]) -> None:
    whole = {"type": "object", "properties": MEMBERS, **schema}
    constraint = pdacon.compile(Grammar.from_json_schema(whole), VOCABULARY)
    seen = set()
    for text in (json.dumps(value, ensure_ascii=False).encode() for value in TEXTS):
        matcher = constraint.matcher()
        for at in range(len(text)):
            if text[:at] not in seen:
                seen.add(text[:at])
                allowed = set(matcher.allowed_tokens())
                for token, piece in enumerate(VOCABULARY.tokens):
                    assert piece is None or (token in allowed) == matcher.fork().accept_bytes(piece), (text[:at], piece)
            if not matcher.accept_bytes(text[at : at + 1]):
                break
    assert len(seen) > 20
