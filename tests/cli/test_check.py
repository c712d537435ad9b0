"""``pdacon check``: exit status, streams, formats, and every kind of bad input."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from pdacon.cli import main
from pdacon.determinism.report.pages import page

CONFLICT = """
start: expr
expr: expr "+" expr | "1"
"""
FINE = 'start: "a" | "b"\n'

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
    assert main(["check", name, "--fail-on", "warning"]) == 0
    out, err = capsys.readouterr()
    assert "note[PDA016]: endless ignored text" in out
    assert "ok (1 note)" in out
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


def test_json_has_what_cannot_be_loaded(write, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", write("bad.lark", "start: (\n"), write("g.lark", CONFLICT), "--format", "json"]) == 2
    report, failure = map(json.loads, capsys.readouterr().out.splitlines())
    assert (report["subject"].rpartition("/")[2], report["ok"], len(report["findings"])) == ("g.lark", False, 1)
    assert (failure["subject"].rpartition("/")[2], failure["ok"]) == ("bad.lark", False)
    assert failure["error"]["span"]["line"] == 1
    assert "bad.lark" not in failure["error"]["message"]


def test_the_place_is_no_part_of_the_message_whatever_the_file_is_called(
    write, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", write("use_bytes=True.lark", "start: (\n"), "--format", "json"]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["span"]["path"].endswith("use_bytes=True.lark")
    assert ".lark" not in error["message"]


def test_json_is_the_report(write, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", write("g.lark", CONFLICT), "--format", "json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["ok"] is False
    assert [finding["id"] for finding in report["findings"]] == ["PDA001"]


@pytest.mark.slow
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
        ["sample", "json", "extra"],
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
    first, *excerpt = err.splitlines()
    assert first.startswith("pdacon: ")
    assert [line for line in excerpt if not re.match(r" +\d* \| |see: pdacon check --explain \w+$", line)] == []
    assert len(excerpt) in (0, 1, 3)  # an address, below an excerpt where the place is known


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
    for postlex in ("python", "python4"):
        assert main(["check", name, "--postlex", postlex, "--fail-on", "warning"]) == 0
    assert main(["check", name, "--postlex", "ruby"]) == 2
    assert "--postlex ruby: expected python or python4, or an Indenter of your own as" in capsys.readouterr().err


def test_an_indenter_of_one_s_own(
    write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name = write("blocks.lark", INDENTED.replace("_NEWLINE", "_NL"))
    module = """
        from lark.indenter import Indenter, PythonIndenter
        class Blocks(PythonIndenter):
            NL_type = "_NL"
        class Other(Blocks):
            def handle_NL(self, token):
                return []
        class Wide(Blocks):
            tab_len = -1
        """
    (tmp_path / "blocks_of_mine.py").write_text(dedent(module))
    monkeypatch.chdir(tmp_path)
    assert main(["check", name, "--postlex", "blocks_of_mine:Blocks", "--fail-on", "warning"]) == 0
    assert main(["explain", name, "if x:\n  y\n", "--postlex", "blocks_of_mine:Blocks"]) == 0
    assert str(tmp_path) not in sys.path
    for wrong, shown in [
        ("blocks_of_mine:Blok", "has no attribute 'Blok'"),
        ("blocks_of_yours:Blocks", "No module named 'blocks_of_yours'"),
        ("blocks_of_mine:", "expected python"),
        ("blocks_of_mine:Other", "has its own handle_NL"),
        ("blocks_of_mine:Wide", "tab_len"),
        ("sys:path", "is not an Indenter"),
    ]:
        capsys.readouterr()
        assert main(["check", name, "--postlex", wrong]) == 2
        assert shown in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (["check"], "ok"),
        (["mask", "a", "-t", "bytes"], "E"),
        (["explain", "a"], "is allowed"),
        (["sample", "-n", "1"], "a\xe9"),
        (["sample", "-n", "1", "-t", "bytes"], "a\xe9"),
    ],
)
def test_bytes_are_an_option_of_every_command(
    command: list[str], shown: str, write, capsys: pytest.CaptureFixture[str]
) -> None:
    name = write("bytes.lark", 'start: "a" E\nE: "\\xe9"\n')
    main([command[0], name, *command[1:], "--use-bytes"])
    assert shown in "".join(capsys.readouterr())
    assert main(["check", write("euro.lark", 'start: "\\u20ac"\n'), "--use-bytes"]) == 2
    assert "with --use-bytes Lark can match nothing" in capsys.readouterr().err


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
    assert out.splitlines()[-1].startswith("json: ok")
    assert err == "pdacon: json is the built-in grammar; write ./json for the file of that name\n"
    assert main(["check", "./json"]) == 0
    assert capsys.readouterr().err == ""


def test_several_grammars_are_checked_at_once(write, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = write("good.lark", 'start: "a"'), write("bad.lark", CONFLICT)
    assert main(["check", good]) == 0
    assert main(["check", good, bad, good]) == 1
    out, err = capsys.readouterr()
    assert out.count("good.lark: ok (no findings)\n") == 2
    assert out.endswith("bad.lark: refused (1 error)\n")
    assert err == ""


def test_one_that_is_no_grammar_does_not_hide_the_others(write, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", write("nogrammar.lark", "start: nosuch\n"), write("bad.lark", CONFLICT)]) == 2
    out, err = capsys.readouterr()
    assert "error[PDA001]" in out
    assert err.startswith("pdacon: nogrammar.lark:1:8: ")
    assert err.endswith("\n  1 | start: nosuch\n    |        ^^^^^^\nsee: pdacon check --explain GrammarSyntaxError\n")
    assert err.count("\n") == 4


def test_json_has_an_object_a_line(write, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", write("bad.lark", CONFLICT), "json", "--format", "json"]) == 1
    subjects = [json.loads(line)["subject"] for line in capsys.readouterr().out.splitlines()]
    assert subjects[0] == "bad.lark"
    assert subjects[1] == "json"


def test_sarif_has_all_grammars_and_what_is_none(write, capsys: pytest.CaptureFixture[str]) -> None:
    names = [
        write("bad.lark", CONFLICT),
        write("fine.lark", FINE),
        write("nogrammar.lark", "start: nosuch\n"),
        "missing.lark",
    ]
    assert main(["check", *names, "--format", "sarif"]) == 2
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["PDA001"]
    assert "--conflicts shift" in run["results"][0]["message"]["text"]
    first, second = run["invocations"][0]["toolExecutionNotifications"]
    assert first["locations"][0]["physicalLocation"]["region"]["startColumn"] == 8
    assert second["message"]["text"].startswith("missing.lark: no such file")


def test_github_has_a_command_a_line(write, capsys: pytest.CaptureFixture[str]) -> None:
    names = [write("bad.lark", CONFLICT), write("nogrammar.lark", "start: nosuch\n")]
    assert main(["check", *names, "--format", "github"]) == 2
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("::error file=bad.lark,line=3,endLine=3,col=7,endColumn=20,title=PDA001%3A shift/reduce")
    assert second.startswith("::error file=nogrammar.lark,line=1,endLine=1,col=8,endColumn=14,title=not a grammar::")
    assert "nogrammar.lark:1" not in second


def test_services_get_paths_from_here(write, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / write("bad.lark", CONFLICT))
    assert main(["check", path, "--format", "github"]) == 1
    assert capsys.readouterr().out.startswith("::error file=bad.lark,")
    assert main(["check", path, "--format", "sarif"]) == 1
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert run["artifacts"] == [{"location": {"uri": "bad.lark"}}]


@pytest.mark.parametrize("format", ["text", "json", "sarif", "github"])
def test_every_format_says_nothing_but_the_report(write, format: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", write("fine.lark", FINE), "--format", format]) == 0
    out, err = capsys.readouterr()
    assert (out == "") == (format == "github")
    assert err == ""


def test_explain_prints_the_page_of_an_id(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--explain", "pda001"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("# PDA001: shift/reduce conflict\n")
    assert err == ""
    assert main(["check", "--explain", "PDA999"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("pdacon: no such finding: 'PDA999'; there are PDA001, ")


@pytest.mark.parametrize("id", [f"PDA{number:03}" for number in range(1, 20)])
def test_a_page_is_as_wide_as_columns_say(
    id: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And says the same, word by word; code and tables stay as they are."""
    monkeypatch.setenv("COLUMNS", "60")
    assert main(["check", "--explain", id]) == 0
    out = capsys.readouterr().out
    assert out.split() == page(id).split()
    assert out.split("```")[1::2] == page(id).split("```")[1::2]
    prose = "".join(out.split("```")[::2]).splitlines()
    assert all(len(line) <= 60 or line[0] in "|#" or " " not in line.strip("- ") for line in prose)


