"""``pdacon draw``: what is written where, and what is said of what cannot be drawn."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytest.importorskip("graphlay")

import pdacon
from pdacon.cli import main

SEE = "see: pdacon check --explain DrawingError\n"


@pytest.fixture
def draw(capsys: pytest.CaptureFixture[str]):
    def draw(*arguments: str) -> tuple[int, str, str]:
        return main(["draw", *arguments]), *capsys.readouterr()

    return draw


def test_a_picture_goes_to_standard_output_or_a_file(draw, tmp_path: Path) -> None:
    status, out, err = draw("json", "--terminal", "NUMBER")
    assert (status, err) == (0, "")
    assert ElementTree.fromstring(out).tag == "{http://www.w3.org/2000/svg}svg"
    assert draw("json", "--terminal", "NUMBER", "-o", str(tmp_path / "number.svg")) == (0, "", "")
    assert (tmp_path / "number.svg").read_text(encoding="utf-8") == out


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ((), "json: the rules"),
        (("--rule", "pair", "--rule", "value"), "json: pair, value"),
        (("--terminal", "true"), '"true"'),
        (("--pda",), "json: the parser's 33 LR states"),
        (("--state", "7", "--around", "2"), "json: LR state 7"),
        (("--after", '{"a": '), "json: LR state 17"),
        (("--pda", "--after", '{"a": '), "json: the parser's 33 LR states"),
        (("--context", "0"), "json: lexical context 0 of 9"),
    ],
)
def test_pictures(draw, options: tuple[str, ...], shown: str) -> None:
    status, out, err = draw("json", *options)
    assert (status, err) == (0, "")
    assert ElementTree.fromstring(out).findtext("{http://www.w3.org/2000/svg}title") == shown


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ((), "tree.json: the schema"),
        (("--rule", "#/$defs/node"), "tree.json: #/$defs/node"),
        (("--rule", "start"), "tree.json: start"),
        (("--lowered",), "tree.json: the rules"),
    ],
)
def test_a_schema_is_drawn_as_a_schema(draw, tmp_path: Path, options: tuple[str, ...], shown: str) -> None:
    schema = tmp_path / "tree.json"
    node = '{"type": "array", "items": {"$ref": "#/$defs/node"}}'
    schema.write_text(f'{{"$ref": "#/$defs/node", "$defs": {{"node": {node}}}}}', encoding="utf-8")
    status, out, err = draw(str(schema), *options)
    assert (status, err) == (0, "")
    assert ElementTree.fromstring(out).findtext("{http://www.w3.org/2000/svg}title") == shown


def test_what_of_a_schema_cannot_be_drawn(draw, tmp_path: Path) -> None:
    schema = tmp_path / "age.json"
    schema.write_text('{"type": "integer"}', encoding="utf-8")
    assert draw(str(schema), "--rule", "#/$defs/x") == (2, "", f"pdacon: the schema has nothing at #/$defs/x\n{SEE}")
    assert "one picture at a time: --rule or --lowered" in draw(str(schema), "--rule", "#", "--lowered")[2]
    schema.write_text('{"type": 3}', encoding="utf-8")
    assert draw(str(schema))[0] == 2


def test_the_readings_of_a_conflict(draw, tmp_path: Path) -> None:
    grammar = tmp_path / "sums.lark"
    grammar.write_text('sum: sum "+" sum | NUMBER\nNUMBER: /[0-9]+/\n', encoding="utf-8")
    status, out, _ = draw(str(grammar), "--start", "sum", "--conflict", "1")
    assert status == 0
    assert ElementTree.fromstring(out).findtext("{http://www.w3.org/2000/svg}title") == (
        'sums.lark: shift/reduce conflict on "+"'
    )


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--rule", "pairs"), "no rule or terminal pairs; did you mean pair?"),
        (("--state", "33"), "no state 33; there are 0 to 32"),
        (("--conflict", "1"), "no conflict 1 with two readings; there is none"),
        (("--context", "9"), "no context 9; there are 0 to 8"),
        (("--pda", "--most", "3"), "--state N"),
        (("--after", "{]"), "no text of the grammar begins with"),
        (("--pda", "--terminal", "WS"), "one picture at a time: --terminal or --pda"),
        (("-o", "no/such/folder/out.svg"), "no/such/folder/out.svg"),
    ],
)
def test_what_cannot_be_drawn(draw, options: tuple[str, ...], complaint: str) -> None:
    status, out, err = draw("json", *options)
    assert (status, out) == (2, "")
    assert complaint in err
    assert err.removesuffix(SEE).count("\n") == 1


def test_nothing_of_that_name(draw) -> None:
    assert draw("json", "--terminal", "NUMBR") == (2, "", f"pdacon: no terminal NUMBR; did you mean NUMBER?\n{SEE}")


def test_a_terminal_is_no_place_for_a_picture(draw, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    status, out, err = draw("json", "--terminal", "NUMBER")
    assert (status, out) == (2, "")
    assert "-o FILE.svg" in err


def test_without_the_extra_it_is_named(draw, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("pdacon.drawing")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr(pdacon, "drawing", raising=False)
    monkeypatch.setitem(sys.modules, "graphlay", None)
    status, out, err = draw("json", "--terminal", "NUMBER")
    assert (status, out, err) == (2, "", "pdacon: this needs graphlay: pip install 'pdacon[draw]'\n")


def test_without_the_extra_for_png_it_is_named(draw, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    status, out, err = draw("json", "--terminal", "NUMBER", "-o", str(tmp_path / "a.png"))
    assert (status, out, err) == (2, "", "pdacon: this needs resvg_py: pip install 'pdacon[png]'\n")
    assert list(tmp_path.iterdir()) == []


def test_a_picture_as_png(draw, tmp_path: Path) -> None:
    pytest.importorskip("resvg_py")
    image = pytest.importorskip("PIL.Image")
    assert draw("json", "--terminal", "NUMBER", "-o", str(tmp_path / "a.png")) == (0, "", "")
    drawn = ElementTree.fromstring(pdacon.Grammar.builtin("json").draw("NUMBER"))
    with image.open(tmp_path / "a.png") as picture:
        width, height = picture.size
        colours = {colour for _, colour in picture.convert("RGB").getcolors(1 << 20)}
    assert abs(width - 2 * float(drawn.get("width", "0"))) <= 2
    assert abs(height - 2 * float(drawn.get("height", "0"))) <= 2
    assert {(0xFF, 0xFF, 0xFF), (0xDA, 0xFB, 0xE1), (0xDD, 0xF4, 0xFF)} <= colours  # as on a light page


@pytest.mark.parametrize("name", ["a.jpg", "a.PDF"])
def test_a_picture_is_svg_or_png_and_nothing_else(draw, tmp_path: Path, name: str) -> None:
    status, out, err = draw("json", "--pda", "-o", str(tmp_path / name))
    assert (status, out) == (2, "")
    assert "pictures are SVG or PNG; write " in err
    assert list(tmp_path.iterdir()) == []


def test_a_grammar_of_another_dialect_is_drawn_in_its_own_rules(draw, tmp_path: Path) -> None:
    """Regular rules, which become parts of terminals, too."""
    path = tmp_path / "list.gbnf"
    path.write_text('root ::= item ("," item)*\nitem ::= name "=" digit+\nname ::= [a-z]+\ndigit ::= [0-9]\n')
    picture = draw(str(path))[1]
    assert all(f'id="rule-{name}"' in picture for name in ("root", "item", "name", "digit"))
    assert ">[0-9]<" in picture
    assert "(root)" not in picture
    assert 'id="rule-root"' not in draw(str(path), "--rule", "item")[1]
    assert ">root: (root)<" in draw(str(path), "--lowered")[1]
    assert "no rule or terminal nam" in draw(str(path), "--rule", "nam")[2]
