"""Schemas that are read on demand, and refused as a whole: what a grammar and a matcher of them still answer."""

from __future__ import annotations

import pytest

import pdacon
from pdacon import Grammar, Spelling, UnsupportedSchemaError, Vocabulary

NAMES = [f"n{k}" for k in range(30)]
WIDE = {
    "type": "object",
    "properties": {name: {"type": "integer"} for name in NAMES},
    "required": NAMES[:3],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def grammar() -> Grammar:
    return Grammar.from_json_schema(WIDE, Spelling(order="any"))


def test_it_is_refused_as_a_whole(grammar: Grammar) -> None:
    for ask in (grammar.to_lark, grammar.sample):
        with pytest.raises(UnsupportedSchemaError, match="since members come in any order"):
            ask()


def test_texts_are_accepted(grammar: Grammar) -> None:
    assert grammar.accepts('{"n2": 1, "n0": 2, "n29": 3, "n1": 0}')
    assert not grammar.accepts('{"n2": 1, "n0": 2}')
    assert not grammar.accepts('{"n2": 1, "n0": 2, "n1": 0, "n2": 1}')


@pytest.mark.parametrize(
    ("text", "reason", "column"),
    [
        ('{"n3": 1, "n4": "x"', '\'"\' cannot come here; expected "-", "0"', 17),
        ('{"n3": 1, "n3": 2', '"n3" has come before', 13),
        ('{"n3": 1}', '"n0", "n1" and "n2" are missing', 9),
        ('{"n3": 1, "zz": 2', '# has no member "zz"', 12),
        ("[", '"[" cannot come here; expected \'{"n\'', 1),
        ('{"n3"', "", 6),
        ("", "", 1),
    ],
)
def test_texts_are_explained(grammar: Grammar, text: str, reason: str, column: int) -> None:
    explanation = grammar.explain(text)
    assert explanation.reason.startswith(reason or "some sentence goes on with it")
    assert (explanation.allowed, explanation.column) == (not reason, column)
    assert '#: type "object", required ["n0", "n1", "n2"], additionalProperties false' in explanation.render()
    assert explanation.render(full=True)


def test_tokens_are_explained(grammar: Grammar) -> None:
    constraint = pdacon.compile(
        grammar, Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], eos_ids=[256])
    )
    matcher = constraint.matcher()
    assert matcher.accept_bytes(b'{"n3": 1')
    for token in range(256):
        explanation = matcher.explain(token)
        assert explanation.allowed == matcher.is_allowed(token)
        assert explanation.before == b'{"n3": 1'
    assert not matcher.explain(256).allowed
