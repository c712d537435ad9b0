"""``pdacon explain``: what it says of a text or a token is what the matcher says, with its status."""

from __future__ import annotations

import io
import json
import sys

import pytest

from pdacon.cli import main


@pytest.fixture
def explain(capsys: pytest.CaptureFixture[str]):
    def explain(*arguments: str) -> tuple[int, str, str]:
        return main(["explain", *arguments]), *capsys.readouterr()

    return explain


def test_where_a_text_goes_wrong(explain) -> None:
    status, out, err = explain("json", '["é",\n "é" 7]', "--json")
    shown = json.loads(out)
    assert (status, err) == (1, "")
    assert (shown["line"], shown["column"], shown["viable"]) == (2, 6, 13)
    assert set(shown["expected"]) == {'","', '"]"'}  # a WS has begun, and no other one can begin after it
    assert shown["unfinished"] == ["WS"]
    assert shown["cuts"][0] == {"terminal": '"["', "text": "[", "fate": "shifted"}
    text = explain("json", '["é",\n "é" 7]')[1]
    assert text.startswith("<text>:2:6: error: ")
    assert '\n  2 |  "é" 7]\n    |      ^\n' in text


def test_whole_texts(explain) -> None:
    assert explain("json", "[1]", "--whole")[0] == 0
    status, _, err = explain("json", "[1", "--whole")
    assert status == 1
    assert "not a whole one" in err
    assert explain("json", "[1")[0] == 0
    assert explain("json", "[1x", "--whole")[0] == 1


def test_all_rules_on_demand(explain, tmp_path) -> None:
    grammar = tmp_path / "many.lark"
    grammar.write_text("start: " + " | ".join(f'"a" "{n}"' for n in range(9)) + "\n")
    assert "(6 more)" in explain(str(grammar), "a")[1]
    assert explain(str(grammar), "a", "--full")[1].count("parsing:") == 9


def test_how_a_text_is_read(explain) -> None:
    status, out, _ = explain("arithmetic", "1 + (2", "--json")
    shown = json.loads(out)
    assert status == 0
    assert shown["allowed"] is True
    assert shown["stack"][:3] == ["sum", '"+"', '"("']


@pytest.mark.slow
def test_a_token_by_text_and_by_id(explain) -> None:
    assert explain("json", '{"a"', ":")[0] == 0
    assert explain("json", '{"a"', ",")[0] == 1
    by_id = json.loads(explain("json", "[", "#50", "--json")[1])
    assert (by_id["token"], by_id["text"], by_id["allowed"]) == (50, "P", False)
    end = json.loads(explain("json", "[]", "#256", "--tokenizer", "bytes", "--json")[1])
    assert (end["token"], end["text"], end["allowed"]) == (256, "", True)


def test_a_token_that_begins_with_a_number_sign(explain, tmp_path) -> None:
    grammar = tmp_path / "tag.lark"
    grammar.write_text('start: "a" "#b"\n')
    assert explain(str(grammar), "a", "##b")[0] == 0


def test_a_token_after_a_text_that_is_wrong_itself(explain) -> None:
    status, out, err = explain("json", "[]]", "1")
    assert status == 1
    assert "about the text" in err
    assert ":1:3: error: " in out


def test_the_text_comes_from_a_pipe(explain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"[1,")))
    assert explain("json", "-", "2")[0] == 0


def test_lines_fit_the_terminal(explain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    out = explain("json", '{"a": [1, 2, {"b": "c"}], "d": nul1')[1]
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize(
    "arguments",
    [["json"], ["json", "x", "#"], ["json", "x", "#99999"], ["json", "@nosuch"], ["-", "-"], ["nosuch", ""]],
)
def test_bad_input_is_one_line_and_status_2(arguments: list[str], explain) -> None:
    status, out, err = explain(*arguments)
    assert (status, out) == (2, "")
    assert err.startswith("pdacon: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("text", ["-1", "-", "--json"])
def test_a_text_may_begin_with_a_dash(text: str, explain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"-1")))
    status, out, err = explain("arithmetic", "--", text)
    assert (status, err) == (0, "")
    assert "is allowed" in out


def test_what_is_no_option_is_told_where_a_text_stands(explain, capsys: pytest.CaptureFixture[str]) -> None:
    assert explain("arithmetic", "-1")[2] == (
        "pdacon: No such option: -1; what begins with - and is no option stands after --: pdacon explain ... -- TEXT\n"
    )
    assert main(["tokens", "-1"]) == 2
    assert capsys.readouterr().err.endswith(": pdacon tokens ... -- TOKEN\n")
    assert main(["list", "-1"]) == 2
    assert capsys.readouterr().err.endswith("-1; see pdacon list --help\n")
