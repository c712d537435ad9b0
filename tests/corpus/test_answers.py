"""What `answers.py` writes down is the same each time, and two files are compared field by field."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from corpus import asked_grammars
from corpus.asking import ask
from corpus.comparing_answers import compare

KINDS = {
    "corpus": asked_grammars.corpus,
    "schemas": asked_grammars.schemas,
    "notations": asked_grammars.notations,
    "tags": asked_grammars.tags,
    "types": asked_grammars.types,
    "random": asked_grammars.random_grammars,
}
ANSWERED = {"source", "fingerprint", "Lark text", "names", "report", "masks of start 0", "stored masks of start 0"}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_answers_are_the_same_each_time(kind: str) -> None:
    if kind == "schemas" and not asked_grammars.DATA.exists():
        pytest.skip(f"there is no {asked_grammars.DATA}")
    ((name, make),) = KINDS[kind](1)
    ((again, make_again),) = KINDS[kind](1)
    answers = ask(make)
    assert answers.keys() >= ANSWERED
    assert answers["masks of start 0"] == answers["stored masks of start 0"]
    assert (name, answers) == (again, ask(make_again))


def test_names_are_told_from_masks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers = {"names": "1", "masks of start 0": "2", "masks of start 1": "3"}
    before = write(tmp_path / "before", a=answers, b=answers, c={"error": "ValueError: no"}, d={}, e=answers)
    after = write(
        tmp_path / "after", a={**answers, "names": "0"}, b={**answers, "masks of start 1": "0"}, c={}, e={"ended": "-9"}
    )
    assert compare(before, before) == 0
    capsys.readouterr()
    assert compare(before, after) == 1
    printed = capsys.readouterr().out
    assert f"only in {before}: d\n" in printed
    for line in ("names: 1 of 2 differ: a", "masks: 1 of 2 differ: b", "error: 1 of 1 differ: c", "4 grammars differ"):
        assert line in printed
    assert "ended: 1 of 1 differ: e" in printed


def write(path: Path, **answers: dict[str, str]) -> Path:
    rows = [json.dumps({"name": name, "answers": of_one}) for name, of_one in answers.items()]
    path.write_text("\n".join(rows), encoding="utf-8")
    return path
