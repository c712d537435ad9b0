"""Random schemas in random spelling policies: what a policy allows is accepted if ``jsonschema`` takes the value."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from random import Random
from typing import Literal

import jsonschema
import pytest
from support.json_schemas import random_document, random_value, spellings, without_duplicates

import pdacon
from pdacon import EmptyLanguageError, Grammar, Spelling, UnsupportedSchemaError, Vocabulary
from pdacon.front.stages import compiled

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[^"\s\[\]{},:]+|[\[\]{},:]')
SHORT = {'"': '\\"', "\\": "\\\\", "/": "\\/", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def random_spelling(random: Random) -> Spelling:
    return Spelling(
        whitespace=random.choice(["json.dumps", "compact", "any"]),
        order=random.choice(["schema", "any"]),
        escapes=random.choice(["needed", "ascii", "any"]),
        numbers=random.choice(["any", "canonical"]),
        integers=random.choice(["plain", "decimal"]),
        exponents=random.choice(["any", "json.dumps", "none"]),
    )


def hexadecimal(character: str, random: Random) -> str:
    units = character.encode("utf-16-be")
    return "".join(
        "\\u" + "".join(random.choice([digit, digit.upper()]) for digit in f"{units[k] << 8 | units[k + 1]:04x}")
        for k in range(0, len(units), 2)
    )


def respelled(text: str, policy: Spelling, random: Random) -> str:
    """A text of ``json.dumps(..., ensure_ascii=False)`` as a policy allows it."""

    def string(token: str) -> str:
        value = json.loads(token)
        if policy.escapes != "any":
            return json.dumps(value, ensure_ascii=policy.escapes == "ascii")
        written = []
        for character in value:
            options = [hexadecimal(character, random)]
            if character in SHORT:
                options.append(SHORT[character])
            if character >= " " and character not in '"\\':
                options.append(character)
            written.append(random.choice(options))
        return f'"{"".join(written)}"'

    def blanks() -> str:
        return "".join(random.choices(" \t\n\r", k=random.randrange(4))) if policy.whitespace == "any" else ""

    found = []
    for token in TOKEN.findall(text):
        if token[0] == '"':
            found.append(string(token))
        elif token in ",:":
            found.append(blanks() + token + (blanks() if policy.whitespace != "json.dumps" else " "))
        elif token in "[{":
            found.append(token + blanks())
        elif token in "]}":
            found.append(blanks() + token)
        else:
            found.append(token)
    return "".join(found)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 120, 20))
def test_values_in_a_policy(first: int) -> None:
    compared = 0
    for seed in range(first, first + 20):
        random = Random(seed)
        schema, policy = random_document(random), random_spelling(random)
        valid = jsonschema.Draft202012Validator(schema).is_valid
        try:
            grammar = Grammar.from_json_schema(schema, spelling=policy)
        except EmptyLanguageError:
            continue
        except UnsupportedSchemaError:
            continue
        for _ in range(12):
            value = random_value(random, 2)
            texts = [respelled(text, policy, random) for text in itertools.islice(spellings(value), 50)]
            assert any(map(grammar.accepts, texts)) == valid(value), (seed, policy, schema, value, texts[0])
            compared += 1
        for text in grammar.sample(5, seed=seed, size=20):
            unique, value = without_duplicates(text)
            assert valid(value) or not unique, (seed, policy, schema, text)
            if policy.escapes == "ascii":
                assert text.isascii()
    assert compared > 100


TREE = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#"}}},
}


@pytest.mark.parametrize("indent", [0, 2, 4])
@pytest.mark.parametrize("seed", range(4))
def test_lines_are_indented_as_json_dumps_indents_them(seed: int, indent: int) -> None:
    random = Random(seed)
    policy = Spelling(whitespace="indent", indent=indent, max_depth=4, numbers="canonical")
    for schema in (TREE, {"maxProperties": 2}, random_document(random)):
        valid = jsonschema.Draft202012Validator(schema).is_valid
        try:
            grammar = Grammar.from_json_schema(schema, spelling=policy)
        except (EmptyLanguageError, UnsupportedSchemaError):
            continue
        for text in grammar.sample(8, seed=seed, size=40):
            value = json.loads(text)
            unique, _ = without_duplicates(text)
            if unique and "." not in text:
                assert text == json.dumps(value, ensure_ascii=False, indent=indent)
            assert valid(value) or not unique, (seed, schema, text)
        for _ in range(20):
            value = random_value(random, 3)
            texts = (json.dumps(one, ensure_ascii=False, indent=indent) for one in reordered(value))
            assert any(map(grammar.accepts, itertools.islice(texts, 50))) == valid(value), (seed, schema, value)


def reordered(value: object) -> Iterator[object]:
    """A value with integers as such, and with the members of its objects in each order."""
    for text in spellings(value):
        yield json.loads(text)


def test_what_is_nested_too_deeply_is_left_out() -> None:
    grammar = Grammar.from_json_schema(TREE, spelling=Spelling(whitespace="indent", max_depth=3))
    one = {"children": []}
    assert grammar.accepts(json.dumps({"children": [one]}, indent=2))
    assert not grammar.accepts(json.dumps({"children": [{"children": [one]}]}, indent=2))
    with pytest.raises(EmptyLanguageError):
        Grammar.from_json_schema({"const": [[1]]}, spelling=Spelling(whitespace="indent", max_depth=1))


STRING = {"type": "string"}
CHOICE = {"enum": ["a/b", "é", "\U0001f600"]}
OBJECT = {"type": "object", "properties": {"ä": True}, "additionalProperties": {"type": "number"}}


@pytest.mark.parametrize(
    "schema", [STRING, {"minLength": 2, **STRING}, {"pattern": "a|é|\U0001f600", **STRING}, CHOICE]
)
def test_escapes(schema: dict[str, object]) -> None:
    accepts = {
        name: Grammar.from_json_schema(schema, spelling=Spelling(escapes=name)).accepts  # type: ignore[arg-type]
        for name in ("needed", "ascii", "any")
    }
    length = "minLength" in schema
    for text, names in {
        '"é"': {"needed", "any"},
        r'"\u00e9"': {"ascii", "any"},
        r'"\u00E9"': {"any"},
        '"\U0001f600"': {"needed", "any"},
        r'"\ud83d\ude00"': {"ascii", "any"},
        r'"\uD83D\uDE00"': {"any"},
        '"a/b"': {"needed", "ascii", "any"},
        r'"a\/b"': {"any"},
        r'"\u0061/b"': {"any"},
        r'"\ud83d"': set(),
    }.items():
        long_enough = not length or len(json.loads(text)) > 1
        for name, accept in accepts.items():
            assert accept(text) == (name in names and long_enough), (name, text)


def test_names_are_the_same_names_however_they_are_written() -> None:
    accepts = Grammar.from_json_schema(OBJECT, spelling=Spelling(escapes="any")).accepts
    assert accepts(r'{"\u00e4": "x"}')
    assert accepts(r'{"\u00E4": "x", "\u0061": 1}')
    assert not accepts(r'{"\u0061": "x"}')


def test_blanks_stand_around_every_colon() -> None:
    accepts = Grammar.from_json_schema(OBJECT, spelling=Spelling(whitespace="any")).accepts
    for colon in (":", " :", ": ", "\n:\t"):
        assert accepts(f'{{"ä"{colon}1}}')
        assert accepts(f'{{"other"{colon}1}}')


@pytest.mark.parametrize(
    "schema", [{"type": "number"}, {"type": "number", "maximum": 200}, {"enum": [1.5, 0.00001, 20]}]
)
def test_canonical_numbers_have_one_spelling(schema: dict[str, object]) -> None:
    accepts = Grammar.from_json_schema(schema, spelling=Spelling(numbers="canonical")).accepts
    for text in ("1.5", "0.00001", "20"):
        assert accepts(text)
    for text in ("1.50", "15e-1", "1e-05", "20.0", "2e1", "-0", "-0.0", "020"):
        assert not accepts(text), text


@pytest.mark.parametrize("numbers", ["any", "canonical"])
@pytest.mark.parametrize("schema", [True, {"type": "integer"}, {"type": "number"}, {"type": "integer", "minimum": 0}])
def test_digits_are_ascii(schema: object, numbers: Literal["any", "canonical"]) -> None:
    """Python's ``\\d`` is a digit of any script; in JSON there are ten."""
    grammar = Grammar.from_json_schema(schema, spelling=Spelling(numbers=numbers))
    assert grammar.accepts("12")
    matcher = pdacon.compile(grammar, pdacon.Vocabulary.bytes()).matcher()
    matcher.accept(b"1")
    assert max(matcher.allowed_tokens()) <= 256
    assert not [token for token in matcher.allowed_tokens() if 0x80 <= token < 0x100]
    for text in ("1\u0663", "\u0661", "1.\u0663", "1e\u0663"):
        assert not grammar.accepts(text)


