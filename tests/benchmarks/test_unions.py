"""From the data of a request, such as many tools, to the first mask, in CPU time; a process for each row.

    pytest tests/benchmarks/test_unions.py --benchmark-enable -s

prints what a row takes the first time in its process, which loads the modules that it needs, and again, the least of
three. Another schema was read before, so that the vocabulary is prepared. Without ``--benchmark-enable`` small rows are
tried in this process, as a test that they work. Nothing here asserts a time.
"""

from __future__ import annotations

import json
import operator
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import make_dataclass
from functools import partial, reduce
from random import Random
from time import process_time
from typing import Any, Literal

from support.real_vocabularies import coded

import pdacon
from pdacon import Grammar

KINDS: list[dict[str, Any]] = [
    {"type": "string"},
    {"type": "string", "maxLength": 64},
    {"type": "integer", "minimum": 0},
    {"type": "boolean"},
    {"type": "array", "items": {"type": "string"}},
    {"enum": ["a", "b", "c"]},
    {"type": "number"},
]
TYPES = [str, int, bool, float, list[str]]


def parameters(random: Random) -> dict[str, Any]:
    members = {f"p{k}": random.choice(KINDS) for k in range(8)}
    required = [*members][:4]
    return {"type": "object", "properties": members, "required": required, "additionalProperties": False}


def tools(count: int) -> Grammar:
    random = Random(1)
    given = [{"name": f"tool_{k}", "parameters": parameters(random)} for k in range(count)]
    return Grammar.from_tools([{"type": "function", "function": tool} for tool in given])


def calls(count: int) -> Grammar:
    random = Random(1)
    some = [
        {
            "type": "object",
            "properties": {"name": {"const": f"tool_{k}"}, "arguments": parameters(random)},
            "required": ["name", "arguments"],
            "additionalProperties": False,
        }
        for k in range(count)
    ]
    return Grammar.from_json_schema({"anyOf": some})


def tagged_objects(count: int, closed: bool) -> Grammar:
    random = Random(1)
    some = []
    for k in range(count):
        own = parameters(random)
        properties = {"kind": {"const": f"kind_{k}"}, **own["properties"]}
        some.append({"type": "object", "properties": properties, "required": ["kind", *own["required"]]})
    return Grammar.from_json_schema({"anyOf": some}, closed=closed)


def tags(count: int) -> Grammar:
    random = Random(1)
    some = [
        {
            "type": "tag",
            "begin": f"<function=tool_{k}>",
            "content": {"type": "json_schema", "json_schema": parameters(random)},
            "end": "</function>",
        }
        for k in range(count)
    ]
    return Grammar.from_structural_tag({"type": "triggered_tags", "triggers": ["<function="], "tags": some})


def union_of_classes(count: int, tagged: bool) -> Any:
    random = Random(1)
    made = []
    for k in range(count):
        kind: list[Any] = [("kind", Literal[f"c{k}"])] if tagged else []
        prefix = "" if tagged else f"c{k}_"
        made.append(make_dataclass(f"C{k}", [*kind, *((f"{prefix}p{j}", random.choice(TYPES)) for j in range(8))]))
    return reduce(operator.or_, made)


def classes(count: int, tagged: bool, union: Any = None) -> Grammar:
    return Grammar.from_type(union_of_classes(count, tagged) if union is None else union)


def open_objects(count: int) -> Grammar:
    some = [
        {"type": "object", "properties": {f"p{k}": {"type": "integer"}, f"q{k}": {}}, "required": [f"p{k}"]}
        for k in range(count)
    ]
    return Grammar.from_json_schema({"anyOf": some}, closed=True)


def words(count: int) -> Grammar:
    random = Random(1)
    listed = ["".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=12)) for _ in range(count)]
    return Grammar.from_json_schema({"type": "object", "properties": {"w": {"enum": listed}}, "required": ["w"]})


def patterns(count: int) -> Grammar:
    some = {f"^k{k}_[a-z]+$": {"type": "integer", "maximum": k} for k in range(count)}
    return Grammar.from_json_schema({"type": "object", "patternProperties": some, "additionalProperties": False})


def conditions(count: int) -> Grammar:
    members = {"kind": {"type": "string"}, **{f"v{k}": {"type": "integer"} for k in range(count)}}
    then = [{"if": {"properties": {"kind": {"const": f"k{k}"}}}, "then": {"required": [f"v{k}"]}} for k in range(count)]
    return Grammar.from_json_schema({"type": "object", "properties": members, "required": ["kind"], "allOf": then})


ROWS: dict[str, tuple[Callable[..., Grammar], tuple[int, ...]]] = {
    "tools, `from_tools`": (tools, (128, 524)),
    "tools, a union of calls": (calls, (16, 128, 524)),
    "structural tags": (tags, (16, 128, 200, 524)),
    "dataclasses, told apart by a constant": (partial(classes, tagged=True), (100,)),
    "dataclasses, told apart by their names": (partial(classes, tagged=False), (100,)),
    "objects, told apart by a constant": (partial(tagged_objects, closed=False), (524,)),
    "the same, `closed=True`": (partial(tagged_objects, closed=True), (100,)),
    "open objects, `closed=True`": (open_objects, (100,)),
    "`enum` of words": (words, (20_000,)),
    "`patternProperties`": (patterns, (40,)),
    "`if` and `then`": (conditions, (80,)),
}


def measured_row(name: str, count: int) -> list[float]:
    """Milliseconds of CPU time until there is a mask: the first time, and again."""
    vocabulary, make = coded("tekken").vocabulary, ROWS[name][0]
    pdacon.compile(Grammar.from_json_schema({"properties": {"a": {"type": "string"}}}), vocabulary).matcher().mask_id()

    unions = []  # a program has its classes before
    if isinstance(make, partial) and make.func is classes:
        unions = [{"union": union_of_classes(count, **make.keywords)} for _ in range(4)]

    def spent() -> float:
        given = unions.pop() if unions else {}
        begin = process_time()
        pdacon.compile(make(count, **given), vocabulary).matcher().mask_id()
        return 1e3 * (process_time() - begin)

    return [spent(), min(spent() for _ in range(3))]


def test_first_masks(measured: bool, show: Any) -> None:
    if not measured:
        for make, _ in ROWS.values():
            assert pdacon.compile(make(3), pdacon.Vocabulary.bytes()).matcher().allowed_tokens()
        return
    rows = []
    for name, (_, counts) in ROWS.items():
        for count in counts:
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
            command = [sys.executable, "-P", __file__, name, str(count)]
            done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE)
            rows.append([f"{count:,} {name}", *(f"{time:.1f}" for time in json.loads(done.stdout))])
    show(["tekken", "first (ms)", "again (ms)"], rows)


if __name__ == "__main__":
    print(json.dumps(measured_row(sys.argv[1], int(sys.argv[2]))))
