"""``pdacon check``: exit status, streams, formats, and every kind of bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pdacon.cli import main

CONFLICT = """
start: expr
expr: expr "+" expr | "1"
"""
UNSETTLED = """
start: a | b
a: "x"
b: "x"
"""


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)

    def write(name: str, content: str | bytes) -> str:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return name

    return write


@pytest.mark.parametrize("name", ["json", "arithmetic"])
def test_builtin_grammars_are_fine(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", name, "--fail-on", "note"]) == 0
    out, err = capsys.readouterr()
    assert "ok (no findings)" in out
    assert err == ""


def test_findings_exit_1_and_go_to_standard_output(write, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", write("g.lark", CONFLICT)]) == 1
    out, err = capsys.readouterr()
    assert "g.lark:3:7: error[PDA001]" in out
    assert err == ""


def test_options_reach_the_grammar(write, capsys: pytest.CaptureFixture[str]) -> None:
    name = write("g.lark", CONFLICT)
    assert main(["check", name, "--conflicts", "shift"]) == 0
    assert main(["check", name, "--conflicts", "shift", "--fail-on", "note"]) == 1
    assert main(["check", write("u.lark", UNSETTLED), "--conflicts", "shift"]) == 1
    assert main(["check", name, "--start", "expr"]) == 1
    assert "note[PDA001]" in capsys.readouterr().out


def test_json_is_the_report(write, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", write("g.lark", CONFLICT), "--format", "json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["ok"] is False
    assert [finding["id"] for finding in report["findings"]] == ["PDA001"]


def test_a_path_wins_over_a_builtin_name_only_when_it_is_one(write, capsys: pytest.CaptureFixture[str]) -> None:
    write("json", CONFLICT)
    assert main(["check", "json"]) == 0
    assert main(["check", "./json"]) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["check"],
        ["check", "nosuch"],
        ["check", "nosuch.lark"],
        ["check", ""],
        ["check", "."],
        ["check", "garbage.lark"],
        ["check", "open.lark"],
        ["check", "undefined.lark"],
        ["check", "empty.lark"],
        ["check", "nul.lark"],
        ["check", "nested.lark"],
        ["check", "json", "extra"],
        ["check", "json", "--start", "nosuch"],
        ["check", "json", "--conflicts", "maybe"],
        ["check", "json", "--lookahead"],
        ["check", "json", "--fail-on", "never"],
        ["check", "json", "--nosuch"],
        ["nosuch"],
    ],
)
def test_bad_input_is_one_line_and_status_2(arguments: list[str], write, capsys: pytest.CaptureFixture[str]) -> None:
    write("garbage.lark", bytes(range(128, 256)) * 8)
    write("open.lark", 'start: "a\n')
    write("undefined.lark", "start: nosuch\n")
    write("empty.lark", "")
    write("nul.lark", b"\0\0\0")
    write("nested.lark", "start: " + "(" * 5000 + '"a"' + ")" * 5000 + "\n")
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("pdacon: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err


def test_no_command_shows_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    out, err = capsys.readouterr()
    assert "check" in out + err


@pytest.mark.parametrize("arguments", [["--help"], ["check", "--help"], ["--version"]])
def test_asking_for_help_is_not_an_error(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 0
    assert capsys.readouterr().err == ""


def test_a_start_that_is_given_twice_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "json", "--start", "value", "--start", "value"]) == 0
    assert capsys.readouterr().err == ""


INDENTED = """
start: stmt+
stmt: NAME _NEWLINE | "if" NAME ":" _NEWLINE _INDENT stmt+ _DEDENT
NAME: /[a-z]+/
_NEWLINE: /(\\r?\\n[\\t ]*)+/
%declare _INDENT _DEDENT
%ignore " "
"""


def test_postlex_is_lark_s_indenter(write, capsys: pytest.CaptureFixture[str]) -> None:
    name = write("blocks.lark", INDENTED)
    assert main(["check", name, "--fail-on", "note"]) == 1
    out = capsys.readouterr().out
    assert "warning[PDA009]: terminal that nothing produces: _INDENT" in out
    assert "--postlex python" in out
    assert main(["check", name, "--postlex", "python", "--fail-on", "note"]) == 0
    assert main(["check", name, "--postlex", "ruby"]) == 2
    assert "'ruby' is not one of 'python'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command", [["mask", "TEXT"], ["explain", "TEXT"], ["sample"], ["generate", "--max-tokens", "3"]]
)
def test_postlex_is_an_option_of_every_command(command: list[str], write, capsys: pytest.CaptureFixture[str]) -> None:
    """Masks follow indentation, or the refusal says that they do not."""
    name = write("blocks.lark", INDENTED)
    arguments = [argument.replace("TEXT", "if x:\n  y\n") for argument in command[1:]]
    status = main([command[0], name, *arguments, "--postlex", "python"])
    out, err = capsys.readouterr()
    assert (status == 0 and out) or (status == 2 and "indentation" in err)


def test_a_file_with_the_name_of_a_built_in_grammar_is_not_passed_over_in_silence(
    write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("json", 'start: "mine"')
    assert main(["check", "json"]) == 0
    out, err = capsys.readouterr()
    assert "json.lark" in out
    assert err == "pdacon: json is the built-in grammar; write ./json for the file of that name\n"
    assert main(["check", "./json"]) == 0
    assert capsys.readouterr().err == ""
