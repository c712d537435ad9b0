"""What another file defines has its place there."""

from __future__ import annotations

import pickle
from pathlib import Path

import lark
import pytest

from pdacon import check
from pdacon.errors import GrammarSyntaxError
from pdacon.front.grammar import Grammar

MAIN = """
start: item+ tail DIGIT
%import .lib (item, WORD)
%import .lib.tail
%import .parts.deep.other -> another
%import common (WS, DIGIT)
%ignore WS
x: another
"""
LIB = """
// item: a remark
?item: "(" WORD ")" | NAME
WORD: /[a-z]+/
NAME.2: /[a-z]+/
tail{x}: x
!tail: _sub "x"
%import .parts.deep._sub
"""
DEEP = """
_sub : _sub _sub | "y"
other: _sub
"""


@pytest.fixture
def main(tmp_path: Path) -> Path:
    (tmp_path / "parts").mkdir()
    (tmp_path / "lib.lark").write_text(LIB.replace("tail{x}: x\n", ""), encoding="utf-8")
    (tmp_path / "parts" / "deep.lark").write_text(DEEP, encoding="utf-8")
    path = tmp_path / "main.lark"
    path.write_text(MAIN, encoding="utf-8")
    return path


def test_each_name_has_its_place(main: Path) -> None:
    grammar = Grammar.from_file(main, start=["start", "x"])
    found = {one.name: one for one in grammar.data.imports}
    places = {name: (Path(one.definition.path or "").name, one.definition.line) for name, one in found.items()}
    assert places == {
        "item": ("lib.lark", 3),
        "WORD": ("lib.lark", 4),
        "lib__NAME": ("lib.lark", 5),
        "tail": ("lib.lark", 6),
        "_lib__sub": ("deep.lark", 2),
        "another": ("deep.lark", 3),
        "_parts__deep__sub": ("deep.lark", 2),
        "WS": ("common.lark", places["WS"][1]),
        "DIGIT": ("common.lark", places["DIGIT"][1]),
    }
    texts = dict(grammar.data.imported_files)
    for name, one in found.items():
        line = texts[one.definition.path or ""].split("\n")[one.definition.line - 1]
        written = line[one.definition.column - 1 : one.definition.end_column - 1]
        assert name.endswith(written) or name == "another"
        assert one.packaged == (name in ("WS", "DIGIT"))
        assert one.site.path == str(main)
    assert pickle.loads(pickle.dumps(grammar)) == grammar


def test_terminals_and_productions_are_placed_there(main: Path) -> None:
    grammar = Grammar.from_file(main, start=["start", "x"])
    files = {terminal.name: Path(terminal.span.path or "").name for terminal in grammar.data.terminals if terminal.span}
    assert files["WORD"] == files["lib__NAME"] == "lib.lark"
    assert files["WS"] == files["DIGIT"] == "main.lark"
    spans = [(p.rule, p.span) for p in grammar.data.productions]
    assert {Path(span.path or "").name for rule, span in spans if span and rule == "item"} == {"lib.lark"}


def test_a_finding_shows_the_line_and_the_import(main: Path) -> None:
    report = check(Grammar.from_file(main, start=["start", "x"]))
    finding = next(f for f in report.findings if f.id == "PDA001" and "_lib__sub" in f.symbols)
    assert finding.span is not None
    assert (Path(finding.span.path or "").name, finding.span.line) == ("deep.lark", 2)
    assert [label for label, span in finding.related if span.path == str(main)] == ["imported here"]
    rendered = report.render()
    assert "2 | _sub : _sub _sub" in rendered
    assert f"    in {main}:\n" in rendered
    assert "%import .lib.tail" in rendered


def test_what_a_package_defines_is_shown_beside_its_import() -> None:
    report = check(Grammar.from_lark('start: ESCAPED_STRING "x"\n%import common.ESCAPED_STRING\n'))
    (finding,) = (f for f in report.findings if f.id == "PDA012")
    assert finding.span is not None
    assert finding.span.line == 2
    ((label, span),) = finding.related
    assert label == "ESCAPED_STRING is defined here"
    assert (span.path or "").endswith("common.lark")
    assert "ESCAPED_STRING : " in report.render()


