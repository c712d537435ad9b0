"""The commands: ``check``, ``compile``, ``draw``, ``explain``, ``generate``, ``mask``, ``sample``, ``show`` and others.

In: arguments, files, standard input. Out: results on standard output, progress and complaints on standard error, an
exit status: 0, 1 for findings (or a text that the grammar forbids), 2 for bad input, which gets one line and never a
traceback, 130 after Ctrl-C.

The room is the only one that prints.
Without the extra ``cli`` (typer, rich) it says so. Nothing is imported before it is needed: help and ``check`` load no
tokenizer, and only ``generate`` loads torch.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status. ``argv`` is without the program's name; None: ``sys.argv[1:]``."""
    if argv is not None:
        return _run(list(argv))
    try:
        return _run(sys.argv[1:])
    finally:
        # Nothing is left but the interpreter's own end: Ctrl-C during that is no news to anybody.
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, signal.SIG_DFL)


def _run(argv: list[str]) -> int:
    try:
        try:
            from pdacon.cli.app import run
        except ModuleNotFoundError as error:
            if error.name not in ("typer", "rich"):
                raise
            sys.stderr.write("pdacon: the command line needs typer and rich: pip install 'pdacon[cli]'\n")
            return 2
        return run(argv)
    except KeyboardInterrupt:
        return 130
