"""Half of a surrogate pair, which a str can have and UTF-8 cannot: no door answers with an error of Python's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypedDict

import pytest

import pdacon
from pdacon import Grammar
from pdacon.base.quoting import quoted
from pdacon.errors import PdaconError
from pdacon.integrations.answer_formats import Kind
from pdacon.integrations.format_compiler import FormatCompiler

HALF = "a\ud800b"
ANYTHING = Grammar.from_regex("(?s).*")
STRING = Grammar.builtin("json")
VOCABULARY = pdacon.Vocabulary.bytes()
ESCAPED: Any = pytest.mark.parametrize("text", [HALF, "\udfff", f'"{HALF}"'])


@ESCAPED
@pytest.mark.parametrize("grammar", [ANYTHING, STRING], ids=["anything", "json"])
def test_no_sentence_has_it(grammar: Grammar, text: str) -> None:
    constraint = pdacon.compile(grammar, VOCABULARY)
    assert not grammar.accepts(text)
    assert not constraint.accepts(text)
    assert not constraint.matcher().accept(text)
    assert not grammar.explain(text).allowed
    with pytest.raises(ValueError, match="this text is not a sentence: ") as caught:
        constraint.parse(text)
    assert type(caught.value) is ValueError


def test_where_it_stands_is_explained() -> None:
    explanation = STRING.explain('["ok", "\ud83d"]')
    assert "\\xed" in str(explanation)
    str(explanation).encode()


def test_bytes_have_no_character_beyond_them() -> None:
    grammar = Grammar.from_lark("start: /[a-z]+/", use_bytes=True)
    with pytest.raises(
        ValueError, match=r"character 1 is U\+D800, and the texts of a grammar with use_bytes are bytes"
    ):
        grammar.explain(HALF)
    with pytest.raises(ValueError, match=r"character 0 is U\+20AC"):
        pdacon.compile(grammar, VOCABULARY).matcher().explain("€")


def formatted(kind: Kind, text: str) -> pdacon.Constraint:
    return FormatCompiler(VOCABULARY, pdacon.Limits()).constraint(kind, text)


SOURCES: dict[str, Callable[[], Any]] = {
    "Lark, literal": lambda: Grammar.from_lark(f'start: "{HALF}"'),
    "Lark, pattern": lambda: Grammar.from_lark(f"start: /[{HALF}]/"),
    "Lark, name": lambda: Grammar.from_lark(f'{HALF}: "a"'),
    "GBNF, literal": lambda: Grammar.from_gbnf(f'root ::= "{HALF}"'),
    "GBNF, class": lambda: Grammar.from_gbnf(f"root ::= [{HALF}]"),
    "GBNF, name": lambda: Grammar.from_gbnf("root ::= \ud800"),
    "EBNF, literal": lambda: Grammar.from_ebnf(f'root ::= "{HALF}"'),
    "EBNF, name": lambda: Grammar.from_ebnf('\ud800 ::= "a"'),
    "llguidance, literal": lambda: Grammar.from_llguidance(f'start: "{HALF}"'),
    "llguidance, pattern": lambda: Grammar.from_llguidance(f"start: /[{HALF}]/"),
    "llguidance, schema": lambda: Grammar.from_llguidance(f'start: %json {{"const": "{HALF}"}}'),
    "schema, value": lambda: Grammar.from_json_schema({"const": HALF}),
    "schema, key": lambda: Grammar.from_json_schema({"type": "object", "required": [HALF]}),
    "schema, name": lambda: Grammar.from_json_schema({"properties": {HALF: {}}}),
    "schema, JSON": lambda: Grammar.from_json_schema('{"const": "\\ud800"}'),
    "type": lambda: Grammar.from_type(Literal[HALF]),  # type: ignore[valid-type]
    "type, key": lambda: Grammar.from_type(TypedDict("Keyed", {HALF: int})),  # type: ignore[misc]
    "tool": lambda: Grammar.from_tools([{"name": HALF, "parameters": {"type": "object"}}]),
    "tool, argument": lambda: Grammar.from_tools([{"name": "f", "parameters": {"properties": {HALF: {}}}}]),
    "tag, text": lambda: Grammar.from_structural_tag({"type": "const_string", "value": HALF}),
    "tag, pattern": lambda: Grammar.from_structural_tag({"type": "regex", "pattern": HALF}),
    "tag, token": lambda: Grammar.from_structural_tag({"type": "token", "token": HALF}),
    "format, choices": lambda: formatted("choice", '["\\ud800"]'),
    "format, GBNF": lambda: formatted("gbnf", f'root ::= "{HALF}"'),
    "format, BNF": lambda: formatted("bnf", "\ud800 ::= a"),
    "format, pattern": lambda: formatted("regex", HALF),
    "format, schema": lambda: formatted("schema", f'{{"const": "{HALF}"}}'),
    "format, tag": lambda: formatted("structural_tag", f'{{"type": "const_string", "value": "{HALF}"}}'),
    "cached schema": lambda: pdacon.CompileCache().compile_schema({"const": HALF}, VOCABULARY),
}


@pytest.mark.parametrize("source", SOURCES)
def test_no_grammar_has_it(source: str) -> None:
    """The error is a typed one, and can itself be written."""
    with pytest.raises(PdaconError) as caught:
        SOURCES[source]()
    str(caught.value).encode()


@pytest.mark.parametrize("dialect", [Grammar.from_gbnf, Grammar.from_ebnf])
def test_the_place_in_a_grammar_is_told(dialect: Callable[[str], Grammar]) -> None:
    with pytest.raises(pdacon.errors.GrammarSyntaxError, match=r":2:9: half of a surrogate pair \(U\+D800\)"):
        dialect(f'root ::= x\nx ::= "{HALF}"')


def test_choices_that_are_none() -> None:
    """A format of choices that no strings are has a typed error, as every format that cannot be had."""
    for text in ('"abc"', "[1]", "[", "{}"):
        with pytest.raises(PdaconError):
            formatted("choice", text)


def test_messages_show_it_escaped() -> None:
    assert quoted(HALF) == r'"a\ud800b"'
    assert quoted("a\udcffb") == r'"a\xffb"'