NUMBERS = [
    f"{sign}{whole}{fraction}{exponent}"
    for sign in ("", "-")
    for whole in ("0", "1", "2", "3", "10", "12", "00", "150", "10000000000000000")
    for fraction in ("", ".0", ".00", ".5", ".50")
    for exponent in ("", "e0", "E2", "e+16", "e-07", "e-7")
]
DRAFT_4 = "http://json-schema.org/draft-04/schema#"
INTEGERS: list[dict[str, object]] = [
    {"type": "integer"}, {"type": "integer", "minimum": -3, "maximum": 12}, {"type": "integer", "multipleOf": 2},
    {"type": "integer", "exclusiveMinimum": 1}, {"enum": [1, 2, 3.0]}, {"const": 10}, {"enum": [1, 2.5]},
    {"type": "integer", "not": {"const": 2}}, {"type": "integer", "enum": [1, 2.5, 150]},
    {"type": "integer", "$schema": DRAFT_4}, {"type": "integer", "$schema": DRAFT_4, "enum": [1, 2]},
    {"type": "integer", "$schema": DRAFT_4, "minimum": 2}, {"anyOf": [{"type": "integer"}, {"const": 2.5}]},
]  # fmt: skip


@pytest.mark.parametrize("digits", [None, 2])
@pytest.mark.parametrize("schema", INTEGERS, ids=str)
def test_integers_with_a_fraction_of_zeros(schema: dict[str, object], digits: int | None) -> None:
    spelled = re.compile(r"(?:0|-?[1-9][0-9]*)(?:\.0)?")
    valid = jsonschema.validators.validator_for(schema)(schema).is_valid
    grammar = Grammar.from_json_schema(schema, Spelling(integers="decimal", max_digits=digits))
    plain = Grammar.from_json_schema(schema, Spelling(max_digits=digits))
    whole = compiled(grammar.data, Vocabulary.bytes())
    demanded = pdacon.compile(grammar, Vocabulary.bytes())
    taken = 0
    for text in NUMBERS:
        if text.startswith(("00", "-00")) or not spelled.fullmatch(text):
            expected = False
        else:
            listed = "enum" in schema or "const" in schema
            few = listed or digits is None or len(text.lstrip("-").partition(".")[0]) <= digits
            expected = few and valid(json.loads(text))
        expected |= plain.accepts(text)
        assert demanded.accepts(text) == whole.accepts(text) == expected, text
        taken += expected
        assert not plain.accepts(text) or expected
    assert taken


