"""Options at the head of a grammar's file, and pytest's plugin, which has no other way to be told them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pdacon.cli import main

ITEMS = '// A list.\n\n// pdacon: --start items --conflicts shift\n\nitems: item+\nitem: "a" item? | "b"\n'


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("items.lark").write_text(ITEMS, encoding="utf-8")


def test_every_command_reads_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "items.lark"]) == 0
    assert main(["parse", "items.lark", "ab"]) == 0
    assert capsys.readouterr().out.endswith("items\n  item\n    item\n")


def test_the_command_line_goes_before(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parse", "items.lark", "ab", "--start", "item"]) == 0
    assert capsys.readouterr().out == "item\n  item\n"


def test_only_the_head_counts(capsys: pytest.CaptureFixture[str]) -> None:
    Path("late.lark").write_text('start: "a"\n// pdacon: --start other\nother: "b"\n', encoding="utf-8")
    assert main(["parse", "late.lark", "a"]) == 0
    assert capsys.readouterr().out == "start\n"


def test_folders_are_beside_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    Path("more").mkdir()
    Path("more/words.lark").write_text("WORD: /[a-z]+/\n", encoding="utf-8")
    Path("more/line.lark").write_text("// pdacon: --import-path .\n%import words.WORD\nstart: WORD\n", encoding="utf-8")
    assert main(["parse", "more/line.lark", "abc"]) == 0
    assert capsys.readouterr().out == 'start\n  WORD "abc"\n'


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("--strat x", "No such option: --strat"),
        ("--conflicts maybe", "'maybe' is not one of 'error', 'shift'"),
        ("--postlex os:path", "a grammar cannot have a module imported; give --postlex on the command line"),
        ("--schema a.json", "--schema is for the command line; a grammar cannot ask for it"),
        ('--start "', "No closing quotation"),
        ("items", "unexpected extra argument"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(line: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("wrong.lark").write_text(f'// pdacon: {line}\nstart: "a"\n', encoding="utf-8")
    assert main(["check", "wrong.lark"]) == 2
    message = capsys.readouterr().err
    assert message.startswith("pdacon: wrong.lark:1: ")
    assert says in message
    assert message.count("\n") == 1


def run_pytest(*options: str) -> tuple[int, str]:
    """By name, as it may not be installed; not twice, where it is."""
    plugin = ["-p", "no:pdacon", "-p", "pdacon.cli.pytest_plugin", "-p", "no:cacheprovider"]
    command = [sys.executable, "-P", "-m", "pytest", "-q", *plugin, *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_texts_beside_a_grammar_are_tests() -> None:
    for name, text in {"accept/one": "ab", "accept/wrong": "abc", "reject/empty": "", "reject/right": "b"}.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")
    code, said = run_pytest()
    assert code == 1
    assert "2 failed, 2 passed" in said
    assert "accept/wrong is refused" in said
    assert "wrong:1:3: error: " in said
    assert "reject/right is taken" in said
    assert "Traceback" not in said

    Path("accept/wrong").unlink()
    Path("reject/right").unlink()
    assert run_pytest("--update-grammars")[0] == 0
    assert Path("accept/one.tree").read_text("utf-8") == "items\n  item\n    item\n"
    Path("accept/one").write_text("b", encoding="utf-8")
    code, said = run_pytest("-k", "one")
    assert (code, "accept/one is not as in one.tree" in said) == (1, True)


def test_a_grammar_that_cannot_be_used_is_an_error_of_collection() -> None:
    Path("accept").mkdir()
    Path("items.lark").write_text("start: nothing\n", encoding="utf-8")
    code, said = run_pytest()
    assert code == 2
    assert "nothing" in said
    assert "Traceback" not in said


def test_other_grammars_are_left_alone() -> None:
    assert run_pytest()[0] == 5
