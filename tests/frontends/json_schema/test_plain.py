"""Schemas with values that ``json.loads`` does not give, or not exactly, and those that are no schemas."""

from __future__ import annotations

import enum
import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pdacon import (
    CompileCache,
    EmptyLanguageError,
    Grammar,
    GrammarSyntaxError,
    GrammarWarning,
    UnsupportedGrammarError,
    UnsupportedSchemaError,
    Vocabulary,
)


class Colour(str, enum.Enum):
    RED = "red"


@pytest.mark.parametrize(
    ("schema", "text", "valid"),
    [
        ('{"type": "number", "minimum": 1e-400}', "0", False),
        ('{"type": "number", "minimum": 1.0000000000000000000001}', "1", False),
        ('{"const": 12345678901234567890.5}', "12345678901234567890.5", True),
        ('{"const": 0.1000000000000000055511151231257827}', "0.1000000000000000055511151231257827", True),
        ('{"type": "number", "maximum": 1e400}', "1e+308", True),
        ({"enum": [Colour.RED]}, '"red"', True),
        ({"const": (1, 2)}, "[1, 2]", True),
        ({"type": "number", "minimum": Decimal("0.1")}, "0.1", True),
        ({"type": "number", "minimum": Decimal("0.1")}, "0.09", False),
        ({"const": np.int64(7)}, "7", True),
        ({"const": np.float32(0.5)}, "0.5", True),
        ({"const": 1e30}, "1e+30", True),
        ({"const": 1e16}, "10000000000000000", True),
        ({"minimum": -1.7976931348623157e308, "maximum": 1.7976931348623157e308}, "-1.7976931348623157e+308", True),
        ({"type": "number", "minimum": 0}, "5e-324", True),
        ({"pattern": "\\\\ud800"}, '"\\\\ud800"', True),
        ({"const": "\U0001f600"}, '"\U0001f600"', True),
    ],
)
def test_values_are_exact(schema: Any, text: str, valid: bool) -> None:
    assert Grammar.from_json_schema(schema).accepts(text) == valid


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ('{"multipleOf": 1e400}', "#: multipleOf"),
        ({"properties": {"a": {"minimum": float("inf")}}}, "#/properties/a/minimum"),
        ({"const": float("nan")}, "#/const"),
        ('{"enum": [NaN]}', "NaN"),
        ('{"minimum": 1e999999999}', "digits"),
        ({"maximum": 10**5000}, "#/maximum"),
        ({"enum": ["a", "\ud800"]}, "#/enum/1"),
        ({"properties": {"\ud800": True}}, "surrogates"),
        ('{"required": ["\\ud83d"]}', "#/required/0"),
        ({"pattern": "\ud800"}, "surrogates"),
        ('{"not":' * 1500 + "{}" + "}" * 1500, "nested too deeply"),
        ('{"default":' + "[" * 5000 + "]" * 5000 + "}", "nested too deeply"),
        ({"const": {1, 2}}, "set"),
        ({"const": b"a"}, "bytes"),
        ({"properties": {("a",): True}}, "names are strings"),
        ({"type": "string", "maxLength": 2**31 - 1}, "#: maxLength"),
        ({"type": "string", "minLength": 10**17}, "#: minLength"),
        ({"dependentRequired": {"a": "b"}}, "#: dependentRequired"),
        ({"uniqueItems": "true"}, "#: uniqueItems"),
        ({"prefixItems": {"type": "integer"}}, "#: prefixItems"),
        ({"$schema": None}, r"#: \$schema"),
        ({"format": 1}, "#: format"),
        ({"pattern": "^a{2}{2}$"}, "cannot follow"),
        ({"pattern": "(?<a>x)(?<a>y)"}, "two groups"),
        ({"pattern": "(?<1>x)"}, "no name"),
    ],
)
def test_what_is_no_schema_is_refused_with_its_place(schema: Any, said: str) -> None:
    with pytest.raises(UnsupportedSchemaError, match=said):
        Grammar.from_json_schema(schema)


def test_files_and_bytes(tmp_path: Path) -> None:
    file = tmp_path / "schema.json"
    file.write_text('{"const": "é"}', encoding="utf-8-sig")
    assert Grammar.from_json_schema(file).accepts('"é"')
    assert Grammar.from_json_schema(file.read_bytes()).accepts('"é"')
    with pytest.raises(UnsupportedSchemaError, match=r"pathlib\.Path"):
        Grammar.from_json_schema("schema.json")
    with pytest.raises(FileNotFoundError):
        Grammar.from_json_schema(tmp_path / "other.json")
    with pytest.raises(UnsupportedSchemaError, match="it is a class"):
        Grammar.from_json_schema(Colour)
    with pytest.raises(TypeError, match=r"pdacon\.Spelling"):
        Grammar.from_json_schema(True, spelling="compact")  # type: ignore[arg-type]


