"""Colours can be read on a black ground and on a white one, and there are no others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rich.color import Color

import pdacon
from pdacon.cli import display

NAMES = ("RED", "GREEN", "ORANGE", "TEAL", "BLUE", "PURPLE")
NAMED = re.compile(r'"(?:bold )?(?:red|green|yellow|cyan|blue|magenta|white|black|dim)"')


def _luminance(colour: str) -> float:
    """As WCAG 2.2 defines it."""
    parts = (part / 255 for part in Color.parse(colour).get_truecolor())
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("name", NAMES)
def test_a_colour_stands_out_on_black_and_on_white(name: str) -> None:
    luminance = _luminance(getattr(display, name))
    assert (luminance + 0.05) / 0.05 >= 4
    assert 1.05 / (luminance + 0.05) >= 4


def test_there_are_no_other_colours() -> None:
    folder = Path(pdacon.__file__).parent / "cli"
    assert {
        path.name: found for path in folder.rglob("*.py") if (found := NAMED.findall(path.read_text("utf-8")))
    } == {}
