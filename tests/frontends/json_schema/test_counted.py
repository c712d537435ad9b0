"""Strings of a language and of so many characters, read in several lexemes: beside what one automaton says."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import pytest
from lark import Lark
from lark.exceptions import LarkError

import pdacon
from pdacon import Constraint, Grammar, UnsupportedGrammarError, Vocabulary
from pdacon.frontends.json_schema import scalars

PIECES = [b"aa", b"ab", b'"', b'a"', b'b"]', b'["a', b"abab", b"\\n", b"\xc3\xa9a", b'", "', b'ba", "ab', b"aaaaaaaa"]


def vocabulary() -> Vocabulary:
    tokens = [
        *(bytes([byte]) for byte in range(256)),
        *dict.fromkeys(piece for piece in PIECES if len(piece) > 1),
        None,
    ]
    return Vocabulary.from_tokens(tokens, eos_ids=[len(tokens) - 1])


def in_chunks(schema: Any, length: int, **options: Any) -> Grammar:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scalars, "_LARGE", 0)
        patch.setattr(scalars, "chunk_length", lambda most, states: length)
        grammar = Grammar.from_json_schema(schema, **options)
        return Grammar(grammar.data)  # the whole, which counts in chunks


def same_masks(one: Constraint, other: Constraint, most: int) -> int:
    """Walk through the texts, shortest first, and compare the masks; how many were."""
    words = one.vocabulary.tokens
    masks = one.new_bitmask(), other.new_bitmask()
    reached = [(b"", one.matcher(), other.matcher())]
    seen = {b""}
    for text, first, second in reached:  # grows
        first.fill_bitmask(masks[0], 0)
        second.fill_bitmask(masks[1], 0)
        bits = [np.unpackbits(mask.view(np.uint8), bitorder="little") for mask in masks]
        different = [words[token] for token in np.flatnonzero(bits[0] != bits[1]).tolist()]
        assert not different, (text, different)
        for token in np.flatnonzero(bits[0]).tolist():
            word = words[token]
            if word is None or text + word in seen or len(reached) >= most:
                continue
            if text[-1:].isalpha() and word.isalpha() and word not in {b"a", b"b", b"x", b"aa", b"ab", b"abab"}:
                continue  # one of many that are alike
            seen.add(text + word)
            ways = first.fork(), second.fork()
            assert all(way.accept_token(token) for way in ways)
            reached.append((text + word, *ways))
    return len(reached)


@pytest.mark.parametrize("length", [1, 2, 3])
@pytest.mark.parametrize(
    ("pattern", "least", "most"),
    [
        ("^(ab)*$", 0, 5), ("^a*b?$", 2, 7), ("^(ab|ba)*x$", 0, 6), ("^(a{3})*$", 1, 8), ("a", 0, 4),
        ("^a*$|^b{3}$", 0, 9), ("^[\\u0000-é]*$", 1, 3), ("^a[ab]b$", 0, 7), ("^(?:aab)?b*$", 4, 6),
        ("^(a|\\n)*é$", 0, 5), ("(?!^a*$)^[ab]*$", 0, 5),
    ],
)  # fmt: skip
def test_masks_are_those_of_one_automaton(pattern: str, least: int, most: int, length: int) -> None:
    string = {"type": "string", "pattern": pattern, "minLength": least, "maxLength": most}
    schema = {"type": "array", "items": {"anyOf": [string, {"type": "null"}]}, "maxItems": 2}
    grammar = in_chunks(schema, length)
    assert any("_END" in terminal.name for terminal in grammar.data.terminals)
    words = vocabulary()
    one, other = (pdacon.compile(g, words) for g in (Grammar.from_json_schema(schema), grammar))
    assert same_masks(one, other, 250) > 10


def test_several_languages_in_one_schema() -> None:
    """What a string has left behind is nothing to the next one, of its own language or of another one."""
    names = {
        "a": {"type": "string", "pattern": "^(ab)*$", "maxLength": 5},
        "b": {"type": "string", "pattern": "^(aab)*$", "maxLength": 7},
        "c": {"type": "string", "pattern": "^(ab)*$", "maxLength": 4},
        "d": {"type": "string", "maxLength": 3},
    }
    schema = {"type": "object", "properties": names, "additionalProperties": False}
    words = vocabulary()
    one, other = (pdacon.compile(g, words) for g in (Grammar.from_json_schema(schema), in_chunks(schema, 2)))
    assert same_masks(one, other, 600) == 600
    for a, b, c in itertools.product(["", "ab", "abab", "ababab", "aab"], repeat=3):
        text = json.dumps({"a": a, "b": b, "c": c})
        assert (
            one.accepts(text)
            == other.accepts(text)
            == (a in ("", "ab", "abab") and b in ("", "aab") and c in ("", "ab", "abab"))
        )


@pytest.mark.parametrize("spelling", [{"escapes": "ascii"}, {"escapes": "any"}, {"whitespace": "any"}])
def test_spellings(spelling: Any) -> None:
    schema = {"type": "array", "items": {"type": "string", "pattern": "^(a|é\\n)*$", "maxLength": 4}, "maxItems": 2}
    written = pdacon.Spelling(**spelling)
    words = vocabulary()
    one, other = (
        pdacon.compile(g, words)
        for g in (Grammar.from_json_schema(schema, spelling=written), in_chunks(schema, 2, spelling=written))
    )
    assert same_masks(one, other, 200) > 50


def test_a_url_of_pydantic() -> None:
    schema = {
        "properties": {
            "site": {
                "anyOf": [{"type": "string", "format": "uri", "minLength": 1, "maxLength": 2083}, {"type": "null"}]
            },
            "mail": {"type": "string", "format": "email", "maxLength": 1024},
        },
        "additionalProperties": False,
    }
    constraint = pdacon.compile(Grammar.from_json_schema(schema), Vocabulary.bytes())

    def accepts(site: str | None, mail: str = "a@b.c") -> bool:
        return constraint.accepts(json.dumps({"site": site, "mail": mail}))

    assert accepts(None)
    for before, behind in (("http://a/", ""), ("http://", "@[1:2:3::4]:80/a%20b"), ("urn:", "?q"), ("a", "://[::1]")):
        for length, right in ((20, True), (46, True), (2082, True), (2083, True), (2084, False), (2500, False)):
            middle = "u" * max(1, length - len(before) - len(behind))
            assert accepts(before + middle + behind) == (right and length >= len(before + behind)) or length < 40
    assert not accepts("x" * 30)
    assert not accepts("http://" + "u" * 2060 + "@[1:2:3::4")
    assert accepts("urn:a", "a" * 1000 + "@example.com")
    assert not accepts("urn:a", "a" * 1013 + "@example.com")
    assert not accepts("urn:a", "a" * 1000 + "@example.co-")


def test_a_large_language_has_small_chunks() -> None:
    words = {"type": "string", "pattern": r"^$|(^(?:\S+\s+){0,99}\S+$)", "minLength": 1, "maxLength": 5000}
    constraint = pdacon.compile(Grammar.from_json_schema(words), Vocabulary.bytes())
    assert constraint.accepts(json.dumps(" ".join(["word"] * 100)))
    assert not constraint.accepts(json.dumps(" ".join(["word"] * 101)))
    assert constraint.accepts(json.dumps("x" * 4000 + " " * 999 + "é", ensure_ascii=False))
    assert not constraint.accepts(json.dumps("x" * 4000 + " " * 1000 + "é", ensure_ascii=False))


def test_what_is_printed_is_one_string() -> None:
    schema = {"type": "array", "items": {"type": "string", "pattern": "^(ab)*$", "minLength": 2, "maxLength": 5}}
    grammar = in_chunks(schema, 2)
    parser = Lark(grammar.to_lark(), **grammar.lark_options)
    constraint = pdacon.compile(grammar, Vocabulary.bytes())
    for text in ("", "a", "ab", "abab", "ababab", "abb"):
        for value in ([text], ["ab", text]):
            try:
                parser.parse(json.dumps(value))
                parses = True
            except LarkError:
                parses = False
            assert parses == constraint.accepts(json.dumps(value)) == (text in ("ab", "abab"))
    with pytest.raises(UnsupportedGrammarError, match="leave out their maxLength"):
        in_chunks(schema, 2, spelling=pdacon.Spelling(escapes="any")).to_lark()


def test_other_questions_to_such_a_grammar() -> None:
    schema = {
        "type": "array",
        "items": {"type": "string", "format": "uri", "maxLength": 300},
        "minItems": 1,
        "maxItems": 2,
    }
    grammar = Grammar.from_json_schema(schema)
    assert not [finding for finding in pdacon.check(grammar).findings if finding.severity == "error"]
    for text in grammar.sample(5, seed=1):
        assert all(len(item) <= 300 and ":" in item for item in json.loads(text))
    shown = str(grammar.explain('["http://a b'))
    assert "[]: a string, at most 300 characters, uri" in shown
    assert not grammar.explain(json.dumps(["http:" + "a" * 296])).allowed
