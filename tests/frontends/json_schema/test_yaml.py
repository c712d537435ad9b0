"""YAML under a schema, against two readers: PyYAML reads YAML 1.1, ruamel.yaml reads YAML 1.2."""

from __future__ import annotations

import random
from typing import Any

import jsonschema
import pytest
import yaml
from support.yaml_texts import has_a_name_twice, same, values_read

import pdacon
from pdacon import Grammar, Spelling

YAML = Spelling(language="yaml")
PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer", "minimum": 0},
        "friends": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "score": {"type": "number"}},
                "required": ["name"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["name"],
    "additionalProperties": False,
}


def accepted(grammar: Grammar, *texts: str) -> list[bool]:
    return [grammar.accepts(text) for text in texts]


def test_a_person_with_friends() -> None:
    """Sequences of mappings, with their dashes under the name or further in."""
    grammar = Grammar.from_json_schema(PERSON, YAML)
    assert (
        accepted(
            grammar,
            "name: Ann\n",
            "name: Ann\nage: 3\nfriends:\n- name: Bo\n  score: 1.5\n- name: Cy\n",
            "name: Ann\nfriends:\n  - name: Bo\n    score: 1.5\n  - name: Cy\n",
            "name: Ann\nfriends: []\n",
        )
        == [True] * 4
    )
    assert (
        accepted(
            grammar,
            "name: Ann",
            "name: 3\n",
            "age: 3\n",
            "name: Ann\nage: -3\n",
            "name: Ann\nfriends:\n   - name: Bo\n",
            "name: Ann\nfriends:\n- name: Bo\n  - name: Cy\n",
            "name: Ann\nfriends:\n- name: Bo\n score: 1\n",
            "name: Ann\nfriends: [{name: Bo}]\n",
            "{name: Ann}\n",
        )
        == [False] * 9
    )


def test_an_array_keeps_to_its_column() -> None:
    grammar = Grammar.from_json_schema({"properties": {"a": {"type": "array"}}}, YAML)
    assert accepted(grammar, "a:\n- 1\n- 2\n", "a:\n  - 1\n  - 2\n") == [True, True]
    assert accepted(grammar, "a:\n- 1\n  - 2\n", "a:\n  - 1\n- 2\n") == [False, False]


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        ("a b", ["a b\n", "'a b'\n", '"a b"\n', "|-\n  a b\n"]),
        ("12", ["'12'\n", '"12"\n', "|-\n  12\n"]),
        ("it's: so", ["'it''s: so'\n", '"it\'s: so"\n']),
        ("a\nb\n", ['"a\\nb\\n"\n', "|\n  a\n  b\n"]),
        ("a\n\nb", ['"a\\n\\nb"\n', "|-\n  a\n\n  b\n"]),
        ("\x85é\t", ['"\\Né\\t"\n', '"\\x85é\\u0009"\n']),
        ("", ["''\n", '""\n']),
        (1e22, ["1.0e+22\n"]),
        (None, ["null\n"]),
        ([], ["[]\n"]),
        ([[], {}], ["- []\n- {}\n"]),
        ([[1, 2], {"a": [1]}], ["- - 1\n  - 2\n- a:\n  - 1\n", "- - 1\n  - 2\n- a:\n    - 1\n"]),
        ({"1": 1, "": 2}, ["'1': 1\n\"\": 2\n"]),
    ],
)
def test_how_values_are_written(value: Any, texts: list[str]) -> None:
    grammar = Grammar.from_json_schema({"const": value}, YAML)
    assert accepted(grammar, *texts) == [True] * len(texts)
    for text in texts:
        assert all(same(read, value) for read in values_read(text)), text


@pytest.mark.parametrize(
    "text",
    ["12", "1_000", "0x1F", "0o17", "017", "1e3", "1.", ".5", "1:30", ".inf", ".NaN", "-.5", "1__2", "yes", "No",
     "true", "~", "null", "<<", "=", "2026-01-31", "2026-1-3 10:11:12", "2026-01-31T10:11:12.5Z", "a: b", "a #b",
     "a:", "- a", "-", "? a", "&a", "*a", "!a", "[a", "{a", "#a", "|", ">", "%a", "@a", "`a", ",a", "---", "... a",
     " a", "a ", "", "a\tb", "a\x85b", "a\u2028b", "\ufeffa"],
)  # fmt: skip
def test_what_is_no_plain_string(text: str) -> None:
    """What looks like something else to a reader of YAML 1.1 or 1.2, or has a meaning, is quoted."""
    plain = f"{text}\n"
    assert not Grammar.from_json_schema({"type": "string"}, YAML).accepts(plain)
    quoted = yaml.safe_dump(text, default_style='"', allow_unicode=True, width=1000)
    assert Grammar.from_json_schema({"const": text}, YAML).accepts(quoted)


