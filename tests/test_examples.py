"""The examples run as printed, and what the model writes in them is in the language."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from support.lark_oracle import accepts

import pdacon

EXAMPLES = Path(__file__).parent.parent / "examples"


def test_own_grammar(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("transformers")
    found = runpy.run_path(str(EXAMPLES / "own_grammar.py"), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    grammar = pdacon.Grammar.from_lark(found["GRAMMAR"])
    written = [line.removeprefix("model:").strip() for line in lines if line.startswith("model:")]
    assert len(written) == 2
    assert all(accepts(grammar, text) for text in written), written
    assert "shortest way to the end: arge tea." in lines
