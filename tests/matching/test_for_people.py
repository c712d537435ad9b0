"""The calls of a Matcher for people: texts as str, tokens as lists. Each is held against the call for engines."""

from __future__ import annotations

import numpy as np
import pytest
from support.real_vocabularies import coded

import pdacon
from pdacon import Constraint, Vocabulary


@pytest.fixture(scope="module")
def constraint() -> Constraint:
    return pdacon.compile("json_dumps", Vocabulary.bytes())


def test_texts(constraint: Constraint) -> None:
    matcher = constraint.matcher()
    assert matcher.accept('{"é": [1')
    assert matcher.text == '{"é": [1'
    assert not matcher.accept("x")
    assert matcher.text == '{"é": [1'
    assert matcher.completion() == matcher.shortest_completion().decode() == "]}"
    assert matcher.accept(b"]")
    matcher.rollback(1)
    assert matcher.text == '{"é": [1'
    assert matcher.explain("x").render() == matcher.explain(b"x").render()
    assert matcher.explain(", 2]").allowed


def test_a_character_that_is_begun() -> None:
    matcher = pdacon.compile('start: "aé"', Vocabulary.bytes()).matcher()
    matcher.accept(b"a\xc3")
    assert matcher.text == "a"
    assert matcher.completion() == "\\xa9"
    matcher.accept(b"\xa9")
    assert (matcher.text, matcher.completion()) == ("aé", "")


def test_what_is_no_text(constraint: Constraint) -> None:
    matcher = constraint.matcher()
    assert not matcher.accept("\ud800")
    with pytest.raises(TypeError, match="accept takes a str or bytes, not int; a token's id goes to accept_token"):
        matcher.accept(65)  # type: ignore[arg-type]
    assert not matcher.explain("\ud800").allowed
    with pytest.raises(pdacon.MatcherError, match="keeps no text"):
        _ = constraint.matcher(keep_text=False).text


@pytest.mark.parametrize("name", ["bytes", "SentencePiece"])
def test_the_mask_in_three_forms(name: str) -> None:
    vocabulary = Vocabulary.bytes() if name == "bytes" else coded(name).vocabulary
    constraint = pdacon.compile("json", vocabulary)
    matcher = constraint.matcher()
    for piece in ("{", '"a', '": ', "[1", ", true]", "}"):
        assert matcher.accept(piece)
        mask, ids = matcher.allowed_mask(), matcher.allowed_tokens()
        assert mask.shape == (vocabulary.size,)
        assert mask.dtype == bool
        assert ids == [token for token in range(vocabulary.size) if matcher.is_allowed(token)]
        assert np.flatnonzero(mask).tolist() == ids
        bitmask = constraint.new_bitmask(2)
        assert bitmask.shape == (2, -(-vocabulary.size // 32))
        matcher.fill_bitmask(bitmask, 1)
        assert not bitmask[0].any()
        assert [t for t in range(vocabulary.size) if bitmask[1, t // 32] >> (t % 32) & 1] == ids
    with pytest.raises(ValueError, match="batch must not be negative"):
        constraint.new_bitmask(-1)


def test_a_constraint_accepts_sentences(constraint: Constraint) -> None:
    assert constraint.accepts('{"a": [1, 2]}')
    assert not constraint.accepts('{"a": [1,2]}')
    assert not constraint.accepts('{"a": ')
    again = Constraint.from_bytes(constraint.to_bytes())
    assert again.accepts('{"a": [1, 2]}')
    assert again.matcher().completion() == constraint.matcher().completion()


def test_values(constraint: Constraint) -> None:
    value = {"a": [1, 2.5, None, True, "é"]}
    assert constraint.parse('{"a": [1, 2.5, null, true, "é"]}') == value
    again = Constraint.from_bytes(constraint.to_bytes())
    assert (again.builtin_name, again.parse(b"[1]")) == ("json_dumps", [1])
    with pytest.raises(ValueError, match="not a sentence: it is only the beginning of a text"):
        constraint.parse('{"a": ')
    with pytest.raises(ValueError, match='not a sentence: "x" begins nothing'):
        constraint.parse("x")
    lines = pdacon.compile("jsonl", Vocabulary.bytes())
    assert lines.parse('{"a": 1}\n[2]\n') == [{"a": 1}, [2]]
    with pytest.raises(TypeError, match="knows no values"):
        pdacon.compile('start: "x"', Vocabulary.bytes()).parse("x")
    mine = pdacon.Grammar.from_lark('start: "[1]"', source_path="json")
    with pytest.raises(TypeError, match="knows no values"):
        pdacon.compile(mine, Vocabulary.bytes()).parse("[1]")