def test_colours_are_for_terminals(write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    name = write("bad.lark", CONFLICT)
    main(["check", name])
    plain = capsys.readouterr().out
    assert "\x1b" not in plain
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    main(["check", name])
    coloured = capsys.readouterr().out
    assert "\x1b[1;38;5;161merror[PDA001]" in coloured
    assert "\x1b[38;5;68m    3 |\x1b[0m expr: " in coloured
    assert "\x1b[38;5;68m      |\x1b[0m       \x1b[1;38;5;161m^^^^" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == plain
    monkeypatch.setenv("NO_COLOR", "1")
    main(["check", name])
    assert capsys.readouterr().out == plain


def test_examples_are_spelled_with_the_vocabulary(write, capsys: pytest.CaptureFixture[str]) -> None:
    name = write("g.lark", "start: A | B\nA: /ab?/\nB: /a|b/\n")
    assert main(["check", name, "--vocabulary", "bytes"]) == 1
    assert '"a" (tokens "a": 97)' in capsys.readouterr().out


@pytest.mark.slow
def test_a_grammar_beyond_the_limits_is_named(write, capsys: pytest.CaptureFixture[str]) -> None:
    path = write("large.lark", "start: A\nA: /(?:a{1000}){1000}/\n")
    assert main(["check", str(path)]) == 2
    assert "large.lark: states: 100,001 exceeds the limit of 100,000" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ('{"properties": {"a": {"type": "str"}}}', "schema.json#/properties/a: type: 'str' is no type"),
        (
            '{"type": "object", "properties": {"a": false}, "required": ["a"]}',
            'schema.json: no value satisfies the schema: the member "a" is',
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_schema_names_its_file(
    schema: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schema.json").write_text(schema, encoding="utf-8")
    for given in (["schema.json"], ["json", "--schema", "schema.json"]):
        assert main(["check", *given]) == 2
        assert said in capsys.readouterr().err


@pytest.mark.parametrize(("command", "way_out"), [("check", "give more --seconds, or make it smaller"), ("parse", "")])
def test_reading_has_a_limit(
    command: str, way_out: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever the command: a grammar that Lark takes long to read ends with one line."""
    path = tmp_path / "large.lark"
    path.write_text("start: " + " | ".join(f'"w{number}"' for number in range(3000)), encoding="utf-8")
    monkeypatch.setattr("pdacon.cli.waiting.READING_SECONDS", 0.01)
    arguments = ["--seconds", "0.01"] if command == "check" else ["w1"]
    assert main([command, str(path), *arguments]) == 2
    err = capsys.readouterr().err
    assert f"pdacon: {path}: reading it takes more than 0.01 s; {way_out or 'make it smaller'}\n" in err
    assert err.count("\n") == 1
