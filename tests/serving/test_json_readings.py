"""How JSON is written: what a request says of it, and what the server says."""

from __future__ import annotations

from typing import Any

import pytest

import pdacon
from pdacon.cli.failures import BadInput
from pdacon.cli.serving import _reading
from pdacon.integrations.format_compiler import FormatCompiler
from pdacon.integrations.json_reading import JsonReading
from pdacon.serving import ServerSettings
from pdacon.serving.failures import RequestError
from pdacon.serving.response_formats import response_format, structured_outputs

WORDS = pdacon.Vocabulary.bytes()
SCHEMA = {"type": "object", "properties": {"a": {}}}
COMPACT = JsonReading(pdacon.Spelling(whitespace="compact"))
TEXTS = ('{"a": 1}', '{"a":1}', '{\n  "a": 1\n}', '{"b": 1}', '{"b":1}')


def accepted(wanted: Any, reading: JsonReading) -> set[int]:
    compiler = FormatCompiler(WORDS, pdacon.Limits())
    constraint = compiler.compiled(wanted.format.by_default(reading), lambda *said: pytest.fail(str(said)))
    return {k for k, text in enumerate(TEXTS) if constraint.accepts(text)}


def named(schema: Any = SCHEMA, **own: Any) -> Any:
    return response_format({"type": "json_schema", "json_schema": {"name": "x", "schema": schema, **own}})


def said(**own: Any) -> Any:
    return structured_outputs({"json": SCHEMA, **own})


@pytest.mark.parametrize(
    ("wanted", "usual", "compact"),
    [
        (named(), {0, 3}, {1, 4}),
        (named(strict=True), {0}, {1}),
        (named(strict=False), {0, 3}, {1, 4}),
        (named({**SCHEMA, "x-pdacon": {"whitespace": "usual", "closed": True}}), {0, 1, 2}, {0, 1, 2}),
        (named({**SCHEMA, "x-pdacon": {"closed": True}}), {0}, {1}),
        (named({**SCHEMA, "x-pdacon": {"whitespace": "usual"}}, strict=True), {0, 1, 2}, {0, 1, 2}),
        (response_format({"type": "json_object"}), {0, 3}, {1, 4}),
        (response_format({"type": "json_object", "schema": SCHEMA}), {0, 3}, {1, 4}),
        (said(), {0, 3}, {1, 4}),
        (said(disable_any_whitespace=True), {0, 3}, {0, 3}),
        (said(disable_any_whitespace=False), {0, 3}, {1, 4}),
        (said(whitespace_pattern="[ ]?"), {0, 1, 3, 4}, {0, 1, 3, 4}),
        (said(disable_additional_properties=True), {0}, {1}),
        (structured_outputs({"json": '{"properties": {"a": {}}}', "whitespace_pattern": ""}), {1, 4}, {1, 4}),
        (structured_outputs({"json_object": True, "whitespace_pattern": ""}), {1, 4}, {1, 4}),
        (response_format({"type": "structural_tag", "format": {"type": "json_schema", "json_schema": SCHEMA}}),
         {0, 3}, {1, 4}),
    ],
)  # fmt: skip
def test_what_a_request_says(wanted: Any, usual: set[int], compact: set[int]) -> None:
    assert accepted(wanted, JsonReading()) == usual
    assert accepted(wanted, COMPACT) == compact
    assert wanted.format.by_default(COMPACT).key != wanted.format.by_default(JsonReading()).key


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"json": SCHEMA, "whitespace_pattern": " *"}, "for ever; bound it"),
        ({"json": SCHEMA, "whitespace_pattern": " ", "disable_any_whitespace": True}, "say the same; give one"),
        ({"regex": "a", "whitespace_pattern": " "}, "are about json and json_object"),
        ({"json": {**SCHEMA, "x-pdacon": {"whitespace": "any"}}, "whitespace_pattern": " "}, "leave one out"),
        ({"json": "{", "whitespace_pattern": " "}, "structured_outputs.json: "),
        ({"json": SCHEMA, "any_whitespace": True}, "did you mean disable_any_whitespace"),
    ],
)
def test_what_cannot_be_honoured_is_refused_by_name(given: Any, why: str) -> None:
    with pytest.raises(RequestError, match=why):
        structured_outputs(given)


def test_strict_is_a_truth_value() -> None:
    with pytest.raises(RequestError, match=r"strict must be true or false"):
        named(strict="yes")


def test_what_the_command_line_says() -> None:
    assert _reading(None) == JsonReading()
    assert _reading('{"whitespace": "compact"}') == COMPACT
    with pytest.raises(BadInput, match="--json: whitespace is"):
        _reading('{"whitespace": "model"}')
    with pytest.raises(ValueError, match="json is a JsonReading"):
        ServerSettings(json={"whitespace": "usual"})  # type: ignore[arg-type]
