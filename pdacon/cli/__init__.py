"""The commands: ``pdacon check``, ``generate`` and ``mask``.

In: arguments, files, standard input. Out: results on standard output, progress and complaints on standard error, an
exit status: 0, 1 for findings (or a text that the grammar forbids), 2 for bad input, which gets one line and never a
traceback, 130 after Ctrl-C.

The room knows the public names of the rooms below and nothing of their inside. It is the only one that prints.
Without the extra ``cli`` (typer, rich) it says so.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status. ``argv`` is without the program's name; None: ``sys.argv[1:]``."""
    try:
        try:
            from pdacon.cli.app import run
        except ModuleNotFoundError as error:
            if error.name not in ("typer", "rich"):
                raise
            sys.stderr.write("pdacon: the command line needs typer and rich: pip install 'pdacon[cli]'\n")
            return 2
        return run(sys.argv[1:] if argv is None else list(argv))
    except KeyboardInterrupt:
        return 130
