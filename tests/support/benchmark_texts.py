"""Texts that the benchmarks replay: the same on every machine, but for the Python, which is that of its interpreter."""

from __future__ import annotations

import json
import random
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

RECORD = '{"id": 17, "tags": ["a", "b\\n"], "ratio": -1.5e3, "inner": {"ok": true, "none": null, "list": [[], {}]}}'
_GRAMMARS = Path(__file__).parents[2] / "grammars"


def json_texts(count: int) -> list[str]:
    """Arrays of values of every kind, four levels deep."""
    rng = random.Random(1)
    return [json.dumps([_value(rng, 4)], ensure_ascii=False) for _ in range(count)]


def beginnings_of_arrays(encode: Callable[[str], list[int]], count: int, length: int) -> list[list[int]]:
    """So many first tokens of as many arrays, each another one, none of which ends within them."""
    values = [json.loads(text)[0] for text in json_texts(20 * count)]
    beginnings = []
    for place in range(count):
        array = values[20 * place : 20 * place + 20]
        while len(tokens := encode(json.dumps(array, ensure_ascii=False))) <= length:
            array = array * 2
        beginnings.append(tokens[:length])
    return beginnings


def _value(rng: random.Random, depth: int) -> Any:
    kind = rng.randrange(8 if depth else 5)
    if kind < 2:
        return "".join(rng.choices('abcdefghij klmnop qrstuvwxyz"\\/é中😀\n0123', k=rng.randint(0, 30)))
    if kind == 2:
        return rng.choice([True, False, None])
    if kind < 5:
        return rng.choice([rng.randint(-9999, 9999), rng.uniform(-1e6, 1e6), 1.5e-9])
    if kind < 7:
        return {f"key_{rng.randint(0, 99)}": _value(rng, depth - 1) for _ in range(rng.randint(0, 6))}
    return [_value(rng, depth - 1) for _ in range(rng.randint(0, 6))]


def sql_texts(count: int) -> list[str]:
    """Scripts that SQLite takes: the samples of the grammar."""
    return [path.read_text(encoding="utf-8") for path in sorted((_GRAMMARS / "sql" / "accept").iterdir())][:count]


def python_texts(count: int) -> list[str]:
    """Modules of the standard library of up to 20,000 characters, without tabs and beyond ASCII nothing."""
    found = []
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        text = path.read_bytes()
        if len(text) <= 20_000 and text.isascii() and b"\t" not in text:
            found.append(text.decode("ascii"))
    return found[:count]


TEXTS = {"json": json_texts, "sql": sql_texts, "python": python_texts}
