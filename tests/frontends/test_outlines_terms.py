"""Terms of Outlines beside the regular expressions that Outlines makes of them."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

import pdacon
from pdacon import Grammar, UnsupportedTypeError, Vocabulary
from tests.support.gbnf import mutated

types = pytest.importorskip("outlines.types", reason="outlines is not installed")
dsl = pytest.importorskip("outlines.types.dsl")

NAMES = ("integer", "number", "date", "datetime", "ipv4", "email", "isbn", "sentence", "uuid4", "slug", "char")
MADE: dict[str, Any] = {
    "sequence": "No. " + types.at_least(2, types.digit) + types.optional("!"),
    "alternatives": types.either("a", types.exactly(2, "bc"), types.between(1, 3, types.regex("[de]"))),
    "repetitions": types.zero_or_more(types.one_or_more("ab") + ";") + types.at_most(2, "c"),
    "choice": types.Choice(["yes", "no", 3]) | "maybe.",
}


@pytest.mark.parametrize("name", [*NAMES, *MADE])
def test_a_regular_term_has_the_texts_of_its_pattern(name: str) -> None:
    term = MADE[name] if name in MADE else getattr(types, name)
    pattern, grammar, rng = dsl.to_regex(term), Grammar.from_type(term), random.Random(name)
    sentences = grammar.sample(5, seed=1)
    texts = [*sentences, *(mutated(text, "ab1-. ", rng) for text in sentences), "", "3", "abc"]
    assert [grammar.accepts(text) for text in texts] == [re.fullmatch(pattern, text) is not None for text in texts]
    assert all(map(grammar.accepts, sentences))


def test_schemas_and_context_free_parts() -> None:
    schema = types.JsonSchema({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]})
    assert Grammar.from_type(schema).accepts('{"a": 3}')
    calls = types.CFG('start: "(" start? ")"')
    assert pdacon.compile(calls, Vocabulary.bytes()).accepts("(())")
    assert Grammar.from_type(types.CFG("%llguidance {}\nstart: /a/{2}")).accepts("aa")
    both = "call: " + types.either(schema, types.exactly(2, calls + ";")) + types.at_least(1, types.regex("[!?]"))
    grammar = Grammar.from_type(both)
    assert [grammar.accepts(f"call: {text}") for text in ('{"a": 3}!', "();(());?!", "();!", '{"a": 3}')] == [
        True,
        True,
        False,
        False,
    ]


def test_what_cannot_be_had() -> None:
    for options in ({"form": "python"}, {"spelling": pdacon.Spelling()}, {"lax": True}):
        with pytest.raises(ValueError, match="output type of Outlines has no form, spelling or lax"):
            Grammar.from_type(types.email, **options)
    with pytest.raises(UnsupportedTypeError, match="whitespace"):
        Grammar.from_type(types.JsonSchema({"type": "integer"}, whitespace_pattern=" *"))
