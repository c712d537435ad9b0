"""The gallery: of each grammar its samples, stock Lark and a parser that others wrote agree."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from support.gallery import REFERENCES
from support.lark_oracle import accepts

from pdacon import Grammar

GRAMMARS = Path(__file__).parents[2] / "grammars"
NAMES = [*REFERENCES]


@pytest.fixture(autouse=True)
def _without_interegular(monkeypatch: pytest.MonkeyPatch) -> None:
    """What Lark does with it, warn of collisions, takes minutes for the letters of all of Unicode."""
    monkeypatch.setattr("lark.lexer.has_interegular", False)


@pytest.fixture(scope="module")
def grammars() -> dict[str, Grammar]:
    return {name: Grammar.builtin(name) for name in NAMES}


def samples(names: Iterable[str]) -> list[Any]:
    return [
        pytest.param(name, kind == "accept", path.read_bytes().decode(), id=f"{name}/{kind}/{path.name}")
        for name in names
        for kind in ("accept", "reject")
        for path in sorted((GRAMMARS / name / kind).iterdir())
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "wanted", "text"), samples(NAMES))
def test_samples(grammars: dict[str, Grammar], name: str, wanted: bool, text: str) -> None:
    assert accepts(grammars[name], text) == wanted


@pytest.mark.parametrize(("name", "wanted", "text"), samples(REFERENCES))
def test_the_reference_agrees_on_samples(name: str, wanted: bool, text: str) -> None:
    reference = REFERENCES[name]
    pytest.importorskip(reference.module)
    assert reference.accepts(text) == wanted or reference.aside(text)
