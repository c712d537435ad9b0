"""Patterns that match anywhere in a string, or nowhere: their masks, which are looked for in many states at once."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from support.on_demand import walk_within
from support.scaling import scaled

import pdacon
from pdacon import Grammar, Vocabulary

ANYWHERE = [
    "[0-9a-f]{4}", "[0-9a-f]{3}-[0-9a-f]{2}", r"\d+\.\d+", ".*,.*,.*", "maker", "(ab|ba)c", r"\w{2} \w", "é", "🙂a",
    r"\\\\", r"\n", "^[a-z].*[0-9]", "^[^0-9]+[0-9]?$", r"^\S+ \S+$", "[^a-z]{3}$",
]  # fmt: skip
PIECES = [
    "a",
    "f",
    "0",
    "9",
    "-",
    ".",
    ",",
    " ",
    "é",
    "🙂",
    "ma",
    "ker",
    "m",
    "z",
    '"',
    "\\",
    "n",
    "\\n",
    "\\u00e9",
    "€",
]


def vocabulary() -> Vocabulary:
    """Single bytes, and tokens of some pieces, of which some begin or end within a character."""
    random = Random(7)
    texts = ["".join(random.choices(PIECES, k=random.randrange(1, 12))).encode() for _ in range(1500)]
    cut = [text[random.randrange(2) : len(text) - random.randrange(3)] for text in texts]
    wrong = [b"a\xff", b"\xc3(", b"a\xe2\x28", b"\xed\xa0\x80", b"f\xf4\x90", b'0"x', b'9"}', b'", "', b'maker"']
    tokens = [*(bytes([byte]) for byte in range(256)), *dict.fromkeys(text for text in [*cut, *wrong] if len(text) > 1)]
    return Vocabulary.from_tokens([*tokens, None], eos_ids=[len(tokens)])


TEXTS = vocabulary()


@pytest.mark.parametrize("pattern", ANYWHERE)
def test_strings(pattern: str) -> None:
    for seed in range(scaled(2)):
        walk_within({"type": "string", "pattern": pattern}, TEXTS, Random(seed), 25)
        walk_within({"type": "string", "not": {"pattern": pattern}}, TEXTS, Random(seed), 25)


@pytest.mark.parametrize("pattern", ANYWHERE)
def test_names(pattern: str) -> None:
    """Names that a pattern matches stand beside those that it does not, with another value."""
    schema = {"type": "object", "patternProperties": {pattern: {"type": "integer"}, "f0": {"enum": [1, "f"]}}}
    for seed in range(scaled(2)):
        walk_within(schema, TEXTS, Random(seed), 25)


def test_several_patterns_of_one_string() -> None:
    one_of = {"oneOf": [{"pattern": word} for word in ("ma", "ker", "f0", "99")], "type": "string"}
    for seed in range(scaled(3)):
        walk_within(one_of, TEXTS, Random(seed), 30)


def test_a_mask_by_enumeration() -> None:
    """A token stays in a string that must not have some text if the text of both has it nowhere."""
    constraint = pdacon.compile(Grammar.from_json_schema({"type": "string", "not": {"pattern": "f09"}}), TEXTS)
    for before in ("", "f", "f0", "9f0", "mf"):
        matcher = constraint.matcher()
        assert matcher.accept(json.dumps(before)[:-1])
        allowed = set(matcher.allowed_tokens())
        for token, text in enumerate(TEXTS.tokens):
            if text is not None and text.isascii() and not {*b'"\\'} & {*text} and min(text) >= 0x20:
                assert (token in allowed) == (b"f09" not in before.encode() + text), (before, text)


LIKE = [
    {"type": "string", "pattern": "(ma-0|f9ker|ma.z|fa0|z.9|ker-ma|0f0f|99-|-9a|mamama|zz0z|a.a.a.a|kerker0|f f f)"},
    {"type": "string", "oneOf": [{"pattern": "maker"}, {"pattern": "af"}, {"pattern": "0.*9"}, {"pattern": "zé"}]},
    {"type": "string", "not": {"pattern": "(maker|f0f0|ma9|kerz|a-a-|zf.)"}},
    {"type": "string", "minLength": 3, "pattern": "(maker|f0|-a)", "maxLength": 40},
    {"type": "object", "patternProperties": {"ma|f0|z9": {"type": "integer"}, "^a.*f": {"type": "null"}},
     "properties": {"maker": {}, "aaf": {}, "zz": {"type": "boolean"}}, "additionalProperties": {"type": "string"}},
]  # fmt: skip


@pytest.mark.parametrize("schema", LIKE, ids=json.dumps)
def test_states_that_lead_to_the_same(schema: dict[str, Any]) -> None:
    """States of a pattern that differ in some bytes: what tokens do below the others is found once."""
    for seed in range(scaled(4)):
        walk_within(schema, TEXTS, Random(seed), 30)