def test_what_an_imported_name_needs_has_the_place_of_its_import(tmp_path: Path) -> None:
    """Lark joins the two statements into one."""
    (tmp_path / "lib.lark").write_text('a: "x" B\nB: /b+/\nc: "y" d B\nd: "z"\n', encoding="utf-8")
    main = tmp_path / "main.lark"
    main.write_text("start: a e\n%import .lib.a\n\n%import .lib.c -> e\n", encoding="utf-8")
    sites = {one.name: one.site.line for one in Grammar.from_file(main).data.imports}
    assert sites == {"a": 2, "lib__B": 2, "e": 4, "lib__d": 4}


def test_what_an_import_brings_along_has_the_name_of_its_file(tmp_path: Path) -> None:
    """Lark calls it lib__N; where the main text has an N too, it is called as `%import` would."""
    (tmp_path / "lib.lark").write_text('e: e "+" e | N | _m\nN: /[0-9]+/\n_m: "m"\n', encoding="utf-8")
    main = tmp_path / "main.lark"
    main.write_text("start: e\n%import .lib.e\n", encoding="utf-8")
    grammar = Grammar.from_file(main)
    names = {symbol: grammar.data.describe_name(symbol) for symbol in ("lib__N", "_lib__m", "e", "start")}
    assert names == {"lib__N": "N", "_lib__m": "_m", "e": "e", "start": "start"}
    report = check(grammar)
    assert f"repair, in {tmp_path / 'lib.lark'}: " in report.render()
    assert "      e_2: N | _m\n" in report.render()

    main.write_text('start: e N\nN: "n"\n%import .lib.e\n', encoding="utf-8")
    assert Grammar.from_file(main).data.describe_name("lib__N") == "lib.N"


def write(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        (folder / f"{name}.lark").write_text(text, encoding="utf-8")


def test_a_file_that_imports_itself_is_refused(tmp_path: Path) -> None:
    write(tmp_path, me='start: a\n%import .me.a\na: "x"\n')
    with pytest.raises(GrammarSyntaxError, match="imports itself: me -> me;") as caught:
        Grammar.from_file(tmp_path / "me.lark")
    assert str(caught.value.span) == f"{tmp_path / 'me.lark'}:2:10"


@pytest.mark.parametrize("blank", ["", " "])
def test_a_circle_of_imports_is_refused(tmp_path: Path, blank: str) -> None:
    """Lark takes blanks around the dots too."""
    write(tmp_path, one='start: a\n%import .two.b\na: "x" b?\n', two=f'%import .{blank}one.a\nb: "y" a?\n')
    write(tmp_path, main="start: a\n%import .one.a\n")
    with pytest.raises(GrammarSyntaxError, match=r"in a circle: (one -> two -> one|two -> one -> two);") as caught:
        Grammar.from_file(tmp_path / "one.lark")
    assert caught.value.span is not None
    with pytest.raises(GrammarSyntaxError, match="in a circle"):
        Grammar.from_file(tmp_path / "main.lark")
    with pytest.raises(GrammarSyntaxError, match="in a circle"):
        Grammar.from_lark("start: a\n%import one.a\n", import_paths=[str(tmp_path)])


def test_imports_that_look_like_a_circle_are_taken(tmp_path: Path) -> None:
    """A diamond, a text that is not what its file has now, and a pattern with an import in it."""
    write(tmp_path, left="%import .base.x\na: x\n", right="%import .base.x\nb: x\n", base='x: "x"\n')
    write(tmp_path, main="start: a b\n%import .left.a\n%import .right.b\n")
    write(tmp_path, odd="a: A\nA: /o\n%import .odd.a\n/x\n")
    assert Grammar.from_file(tmp_path / "main.lark").data.productions
    path = str(tmp_path / "base.lark")
    text = "start: x\n%import .base.x\n"
    assert Grammar.from_lark(text, source_path=path).data.productions
    assert lark.Lark(text, parser="lalr", source_path=path).parse("x")
    text = "start: a\n%import .odd.a\n"
    assert lark.Lark(text, parser="lalr", source_path=path)
    assert Grammar.from_lark(text, source_path=path).data.productions
