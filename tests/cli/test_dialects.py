"""Grammars in other dialects on the command line."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import pytest
from lark import Lark

from pdacon.cli.app import run

_DANGLING = 'root ::= "if " root (" else " root)? | "x"\n'
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


@pytest.mark.parametrize("name", ["my.gbnf", "MY.GBNF", "my.ebnf"])
def test_a_shift_can_be_taken_as_advised(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / name
    file.write_text(_DANGLING)
    assert run(["check", str(file)]) == 1
    assert "Or settle it with --conflicts shift: " in capsys.readouterr().out.replace("\n        ", " ")
    assert run(["check", str(file), "--conflicts", "shift"]) == 0
    assert run(["explain", str(file), "if if x else x", "--conflicts", "shift", "--whole"]) == 0
    capsys.readouterr()
    assert run(["check", str(file), "--lookahead", "commit"]) == 2
    assert "only --conflicts goes with this dialect" in capsys.readouterr().err


def test_the_grammar_of_a_module_is_advised_in_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rules_of_sums.py").write_text(
        'import pdacon\nSUMS = pdacon.Grammar.from_lark(\'start: start "+" start | "1"\')\n'
    )
    monkeypatch.chdir(tmp_path)
    assert run(["check", "rules_of_sums.py:SUMS"]) == 1
    assert 'conflicts="shift"' in capsys.readouterr().out


def test_what_convert_writes_has_its_start_at_its_head(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = tmp_path / "my.gbnf", tmp_path / "my.lark"
    file.write_text(_TEXT)
    assert run(["convert", str(file), "-o", str(out)]) == 0
    assert out.read_text().startswith("// pdacon: --start root\n")
    assert run(["check", str(out)]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(sys.platform == "win32", reason="has no named pipes")
def test_convert_reads_a_pipe(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pipe = tmp_path / "my.gbnf"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(_TEXT,), daemon=True)
    writer.start()
    assert run(["convert", str(pipe)]) == 0
    assert "root: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("missing.gbnf", None, "no such file; convert takes files in GBNF, EBNF or llguidance's language"),
        (".", None, ".: a directory; convert takes files"),
        ("empty.gbnf", b"", "empty.gbnf:1:1: no rule is called root"),
        ("my.gbnf", b"root ::= \xff", "my.gbnf:1:10: not UTF-8 at byte 9; save it as UTF-8"),
        ("my.gbnf", b'\xef\xbb\xbfroot ::= "a"', "my.gbnf:1:1: begins with a byte order mark"),
        ("my.lark", b'start: "a"', "my.lark: it is in Lark's language already"),
        ("my.txt", b"", "my.txt: what is it written in? Say --from gbnf"),
    ],
)
def test_what_convert_cannot_read(
    name: str,
    content: bytes | None,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    if content is not None:
        Path(name).write_bytes(content)
    assert run(["convert", name]) == 2
    assert message in capsys.readouterr().err
