"""What the engines are asked, and how each answer is checked: by jsonschema, stock Lark and Python's re."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, Literal

import jsonschema
from lark import Lark

Way = Literal["whole", "stream", "cancel"]
PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 12},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
        "tags": {"type": "array", "items": {"enum": ["a", "b", "c"]}, "maxItems": 3},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}
SCHEMAS: list[Any] = [
    PERSON,
    {"type": "array", "items": {"type": "integer", "minimum": -20, "maximum": 20}, "minItems": 1, "maxItems": 5},
    {"anyOf": [{"const": "none"}, {"type": "object", "properties": {"x": {"type": "boolean"}}, "required": ["x"],
                                   "additionalProperties": False}]},
    {"enum": [1, "two", None, [3], {"four": 4}]},
    {"type": "string", "format": "date"},
    {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{3}$"},
    {"$defs": {"tree": {"type": "object", "properties": {"v": {"type": "boolean"}, "left": {"$ref": "#/$defs/leaf"}},
                        "required": ["v"], "additionalProperties": False}, "leaf": {"enum": ["l", "r"]}},
     "$ref": "#/$defs/tree"},
    {"type": "object", "properties": {"k": {"type": "number", "multipleOf": 0.5, "minimum": 0, "maximum": 3}},
     "required": ["k"], "additionalProperties": False},
]  # fmt: skip
SUM = 'start: item ("+" item)~0..6\nitem: N | "(" N "-" N ")"\nN: /[0-9]{1,3}/\n'
LIST = 'start: "[" [w ("," w)~0..5] "]"\nw: /[a-z]{1,4}/\n'
GRAMMARS = [SUM, LIST]
# Each with a regular expression of the same texts.
BNF = [
    ('root ::= "x" digits "y"\ndigits ::= [0-9] [0-9]? [0-9]?\n', "x[0-9]{1,3}y"),
    ('root ::= greeting ", " name_part\ngreeting ::= "hi" | "hello"\nname_part ::= [A-Z] [a-z] [a-z]\n',
     "(hi|hello), [A-Z][a-z]{2}"),
]  # fmt: skip
REGEXES = [
    "[a-c]{3,9}-[0-9]{2}",
    r"(\d{1,3}\.){3}\d{1,3}",
    "(yes|no)( (yes|no)){0,3}",
    "é{1,3}ü?",
    r"\w{1,8}@[a-z]{2,6}\.com",
]
CHOICES = [["red", "green", "blue"], ["a", "ab", "abc"], ["0", "10", "100"], ["Łukasz", "Zoë", "名前"]]
TAG = {
    "type": "structural_tag",
    "structures": [{"begin": "<f>", "schema": SCHEMAS[3], "end": "</f>"}],
    "triggers": ["<f>"],
}


@dataclass(frozen=True)
class Asked:
    """A request for an answer that can be checked.

    Attributes
    ----------
    name : str
        What kind it is of.
    outputs : dict
        As vLLM's ``structured_outputs`` has it.
    check : callable
        Raises if a whole answer is not what was asked for.
    way : str
        Whole, as a stream, or as a stream that its client leaves.
    seed, temperature
        Of the choice of tokens.
    """

    name: str
    outputs: dict[str, Any]
    check: Callable[[str], object]
    way: Way
    seed: int
    temperature: float


def verdict(asked: Asked, text: str, ending: str | None) -> str:
    """What came of an answer that ended so: valid, cut (by the most tokens), or a complaint."""
    if ending == "length":
        return "cut"
    if ending != "stop":
        return f"ended by {ending}: {text!r}"
    try:
        asked.check(text)
    except Exception as error:
        return f"{asked.name}: {text!r}: {error}"
    return "valid"


def requests(count: int, seed: int, temperature: float | None = None) -> list[Asked]:
    """So many requests of all kinds, in any order; a tenth of them are left by their clients."""
    random = Random(seed)
    kinds = [*map(_schema, SCHEMAS), *map(_grammar, GRAMMARS), *(_bnf(*one) for one in BNF), *map(_regex, REGEXES)]
    kinds += [*map(_choice, CHOICES), ("json_object", {"json_object": True}, _is_object)]
    kinds.append(("structural_tag", {"structural_tag": json.dumps(TAG)}, _has_tags))
    ways: list[Way] = ["whole"] * 5 + ["stream"] * 4 + ["cancel"]
    made = [
        Asked(
            *kinds[i % len(kinds)],
            random.choice(ways),
            i,
            random.choice([0.0, 0.7, 1.2]) if temperature is None else temperature,
        )
        for i in range(count)
    ]
    random.shuffle(made)
    return made


Kind = tuple[str, dict[str, Any], Callable[[str], object]]


def _schema(schema: Any) -> Kind:
    validator = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())
    return "json", {"json": schema}, lambda text: validator.validate(json.loads(text))


def _grammar(text: str) -> Kind:
    parser = Lark(text, parser="lalr")
    return "lark", {"grammar": text}, parser.parse


def _bnf(text: str, pattern: str) -> Kind:
    return "ebnf", {"grammar": text}, lambda answer: _require(re.fullmatch(pattern, answer))


def _regex(pattern: str) -> Kind:
    return "regex", {"regex": pattern}, lambda answer: _require(re.fullmatch(pattern, answer))


def _choice(choices: list[str]) -> Kind:
    return "choice", {"choice": choices}, lambda answer: _require(answer in choices)


def _is_object(text: str) -> None:
    _require(isinstance(json.loads(text), dict))


def _has_tags(text: str) -> None:
    for inside in text.split("<f>")[1:]:
        value, end = json.JSONDecoder().raw_decode(inside)
        jsonschema.validate(value, SCHEMAS[3])
        _require(inside[end:].startswith("</f>"))


def _require(truth: object) -> None:
    if not truth:
        raise ValueError("the answer is not what was asked for")


HOSTILE: list[tuple[str, dict[str, Any]]] = [
    ("a keyword that no automaton has", {"structured_outputs": {"json": {"type": "array", "uniqueItems": True}}}),
    ("no type of JSON Schema", {"structured_outputs": {"json": {"type": "strin"}}}),
    ("a schema elsewhere", {"structured_outputs": {"json": {"$ref": "http://localhost/x.json"}}}),
    ("nothing satisfies it", {"structured_outputs": {"json": {"allOf": [{"type": "null"}, {"type": "string"}]}}}),
    ("no JSON", {"structured_outputs": {"json": "{"}}),
    ("a schema without an end", {"structured_outputs": {"json": {"$ref": "#"}}}),
    ("a deep schema", {"structured_outputs": {"json": '{"items":' * 20_000 + "{}" + "}" * 20_000}}),
    ("no regular expression", {"structured_outputs": {"regex": "(a"}}),
    ("a regular expression with a memory", {"structured_outputs": {"regex": r"(a+)\1"}}),
    ("a huge regular expression", {"structured_outputs": {"regex": "((a{1,900}){1,900}){1,900}"}}),
    ("an exponential regular expression", {"structured_outputs": {"regex": "[ab]*a[ab]{40}"}}),
    ("no grammar", {"structured_outputs": {"grammar": "start: x"}}),
    ("a file", {"structured_outputs": {"grammar": "start: x\n%import .x (x)"}}),
    ("an ambiguous grammar", {"structured_outputs": {"grammar": 'start: start start | "a"'}}),
    ("a grammar without a sentence", {"structured_outputs": {"grammar": 'start: "a" start'}}),
    ("no EBNF", {"structured_outputs": {"grammar": 'root ::= ("a"'}}),
    ("a long grammar", {"structured_outputs": {"grammar": f'start: "{"a" * 600_000}"'}}),
    ("no choice", {"structured_outputs": {"choice": []}}),
    ("two formats", {"structured_outputs": {"regex": "a", "choice": ["a"]}}),
    ("beyond its end", {"structured_outputs": {"regex": "a"}, "ignore_eos": True}),
    ("blanks of one's own", {"structured_outputs": {"json": {"type": "object"}, "whitespace_pattern": " *"}}),
    ("no structural tag", {"structured_outputs": {"structural_tag": '{"type": "structural_tag"}'}}),
]  # fmt: skip
"""Requests that have to be refused with 400, or 422 where they are malformed, and a reason."""
