"""Bad input: what counts as such, and how it becomes one line."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

import typer

from pdacon.errors import PdaconError

FINDINGS, BAD_INPUT, INTERRUPTED = 1, 2, 130

# What the command-line parser raises for an unknown option and its like. The class is click's, which some versions of
# typer bring along under a private name and others depend on.
UsageProblem: type[Exception] = typer.BadParameter.__mro__[2]


class BadInput(Exception):
    """The command cannot do what it was asked to; the message is the line that the user sees."""


def guarded(command: Callable[[], int]) -> int:
    """The exit status of ``command``, or of what stopped it. Errors that are nobody's input pass through."""
    try:
        status = command()
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        # The reader (head, less) has gone. Nothing more can be written, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINDINGS
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except UsageProblem as problem:
        # No message: the help was shown instead.
        return _complain(getattr(problem, "format_message", problem.__str__)()) if str(problem) else BAD_INPUT
    except (BadInput, PdaconError) as problem:
        return _complain(str(problem))
    except OSError as problem:
        place = f"{problem.filename}: " if problem.filename is not None else ""
        return _complain(f"{place}{problem.strerror or problem}")


def one_line(text: str) -> str:
    """All of ``text`` on one line."""
    return " ".join(text.split())


def _complain(message: str) -> int:
    sys.stderr.write(f"pdacon: {one_line(message)}\n")
    return BAD_INPUT
