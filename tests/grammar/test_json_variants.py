"""The variants of json.lark: their samples, stock Lark and Python's ``json`` agree."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.collisions import strict_lark
from support.json_references import REFERENCES
from support.lark_oracle import accepts

from pdacon import Grammar, check

GRAMMARS = Path(__file__).parents[2] / "grammars"
LAYOUTS: dict[str, dict[str, Any]] = {
    "json_compact": {"separators": (",", ":")},
    "json_dumps": {},
    "json_pretty": {"indent": 2},
    "json_pretty4": {"indent": 4},
    "jsonl": {},
}
NAMES = sorted(LAYOUTS)


def samples(kind: str) -> list[Any]:
    return [
        pytest.param(name, path.read_bytes(), id=f"{name}/{path.name}")
        for name in NAMES
        for path in sorted((GRAMMARS / name / kind).iterdir())
    ]


@pytest.fixture(scope="module")
def grammars() -> dict[str, Grammar]:
    return {name: Grammar.builtin(name) for name in NAMES}


@pytest.mark.parametrize(("name", "text"), samples("accept"))
def test_accepts(grammars: dict[str, Grammar], name: str, text: bytes) -> None:
    assert REFERENCES[name](text.decode())
    assert accepts(grammars[name], text)


@pytest.mark.parametrize(("name", "text"), samples("reject"))
def test_rejects(grammars: dict[str, Grammar], name: str, text: bytes) -> None:
    assert not REFERENCES[name](text.decode())
    assert not accepts(grammars[name], text)


@pytest.mark.parametrize("name", NAMES)
def test_they_are_clean(grammars: dict[str, Grammar], name: str) -> None:
    strict_lark(grammars[name].to_lark(), **grammars[name].lark_options)
    endless_whitespace = {"jsonl": ["PDA016"]}
    assert [finding.id for finding in check(grammars[name]).findings] == endless_whitespace.get(name, [])


def some_value(random: Random, levels: int) -> Any:
    kind = random.randrange(7 if levels else 5)
    if kind < 2:
        return "".join(random.choices('ab "\\/[]{},:\n\té中😀\u2028\x7f0', k=random.randrange(8)))
    if kind == 2:
        return random.choice([True, False, None])
    if kind < 5:
        return random.choice([random.randint(-99, 99), random.uniform(-9, 9), 1.5e-9, 1e22, 10**30])
    if kind == 5:
        return {str(random.randint(0, 99)): some_value(random, levels - 1) for _ in range(random.randrange(4))}
    return [some_value(random, levels - 1) for _ in range(random.randrange(4))]


@pytest.mark.parametrize("ensure_ascii", [True, False])
def test_what_python_writes(grammars: dict[str, Grammar], ensure_ascii: bool, tally: Callable[..., None]) -> None:
    random = Random(1)
    for _ in range(300):
        value = some_value(random, 6)
        for name, layout in LAYOUTS.items():
            text = json.dumps(value, ensure_ascii=ensure_ascii, **layout) + ("\n" if name == "jsonl" else "")
            assert accepts(grammars[name], text), (name, text)
        tally(values=1)


@pytest.mark.parametrize("name", NAMES)
def test_damaged_texts(grammars: dict[str, Grammar], name: str, tally: Callable[..., None]) -> None:
    """One byte of white space or punctuation more, less or another."""
    random = Random(name)
    for _ in range(600):
        text = json.dumps([some_value(random, 3), some_value(random, 3)], **LAYOUTS[name])
        if name == "jsonl":
            text = text[1:-1].replace(", ", "\n", 1)
        at = random.randrange(len(text) + 1)
        damaged = text[:at] + random.choice(["", " ", "  ", "\n", "\n  ", ",", "]"]) + text[at + random.randrange(3) :]
        verdict = accepts(grammars[name], damaged)
        assert verdict == REFERENCES[name](damaged), damaged
        tally(texts=1, sentences=int(verdict))


@pytest.mark.parametrize("name", ["json", *NAMES])
def test_only_objects_or_only_arrays(name: str) -> None:
    layout = LAYOUTS.get(name, {})
    objects, arrays = Grammar.builtin(name, start="object"), Grammar.builtin(name, start="array")
    for value in ({}, {"a": {}}, {"a": 1, "b": [[]]}):
        assert accepts(objects, json.dumps(value, **layout))
        assert not accepts(arrays, json.dumps(value, **layout))
    for array in ([], [[]], [1, {"a": {}}]):
        assert accepts(arrays, json.dumps(array, **layout))
        assert not accepts(objects, json.dumps(array, **layout))
