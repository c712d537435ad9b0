"""Options at the head of a grammar's file, and pytest's plugin, which has no other way to be told them."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import get_type_hints

import pytest

from pdacon.cli import main
from pdacon.cli.options import GrammarOptions
from pdacon.errors import GrammarSyntaxError
from pdacon.grammar.head_options import HEAD_OPTIONS, read_head

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


def test_the_command_line_goes_before_with_what_is_usual_too(capsys: pytest.CaptureFixture[str]) -> None:
    text = '// pdacon: --conflicts shift\nstart: sum\nsum: sum "+" sum | "1"\n'
    Path("sums.lark").write_text(text, encoding="utf-8")
    assert main(["check", "sums.lark"]) == 0
    assert main(["check", "sums.lark", "--conflicts", "error"]) == 1
    assert "shift/reduce" in capsys.readouterr().out


def test_standard_input_has_a_head(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(ITEMS.encode())))
    assert main(["parse", "-", "ab"]) == 0
    assert capsys.readouterr().out.startswith("items\n")


def test_several_start_rules_are_too_many_for_one_text(capsys: pytest.CaptureFixture[str]) -> None:
    Path("two.lark").write_text('// pdacon: --start a --start b\na: "a"\nb: "b"\n', encoding="utf-8")
    assert main(["parse", "two.lark", "a"]) == 2
    assert "--start is given 2 times" in capsys.readouterr().err
    assert main(["parse", "two.lark", "a", "--start", "a"]) == 0


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
        ('--start "', "a quotation mark without another one"),
        ("items", "unexpected extra argument"),
        ("--start item --start", "--start needs a value: --start RULE"),
        ("--start nowhere", "start rule 'nowhere' is not defined"),
        ("--script Lattin", "--script: "),
    ],
)
def test_what_is_wrong_is_said_with_its_place(line: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("wrong.lark").write_text(f'// pdacon: {line}\nstart: "a"\n', encoding="utf-8")
    assert main(["check", "wrong.lark"]) == 2
    message = capsys.readouterr().err
    what, line_shown, mark, address = message.splitlines()
    place = re.match(r"pdacon: wrong\.lark:1:(\d+): ", what)
    assert place is not None
    assert says in what
    assert line_shown == f"  1 | // pdacon: {line}"
    assert mark.index("^") - len("    | ") == int(place[1]) - 1
    assert address.startswith("see: ")


def run_pytest(*options: str) -> tuple[int, str]:
    """By name, as it may not be installed, and without all others that are: to load those takes most of the time."""
    command = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "pdacon.cli.pytest_plugin", *options]
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run([*command, "-p", "no:cacheprovider"], capture_output=True, text=True, check=False, env=alone)
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


def test_all_other_options_are_known_as_those_of_the_command_line() -> None:
    records = fields(GrammarOptions)
    own = {option.switch for option in HEAD_OPTIONS.values()}
    switches = {switch for record in records for switch in switches_of(GrammarOptions, record.name)}
    for switch in switches - own:
        with pytest.raises(GrammarSyntaxError, match=f"{switch} is for the command line; a grammar cannot ask for it"):
            read_head(f"// pdacon: {switch} x", None)


def switches_of(record: type, name: str) -> list[str]:
    annotation = get_type_hints(record, include_extras=True)[name]
    option = annotation.__metadata__[0]
    return [switch for written in option.param_decls for switch in written.split("/")]
