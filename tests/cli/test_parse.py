"""``pdacon parse`` and ``pdacon test``: trees of texts, and texts beside a grammar."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lark import Lark, Tree

from pdacon import Grammar
from pdacon.cli import main
from pdacon.grammar.tree_records import tree_reader

CALC = """
start: stmt+
stmt: NAME "=" expr ";" [NOTE]
?expr: term ("+" term)* -> sum
?term: NUMBER | NAME | "(" expr ")"
NAME: /[a-z]+/
NUMBER: /[0-9]+/
NOTE: /#.*/
%ignore /[ \\n]+/
"""


@pytest.fixture
def calc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("calc.lark").write_text(CALC, encoding="utf-8")
    return "calc.lark"


def test_a_tree_as_text(calc: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parse", calc, "a = 1 + (b);"]) == 0
    assert capsys.readouterr().out == (
        'start\n  stmt\n    NAME "a"\n    sum\n      NUMBER "1"\n      sum\n        NAME "b"\n    -\n'
    )


def test_a_tree_as_json(calc: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parse", calc, "a=1;#x", "--json"]) == 0
    (stmt,) = json.loads(capsys.readouterr().out)["children"]
    assert stmt["rule"] == "stmt"
    assert stmt["children"][0] == {"terminal": "NAME", "text": "a", "line": 1, "column": 1}
    assert stmt["children"][2] == {"terminal": "NOTE", "text": "#x", "line": 1, "column": 5}
    assert main(["parse", calc, "a=1;", "--json", "--all-tokens"]) == 0
    assert '"text": ";"' in capsys.readouterr().out


@pytest.mark.parametrize(("text", "place"), [("a = ;", "1:5"), ("a = 1;\nb = (2;", "2:7")])
def test_what_is_no_text_is_explained(calc: str, text: str, place: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parse", calc, text]) == 1
    assert capsys.readouterr().out.startswith(f"<text>:{place}: error: ")


def test_the_beginning_of_a_text_has_no_tree(calc: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parse", calc, "a = 1"]) == 1
    assert "not a whole one" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["json", "sql", "python"])
def test_trees_are_those_of_stock_lark(name: str) -> None:
    grammar = Grammar.builtin(name)
    read, parser = tree_reader(grammar.data), Lark(grammar.to_lark(), **grammar.lark_options)
    for text in grammar.sample(5, seed=1):
        tree, expected = read(text, None), parser.parse(text)
        assert tree.to_dict()["rule"] == expected.data
        rules = [line.strip() for line in tree.render().splitlines() if '"' not in line and line.strip() != "-"]
        assert rules == [str(one.data) for one in expected.iter_subtrees_topdown()]


def test_a_deep_tree_needs_no_deep_stack() -> None:
    grammar = Grammar.from_lark('start: "[" start "]" |')
    tree = tree_reader(grammar.data)("[" * 20_000 + "]" * 20_000, None)
    assert tree.render().count("\n") == 20_000
    assert isinstance(tree.to_dict(), dict)
    assert isinstance(Tree("start", []), Tree)


def test_what_masks_cost(calc: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", calc, "-n", "3", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert (figures["texts"], figures["tokens"] > 0, figures["computed"] > 0) == (3, True, True)
    assert figures["known_mask"]["p50"] <= figures["known_mask"]["max"]
    assert main(["bench", calc, "--text", "= ="]) == 2
    assert "no text to measure with" in capsys.readouterr().err
    assert main(["bench", calc, "--text", "a = 1;"]) == 0
    assert "mask, again:" in capsys.readouterr().out


@pytest.fixture
def cases(calc: str) -> str:
    for name, text in {"accept/one": "a = 1;", "accept/more/two": "b = a + 2;", "reject/hole": "a = ;"}.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")
    return calc


def test_texts_beside_a_grammar(cases: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test", cases]) == 0
    assert capsys.readouterr().out == "3 texts, 0 failed\n"
    Path("accept/wrong").write_text("a = ;", encoding="utf-8")
    Path("reject/right").write_text("a = 1;", encoding="utf-8")
    assert main(["test", cases]) == 1
    out = capsys.readouterr().out
    assert "accept/wrong: is refused\n    wrong:1:5: error: " in out
    assert "reject/right: is taken\n" in out
    assert out.endswith("5 texts, 2 failed\n")


def test_trees_and_messages_are_compared_once_they_are_written(cases: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test", cases, "--update"]) == 0
    assert capsys.readouterr().out == "3 texts, 0 failed, 3 files written\n"
    assert Path("accept/one.tree").read_text("utf-8").startswith("start\n  stmt\n")
    assert Path("reject/hole.error").read_text("utf-8").startswith("hole:1:5: error: ")
    assert main(["test", cases, "--update"]) == 0
    assert capsys.readouterr().out == "3 texts, 0 failed, 0 files written\n"
    Path("accept/one").write_text("a = 2;", encoding="utf-8")
    assert main(["test", cases]) == 1
    out = capsys.readouterr().out
    assert "accept/one: is not as in one.tree" in out
    assert '    -      NUMBER "1"' in out
    assert main(["test", cases, "--update"]) == 0
    capsys.readouterr()
    assert main(["test", cases]) == 0


def test_a_folder_without_texts_is_bad_input(calc: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test", calc]) == 2
    assert "has no texts in accept/ or reject/" in capsys.readouterr().err
    assert main(["test", "json"]) == 2
    assert "give --folder" in capsys.readouterr().err
    (tmp_path / "accept").mkdir()
    (tmp_path / "accept" / "x").write_text("[1]", encoding="utf-8")
    assert main(["test", "json", "--folder", str(tmp_path)]) == 0
