"""A part of what `support/yaml_oracle.py` compares."""

from __future__ import annotations

from collections import Counter

import pytest
from support.yaml_oracle import STYLES, differences_of_dumps, differences_of_schema


@pytest.mark.slow
@pytest.mark.parametrize("first", [0, 390, 730, 1274, 1950])
def test_random_schemas(first: int) -> None:
    counts: Counter[str] = Counter()
    assert [text for seed in range(first, first + 12) for text in differences_of_schema(seed, counts)] == []
    assert counts["samples"] > 20
    assert counts["mutants that are taken"] > 0


@pytest.mark.slow
def test_what_dumpers_write() -> None:
    counts: Counter[str] = Counter()
    assert list(differences_of_dumps(150, counts)) == []
    assert all(counts[f"{style}: taken"] > 90 for style in STYLES)
