"""What each id and each class of errors means, at length: the pages of docs/findings/, which come with the package."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from pdacon import errors
from pdacon.determinism.report.findings import TITLES

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

ERRORS = tuple(
    name
    for name, value in vars(errors).items()
    if isinstance(value, type) and issubclass(value, (errors.PdaconError, UserWarning))
)
"""The errors and warnings, each of which has a page."""
_NAMES = {name.upper(): name for name in (*TITLES, *ERRORS)}


@cache
def page(given: str) -> str:
    """The page of an id or of an error, in Markdown; its letters may be small.

    Raises ValueError: if there is none; the message lists those there are.
    """
    id = _NAMES.get(given.upper())
    if id is None:
        raise ValueError(f"no such finding: {given!r}; there are {', '.join([*TITLES, *ERRORS])}")
    text = _folder().joinpath(f"{id}.md").read_text(encoding="utf-8")
    return re.sub(r"^<!--.*?-->\n", "", text, flags=re.MULTILINE)


def first_paragraph(id: str) -> str:
    return " ".join(page(id).split("\n\n")[1].split())


def _folder() -> Traversable:
    installed = files("pdacon") / "findings"
    # In an editable install the package is the source tree, where the pages lie beside it.
    return installed if installed.is_dir() else Path(__file__).parents[3] / "docs" / "findings"
