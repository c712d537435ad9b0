"""The table of every option at every door, in docs/json_schema.md: each cell is tried."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

import pytest
from annotated_types import Ge

import pdacon
from pdacon import Grammar, Limits, PdaconError, Spelling, Vocabulary
from pdacon.cli import main
from pdacon.integrations.format_compiler import FormatCompiler
from pdacon.integrations.json_reading import JsonReading
from pdacon.integrations.vllm import requests
from pdacon.serving.failures import RequestError
from pdacon.serving.response_formats import response_format

WORDS = Vocabulary.bytes()
PAGE = Path(__file__).parents[3] / "docs" / "json_schema.md"
OBJECT: dict[str, Any] = {"type": "object", "properties": {"a": {}, "b": {}}}
FIELDS = {field.name for field in fields(Spelling)}


@dataclass
class Ordered:
    a: int
    b: int


@dataclass(frozen=True)
class Probe:
    """A text whose verdict an option changes: of a value, as it is written, with some options before."""

    value: Any
    option: Any
    schema: Any = None
    kind: Any = dict[str, int]
    write: Callable[[Any], str] = json.dumps
    before: tuple[tuple[str, Any], ...] = ()


def member(**schema: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": schema}}


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


ANY, LINES = (("whitespace", "any"),), (("whitespace", "indent"),)
DEEP = {"a": {"b": [{"c": 1}]}}
PROBES: dict[str, Probe] = {
    "whitespace": Probe({"a": 1, "b": 2}, "compact", write=compact),
    "max_blanks": Probe({"a": 1, "b": 2}, 0, before=ANY),
    "whitespace_pattern": Probe({"a": 1, "b": 2}, "", before=ANY),
    "separators": Probe({"a": 1, "b": 2}, [",", ":"], write=compact),
    "indent": Probe({"a": 1}, 3, write=lambda value: json.dumps(value, indent=3), before=LINES),
    "max_depth": Probe(DEEP, 1, kind=dict[str, dict[str, list[dict[str, int]]]],
                       write=lambda value: json.dumps(value, indent=2), before=LINES),
    "order": Probe({"b": 2, "a": 1}, "any", kind=Ordered, before=(("order", "schema"),)),
    "escapes": Probe({"a": "é"}, "ascii", kind=dict[str, str]),
    "numbers": Probe({"a": 2.5}, "canonical", member(type="number"), dict[str, float],
                     lambda value: json.dumps(value).replace("2.5", "2.50")),
    "integers": Probe({"a": 1.0}, "decimal", member(type="integer")),
    "exponents": Probe({"a": 2.5}, "none", member(type="number"), dict[str, float],
                       lambda value: json.dumps(value).replace("2.5", "25e-1")),
    "max_digits": Probe({"a": 1234}, 2, member(type="integer")),
    "excludes": Probe({"a": "x~y"}, ["~"], member(type="string"), dict[str, str]),
    "language": Probe({"a": 1}, "yaml", write=lambda value: "a: 1\n"),
    "closed": Probe({"z": 1}, True, kind=Ordered),
    "strict": Probe({"z": 1}, True, kind=Ordered),
    "formats": Probe({"a": "x"}, False, member(type="string", format="date"), dict[str, str]),
    "asserted": Probe({"a": "x"}, ["contentEncoding"], member(type="string", contentEncoding="base16"), dict[str, str]),
    "profile": Probe({"a": 1}, "openai"),
    "lax": Probe({"a": "x"}, True, member(type="string", format="idn-hostname"), dict[str, Annotated[str, Ge("b")]]),
    "registry": Probe({"a": "x"}, {"urn:x": {"type": "object"}}, {"type": "object", "$ref": "urn:x"}, dict[str, str]),
}  # fmt: skip


def parted(options: dict[str, Any]) -> tuple[Spelling, dict[str, Any]]:
    return (
        Spelling(**{name: value for name, value in options.items() if name in FIELDS}),
        {name: value for name, value in options.items() if name not in FIELDS},
    )


def by_python(probe: Probe, options: dict[str, Any]) -> bool:
    spelling, others = parted(options)
    grammar = Grammar.from_json_schema(probe.schema or OBJECT, spelling, **others)
    return pdacon.compile(grammar, WORDS).accepts(probe.write(probe.value))


def by_types(probe: Probe, options: dict[str, Any]) -> bool:
    spelling, others = parted(options)
    if "strict" in others or "lax" in others:
        others = {name: value for name, value in others.items() if name == "lax"}
    grammar = Grammar.from_type(probe.kind, spelling=spelling, **others)
    return pdacon.compile(grammar, WORDS).accepts(probe.write(probe.value))


def by_tools(probe: Probe, options: dict[str, Any]) -> bool:
    spelling, others = parted(options)
    tool = {"name": "f", "parameters": probe.schema or OBJECT, "strict": others.pop("strict", False)}
    grammar = Grammar.from_tools([tool], spelling=spelling, **others)
    return pdacon.compile(grammar, WORDS).accepts(probe.write({"name": "f", "arguments": probe.value}))


def by_tags(probe: Probe, options: dict[str, Any]) -> bool:
    spelling, others = parted(options)
    content = {"type": "json_schema", "json_schema": probe.schema or OBJECT}
    tag = {"type": "tag", "begin": "<f>", "content": content, "end": "</f>"}
    grammar = Grammar.from_structural_tag(tag, spelling=spelling, **others)
    return pdacon.compile(grammar, WORDS).accepts(f"<f>{probe.write(probe.value)}</f>")


def by_command_line(probe: Probe, options: dict[str, Any], folder: Path) -> bool:
    file = folder / "schema.json"
    file.write_text(json.dumps(probe.schema or OBJECT))
    switches: list[str] = []
    for name, value in options.items():
        switch = f"--{name.replace('_', '-')}"
        if name == "order":
            switches += ["--any-order"] if value == "any" else []
        elif name in ("asserted", "separators", "excludes"):
            switches += [switch, *value]
        elif isinstance(value, bool):
            switches += [switch if value else f"--no-{name}"]
        else:
            switches += [switch, str(value)]
    status = main(["explain", str(file), probe.write(probe.value), *switches])
    if status == 2:
        raise ValueError("refused")
    return status == 0


def says_itself(probe: Probe, options: dict[str, Any]) -> dict[str, Any]:
    return {**(probe.schema or OBJECT), "x-pdacon": options} if options else probe.schema or OBJECT


def by_serve(probe: Probe, options: dict[str, Any]) -> bool:
    options = dict(options)
    strict = {"strict": True} if options.pop("strict", False) else {}
    compiler, text = FormatCompiler(WORDS, Limits()), probe.write(probe.value)
    verdicts = set()
    for schema, reading in (
        (says_itself(probe, options), JsonReading()),
        (probe.schema or OBJECT, JsonReading.of_json(json.dumps(options))),
    ):
        wanted = response_format({"type": "json_schema", "json_schema": {"name": "x", "schema": schema, **strict}})
        assert wanted is not None
        constraint = compiler.compiled(wanted.format.by_default(reading), lambda *said: None)
        verdicts.add(constraint.accepts(text))
    (verdict,) = verdicts
    return verdict


def by_engine(probe: Probe, options: dict[str, Any]) -> bool:
    text = probe.write(probe.value)
    by_default = FormatCompiler(WORDS, Limits(), reading=JsonReading.of_json(json.dumps(options)))
    verdicts = {
        requests.constraint(FormatCompiler(WORDS, Limits()), "JSON", json.dumps(says_itself(probe, options))).accepts(
            text
        ),
        by_default.constraint("schema", json.dumps(probe.schema or OBJECT)).accepts(text),
    }
    (verdict,) = verdicts
    return verdict


DOORS: dict[str, Callable[..., bool]] = {
    "Python": by_python, "types": by_types, "tools": by_tools, "tags": by_tags, "command line": by_command_line,
    "serve": by_serve, "vLLM": by_engine, "SGLang": by_engine, "llama.cpp": by_python,
}  # fmt: skip


def table() -> tuple[list[str], dict[str, list[str]], set[str]]:
    section = PAGE.read_text().partition("## Every option at every door\n")[2].partition("\n## ")[0]
    lines = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("|")]
    doors = [door for head in lines[0][1:] for door in head.split(", ")]
    rows = {}
    for row in lines[2:]:
        cells = [cell for head, cell in zip(lines[0][1:], row[1:], strict=True) for _ in head.split(", ")]
        rows |= dict.fromkeys(re.findall(r"`(\w+)`", row[0]), cells)
    return doors, rows, set(re.findall(r"^- ([a-z]): ", section, re.MULTILINE))


HEAD, ROWS, REASONS = table()
CELLS = [(option, door, cell) for option, cells in ROWS.items() for door, cell in zip(HEAD, cells, strict=True)]


def test_the_table_has_every_option_and_every_door() -> None:
    assert list(DOORS) == HEAD
    assert set(ROWS) >= FIELDS
    assert set(ROWS) == set(PROBES)
    assert {cell for _, _, cell in CELLS if len(cell) == 1} == REASONS
    assert all(cell for _, _, cell in CELLS)


@pytest.mark.parametrize(("option", "door", "cell"), CELLS, ids=lambda value: value)
@pytest.mark.filterwarnings("ignore::pdacon.GrammarWarning")
def test_a_cell(option: str, door: str, cell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    probe = PROBES[option]

    def verdict(options: dict[str, Any]) -> bool | None:
        try:
            given = (tmp_path,) if door == "command line" else ()
            return DOORS[door](probe, options, *given)
        except (PdaconError, RequestError, TypeError, ValueError):
            return None

    before = verdict(dict(probe.before))
    after = verdict({**dict(probe.before), option: probe.option})
    if cell in REASONS:
        assert after in (before, None)
    elif option == "profile":
        assert (before, after) == (True, None)
    else:
        assert after is not None
        assert after is not before
