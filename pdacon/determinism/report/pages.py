"""What each id means, at length: the pages of docs/findings/, which come with the package."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from pdacon.determinism.report.findings import TITLES


@cache
def page(id: str) -> str:
    """The page of an id, in Markdown.

    Raises ValueError: if there is no such id; the message lists those there are.
    """
    if id not in TITLES:
        raise ValueError(f"no such finding: {id!r}; there are {', '.join(TITLES)}")
    text = _folder().joinpath(f"{id}.md").read_text(encoding="utf-8")
    return re.sub(r"^<!--.*?-->\n", "", text, flags=re.MULTILINE)


def first_paragraph(id: str) -> str:
    return " ".join(page(id).split("\n\n")[1].split())


def _folder() -> Traversable:
    installed = files("pdacon") / "findings"
    # In an editable install the package is the source tree, where the pages lie beside it.
    return installed if installed.is_dir() else Path(__file__).parents[3] / "docs" / "findings"
