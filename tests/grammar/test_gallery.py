"""The gallery: of each grammar its samples, stock Lark and a parser that others wrote agree."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from support.builtin import builtin
from support.gallery import REFERENCES
from support.lark_oracle import accepts

GRAMMARS = Path(__file__).parents[2] / "grammars"
NAMES = [*REFERENCES]


def samples(names: Iterable[str]) -> list[Any]:
    return [
        pytest.param(name, kind == "accept", path.read_bytes().decode(), id=f"{name}/{kind}/{path.name}")
        for name in names
        for kind in ("accept", "reject")
        for path in sorted((GRAMMARS / name / kind).iterdir())
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "wanted", "text"), samples(NAMES))
def test_samples(name: str, wanted: bool, text: str) -> None:
    assert accepts(builtin(name), text) == wanted


@pytest.mark.parametrize(("name", "wanted", "text"), samples(REFERENCES))
def test_the_reference_agrees_on_samples(name: str, wanted: bool, text: str) -> None:
    reference = REFERENCES[name]
    pytest.importorskip(reference.module)
    assert reference.accepts(text) == wanted or reference.aside(text)
