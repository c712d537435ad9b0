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
from pdacon import EmptyLanguageError, Grammar, LimitExceededError, UnsupportedSchemaError, Vocabulary
from pdacon.frontends.json_schema.string_formats import CARD_NUMBER, PATTERNS


def parses(parser: Lark, text: str) -> bool:
    try:
        parser.parse(text)
    except LarkError:
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 1060, 12))
def test_stock_lark_takes_the_same_texts(first: int) -> None:
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


def test_what_a_person_sees() -> None:
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string", "maxLength": 20}, "age": {"type": "integer", "minimum": 0}},
        "required": ["name"],
        "additionalProperties": False,
    }
    text = Grammar.from_json_schema(schema).to_lark()
    assert text.startswith("start: object\n")
    assert 'NAME_AGE: "\\"age\\": "' in text
    assert "INTEGER_MIN_0: /" in text
    parser = Lark(text, parser="lalr")
    assert parses(parser, json.dumps({"name": "Ann", "age": 34}))
    assert not parses(parser, json.dumps({"name": "Ann", "age": -1}))


@pytest.mark.parametrize(
    "schema",
    [
        {"pattern": "^[a-z]+$"}, {"pattern": 'a|b"'}, {"pattern": r"^(?=.*\d)(?=.*[a-z]).{3,8}$"},
        {"pattern": "^((?!ab).)*$"}, {"pattern": "^a|b$|^$"}, {"pattern": r'^["\\\n]{2}'}, {"pattern": r"\bab\b"},
        {"pattern": "a", "maxLength": 3, "not": {"pattern": "^b"}}, {"minLength": 2, "not": {"enum": ["ab", 'a"']}},
        {"anyOf": [{"pattern": "^a"}, {"maxLength": 1}], "not": {"pattern": "b$"}}, {"pattern": "[^a]"},
        {"enum": ["a", '"', "ab\\"]},
    ],
)  # fmt: skip
def test_strings_are_printed_as_they_are_asked_for(schema: dict[str, object]) -> None:
    grammar = Grammar.from_json_schema({"type": "string", **schema})
    constraint = pdacon.compile(grammar, Vocabulary.bytes())
    parser = Lark(grammar.to_lark(), **grammar.lark_options)
    random = Random(repr(schema))
    taken = 0
    for _ in range(400):
        text = json.dumps("".join(random.choices('aab1"\\\né', k=random.randrange(6))), ensure_ascii=False)
        accepted = constraint.accepts(text)
        assert parses(parser, text) == accepted, text
        taken += accepted
    assert 0 < taken < 400


@pytest.mark.parametrize("name", sorted(PATTERNS.keys() - {CARD_NUMBER}))
def test_formats_are_printed(name: str) -> None:
    grammar = Grammar.from_json_schema({"type": "string", "format": name})
    constraint = pdacon.compile(grammar, Vocabulary.bytes())
    parser = Lark(grammar.to_lark(), **grammar.lark_options)
    assert len(grammar.to_lark()) < (20_000 if name == "regex" else 5000)  # its groups are three deep
    random = Random(name)
    for text in grammar.sample(20, seed=1, size=30):
        assert parses(parser, text)
        at = random.randrange(1, len(text))
        changed = text[:at] + random.choice("a0.:/@-é\\ ") + text[at + 1 :]
        assert parses(parser, changed) == constraint.accepts(changed), changed


@pytest.mark.slow
def test_what_would_be_too_long_is_an_error() -> None:
    grammar = Grammar.from_json_schema({"type": "integer", "multipleOf": 397})
    with pytest.raises(LimitExceededError, match="characters of a pattern"):
        grammar.to_lark()


@pytest.mark.parametrize(
    ("schema", "name"),
    [
        ({"type": "integer", "minimum": 0, "exclusiveMaximum": 121}, "INTEGER_0_TO_120"),
        ({"type": "integer", "exclusiveMinimum": -4}, "INTEGER_MIN_MINUS_3"),
        ({"type": "number", "maximum": 7}, "NUMBER_MAX_7"),
        ({"type": "number", "exclusiveMaximum": 7}, "NUMBER"),
        ({"type": "string", "format": "date-time"}, "STRING_DATE_TIME"),
        ({"type": "string", "pattern": "^a", "minLength": 2, "allOf": [{"minLength": 4}]}, "STRING_PATTERN_MIN_4"),
        ({"type": "string", "minLength": 3, "maxLength": 3}, "STRING_3"),
    ],
)
def test_terminals_say_what_they_match(schema: dict[str, object], name: str) -> None:
    assert [terminal.name for terminal in Grammar.from_json_schema(schema).data.terminals] == [name]