@pytest.mark.parametrize("schema", [True, {"type": "string"}, {"type": "number"}, {"type": "object"}, PERSON])
def test_samples_are_read_as_values_of_the_schema(schema: Any) -> None:
    for text in Grammar.from_json_schema(schema, YAML).sample(60, seed=3):
        one, other = values_read(text)
        assert same(one, other), text
        jsonschema.validate(one, schema)


def test_without_a_schema() -> None:
    grammar = Grammar.yaml(max_depth=2)
    assert accepted(grammar, "a: 1\nb:\n  c: []\n", "- a\n- - b\n", "- a: {}\n") == [True] * 3
    assert accepted(grammar, "a:\n  b:\n    c: 1\n", "a:\n  b:\n    c: {}\n", "") == [False] * 3


def test_what_yaml_writes_itself_is_no_option() -> None:
    with pytest.raises(
        ValueError, match=r'^whitespace says how JSON is written; leave it out where the language is "yaml"$'
    ):
        Spelling(language="yaml", whitespace="compact")


@pytest.mark.parametrize(
    "make",
    [
        lambda: Grammar.from_type(dict[str, int], spelling=YAML),
        lambda: Grammar.from_tools([{"name": "f", "parameters": {}}], spelling=YAML),
        lambda: Grammar.from_structural_tag({"type": "json_schema", "json_schema": {}}, spelling=YAML),
    ],
)
def test_doors_that_write_json(make: Any) -> None:
    with pytest.raises(
        pdacon.UnsupportedSchemaError, match=r'writes JSON; the language "yaml" goes with a JSON Schema'
    ):
        make()


def test_masks_lead_to_values() -> None:
    """Random walks along masks end, and end in what readers take."""
    constraint = pdacon.compile(Grammar.from_json_schema(PERSON, YAML), pdacon.Vocabulary.bytes())
    rng = random.Random(5)
    for _ in range(20):
        matcher = constraint.matcher()
        text = b""
        for _ in range(40):
            allowed = [token for token in matcher.allowed_tokens() if token < 256]
            if not allowed:
                break
            token = rng.choice(allowed)
            assert matcher.accept_token(token)
            text += bytes([token])
        text += matcher.shortest_completion()
        one, other = values_read(text.decode())
        assert same(one, other)
        jsonschema.validate(one, PERSON)


@pytest.mark.parametrize(
    ("said", "value", "texts", "refused"),
    [
        ({"integers": "decimal"}, {"type": "integer"}, ["1\n", "1.0\n"], ["1.5\n", "1.0e+1\n"]),
        ({"exponents": "none"}, {"type": "number"}, ["1.5\n"], ["1.5e+3\n"]),
        ({"exponents": "json.dumps"}, {"type": "number"}, ["1.0e+16\n", "1.5e-07\n"], ["1.0e+3\n", "1e+16\n"]),
        ({"numbers": "canonical"}, {"type": "number"}, ["1.5\n"], ["1.50\n", "1.5e+3\n"]),
        ({"max_digits": 2}, {"type": "number"}, ["12.5\n"], ["123.5\n"]),
        ({"order": "any"}, {"properties": {"a": {}, "b": {}}, "type": "object"}, ["b: 1\na: 2\n"], ["a: 1\na: 2\n"]),
    ],
)
def test_what_else_a_spelling_says(said: Any, value: Any, texts: list[str], refused: list[str]) -> None:
    grammar = Grammar.from_json_schema(value, Spelling(language="yaml", **said))
    assert accepted(grammar, *texts, *refused) == [True] * len(texts) + [False] * len(refused)


def test_long_strings_are_counted_as_in_json() -> None:
    """In chunks, plain and in double quotes; also beside a pattern."""
    for more in ({}, {"pattern": "^(ab: ?|[a-z]+)*$"}):
        schema = {"type": "string", "maxLength": 300, **more}
        grammar = Grammar.from_json_schema(schema, YAML)
        for length in (1, 299, 300, 301):
            fits = length <= 300
            assert accepted(grammar, f"{'k' * length}\n", f'"{"k" * length}"\n') == [fits, fits]
        assert accepted(grammar, '"ab: ab"\n', "ab: ab\n") == [True, False]
        for text in grammar.sample(20, seed=1):
            one, other = values_read(text)
            assert same(one, other)
            jsonschema.validate(one, schema)


def test_values_of_texts() -> None:
    """`Constraint.parse` reads what PyYAML reads."""
    grammar = Grammar.yaml()
    constraint = pdacon.compile(grammar, pdacon.Vocabulary.bytes())
    for text in grammar.sample(80, seed=4):
        if not has_a_name_twice(text):
            assert repr(constraint.parse(text)) == repr(yaml.safe_load(text))


def test_no_numbers_at_all() -> None:
    """Bounds that no number satisfies leave the other types."""
    schema = {"type": ["number", "string"], "minimum": 3, "maximum": 2}
    assert accepted(Grammar.from_json_schema(schema, YAML), "a\n", "2\n", "") == [True, False, False]
