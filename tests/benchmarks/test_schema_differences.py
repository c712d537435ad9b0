"""What engines make of JSON Schemas: which of two texts of each they take, beside the verdict of ``jsonschema``.

    pip install '.[test,bench]' xgrammar outlines-core
    pytest tests/benchmarks/test_schema_differences.py --benchmark-enable

prints the table that docs/json_schema.md sums up. Every engine has its own defaults, but that xgrammar may let members
be added (``strict_mode=False``), and reads single bytes. Without ``--benchmark-enable`` pdacon's verdicts are held
against those of ``jsonschema`` alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import jsonschema
import numpy as np
from support.sentences import EVERY_BYTE

import pdacon

Takes = Callable[[str], bool]

CASES: dict[str, tuple[Any, Any, Any]] = {
    # what it is about: the schema, a value that satisfies it, one that does not
    "`allOf` of two schemas": ({"type": "integer", "allOf": [{"minimum": 3}, {"maximum": 5}]}, 4, 7),
    "`anyOf` beside `properties`": (
        {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
        },
        {"b": 1},
        {},
    ),
    "`oneOf` of overlapping schemas": ({"oneOf": [{"type": "integer"}, {"type": "number", "minimum": 5}]}, 5.5, 6),
    "`not`": ({"type": "string", "not": {"enum": ["a", "b"]}}, "c", "a"),
    "`if`, `then`": (
        {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "if": {"properties": {"a": {"const": 1}}, "required": ["a"]},
            "then": {"required": ["b"]},
        },
        {"a": 2},
        {"a": 1},
    ),
    "`dependentRequired`": (
        {"type": "object", "properties": {"a": {}, "b": {}}, "dependentRequired": {"a": ["b"]}},
        {"a": 1, "b": 2},
        {"a": 1},
    ),
    "`minProperties`": (
        {"type": "object", "properties": {"a": {}, "b": {}}, "additionalProperties": False, "minProperties": 2},
        {"a": 1, "b": 2},
        {"a": 1},
    ),
    "`propertyNames`": ({"type": "object", "propertyNames": {"pattern": "^x"}}, {"xa": 1}, {"a": 1}),
    "`unevaluatedProperties`": (
        {"type": "object", "allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False},
        {"a": 1},
        {"b": 1},
    ),
    "`contains`": ({"type": "array", "items": {"type": "integer"}, "contains": {"const": 1}}, [2, 1], [2]),
    "`uniqueItems` of an `enum`": (
        {"type": "array", "items": {"enum": ["x", "y"]}, "uniqueItems": True},
        ["y", "x"],
        ["x", "x"],
    ),
    "`multipleOf`": ({"type": "integer", "multipleOf": 7}, 21, 15),
    "`exclusiveMinimum` of a decimal": ({"type": "number", "exclusiveMinimum": 0.5}, 0.75, 0.5),
    "`pattern` beside `maxLength`": ({"type": "string", "pattern": "^a+$", "maxLength": 3}, "aaa", "aaaa"),
    "`pattern` with look-ahead": ({"type": "string", "pattern": "^(?!no)[a-z]+$"}, "yes", "nose"),
    "`format`: a day that there is": ({"type": "string", "format": "date"}, "2024-02-29", "2023-02-30"),
    "recursion by `$ref`": (
        {"$ref": "#/$defs/list", "$defs": {"list": {"type": "array", "items": {"$ref": "#/$defs/list"}}}},
        [[], [[]]],
        [[], 1],
    ),
}


def with_pdacon(schema: Any) -> Takes:
    return pdacon.compile(pdacon.Grammar.from_json_schema(schema), EVERY_BYTE).accepts


def with_llguidance(schema: Any) -> Takes:
    import llguidance

    class Tokenizer:
        eos_token_id, bos_token_id = 256, None
        special_token_ids = [256]  # noqa: RUF012
        tokens = [*(bytes([byte]) for byte in range(256)), b"\xff<end>"]  # noqa: RUF012

        def __call__(self, text: str | bytes) -> list[int]:
            return list(text.encode() if isinstance(text, str) else text)

    tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(Tokenizer()))
    grammar = llguidance.LLMatcher.grammar_from_json_schema(json.dumps(schema))
    first = llguidance.LLMatcher(tokenizer, grammar, log_level=0)
    if first.is_error():
        raise ValueError(first.get_error())

    def takes(text: str) -> bool:
        matcher = first.deep_copy()
        return bool(all(matcher.consume_token(byte) for byte in text.encode()) and matcher.is_accepting())

    return takes


def with_xgrammar(schema: Any) -> Takes:
    import xgrammar

    tokens = [*(bytes([byte]) for byte in range(256)), b"<end>"]
    known = xgrammar.TokenizerInfo(tokens, vocab_type=xgrammar.VocabType.RAW, vocab_size=257, stop_token_ids=[256])
    compiled = xgrammar.GrammarCompiler(known).compile_json_schema(json.dumps(schema), strict_mode=False)

    def takes(text: str) -> bool:
        matcher = xgrammar.GrammarMatcher(compiled)
        return all(matcher.accept_token(byte) for byte in text.encode()) and bool(matcher.accept_token(256))

    return takes


def with_outlines(schema: Any) -> Takes:
    from outlines_core.json_schema import build_regex_from_schema

    regex = re.compile(build_regex_from_schema(json.dumps(schema)))
    return lambda text: regex.fullmatch(text) is not None


ENGINES = {
    "pdacon": with_pdacon, "llguidance": with_llguidance, "xgrammar": with_xgrammar, "outlines_core": with_outlines,
}  # fmt: skip


def verdict(engine: Callable[[Any], Takes], schema: Any, valid: Any, invalid: Any) -> str:
    """In a few words what an engine makes of a schema."""
    try:
        takes = engine(schema)
        good, bad = (takes(json.dumps(value)) for value in (valid, invalid))
    except Exception:
        return "refused"
    if good and not bad:
        return "exact"
    wrong = [f"takes `{json.dumps(invalid)}`"] if bad else []
    return ", ".join([*wrong, *([] if good else [f"not `{json.dumps(valid)}`"])])


def test_schema_differences(measured: bool, show: Any) -> None:
    names = [name for name in ENGINES if find_spec(name) is not None] if measured else ["pdacon"]
    rows = []
    for about, (schema, valid, invalid) in CASES.items():
        checker = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())
        assert checker.is_valid(valid)
        assert not checker.is_valid(invalid)
        verdicts = [verdict(ENGINES[name], schema, valid, invalid) for name in names]
        assert verdicts[0] == "exact", about
        rows.append([about, *verdicts])
    counts = np.array([[cell == "exact" for cell in row[1:]] for row in rows]).sum(axis=0).tolist()
    show(["", *(name.replace("_", "-") for name in names)], [*rows, ["exact", *counts]])
