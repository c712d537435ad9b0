"""`pdacon list`, and what `--help` shows at 80 columns."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pdacon import Grammar
from pdacon.cli import main
from pdacon.cli.app import app

COMMANDS = ["list", "check", "compile", "show", "sample", "mask", "explain", "generate", "tokens", "draw"]


def test_list_has_every_built_in_grammar(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    out = capsys.readouterr().out
    names = [line.split()[0] for line in out.splitlines() if not line.startswith(" ")]
    assert names == list(Grammar.builtins())
    assert max(map(len, out.splitlines())) <= 110
    assert main(["list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == Grammar.builtins()


@pytest.mark.parametrize("command", COMMANDS)
def test_help_begins_with_an_example_and_fits_a_screen(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main([command, "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 40
    shown = [line.strip() for line in lines if line.strip()]
    assert shown[0].startswith(f"Usage: pdacon {command}")
    assert shown[1].startswith(f"$ pdacon {command}")
    assert "[GRAMMAR]" not in shown[0]
    assert "{GRAMMAR}" not in shown[0]
    assert main([command, "--help-all"]) == 0
    whole = capsys.readouterr().out
    assert not any(type in whole for type in ("<bool>", "<str>", "<list", "[x>="))
    assert max(map(len, whole.splitlines())) <= 80
    # An example that is wrapped cannot be copied.
    begun = [line.strip() for line in whole.splitlines() if line.strip()][1:]
    examples = [line for line in begun if line.startswith("$ ")]
    assert examples == begun[: len(examples)]
    assert all(line.count("'") % 2 == 0 for line in examples)
    if command not in ("list", "show", "tokens"):
        assert all(option in whole for option in ("--lexer", "--use-bytes", "--bound-labels"))
        assert "--lexer" not in "".join(lines)


def test_all_help_of_pdacon_itself_is_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    short = capsys.readouterr().out
    assert main(["--help-all"]) == 0
    assert capsys.readouterr().out.strip() == short.strip()


def test_usage_says_what_is_wanted(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    usages = {
        "check": "[OPTIONS] GRAMMAR...",
        "generate": "[OPTIONS] GRAMMAR",
        "mask": "[OPTIONS] GRAMMAR [TEXT]",
        "tokens": "[OPTIONS] [TOKEN]...",
    }
    for command, usage in usages.items():
        assert main([command, "--help"]) == 0
        assert f"Usage: pdacon {command} {usage}" in [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    assert "<bool>" not in out
    assert len(out.splitlines()) <= 40
    assert out.index("$ pdacon generate json") < out.index("Options")


@pytest.mark.parametrize("columns", [20, 40, 80, 200])
@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_in_any_width(
    command: str, columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert main([*filter(None, [command]), "--help"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert max(map(len, out.splitlines())) <= max(columns, 40)


def test_a_grammar_with_a_slip_in_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "orders.lark").write_text('start: "x"')
    for name, meant in (("jsn", "did you mean json"), ("order.lark", "did you mean orders.lark?")):
        assert main(["check", name]) == 2
        assert meant in capsys.readouterr().err


@pytest.mark.slow
def test_json_is_an_option_of_every_command_that_prints_results(capsys: pytest.CaptureFixture[str]) -> None:
    commands = [
        ["check", "json"],
        ["mask", "json", "["],
        ["explain", "json", "["],
        ["sample", "json", "-n", "1"],
        ["tokens"],
        ["tokens", "a"],
        ["list"],
    ]
    for command in commands:
        main([*command, "--json"])
        assert json.loads(capsys.readouterr().out), command


def test_tokens_show_how_a_text_is_cut(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tokens", "hé", "-t", "bytes"]) == 1
    out = capsys.readouterr().out
    assert '"hé"  is not one token' in out
    assert r'the tokenizer cuts it into: 104 "h"  195 "\xc3"  169 "\xa9"' in out
    assert main(["tokens", "hello", "--json"]) == 1
    split = json.loads(capsys.readouterr().out)["split"]
    assert len(split) > 1


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="a pipe that closes is something else there")
@pytest.mark.parametrize("command", [["sample", "json", "-n", "2000"], ["tokens", *map(str, range(3000))], ["list"]])
def test_a_reader_that_has_seen_enough_is_no_error(command: list[str]) -> None:
    program = [sys.executable, "-P", "-m", "pdacon", *command]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read().decode() in ("", "--seed")
        assert process.wait(timeout=60) == 0


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="a pipe that closes is something else there")
@pytest.mark.parametrize(
    "command",
    [
        *(["--help"], ["--version"], ["check", "--help"], ["draw", "--help-all"], ["check", "--explain", "PDA001"]),
        *(["parse", "json", "[1]"], ["draw", "json"], ["config", "--cflags"]),
    ],
    ids=" ".join,
)
def test_a_reader_that_has_gone_before_is_no_error(command: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "pdacon", *command], stdout=writer, stderr=subprocess.PIPE, timeout=60
        )
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


def test_help_names_every_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(re.search(rf"\b{command.name}\b", out) for command in app.registered_commands)


def test_a_slip_in_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chekc"]) == 2
    assert capsys.readouterr().err == "pdacon: No such command 'chekc'. Did you mean 'check'? See pdacon --help\n"
    assert main(["init", "my.lark"]) == 2
    assert "give the name of the folder, in which the grammar is named like it: my\n" in capsys.readouterr().err