def test_a_circle_is_refused() -> None:
    circle: dict[str, Any] = {}
    circle["not"] = circle
    with pytest.raises(UnsupportedSchemaError, match="nested too deeply"):
        Grammar.from_json_schema(circle)


def test_a_schema_is_taken_as_it_is() -> None:
    schema = {"const": "a"}
    grammar = Grammar.from_json_schema(schema)
    schema["const"] = "b"
    assert grammar.accepts('"a"')
    assert json.loads(grammar.data.source) == {"const": "a"}


def test_what_has_no_meaning_but_may_be_meant_is_named() -> None:
    schema = {
        "properties": {"a": {"type": "string", "format": "datetime"}, "b": {"type": "string", "nullable": True}},
        "propertyOrdering": ["b", "a"],
    }
    with pytest.warns(GrammarWarning, match="did you mean date-time"):
        grammar = Grammar.from_json_schema(schema)
    places = {(pointer, keyword) for pointer, keyword, _ in grammar.unenforced}
    assert places == {("#", "propertyOrdering"), ("#/properties/b", "nullable"), ("#/properties/a", "format")}
    assert not Grammar.from_json_schema({"type": "string", "format": "int32"}, formats=False).unenforced


@pytest.mark.parametrize("keyword", ["schema", "parameters", "inputSchema"])
def test_the_schema_within_a_request_is_asked_for(keyword: str) -> None:
    with pytest.raises(UnsupportedSchemaError, match=f"#: {keyword}: the schema is within it"):
        Grammar.from_json_schema({"name": "answer", "strict": True, keyword: {"type": "object"}})


def test_what_is_left_out_is_named_where_nothing_is_left() -> None:
    with pytest.raises(EmptyLanguageError, match="#/not: uniqueItems"):
        Grammar.from_json_schema({"not": {"uniqueItems": True}}, lax=True)


@pytest.mark.parametrize(
    ("text", "pointer", "name"),
    [
        ('{"type": "string", "type": "integer"}', "#", "type"),
        ('{"properties": {"a": {}, "b": {"const": [{"c": 1, "c": 1}]}}}', "#/properties/b/const/0", "c"),
        ('{"items": {"a": 1, "a": 2}, "items": {}}', "#", "items"),
        (rb'{"\ud800": 1, "\ud800": 2}', "#", "\\ud800"),
    ],
)
def test_a_name_that_stands_twice_is_refused(text: str | bytes, pointer: str, name: str) -> None:
    with pytest.raises(UnsupportedSchemaError, match="it stands there twice") as raised:
        Grammar.from_json_schema(text)
    assert (raised.value.pointer, raised.value.keyword) == (pointer, name)
    cache = CompileCache()
    if isinstance(text, str):
        cache.compile_schema(json.loads(text), Vocabulary.bytes())
        with pytest.raises(UnsupportedSchemaError, match="it stands there twice"):
            cache.compile_schema(text, Vocabulary.bytes())


def test_names_that_are_written_alike_are_refused() -> None:
    with pytest.raises(UnsupportedSchemaError, match="it stands there twice") as raised:
        Grammar.from_json_schema({"properties": {1: {"type": "string"}, "1": {}}})
    assert (raised.value.pointer, raised.value.keyword) == ("#/properties", "1")
    grammar = Grammar.from_json_schema({"properties": {1: {"type": "string"}}, "required": ("1",)})
    assert grammar.accepts('{"1": "x"}')
    assert not grammar.accepts('{"1": 1}')


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda text: Grammar.from_lark(f"start: %json {text}", extensions=True), GrammarSyntaxError),
        (lambda text: Grammar.from_llguidance(f"start: %json {text}"), GrammarSyntaxError),
        (
            lambda text: Grammar.from_structural_tag(
                f'{{"type": "structural_tag", "format": {{"type": "json_schema", "json_schema": {text}}}}}'
            ),
            UnsupportedGrammarError,
        ),
    ],
)
def test_nor_can_it_stand_twice_within_other_texts(make: Callable[[str], Grammar], error: type[Exception]) -> None:
    make('{"properties": {"a": {}}}')
    with pytest.raises(error, match=r'properties: the name "a" stands there twice'):
        make('{"properties": {"a": {}, "a": {}}}')
