"""``pdacon draw``: pictures of a grammar."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from pdacon.cli.failures import BadInput

_LIBRARIES = ("graphlay", "railroad")


def write_picture(draw: Callable[[], str], out: Path | None) -> int:
    """Write what ``draw`` returns to a file, or to standard output where that is not a terminal."""
    if out is None and sys.stdout.isatty():
        raise BadInput("a picture is nothing for a terminal: give -o FILE.svg, or send it on with > FILE.svg")
    try:
        picture = draw()
    except ModuleNotFoundError as error:
        if error.name not in _LIBRARIES:
            raise
        raise BadInput(f"this needs {error.name}: pip install 'pdacon[draw]'") from error
    if out is None:
        sys.stdout.write(picture)
    else:
        out.write_text(picture, encoding="utf-8")
    return 0
