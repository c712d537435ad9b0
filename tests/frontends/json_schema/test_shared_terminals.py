"""Terminals that are known for the process and the vocabulary, used by many constraints at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import numpy as np
import pytest
from support.on_demand import WORDS, both, compare

import pdacon
from pdacon import Grammar, LimitExceededError, Limits, Spelling, Vocabulary

SCHEMAS: list[Any] = [
    {"type": "string", "pattern": "^[a-c]{2,9}$"},
    {"type": "string", "maxLength": 7},
    {"type": "number", "minimum": 0.5, "maximum": 12},
    {"type": "string", "format": "date"},
    {"anyOf": [{"const": "ab"}, {"type": "integer"}, {"type": "string", "minLength": 3}]},
    {"type": "object", "properties": {"a": {"type": "string"}, "ab": {}, "abc": {"type": "integer"}}},
    {"enum": [1, 12, 123, "1", "12", True, None]},
]


def walked(schema: Any, seed: int) -> list[tuple[list[int], bytes]]:
    """The masks along a random text of a constraint of its own, after its first tokens."""
    random = Random(seed)
    matcher = pdacon.compile(Grammar.from_json_schema(schema), WORDS).matcher()
    masks = []
    read: list[int] = []
    for _ in range(25):
        masks.append(([*read], matcher.allowed_mask().tobytes()))
        tokens = [token for token in matcher.allowed_tokens() if token < WORDS.size - 1]
        if not tokens:
            break
        read.append(random.choice(tokens))
        assert matcher.accept_token(read[-1])
    assert matcher._is_nested()
    return masks


def test_threads_with_constraints_of_their_own_share_terminals() -> None:
    tasks = [(schema, seed) for seed in range(6) for schema in SCHEMAS] * 2
    with ThreadPoolExecutor(8) as threads:
        walks = list(threads.map(lambda task: walked(*task), tasks))
    for (schema, _), walk in zip(tasks, walks, strict=True):
        made = both(schema, WORDS)
        assert made is not None
        for read, mask in walk[::4]:
            matcher = made[1].matcher()
            assert all(map(matcher.accept_token, read))
            assert mask == matcher.allowed_mask().tobytes(), matcher.text


def test_states_of_a_terminal_count_against_who_makes_them() -> None:
    schema = {"type": "string", "pattern": "^(a|b)*a(a|b){9}$", "$comment": "a thousand states"}
    matcher = pdacon.compile(Grammar.from_json_schema(schema), WORDS, limits=Limits(states=60)).matcher()
    text = "".join(Random(3).choices("ab", k=400))
    before = [""]

    def read() -> None:
        for character in '"' + text:
            before.append(matcher.text)
            matcher.accept(character)

    with pytest.raises(LimitExceededError, match="states"):
        read()
    assert matcher.text == before[-1]
    again = pdacon.compile(Grammar.from_json_schema(schema), WORDS).matcher()
    assert again.accept('"' + text + "abbbbbbbbb")
    assert again.allowed_tokens()


@pytest.mark.parametrize("schema", SCHEMAS)
@pytest.mark.parametrize("spelling", [Spelling(), Spelling(whitespace="any", max_blanks=2), Spelling(escapes="ascii")])
def test_first_masks_after_each_token_are_the_same(schema: Any, spelling: Spelling) -> None:
    made = both(schema, WORDS, spelling)
    assert made is not None
    for token in range(WORDS.size - 1):
        one, other = (compiled.matcher() for compiled in made)
        assert one.is_allowed(token) == other.is_allowed(token)
        if one.accept_token(token):
            assert other.accept_token(token)
            assert np.array_equal(one.allowed_mask(), other.allowed_mask())


SEPARATORS = [
    *WORDS.tokens[:-1],
    "\u2028".encode(),
    "a\u2029b".encode(),
    "\u2027".encode(),
    "é\u2028".encode(),
    b"\xe2\x80",
]
DOTS = ["^.*$", "^.+x$", "^a.*$", "^[^]*$", "^.{3,40}$", r"^\\S*$"]


@pytest.mark.parametrize("pattern", DOTS)
def test_dots_match_no_separators(pattern: str) -> None:
    """Characters outside ASCII are known for the process all together, or all but the separators."""
    vocabulary = Vocabulary.from_tokens([*SEPARATORS, None], eos_ids=[len(SEPARATORS)])
    made = both({"type": "array", "items": {"type": "string", "pattern": pattern}}, vocabulary)
    assert made is not None
    for text in ('["', '["a', '["axé', '["a\u2027x', '["a\u2028'):
        one, other = (compiled.matcher() for compiled in made)
        for byte in text.encode():
            assert np.array_equal(one.allowed_mask(), other.allowed_mask()), one.text
            if not one.accept_token(byte):
                assert not other.accept_token(byte)
                break
            assert other.accept_token(byte)
        assert np.array_equal(one.allowed_mask(), other.allowed_mask()), one.text


SIDE_BY_SIDE: list[Any] = [
    {
        "type": "object",
        "properties": {"ab": {"type": "integer"}, "x": {"type": "null"}},
        "patternProperties": {"^a": {"type": ["integer", "string"]}, ".*": {"maxLength": 3}, "c$": {"type": "string"}},
    },
    {"type": "object", "patternProperties": {"^[a-c]": {"const": 1}}, "additionalProperties": {"const": 2}},
    {"type": "object", "patternProperties": {"^[a-c]": {"const": 1}, "b": {"type": "integer"}}},
    {
        "type": "array",
        "items": {
            "anyOf": [
                {"type": "string", "pattern": "^a"},
                {"type": "string", "pattern": "b$"},
                {"type": "integer", "minimum": 12},
                {"enum": [1, 12, "ab", "cab"]},
                {"type": "number", "maximum": 0.5},
            ]
        },
    },
    {
        "anyOf": [
            {"type": "object", "properties": {"a": {"type": "integer", "minimum": 7}, "b": {"const": 1}}},
            {"type": "object", "properties": {"a": {"type": "number", "maximum": 11}, "b": {"const": 2}}},
            {"type": "object", "properties": {"a": {"type": "string", "pattern": "x"}, "b": {"const": 3}}},
            {"type": "object", "properties": {"a": {"type": "string", "pattern": "^ab"}, "b": {"const": 4}}},
        ]
    },
]


@pytest.mark.parametrize("number", range(len(SIDE_BY_SIDE)))
@pytest.mark.parametrize("spelling", [Spelling(), Spelling(escapes="any"), Spelling(whitespace="any", max_blanks=1)])
def test_terminals_side_by_side_are_the_same(number: int, spelling: Spelling) -> None:
    made = both(SIDE_BY_SIDE[number], WORDS, spelling)
    assert made is not None
    assert sum(compare(*made, Random(seed), 30) for seed in range(10)) > 40
