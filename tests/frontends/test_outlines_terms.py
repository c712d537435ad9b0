"""Terms of Outlines beside the regular expressions that Outlines makes of them."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

import pdacon
from pdacon import Grammar, UnsupportedTypeError, Vocabulary
from pdacon.errors import GrammarWarning
from tests.support.gbnf import mutated

types = pytest.importorskip("outlines.types", reason="outlines is not installed")
dsl = pytest.importorskip("outlines.types.dsl")

NAMES = ("integer", "number", "date", "datetime", "ipv4", "email", "isbn", "sentence", "uuid4", "slug", "char")
NESTED = types.CFG('start: "(" start? ")"')
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
    calls = NESTED
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


def test_a_choice_has_its_words_beside_its_grammars() -> None:
    grammar = Grammar.from_type(types.Choice([NESTED, "yes", 3]))
    assert [grammar.accepts(text) for text in ("(())", "yes", "3", "no", "")] == [True, True, True, False, False]


def test_what_comes_no_times_is_left_out() -> None:
    grammar = Grammar.from_type(types.exactly(0, NESTED) + "a")
    assert [grammar.accepts(text) for text in ("a", "()a", "")] == [True, False, False]
    assert Grammar.from_type(types.at_most(0, NESTED)).accepts("")


def test_an_alternative_that_has_no_text_is_left_out() -> None:
    term = types.either(types.JsonSchema({"not": {}}), NESTED)
    with pytest.warns(GrammarWarning, match="so no text has what needs part_1"):
        grammar = Grammar.from_type(term)
    assert [grammar.accepts(text) for text in ("()", "", "1")] == [True, False, False]


def test_parts_have_names_and_repetitions_are_of_what_they_repeat() -> None:
    grammar = Grammar.from_type(types.at_least(1, NESTED + ";") + types.optional("-"))
    assert grammar.to_lark().startswith("start: part_1 part_2 _z_start_star_0 part_3\n")
    assert grammar.explain("()x").reason.endswith("expected PART_2.TEXT")
    constraint = pdacon.compile(grammar, Vocabulary.bytes())
    assert [text for text in constraint.parse("();(());-").children if isinstance(text, str)] == [";", ";", "-"]


def test_what_cannot_be_had() -> None:
    for options in ({"form": "python"}, {"spelling": pdacon.Spelling()}, {"lax": True}):
        with pytest.raises(ValueError, match="output type of Outlines has no form, spelling, lax or strict"):
            Grammar.from_type(types.email, **options)
    with pytest.raises(UnsupportedTypeError, match="whitespace"):
        Grammar.from_type(types.JsonSchema({"type": "integer"}, whitespace_pattern=" *"))
