"""Reports as users read them.

After a change that is meant: ``PDACON_UPDATE_GOLDENS=1 pytest tests/determinism``, then read the diff.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pdacon.determinism import check
from pdacon.grammar import Grammar

GOLDENS = Path(__file__).parent / "goldens"


@pytest.mark.parametrize("path", sorted(GOLDENS.glob("*.lark")), ids=lambda path: path.stem)
def test_report_reads_as_before(path: Path) -> None:
    grammar = Grammar.from_lark(path.read_text(encoding="utf-8"), source_path=path.name)
    rendered = check(grammar).render() + "\n"
    expected = path.with_suffix(".txt")
    if os.environ.get("PDACON_UPDATE_GOLDENS"):
        expected.write_text(rendered, encoding="utf-8")
    assert rendered == expected.read_text(encoding="utf-8")
