"""``pdacon fmt``: the same tokens and comments, laid out; laid out twice it is the same."""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lark import Lark, exceptions, load_grammar

import pdacon
from pdacon.cli import main
from pdacon.errors import GrammarSyntaxError
from pdacon.grammar.diagnosis import require_syntax
from pdacon.grammar.formatting import formatted

ROOT = Path(__file__).parents[2]
GRAMMARS = [
    *(ROOT / "grammars").rglob("*.lark"),
    *(Path(__file__).parents[1] / "support" / "grammars").rglob("*.lark"),
    *(Path(pdacon.__file__).parent / "grammars").rglob("*.lark"),
]

WILD = """

!start  :a ( b|c )*   // it begins
 |  _list {a , ","} ->  named
# a note on what follows


?a .2:"x" i? ~2 .. 3
_list{ item,sep } : item (sep   item) *
b: "y" \\
  "z"
c:( "u"
| "v"
     | ( "w"
 | D ) )
D . -1 : /a\\/b c/i|"#//"
%import   common .WS ->  BLANK
%import  .more ( E,F )
  %ignore   BLANK
%declare X  Y
e :
 |a->one
 |  ab  ->  other // two
"""

LAID_OUT = """!start: a (b | c)*  // it begins
      | _list{a, ","} -> named
# a note on what follows

?a.2: "x" i?~2..3
_list{item, sep}: item (sep item)*
b: "y" \\
    "z"
c: ("u"
     | "v"
     | ("w"
         | D))
D.-1: /a\\/b c/i | "#//"
%import common.WS -> BLANK
%import .more (E, F)
%ignore BLANK
%declare X Y
e:
    | a  -> one
    | ab -> other  // two
"""


def test_what_it_looks_like() -> None:
    assert formatted(WILD) == LAID_OUT
    assert formatted(LAID_OUT) == LAID_OUT
    assert formatted("") == formatted("\n \n") == ""


def read(text: str) -> Any:
    """What Lark reads, before rules are expanded."""
    reader: Any = load_grammar
    return reader._parse_grammar(text, "")


@pytest.mark.parametrize("path", GRAMMARS, ids=lambda path: path.name)
def test_the_meaning_stays(path: Path) -> None:
    """Lark reads the same tree, also where blanks and blank lines were put in at random."""
    text = path.read_text(encoding="utf-8")
    after = formatted(text)
    assert formatted(after) == after
    assert read(after) == read(text)
    assert [line for line in after.splitlines() if "//" in line] or "//" not in text
    rng = random.Random(0)
    wild = "".join(line + "\n" * rng.choice([1, 1, 1, 3]) if line.strip() else "\n" for line in text.splitlines())
    assert formatted(formatted(wild)) == formatted(wild)


def test_lines_may_end_as_on_windows() -> None:
    assert formatted('start: "a" \\\r\n  "b"\r\n\r\n') == 'start: "a" \\\n    "b"\n'
    assert Lark(formatted(LAID_OUT.partition("%import")[0].replace(" i?", "").replace("D.-1", "D.1"))) is not None


