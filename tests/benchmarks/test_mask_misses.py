"""Mask misses: masks that are not filed yet and are computed, with a vocabulary of 131,072 tokens.

    pip install '.[test]' && pytest tests/benchmarks/test_mask_misses.py --benchmark-enable -s

Without ``--benchmark-enable`` each runs once, as a test that it works. Nothing here asserts a time. With it, the
percentiles of the single misses are printed: CPU time of the calls of `fill_bitmask` that computed a mask.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import lark
import numpy as np
import pytest
from support.real_vocabularies import coded

from pdacon import Constraint, Grammar, compile

SQL = (
    "SELECT t.name, count(*) AS n FROM ticket AS t JOIN person AS p ON t.owner = p.id WHERE p.age >= 18 AND t.state "
    "IN ('open', 'new') GROUP BY t.name HAVING count(*) > 1 ORDER BY n DESC LIMIT 10",
    "INSERT INTO ticket (name, state) VALUES ('printer', NULL), ('phone', 'new') ON CONFLICT (name) DO NOTHING",
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 9) SELECT group_concat(x, ', ') FROM c",
)
JSON = ('{"id": 17, "tags": ["a", "b\\n"], "ratio": -1.5e3, "inner": {"ok": true, "none": null, "list": [[], {}]}}',)
PYTHON = (
    "import os\n\n\nclass Reader(Base):\n    size: int = 4096\n\n    def read(self, path, *, text=True):\n"
    "        with open(path, 'r' if text else 'rb') as file:\n            for k, line in enumerate(file):\n"
    "                if line.startswith('#') or not line.strip():\n                    continue\n"
    "                yield {k: [x ** 2 for x in line[1:-1].split(',')]}\n",
)


def larks_python() -> Grammar:
    path = Path(lark.__file__).parent / "grammars" / "python.lark"
    return Grammar.from_file(path, start="file_input", postlex="python", conflicts="shift", lookahead="commit")


def misses(constraint: Constraint, texts: list[list[int]]) -> list[float]:
    """Microseconds of CPU time of each call that computes a mask."""
    row = np.zeros((1, -(-constraint.vocabulary.size // 32)), np.int32)
    spent = []
    computed = constraint.statistics()["masks_computed"]
    for tokens in texts:
        matcher = constraint.matcher(max_rollback=0)
        for token in [*tokens, constraint.vocabulary.eos_ids[0]]:
            begin = time.thread_time_ns()
            matcher.fill_bitmask(row)
            end = time.thread_time_ns()
            if (now := constraint.statistics()["masks_computed"]) != computed:
                spent.append((end - begin) / 1e3)
                computed = now
            assert matcher.accept_token(token)
    return spent


@pytest.mark.benchmark(group="all mask misses of a few texts, fresh constraint")
@pytest.mark.parametrize("name", ["json", "sql", "python", "python.lark"])
def test_mask_misses(name: str, benchmark: Any) -> None:
    tekken = coded("tekken")
    grammar = larks_python() if name == "python.lark" else Grammar.builtin(name)
    texts = [tekken.encode(text) for text in {"json": JSON, "sql": SQL}.get(name, PYTHON)]
    spent: list[float] = []

    def fresh() -> tuple[tuple[Constraint, list[list[int]]], dict[str, Any]]:
        return (compile(grammar, tekken.vocabulary), texts), {}

    def run(constraint: Constraint, texts: list[list[int]]) -> None:
        spent.extend(misses(constraint, texts))

    benchmark.pedantic(run, setup=fresh, rounds=10 if benchmark.enabled else 1)
    assert spent
    if benchmark.enabled:
        p50, p90, p99 = np.percentile(spent, [50, 90, 99])
        print(f"\n{name}: {len(spent)} misses, p50 {p50:.0f} p90 {p90:.0f} p99 {p99:.0f} max {max(spent):.0f} us")
