"""Grammars in other dialects on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from lark import Lark

from pdacon.cli.app import run

_TEXT = 'root ::= "(" root ")" | [a-z]+\n'


@pytest.mark.parametrize("ending", ["gbnf", "ebnf"])
def test_a_file_is_a_grammar_by_its_ending(ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / f"my.{ending}"
    file.write_text(_TEXT)
    assert run(["check", str(file)]) == 0
    assert run(["explain", str(file), "((a)"]) == 0
    capsys.readouterr()
    assert run(["convert", str(file)]) == 0
    Lark(capsys.readouterr().out, parser="lalr", start="root").parse("((a))")


def test_the_dialect_of_other_files_is_given(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "rules.txt"
    file.write_text(_TEXT)
    assert run(["convert", str(file)]) == 2
    assert "--from" in capsys.readouterr().err
    assert run(["convert", str(file), "--from", "gbnf", "-o", str(tmp_path / "my.lark")]) == 0
    assert run(["check", str(tmp_path / "my.lark"), "--start", "root"]) == 0


def test_what_is_no_grammar_has_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "my.gbnf"
    file.write_text("root ::= x\n")
    assert run(["check", str(file)]) == 2
    assert f"{file}:1:10" in capsys.readouterr().err
