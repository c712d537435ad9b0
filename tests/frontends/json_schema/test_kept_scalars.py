"""What schemas ask of scalars, kept for the process by what they ask, and alternatives that the core tells apart."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import jsonschema
import pytest
from support.on_demand import WORDS, both, compare, forms

import pdacon
from pdacon import Grammar, Spelling
from pdacon._native import _core
from pdacon.frontends.json_schema import exploring
from pdacon.frontends.json_schema.exploring import Explorer

pytestmark = pytest.mark.filterwarnings("ignore::pdacon.GrammarWarning")

DRAFT4 = "http://json-schema.org/draft-04/schema#"
BOUNDS: list[Any] = [
    0, 1, -1, 9, 10, 99, 100, 105, -10, -99, 1.5, -1.5, 0.0, 1e3, 2**31, 2**52, -(2**52), 2**53 + 1, 2**63, -(2**64),
    10**30, 1e22, -1e-300,
]  # fmt: skip


def random_bounds(random: Random) -> dict[str, Any]:
    draft4 = random.random() < 0.25
    schema: dict[str, Any] = {"$schema": DRAFT4} if draft4 else {}
    schema["type"] = random.choice(["integer", "integer", ["integer", "null"]])
    for keyword, strict in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if random.random() < 0.7:
            schema[keyword] = random.choice(BOUNDS)
            if draft4 and random.random() < 0.5:
                schema[strict] = random.random() < 0.7
        if not draft4 and random.random() < 0.4:
            schema[strict] = random.choice(BOUNDS)
    return schema


def test_bounds_of_integers_mean_what_jsonschema_says() -> None:
    random = Random(5)
    count = 0
    for _ in range(120):
        schema = random_bounds(random)
        validator = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)(schema)
        around = {
            int(bound) + k for bound in schema.values() if type(bound) in (int, float) for k in (-10, -1, 0, 1, 9)
        }
        numbers = sorted(around | {0, 7, -7, 10**20, -(10**20), *(random.randint(-2000, 2000) for _ in range(20))})
        valid = [number for number in numbers if validator.is_valid(number)]
        if not valid:
            continue
        constraint = pdacon.compile(Grammar.from_json_schema(schema), WORDS)
        assert [number for number in numbers if constraint.accepts(str(number))] == valid, schema
        count += len(valid)
        for text in ("", "-", "-0", "00", "+1", "01", "1.0", "1e1", " 1"):
            assert not constraint.accepts(text), (schema, text)
    assert count > 1000


def test_bounds_without_an_integer_between_them_are_refused() -> None:
    with pytest.raises(pdacon.errors.PdaconError):
        pdacon.compile(Grammar.from_json_schema({"type": "integer", "minimum": 1.2, "maximum": 1.8}), WORDS)


@pytest.mark.parametrize("escapes", ["needed", "ascii"])
def test_lengths_of_strings_mean_what_jsonschema_says(escapes: Any) -> None:
    random = Random(6)
    texts = ["", "a", "é", "ab", "aé", "\U0001f600", 'q"', "abc", "\0\0\0", "abcdefghij"]
    for _ in range(60):
        schema: dict[str, Any] = {"type": random.choice(["string", ["string", "null", "integer"]])}
        schema |= {"minLength": random.choice([0, 1, 2, 3, 9])} if random.random() < 0.6 else {}
        schema |= {"maxLength": random.choice([0, 1, 2, 3, 10, 10**6, 10**7])} if random.random() < 0.7 else {}
        schema |= {"minimum": random.choice([3, 3.5])} if random.random() < 0.3 else {}
        valid = list(map(jsonschema.Draft202012Validator(schema).is_valid, texts))
        if not any(valid):
            continue
        constraint = pdacon.compile(Grammar.from_json_schema(schema, spelling=Spelling(escapes=escapes)), WORDS)
        written = [json.dumps(text, ensure_ascii=escapes == "ascii") for text in texts]
        assert list(map(constraint.accepts, written)) == valid, schema


def random_scalar(random: Random) -> Any:
    """A schema of scalars, with keywords that may say nothing."""
    schema: dict[str, Any] = {}
    if random.random() < 0.8:
        kinds = ["string", "integer", "number", "boolean", "null"]
        some = random.sample(kinds, random.choice([1, 1, 1, 2, 3]))
        schema["type"] = some[0] if len(some) == 1 else some
    for keyword, values in (
        ("minLength", [0, 1, 2]), ("maxLength", [3, 5, 40]), ("pattern", ["^[ab]+$", "c", "é", "^x?y\\d$", "^a|b$"]),
        ("format", ["date", "uuid", "unknown", "ipv4"]), ("minimum", [0, -3, 1.5, 1e20, 2**70]),
        ("maximum", [7, 12.25, 3e25, 2**71]), ("exclusiveMinimum", [0, -1]), ("multipleOf", [1, 2, 0.5, 10]),
        ("enum", [["a", "ab"], [1, 2, None], ["é", "a\"b", "\0"], [1.5, 1, "x", True], [12345678901234567890]]),
        ("const", ["a", 3, 1.0, None]), ("minItems", [3]), ("description", ["scalar"]),
    ):  # fmt: skip
        if random.random() < 0.16:
            schema[keyword] = random.choice(values)
    return schema


def random_schema(random: Random, depth: int = 2) -> Any:
    """A schema whose alternatives mostly are told apart by their types, with references and objects around them."""
    roll = random.random()
    if depth == 0 or roll < 0.35:
        return random_scalar(random)
    below = [random_schema(random, depth - 1) for _ in range(random.choice([1, 2, 2, 3]))]
    if roll < 0.6:
        return {random.choice(["anyOf", "oneOf"]): below}
    if roll < 0.65:
        return {"allOf": below[:1], "title": "one"}
    if roll < 0.7:
        return {"$ref": "#/$defs/shared"}
    if roll < 0.8:
        return {"type": ["array", "string"], "items": below[0], "maxItems": 3, "minLength": 1, "uniqueItems": False}
    names = ["a", "é", "ab", "b", 'q"', "\0"]
    properties = {random.choice(names): schema for schema in below}
    schema: dict[str, Any] = {"type": ["object", "null"], "properties": properties, "required": []}
    schema["required"] = [name for name in properties if random.random() < 0.3]
    schema["additionalProperties"] = random.choice([False, random_scalar(random)])
    return schema


@pytest.mark.parametrize("seed", range(60))
def test_both_forms_are_the_same(seed: int) -> None:
    random = Random(seed)
    spelling = random.choice([
        Spelling(), Spelling(), Spelling(escapes="ascii"), Spelling(integers="decimal"), Spelling(max_digits=4),
        Spelling(numbers="canonical", exponents="none"),
    ])  # fmt: skip
    schema = random_schema(random)
    if random.random() < 0.2:
        schema = {"$schema": DRAFT4, **schema}
    rooted = {"$defs": {"shared": random_schema(random, 1)}, "type": "object", "properties": {"a": schema}}
    for given in (schema | {"$defs": rooted["$defs"]}, rooted):
        try:
            made = both(given, WORDS, spelling)
        except pdacon.errors.PdaconError:
            continue  # refused, with or without the core's reading
        if made is not None:
            for _ in range(3):
                compare(*made, random, 25)


def test_what_another_schema_has_asked_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    scalars = {
        "a": {"type": "string", "pattern": "^never asked before \\d$"},
        "b": {"type": "number", "minimum": 0.125, "description": "other"},
        "c": {"enum": [1, 2.5, "é"]},
        "d": {"anyOf": [{"type": "string", "minLength": 3}, {"type": "null"}]},
        "e": {"type": "string", "format": "date"},
    }

    def read() -> list[bool]:
        constraint = pdacon.compile(Grammar.from_json_schema({"type": "object", "properties": scalars}), WORDS)
        texts = ('{"a": "never asked before 3", "b": 0.5, "c": 2.5, "d": null, "e": "2020-02-29"}', '{"b": 0.1}',
                 '{"c": "e"}', '{"d": "ab"}', '{"e": "2020-02-30"}')  # fmt: skip
        return [constraint.accepts(text) for text in texts]

    expected = [True, False, False, False, False]
    assert read() == expected
    asked: list[str] = []
    for name in ("family", "terminal", "terminals_of", "signs", "free_names"):
        monkeypatch.setattr(Explorer, name, lambda *_, name=name: asked.append(name))
    assert read() == expected
    assert asked == []


def test_what_is_kept_depends_on_all_that_texts_depend_on() -> None:
    date = {"type": "string", "format": "date"}
    assert pdacon.compile(Grammar.from_json_schema(date, formats=False), WORDS).accepts('"x"')
    assert not pdacon.compile(Grammar.from_json_schema(date), WORDS).accepts('"x"')
    word = {"type": "string", "maxLength": 1}
    assert pdacon.compile(Grammar.from_json_schema(word), WORDS).accepts('"é"')
    ascii_only = pdacon.compile(Grammar.from_json_schema(word, spelling=Spelling(escapes="ascii")), WORDS)
    assert not ascii_only.accepts('"é"')
    assert ascii_only.accepts('"\\u00e9"')
    strict = {"type": "integer", "minimum": 3, "exclusiveMinimum": True}
    assert not pdacon.compile(Grammar.from_json_schema({"$schema": DRAFT4, **strict}), WORDS).accepts("3")
    assert pdacon.compile(Grammar.from_json_schema({"type": "integer", "minimum": 3}), WORDS).accepts("3")
    decimal = pdacon.compile(
        Grammar.from_json_schema({"type": "integer", "minimum": 3}, spelling=Spelling(integers="decimal")), WORDS
    )
    assert decimal.accepts("3.0")
    assert not decimal.accepts("2.0")
    wrong = {"type": "string", "pattern": "(a)\\1"}
    assert pdacon.compile(Grammar.from_json_schema(wrong, lax=True), WORDS).accepts('"anything"')
    with pytest.raises(pdacon.errors.UnsupportedSchemaError):
        Grammar.from_json_schema(wrong)


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = _core.KeptScalars(60_000)
    monkeypatch.setattr(exploring, "_KEPT", kept)
    for number in range(150):
        grammar = Grammar.from_json_schema({"type": "string", "pattern": f"^bounded {number}$|^[a-f]{{1,3}}$"})
        constraint = pdacon.compile(grammar, WORDS)
        assert constraint.accepts(f'"bounded {number}"')
        assert not constraint.accepts('"bounded"')
        assert 0 < kept.bytes() <= 60_000


ALTERNATIVES: dict[str, tuple[Any, list[str], list[str]]] = {
    "nullable": ({"anyOf": [{"type": "object", "properties": {"a": {"type": "integer"}}}, {"type": "null"}]},
                 ["null", '{"a": 1}', "{}"], ['{"a": "x"}', "1"]),
    "numbers and integers": ({"oneOf": [{"type": "number"}, {"type": "integer"}]}, ["1.5"], ["1"]),
    "the same twice": ({"oneOf": [{"type": "null"}, {"type": "null"}, {"type": "string"}]}, ['"a"'], ["null"]),
    "a list that one lists twice": ({"oneOf": [{"enum": ["a", "b"]}, {"const": "b"}]}, ['"a"'], ['"b"']),
    "lists": ({"anyOf": [{"enum": ["a", "b"]}, {"const": "b"}, {"const": None}]}, ['"a"', '"b"', "null"], ['"c"']),
    "a list beside a type": ({"anyOf": [{"enum": ["a", None]}, {"type": "boolean"}]}, ['"a"', "true"], ['"true"']),
    "no alternative": ({"anyOf": [False, {"type": "null"}, False]}, ["null"], ["1"]),
    "every alternative": ({"anyOf": [True, {"type": "null"}]}, ["null", "[1]"], []),
    "types around": ({"type": ["string", "array"], "anyOf": [{"type": "string"}, {"type": "array"}]},
                     ['"a"', "[]"], ["1"]),
    "fewer types around": ({"type": "string", "anyOf": [{"type": "string"}, {"type": "array"}]}, ['"a"'], ["[]"]),
    "beside a keyword": ({"anyOf": [{"type": "string"}, {"type": "array"}], "minLength": 2}, ['"ab"', "[]"], ['"a"']),
    "one of all": ({"allOf": [{"type": "string", "maxLength": 2}]}, ['"ab"'], ['"abc"', "1"]),
    "a loop through items": ({"$defs": {"l": {"oneOf": [{"type": "array", "items": {"$ref": "#/$defs/l"}},
                                                          {"type": "integer", "maximum": 5}]}}, "$ref": "#/$defs/l"},
                             ["[[5], []]", "-3"], ["[6]", "null"]),
    "not told apart": ({"anyOf": [{"type": "object", "required": ["a"]}, {"type": "object", "required": ["b"]}]},
                       ['{"a": 1}', '{"b": 1}'], ["{}"]),
}  # fmt: skip


@pytest.mark.parametrize("name", ALTERNATIVES)
@pytest.mark.parametrize("closed", [False, True])
def test_alternatives_take_what_they_should(name: str, closed: bool) -> None:
    schema, good, bad = ALTERNATIVES[name]
    validator = jsonschema.Draft202012Validator(schema)
    assert [validator.is_valid(json.loads(text)) for text in (*good, *bad)] == [True] * len(good) + [False] * len(bad)
    on_demand, whole = forms(Grammar.from_json_schema(schema, closed=closed), WORDS)
    for text in (*good, *bad):
        assert on_demand.accepts(text) is whole.accepts(text), text
        assert closed or on_demand.accepts(text) is (text in good), text


def test_alternatives_within_alternatives_are_no_recursion() -> None:
    schema: Any = {"type": "integer", "minimum": 12}
    for _ in range(60):
        schema = {"anyOf": [schema, {"const": "a"}]} if _ % 2 else {"allOf": [schema]}
    constraint = pdacon.compile(Grammar.from_json_schema(schema), WORDS)
    assert constraint.accepts("12")
    assert not constraint.accepts("11")


def test_threads_that_ask_for_the_same_are_told_the_same() -> None:
    def read(number: int) -> list[bool]:
        schema = {"type": "array", "items": {"type": "string", "pattern": f"^threads {number % 5} [a-c]*$"}}
        constraint = pdacon.compile(Grammar.from_json_schema(schema), WORDS)
        return [constraint.accepts(f'["threads {number % 5} abc"]'), constraint.accepts('["threads"]')]

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(read, range(40))) == [[True, False]] * 40


def test_alternatives_that_take_an_empty_value_are_not_looked_at_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    open_object, words = {"type": "object", "properties": {"a": {"pattern": "^b"}}}, {"type": "string"}
    members = {
        "a": {"anyOf": [{"type": "string", "pattern": "^a"}, open_object, {"type": "object", "required": ["b"]}]},
        "b": {"allOf": [open_object, {"maxProperties": 3}]},
        "c": {"type": "number", "anyOf": [{"multipleOf": 2}, {"minimum": 1}]},
        "d": {"anyOf": [{"allOf": [words, {"maxLength": 3}]}, {"enum": [{}]}]},
    }
    asked: list[int] = []
    monkeypatch.setattr(Explorer, "plainly_possible", lambda _, question, depth=0: asked.append(question))
    constraint = pdacon.compile(Grammar.from_json_schema({"type": "object", "properties": members}), WORDS)
    assert constraint.matcher().accept_bytes(b'{"')
    assert asked == []


@pytest.mark.parametrize(
    "impossible",
    [
        {"allOf": [{"type": "object"}, {"type": "string"}]},
        {"anyOf": [{"type": "object", "required": ["a"]}, {"type": "array", "minItems": 1}], "maxItems": 0,
         "maxProperties": 0},
        {"type": "string", "anyOf": [{"type": "object"}, {"type": "array"}]},
        {"allOf": [{"type": "string", "maxLength": 2}, {"minLength": 3}]},
    ],
)  # fmt: skip
def test_members_that_no_value_satisfies_do_not_come(impossible: Any) -> None:
    schema = {"type": "object", "properties": {"a": impossible, "b": {"type": "null"}}, "additionalProperties": False}
    made = both(schema, WORDS)
    for constraint in made or [pdacon.compile(Grammar.from_json_schema(schema), WORDS)]:
        assert constraint.matcher().accept_bytes(b'{"b')
        assert not constraint.matcher().accept_bytes(b'{"a')


@pytest.mark.parametrize(
    "bounded",
    [
        {"type": "number", "minimum": 1000001, "maximum": 1000003},
        {"type": "number", "exclusiveMinimum": 1000001, "exclusiveMaximum": 1000003},
        {"type": "object", "properties": {"b": {"type": "number", "minimum": 10**6 + 1, "maximum": 10**6 + 3}},
         "required": ["b"]},
        {"type": "array", "items": {"type": "number", "minimum": 1.0001, "maximum": 1.0002}, "minItems": 1},
    ],
)  # fmt: skip
def test_bounds_between_which_no_number_is_written_leave_no_value(bounded: Any) -> None:
    few_digits = Spelling(max_digits=2)
    schema = {"type": "object", "properties": {"a": bounded, "b": {"type": "null"}}, "additionalProperties": False}
    made = both(schema, WORDS, few_digits)
    assert made is not None
    compare(*made, Random(7), 12)
    assert not made[0].matcher().accept_bytes(b'{"a')
    with pytest.raises(pdacon.errors.PdaconError):
        pdacon.compile(Grammar.from_json_schema(schema | {"required": ["a"]}, few_digits), WORDS)
    free = pdacon.compile(Grammar.from_json_schema(schema), WORDS)
    assert free.matcher().accept_bytes(b'{"a')
