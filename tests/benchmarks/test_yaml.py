"""YAML beside JSON under the same schemas: the first mask, and the masks along the texts of a value.

    pytest tests/benchmarks/test_yaml.py --benchmark-enable --benchmark-timer=time.process_time

prints a table. JSON is read on demand, and is made as a whole where lines are indented, as YAML is. Without
``--benchmark-enable`` one schema is tried. Nothing here asserts a time.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
import pytest
import yaml
from support.real_vocabularies import coded

import pdacon
from pdacon import Grammar, Spelling

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "email": {"type": "string", "format": "email"},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "friends": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string", "maxLength": 80}, "score": {"type": "number"}},
                "required": ["name"],
                "additionalProperties": False,
            },
        },
        "kind": {"enum": ["customer", "supplier"]},
    },
    "required": ["name", "kind"],
    "additionalProperties": False,
}
SCHEMAS: dict[str, Any] = {"a person with friends": PERSON, "any value": True, "any object": {"type": "object"}}
VALUE = {
    "name": "Ann Lee",
    "email": "ann@example.org",
    "age": 34,
    "friends": [{"name": f"Friend number {k}", "score": k / 4} for k in range(20)],
    "kind": "customer",
}


@pytest.mark.slow
def test_yaml_beside_json(measured: bool, clock: Callable[[], float], show: Callable[..., None]) -> None:
    words = coded("tekken")
    languages: dict[str, tuple[Spelling | None, str]] = {
        "JSON": (None, json.dumps(VALUE)),
        "JSON, indented": (Spelling(whitespace="indent"), json.dumps(VALUE, indent=2)),
        "YAML": (Spelling(language="yaml"), yaml.safe_dump(VALUE, sort_keys=False, default_flow_style=False)),
    }
    bitmask = np.zeros((1, (words.vocabulary.size + 31) // 32), np.int32)

    def row(schema: Any, language: str) -> list[object]:
        spelling, text = languages[language]
        firsts, along = [], []
        for _ in range(5 if measured else 1):
            begin = clock()
            grammar = Grammar.from_json_schema(schema, spelling)
            constraint = pdacon.compile(grammar, words.vocabulary)
            constraint.matcher().fill_bitmask(bitmask)
            firsts.append((clock() - begin) * 1e3)
        for _ in range(2):  # the second time all masks are known
            matcher, times = constraint.matcher(), []
            for token in words.encode(text):
                begin = clock()
                assert matcher.accept_token(token)
                matcher.fill_bitmask(bitmask)
                times.append((clock() - begin) * 1e6)
            assert matcher.is_accepting()
            along.append(times)
        new, known = (np.percentile(times, [50, 99]) for times in along)
        statistics = constraint.statistics()
        return [
            f"{median(firsts):.1f}", f"{new[0]:.0f} / {new[1]:.0f}", f"{known[0]:.1f} / {known[1]:.1f}",
            len(words.encode(text)), f"{statistics['bytes'] / 1e6:.2f}",
        ]  # fmt: skip

    rows = [
        [name, language, *row(schema, language)]
        for name, schema in (SCHEMAS if measured else {"a person with friends": PERSON}).items()
        for language in languages
    ]
    columns = ("schema", "language", "first mask (ms)", "new masks p50 / p99 (µs)", "known masks", "tokens", "MB")
    show(columns, rows)
