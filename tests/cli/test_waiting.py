"""What a terminal shows while something takes long, and that nothing else gets it."""

from __future__ import annotations

import io
import sys
from threading import Event

import pytest

from pdacon.cli import waiting


class _Screen(io.StringIO):
    """A terminal that says when a text has come."""

    def __init__(self, awaited: str) -> None:
        super().__init__()
        self.awaited, self.came = awaited, Event()

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        written = super().write(text)
        if self.awaited in self.getvalue():
            self.came.set()
        return written


def test_a_long_wait_is_shown_with_what_is_left_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = _Screen("s more")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(waiting, "_PATIENCE", 0.0)
    with waiting.waiting("computing every mask", 60.0):
        assert screen.came.wait(60.0)
    shown = screen.getvalue()
    assert "computing every mask" in shown
    assert " s, at most " in shown


def test_a_wait_of_parts_says_which_is_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = _Screen("answering: JSON, 4 of 10")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(waiting, "_PATIENCE", 0.0)
    with waiting.waiting("answering") as tell:
        tell("JSON, 4 of 10")
        assert screen.came.wait(60.0)


def test_a_short_wait_shows_nothing_nor_does_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    for screen in (_Screen("never"), io.StringIO()):
        monkeypatch.setattr(sys, "stderr", screen)
        with pytest.raises(KeyError), waiting.waiting("compiling"):
            raise KeyError("what goes wrong comes out")
        assert "compiling" not in screen.getvalue()
