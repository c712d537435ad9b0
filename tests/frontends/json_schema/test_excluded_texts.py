"""Texts that no string and no name has: beside the definition, on all short texts."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest

import pdacon
from pdacon import Spelling
from pdacon.errors import EmptyLanguageError

ALPHABET = 'ab"\\\nu0'
NEVER_WRITTEN = [("\n",), ('b"',), ("\n", "ab")]  # what stands in no string
EXCLUDED = [("ab",), ("n",), ("\\",), ('\\"',), ("u000",), ("na",), ("b\\n",), ("a", "bb"), ("\\\\\\",), ("0b",)]
SCHEMAS: list[Any] = [
    {"type": "string"},
    {"type": "string", "minLength": 2, "maxLength": 3},
    {"type": "string", "pattern": "^a"},
    {"enum": ["a", "ab", "bb", "n", "\n", "\\", '"', 1]},
    {"type": ["string", "integer"], "maxLength": 2},
]
TEXTS = ["".join(one) for length in range(5) for one in product(ALPHABET, repeat=length)]


@pytest.mark.parametrize("excludes", EXCLUDED + NEVER_WRITTEN, ids=repr)
def test_strings_beside_the_definition(excludes: tuple[str, ...]) -> None:
    spelling = Spelling(excludes=excludes)
    for schema in SCHEMAS:
        plain = pdacon.compile(pdacon.Grammar.from_json_schema(schema), pdacon.Vocabulary.bytes())
        try:
            grammar = pdacon.Grammar.from_json_schema(schema, spelling=spelling)
        except EmptyLanguageError:
            grammar = None
        held = grammar and pdacon.compile(grammar, pdacon.Vocabulary.bytes())
        for text in TEXTS[:: 1 if len(schema) == 1 else 3]:
            written = json.dumps(text, ensure_ascii=False)
            expected = plain.accepts(written) and not any(one in written[1:-1] for one in excludes)
            assert (held is not None and held.accepts(written)) == expected, (schema, written)


def test_names_and_what_lies_within() -> None:
    """Listed names and others; quotes, commas and colons are no part of a string."""
    schema = {
        "type": "object",
        "properties": {"a<b": {"type": "string"}, "c": {"type": "array", "items": {"type": "string"}}},
    }
    grammar = pdacon.Grammar.from_json_schema(schema, spelling=Spelling(excludes=("<", ", ", '"')))
    for text, expected in {
        "{}": True, '{"c": ["x", "y"]}': True, '{"a<b": "x"}': False, '{"c": ["<"]}': False, '{"d": 1}': True,
        '{"d<": 1}': False, '{"d": "x, y"}': False, '{"d": ",", "e": {"<": 1}}': False, '{"d": "\\""}': False,
    }.items():  # fmt: skip
        assert grammar.accepts(text) == expected, text
    with pytest.raises(EmptyLanguageError):
        pdacon.Grammar.from_json_schema({**schema, "required": ["a<b"]}, spelling=Spelling(excludes=("<",)))
    listed = {"enum": [{"a": ["<"]}, {"a": ["x"]}, "<", "y"]}
    grammar = pdacon.Grammar.from_json_schema(listed, spelling=Spelling(excludes=("<",)))
    assert [grammar.accepts(text) for text in ('{"a": ["<"]}', '{"a": ["x"]}', '"<"', '"y"')] == [
        False,
        True,
        False,
        True,
    ]


@pytest.mark.parametrize("wrong", [{"excludes": "a"}, {"excludes": ("",)}, {"excludes": ("a",), "escapes": "any"}])
def test_excludes_that_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="excludes"):
        Spelling(**wrong)
