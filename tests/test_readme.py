"""What the README shows is what happens."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[1] / "README.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def test_the_python_examples_run_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    namespace: dict[str, object] = {}
    for block in blocks("python"):
        exec(compile(block, str(README), "exec"), namespace)
    printed = capsys.readouterr().out
    (report,) = blocks("text")
    assert printed.endswith(report)
    assert "Describe a person as JSON:" in printed


def test_links_lead_somewhere() -> None:
    linked = re.findall(r"\]\(([^)#:]+)\)", README.read_text(encoding="utf-8"))
    assert linked
    assert [path for path in linked if not (README.parent / path).exists()] == []
