"""Programs that others collected, with the verdicts of CPython 3.13's `ast.parse`, which the ``python`` grammar shares.

The collections lie beside the checkout where there are any; elsewhere these tests are skipped.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from conftest import Tally
from support.builtin import over_bytes

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data" / "python"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["humaneval_mbpp", "snippets"])
def test_verdicts_are_those_of_cpython(name: str, tally: Tally) -> None:
    path = FOLDER / f"{name}.jsonl.gz"
    if not path.exists():
        pytest.skip("no collection of programs beside the checkout")
    constraint = over_bytes("python")
    wrong = []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for case in map(json.loads, lines):
            matcher = constraint.matcher(max_rollback=0)
            taken = matcher.accept_bytes(case["text"].encode()) and matcher.is_accepting()
            tally(programs=taken, other_texts=not taken)
            if taken != case["ast"]["3.13"]:
                wrong.append(case["id"])
    assert wrong == []
