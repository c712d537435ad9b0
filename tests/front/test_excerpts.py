"""Errors about grammars show the line that they are about, in the library as on the command line."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import pytest

import pdacon
from pdacon import Grammar, GrammarError, Vocabulary
from pdacon.cli import main

NAMED = "start: stmt+\nstmt: NAME exprr\nNAME: /[a-z]+/\n"


@pytest.mark.parametrize(
    ("make", "text", "line", "marks"),
    [
        (Grammar.from_lark, NAMED, "  2 | stmt: NAME exprr", "    |            ^^^^^"),
        (Grammar.from_lark, "start: (\n", "  1 | start: (", "    |         ^"),
        (Grammar.from_gbnf, "root ::= x\n", "  1 | root ::= x", "    |          ^"),
        (Grammar.from_ebnf, "root ::= x\n", "  1 | root ::= x", "    |          ^"),
        (Grammar.from_llguidance, "start: x\n", "  1 | start: x", "    |        ^"),
    ],
)
def test_a_text_is_shown(make: object, text: str, line: str, marks: str) -> None:
    with pytest.raises(GrammarError) as caught:
        make(text)  # type: ignore[operator]
    assert caught.value.excerpt == f"{line}\n{marks}"
    if sys.version_info >= (3, 11):
        assert caught.value.__notes__ == [caught.value.excerpt, caught.value.address]
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.excerpt) == (str(caught.value), caught.value.excerpt)


def test_a_line_of_an_imported_file_is_shown(tmp_path: Path) -> None:
    (tmp_path / "words.lark").write_text("WORD: /[a-z/\n", encoding="utf-8")
    (tmp_path / "main.lark").write_text("start: WORD\n%import .words.WORD\n", encoding="utf-8")
    with pytest.raises(GrammarError) as caught:
        Grammar.from_file(tmp_path / "main.lark")
    assert caught.value.excerpt.startswith("  1 | WORD: /[a-z/")


def test_what_compiling_refuses_is_shown() -> None:
    grammar = Grammar.from_lark("start: A\nA: /(?<=(a))\\1b/\n")
    with pytest.raises(GrammarError) as caught:
        pdacon.compile(grammar, Vocabulary.bytes())
    assert caught.value.span is not None
    assert caught.value.excerpt.startswith("  2 | A: ")


def test_the_command_line_says_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "named.lark"
    path.write_text(NAMED, encoding="utf-8")
    with pytest.raises(GrammarError) as caught:
        Grammar.from_file(path)
    for command in (["check"], ["sample"], ["explain"]):
        assert main([*command, str(path), *(["x"] if command == ["explain"] else [])]) == 2
        err = capsys.readouterr().err
        assert err == f"pdacon: {caught.value}\n{caught.value.excerpt}\n{caught.value.address}\n"


def test_a_text_is_shown_where_it_goes_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "long.json"
    path.write_bytes(b'[\n\t"\xe4\xb8\xad", x]\n')
    assert main(["explain", "json", f"@{path}"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{path}:2:7: error: ")
    assert lines[-1:]
    shown = next(line for line in lines if line.startswith("  2 | "))
    assert shown == '  2 |     "中", x]'
    assert lines[lines.index(shown) + 1] == "    |           ^"


def test_the_place_in_a_long_line_is_shown() -> None:
    matcher = pdacon.compile("json", Vocabulary.bytes()).matcher()
    explanation = matcher.explain(b"[" + b"1," * 50_000 + b"x" + b"1," * 50_000)
    lines = explanation.render(80, source="long.json").splitlines()
    assert lines[0].startswith("long.json:1:100002: error: ")
    assert max(map(len, lines)) <= 80
    assert lines[2][lines[3].index("^")] == "x" or lines[1][lines[2].index("^")] == "x"
