"""Strings whose characters are counted beside automata, on demand, against the whole."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import numpy as np
import pytest
from support.on_demand import WORDS, both, compare
from support.real_vocabularies import coded

import pdacon
from pdacon import Grammar, Spelling

COUNTED: list[Any] = [
    {"type": "string", "maxLength": 0},
    {"type": "string", "maxLength": 3},
    {"type": "string", "minLength": 2, "maxLength": 2},
    {"type": "string", "minLength": 9},
    {"type": "string", "maxLength": 700},
    {"anyOf": [{"type": "null"}, {"minLength": 3, "maxLength": 12}]},
    {"anyOf": [{"const": "ab"}, {"type": "string", "minLength": 3, "maxLength": 9}, {"enum": ["x", "abc", "xyz!"]}]},
    {"anyOf": [{"type": "null"}, {"oneOf": [{"const": "ab"}, {"type": "string", "maxLength": 9}]}]},
    {"anyOf": [{"type": "string", "maxLength": 2}, {"type": "string", "minLength": 7}]},
    {
        "anyOf": [
            {"type": "object", "properties": {"a": {"type": "string", "maxLength": 4}, "b": {"const": 1}}},
            {"type": "object", "properties": {"a": {"type": "string", "maxLength": 11}, "b": {"const": 2}}},
        ]
    },
    {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 5}},
]


@pytest.mark.parametrize("schema", COUNTED, ids=json.dumps)
@pytest.mark.parametrize("spelling", [Spelling(), Spelling(escapes="ascii"), Spelling(escapes="any")])
def test_counted_strings_are_the_same_on_demand(schema: Any, spelling: Spelling) -> None:
    made = both(schema, WORDS, spelling)
    assert made is not None
    assert sum(compare(*made, Random(seed), 25) for seed in range(8)) > 16


PATTERNS: list[tuple[str, int, int | None]] = [
    ("^(ab)*$", 3, 9),  # lengths come again in a circle
    ("^(ab)*$", 5, 5),  # no string at all
    ("^(ab|abc|é)*$", 2, 7),
    ("^(xyz)*(ab)*$", 4, 11),
    ("^[a-c]{2,5}$", 1, 9),  # all are of that many
    ("^[a-c]{2,5}$", 4, 8),
    ("^[a-c]{2,5}$", 6, 8),
    (r"^(\S+ ){0,3}\S+$", 2, 8),
    (r"^\S+@\S+$", 3, 40),
    ("b$", 0, 6),
    ("^a*b?$", 4, None),
    ("^.*é$", 0, 3),
    (r"^[^\\]*$", 0, 6),
]


@pytest.mark.parametrize(("pattern", "least", "most"), PATTERNS)
@pytest.mark.parametrize("spelling", [Spelling(), Spelling(escapes="ascii"), Spelling(escapes="any")])
def test_patterns_beside_counts_are_the_same_on_demand(
    pattern: str, least: int, most: int | None, spelling: Spelling
) -> None:
    counted = {
        "type": "string",
        "pattern": pattern,
        "minLength": least,
        **({} if most is None else {"maxLength": most}),
    }
    made = both({"anyOf": [counted, {"type": "null"}]}, WORDS, spelling)
    assert made is not None
    assert sum(compare(*made, Random(seed), 25) for seed in range(8)) > 8


def test_a_pattern_with_a_large_bound_takes_no_states() -> None:
    schema = {"type": "string", "minLength": 1, "maxLength": 5000, "pattern": r"^$|(^(?:\S+\s+){0,99}\S+$)"}
    matcher = pdacon.compile(Grammar.from_json_schema(schema), WORDS).matcher()
    assert matcher.accept('"' + "a " * 98 + "b" * 4801)
    assert matcher.is_allowed(ord(" "))
    assert matcher.accept("c" * 2)
    assert not matcher.is_allowed(ord(" "))  # a word would have to follow it
    assert matcher.is_allowed(ord("c"))
    assert matcher.accept("c")
    assert not matcher.is_allowed(ord("c"))
    assert matcher.accept('"')
    assert matcher._is_nested()


@pytest.mark.parametrize("tail", ["", "x", "é", "\\", "\\n", "😀", "\\u00"])
def test_near_the_end_of_a_string_each_token_is_told(tail: str) -> None:
    for most in range(1, 8):
        made = both({"type": "string", "minLength": most // 2, "maxLength": most}, WORDS)
        assert made is not None
        one, other = (compiled.matcher() for compiled in made)
        for character in '"' + "é" * (most - 1) + tail:
            assert np.array_equal(one.allowed_mask(), other.allowed_mask()), one.text
            if not one.accept(character):
                assert not other.accept(character)
                break
            assert other.accept(character)
        assert np.array_equal(one.allowed_mask(), other.allowed_mask()), one.text


@pytest.mark.parametrize("bounds", [{"minLength": 2}, {"maxLength": 1}, {"minLength": 3, "maxLength": 5}])
def test_tokens_that_begin_before_a_string_are_counted(bounds: Any) -> None:
    words = coded("tekken")
    schema = {"type": "object", "properties": {"a": {"type": "string", **bounds}}, "required": ["a"]}
    made = both(schema, words.vocabulary)
    assert made is not None
    one, other = (compiled.matcher() for compiled in made)
    for character in '{"a": "éx"':
        assert np.array_equal(one.allowed_mask(), other.allowed_mask()), one.text
        if not one.accept(character):
            assert not other.accept(character)
            break
        assert other.accept(character)


def test_many_characters_take_no_states() -> None:
    schema = {
        "anyOf": [{"type": "string", "maxLength": 1024}, {"type": "string", "minLength": 2000, "maxLength": 99999}]
    }
    constraint = pdacon.compile(Grammar.from_json_schema(schema), WORDS)
    matcher = constraint.matcher()
    assert matcher.accept('"' + "a" * 1024)
    assert matcher.is_allowed(ord('"'))
    states = constraint.nbytes
    assert matcher.accept("a")
    assert not matcher.is_allowed(ord('"'))
    assert matcher.accept("b" * 90_000)
    assert matcher.is_allowed(ord('"'))
    assert matcher.accept("c" * (99_999 - 91_025))
    assert matcher.allowed_tokens() == [token for token in matcher.allowed_tokens() if WORDS.tokens[token] == b'"']
    assert not matcher.accept("c")
    assert matcher.accept('"')
    assert matcher.is_accepting()
    assert matcher._is_nested()
    assert constraint.nbytes < states + (1 << 20)


def test_a_bound_among_alternatives_is_in_a_fork_and_after_a_rollback() -> None:
    matcher = pdacon.compile(Grammar.from_json_schema({"type": "string", "maxLength": 6}), WORDS).matcher()
    assert matcher.accept_token(WORDS.tokens.index(b'"'))
    assert matcher.accept_token(WORDS.tokens.index(b"xyz"))
    fork = matcher.fork()
    assert fork.accept_token(WORDS.tokens.index(b"xyz"))
    assert not fork.is_allowed(ord("a"))
    assert matcher.is_allowed(WORDS.tokens.index(b"xyz"))
    assert matcher.accept("ab")
    assert not matcher.is_allowed(WORDS.tokens.index(b"xyz"))
    matcher.rollback(1)
    assert matcher.is_allowed(WORDS.tokens.index(b"xyz"))
