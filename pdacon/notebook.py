"""What notebooks show of pdacon's objects: pictures as SVG, and texts for a terminal as preformatted HTML."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from hashlib import sha256
from html import escape
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

# Words that a terminal shows in colour. The colours have enough contrast on a light and on a dark page.
_COLOURS = (
    (re.compile(r"\berror(?=\[PDA)|\bis not allowed:|\brefused(?= \()"), "#d1242f"),
    (re.compile(r"\bwarning(?=\[PDA)"), "#b5651d"),
    (re.compile(r"\bnote(?=\[PDA)"), "#2f7ed8"),
    (re.compile(r"\bis allowed:|\bok(?= \()"), "#2d8a4e"),
)

_SHARP, _PIXELS = 2.0, 60e6  # of a PNG: how much larger than the SVG, and how many pixels at most
_NAMESPACE = ' xmlns="http://www.w3.org/2000/svg"'
_OF_IDS = ("id", "aria-labelledby")
_REFERENCE = re.compile(r"^#[^)]+$|(?<=url\()#[^)]+")


class Picture(str):
    """The text of an SVG; a notebook shows what it draws."""

    __slots__ = ()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file: as PNG if its name ends in ``.png``, which may raise what `png` does, else as SVG.

        Raises
        ------
        OSError
            The file cannot be written.
        """
        if Path(path).suffix.lower() == ".png":
            Path(path).write_bytes(self.png())
        else:
            Path(path).write_text(self, encoding="utf-8", newline="\n")

    def png(self) -> bytes:
        """The picture as a PNG file in its light colours: two pixels for one of the SVG's, fewer where it is large.

        Raises
        ------
        ModuleNotFoundError
            resvg-py is not installed: ``pip install 'pdacon[png]'``.
        """
        try:
            resvg = import_module("resvg_py")
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                f"PNG needs {error.name}: pip install 'pdacon[png]'", name=error.name, path=error.path
            ) from error
        root = ElementTree.fromstring(self)
        area = float(root.get("width", "1")) * float(root.get("height", "1"))
        return bytes(resvg.svg_to_bytes(svg_string=str(self), zoom=min(_SHARP, math.sqrt(_PIXELS / area))))

    def _repr_svg_(self) -> str:
        """The same with ids of its own: a page that shows several pictures has one name space for all of them."""
        mark = sha256(self.encode()).hexdigest()[:8]
        root = ElementTree.fromstring(self.replace(_NAMESPACE, "", 1))
        for element in root.iter():
            for name, value in element.attrib.items():
                if name in _OF_IDS:
                    element.set(name, " ".join(f"{id}-{mark}" for id in value.split()))
                else:
                    element.set(name, _REFERENCE.sub(rf"\g<0>-{mark}", value))
        return ElementTree.tostring(root, encoding="unicode").replace("<svg", f"<svg{_NAMESPACE}", 1)


def shaded(before: str, steps: Sequence[tuple[str, int, int]], after: str) -> str:
    """A text of tokens as HTML: each with how many of how many were allowed there; the fewer, the darker."""
    shown = [escape(before, quote=False)]
    for text, allowed, size in steps:
        free = math.log(max(allowed, 1)) / math.log(max(size, 2))
        style = f"background:rgba(47,126,216,{0.45 * (1 - free):.2f})"
        title = f"{allowed:,} of {size:,} tokens were allowed"
        shown.append(f'<span style="{style}" title="{title}">{escape(text, quote=False)}</span>')
    return f'<pre style="line-height:1.4;white-space:pre-wrap">{"".join(shown)}\n\n{escape(after)}</pre>'


def preformatted(text: str) -> str:
    """Lines for a terminal as HTML, with the same colours."""
    shown = escape(text, quote=False)
    for words, colour in _COLOURS:
        shown = words.sub(rf'<b style="color:{colour}">\g<0></b>', shown)
    return f'<pre style="line-height:1.25">{shown}</pre>'