def test_no_grammar_of_lark_is_named_with_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(GrammarSyntaxError, match=r":2:8: no token of Lark's language begins with '\{'|'<'"):
        formatted('start: a\na: "x" <b>')
    wrong = tmp_path / "wrong.lark"
    wrong.write_text('start: "a" ^ "b"', encoding="utf-8")
    assert main(["fmt", str(wrong)]) == 2
    assert f"{wrong}:1:12: no token of Lark's language begins with '^'" in capsys.readouterr().err
    assert wrong.read_text("utf-8") == 'start: "a" ^ "b"'


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing.lark", "missing.lark: no such file; fmt takes files of Lark grammars, or - for standard input"),
        ("json", "json: no such file; fmt takes files of Lark grammars, or - for standard input"),
        (".", ".: a directory; fmt takes files of Lark grammars, such as ./*.lark"),
    ],
)
def test_what_is_no_file_is_said(
    name: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["fmt", name]) == 2
    assert capsys.readouterr().err == f"pdacon: {message}\n"


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("wild.lark").write_text('start:"a"\n', encoding="utf-8")
    Path("fine.lark").write_text('start: "a"\n', encoding="utf-8")
    assert main(["fmt", "--check", "wild.lark", "fine.lark"]) == 1
    assert capsys.readouterr().out == "wild.lark: would be laid out anew\n"
    assert main(["fmt", "--diff", "wild.lark"]) == 1
    assert '-start:"a"\n+start: "a"\n' in capsys.readouterr().out
    assert Path("wild.lark").read_text("utf-8") == 'start:"a"\n'
    assert main(["fmt", "wild.lark", "fine.lark"]) == 0
    assert capsys.readouterr().out == "wild.lark: laid out anew\n"
    assert main(["fmt", "--check", "wild.lark", "fine.lark"]) == 0
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b'start:"a"')))
    assert main(["fmt", "-"]) == 0
    assert capsys.readouterr().out == 'start: "a"\n'


def test_literals_that_are_not_closed_end_at_once() -> None:
    """Lark's own patterns would try all ways to read the backslashes."""
    for text in ('a: "' + "\\" * 100, "a: /" + "\\" * 100):
        with pytest.raises(GrammarSyntaxError, match="no token of Lark's language begins with"):
            formatted(text)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("my.lark", b'start: "a" (\n', "my.lark:1:13: Unclosed parenthesis"),
        ("my.lark", b"start: a | : b\n", "my.lark:1:12: unexpected ':'"),
        ("my.lark", b"start:\n  | -> -> b\n", "my.lark:2:8: unexpected '->'"),
        ("my.lark", b'start: "\xe9"\n', "my.lark:1:9: not UTF-8 at byte 8; save it as UTF-8"),
        ("my.lark", b'\xef\xbb\xbfstart: "a"\n', "my.lark:1:1: begins with a byte order mark"),
        ("my.gbnf", b'root ::= "a"\n', "my.gbnf: fmt lays out Lark's language only"),
    ],
)
def test_what_is_no_grammar_stays_as_it_is(
    name: str,
    content: bytes,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(content)
    assert main(["fmt", name]) == 2
    assert message in capsys.readouterr().err
    assert Path(name).read_bytes() == content


def test_names_that_nothing_defines_are_laid_out(tmp_path: Path) -> None:
    unfinished = tmp_path / "my.lark"
    unfinished.write_text("start:a|b\n", encoding="utf-8")
    assert main(["fmt", str(unfinished)]) == 0
    assert unfinished.read_text("utf-8") == "start: a | b\n"


def test_lines_end_in_the_file_as_they_did(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "my.lark"
    file.write_bytes(b'start: "a"\r\n')
    assert main(["fmt", "--check", str(file)]) == 0
    file.write_bytes(b'start:"a"\r\n')
    assert main(["fmt", str(file)]) == 0
    assert file.read_bytes() == b'start: "a"\r\n'
    assert main(["fmt", "--help"]) == 0
    assert "Usage: pdacon fmt [OPTIONS] FILE..." in capsys.readouterr().out
    assert main(["fmt", "--help"]) == 0
    assert "}" not in capsys.readouterr().out


def test_any_row_of_tokens_is_laid_out_or_refused_with_its_place(scaled: Callable[[int], int]) -> None:
    rng = random.Random(1)
    words = [*":|()[]{},.~2*!aB\n", '"x"', "/y/", "->", ".."]
    taken = 0
    for _ in range(scaled(400)):
        text = "a: " + " ".join(rng.choices(words, k=rng.randint(0, 5))) + "\n"
        try:
            read(text)
        except exceptions.LarkError:
            with pytest.raises(GrammarSyntaxError, match=r"^my.lark:\d+:\d+: "):
                require_syntax(text, "my.lark")
        else:
            require_syntax(text, "my.lark")
            taken += 1
            assert formatted(formatted(text)) == formatted(text), text
    assert taken
