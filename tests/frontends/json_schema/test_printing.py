"""What `to_lark` prints of a schema, read by stock Lark: it takes the same texts."""

from __future__ import annotations

import itertools
import json
from random import Random

import pytest
from lark import Lark
from lark.exceptions import LarkError
from support.json_schemas import random_document, random_value, spellings

import pdacon
from pdacon import EmptyLanguageError, Grammar, UnsupportedSchemaError, Vocabulary


def parses(parser: Lark, text: str) -> bool:
    try:
        parser.parse(text)
    except LarkError:
        return False
    return True


@pytest.mark.parametrize("first", range(1000, 1060, 12))
def test_stock_lark_takes_the_same_texts(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lark.lexer.has_interegular", False)  # it takes minutes for large sets of characters
    compared = 0
    for seed in range(first, first + 12):
        random = Random(seed)
        try:
            grammar = Grammar.from_json_schema(random_document(random, 2))
        except (EmptyLanguageError, UnsupportedSchemaError):
            continue
        constraint = pdacon.compile(grammar, Vocabulary.bytes())
        parser = Lark(grammar.to_lark(), **grammar.lark_options)
        again = Grammar.from_lark(grammar.to_lark())
        some = [text for _ in range(12) for text in itertools.islice(spellings(random_value(random, 2)), 6)]
        for text in [*some, *grammar.sample(8, seed=seed, size=30)]:
            accepted = constraint.accepts(text)
            assert parses(parser, text) == accepted, (seed, text)
            assert again.accepts(text) == accepted, (seed, text)
            compared += 1
    assert compared > 100


def test_what_a_person_sees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lark.lexer.has_interegular", False)
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string", "maxLength": 20}, "age": {"type": "integer", "minimum": 0}},
        "required": ["name"],
        "additionalProperties": False,
    }
    text = Grammar.from_json_schema(schema).to_lark()
    assert text.startswith("start: object\n")
    assert 'NAME_AGE: "\\"age\\": "' in text
    assert "INTEGER: /" in text
    parser = Lark(text, parser="lalr")
    assert parses(parser, json.dumps({"name": "Ann", "age": 34}))
    assert not parses(parser, json.dumps({"name": "Ann", "age": -1}))
