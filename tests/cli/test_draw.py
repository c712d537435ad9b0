"""``pdacon draw``: what is written where, and what is said of what cannot be drawn."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytest.importorskip("graphlay")

import pdacon
from pdacon.cli import main


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


def test_nothing_of_that_name(draw) -> None:
    assert draw("json", "--terminal", "NUMBR") == (2, "", "pdacon: no terminal NUMBR; did you mean NUMBER?\n")


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