@pytest.mark.parametrize(
    "schema",
    [{"type": "number"}, {"type": "number", "minimum": 0}, {"enum": [1e-7, 1e16, 2.5]}, True, {"const": 100.0}],
)
@pytest.mark.parametrize("exponents", ["json.dumps", "none"])
def test_exponents_by_policy(schema: dict[str, object], exponents: Literal["json.dumps", "none"]) -> None:
    accepts = Grammar.from_json_schema(schema, Spelling(exponents=exponents)).accepts
    free = Grammar.from_json_schema(schema).accepts
    for text in [*NUMBERS, "1e-07", "1e+16", "1e-05", "1e999", "2.5e+17"]:
        if exponents == "none":
            expected = free(text) and "e" not in text.lower()
        else:
            usual = re.fullmatch(r"-?[1-9](\.[0-9]+)?e(\+(1[6-9]|[2-9][0-9])|-(0[5-9]|[1-9][0-9]))", text)
            expected = free(text) and ("e" not in text.lower() or usual is not None)
        assert accepts(text) == expected, text
    shown = '{"enum": [1e2, 2.50]}'
    assert Grammar.from_json_schema(shown, Spelling(exponents=exponents)).accepts("1e2") == (exponents != "none")
    assert Grammar.from_json_schema(shown, Spelling(exponents=exponents)).accepts("100")
