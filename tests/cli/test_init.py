"""``pdacon init``: what it writes passes every check, and nothing is written over."""

from __future__ import annotations

from pathlib import Path

import pytest

from pdacon.cli import main


@pytest.mark.slow
def test_what_it_writes_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "orders"]) == 0
    said = capsys.readouterr()
    assert said.out.splitlines()[0] == str(Path("orders", "orders.lark"))
    assert "pdacon check orders" in said.err
    assert main(["check", "orders/orders.lark", "--fail-on", "warning"]) == 0
    assert main(["fmt", "--check", "orders/orders.lark"]) == 0
    capsys.readouterr()
    assert main(["test", "orders/orders.lark"]) == 0
    assert "4" in capsys.readouterr().out


def test_nothing_is_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine" / "accept").mkdir(parents=True)
    (tmp_path / "mine" / "accept" / "one.txt").write_text("mine", encoding="utf-8")
    assert main(["init", "mine"]) == 2
    assert "is there already" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "mine").rglob("*.*")] == ["one.txt"]
    assert main(["init", "a b"]) == 2
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert main(["init", "file"]) == 2
    assert "file" in capsys.readouterr().err


def test_folders_that_there_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever a command writes, the message names the folder and the way out."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("", encoding="utf-8")
    (tmp_path / "a.gbnf").write_text('root ::= "a"', encoding="utf-8")
    complaints = {
        ("init", ""): "give the folder a name, such as: pdacon init orders",
        ("init", "file"): "file: a file, not a folder; name another one",
        ("init", "file/x"): "file/x: file is a file, not a folder; name another one",
        ("draw", "json", "-o", "no/x.svg"): "no/x.svg: there is no folder no; make it first, or name another one",
        ("draw", "json", "-o", "file/x.svg"): "file/x.svg: file is a file, not a folder; name another one",
        (
            "convert",
            "a.gbnf",
            "-o",
            "no/x.lark",
        ): "no/x.lark: there is no folder no; make it first, or name another one",
        ("compile", "json", "-t", "tiny", "-o", "no/x.pda"): "no/x.pda: there is no folder no; make it first",
        ("fmt", ""): "'': no such file; fmt takes files of Lark grammars",
    }
    for command, complaint in complaints.items():
        assert main(list(command)) == 2
        assert f"pdacon: {complaint}" in capsys.readouterr().err
    assert main(["init", "not/there/yet"]) == 0
    assert (tmp_path / "not" / "there" / "yet" / "yet.lark").is_file()
