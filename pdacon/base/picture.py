"""`Picture`: the text of an SVG, which notebooks show and which can be saved as SVG or PNG."""

from __future__ import annotations

import math
import os
import re
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

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
