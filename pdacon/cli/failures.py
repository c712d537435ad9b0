"""Bad input: what counts as such, and how it becomes one line."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from types import MappingProxyType
from typing import Any

import typer

from pdacon.errors import NondeterministicGrammarError, PdaconError

FINDINGS, BAD_INPUT, INTERRUPTED = 1, 2, 130

# How the library's messages name what is an option here.
_OPTIONS = MappingProxyType(
    {
        "give it more seconds": "give more --seconds",
        'conflicts="shift"': "--conflicts shift",
        'lookahead="commit"': "--lookahead commit",
        'postlex="python"': "--postlex python",
        "use_bytes=True": "--use-bytes",
        "with tables=": "with --tables",
        "with exclude=": "with --exclude",
        "by exclude=": "by --exclude",
        "views=False": "--no-views",
        'take statements="query"': "take the grammar sql_select",
        "give start= one of": "give --start one of",
        "give its folder with import_paths=, or the grammar's own path with source_path= for a relative import": (
            "give its folder with --import-path"
        ),
    }
)

_TEXTS = frozenset({"TEXT", "TOKEN"})
"""Arguments that any text may be."""

# What the command-line parser raises for an unknown option and its like. The class is click's, which some versions of
# typer bring along under a private name and others depend on.
UsageProblem: type[Exception] = typer.BadParameter.__mro__[2]
_UNKNOWN_OPTION = "NoSuchOption"


class BadInput(Exception):
    """The command cannot do what it was asked to; the message is the line that the user sees."""


def guarded(command: Callable[[], int]) -> int:
    """The exit status of ``command``, or of what stopped it. Errors that are nobody's input pass through."""
    try:
        status = command()
        if not sys.stdout.closed:  # a language server has closed it
            sys.stdout.flush()
        return status
    except BrokenPipeError:
        return reader_gone(FINDINGS)  # what there was to be found is not known
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except UsageProblem as problem:
        # No message: the help was shown instead.
        return _write(_usage(problem)) if str(problem) else BAD_INPUT
    except (BadInput, PdaconError, OSError) as problem:
        return complain(problem)


def reader_gone(status: int) -> int:
    """The exit status where the reader of standard output (head, less) has gone; nothing more is written to it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return status


def enough_is_enough(command: Callable[..., int]) -> Callable[..., int]:
    """A command that lists things, so that a reader who has seen enough of them is no error."""

    @wraps(command)
    def listing(*given: Any, **options: Any) -> int:
        try:
            status = command(*given, **options)
            sys.stdout.flush()
            return status
        except BrokenPipeError:
            return reader_gone(0)

    return listing


def complain(problem: BadInput | PdaconError | OSError) -> int:
    """Say on standard error what is wrong with the input, show the line of a grammar, and say where more is told.

    Gives the exit status for it.
    """
    status = _write(described(problem))
    excerpt = getattr(problem, "excerpt", "")
    if excerpt:
        sys.stderr.write(f"{excerpt}\n")
    if isinstance(problem, PdaconError):
        sys.stderr.write(f"{problem.address}\n")
    return status


def described(problem: BadInput | PdaconError | OSError) -> str:
    """What is wrong with the input."""
    if isinstance(problem, NondeterministicGrammarError):
        return f"{problem.report}; `pdacon check` explains it"
    if isinstance(problem, OSError):
        place = f"{problem.filename}: " if problem.filename is not None else ""
        return f"{place}{_of_folder(problem) or problem.strerror or problem}"
    return str(problem)


def _of_folder(problem: OSError) -> str:
    """What is wrong with the folder of a file, where that is what is wrong."""
    if not isinstance(problem.filename, str):
        return ""
    path = Path(problem.filename)
    if isinstance(problem, FileExistsError) and path.is_file():
        return "a file, not a folder; name another one"
    if isinstance(problem, NotADirectoryError):
        file = next((folder for folder in path.parents if folder.is_file()), None)
        return "" if file is None else f"{file} is a file, not a folder; name another one"
    if isinstance(problem, FileNotFoundError) and not path.parent.is_dir():
        return f"there is no folder {path.parent}; make it first, or name another one"
    return ""


def in_options(text: str) -> str:
    """What is said of keyword arguments, said of options."""
    for argument, option in _OPTIONS.items():
        text = text.replace(argument, option)
    return text


def _usage(problem: Exception) -> str:
    message = getattr(problem, "format_message", problem.__str__)().replace("Value error, ", "").rstrip(".")
    context = getattr(problem, "ctx", None)
    command = getattr(context, "command_path", "pdacon")
    # What is no option may be a text: click parses both alike, up to a `--`.
    parameters = getattr(getattr(context, "command", None), "params", ())
    texts = [each.metavar for each in parameters if each.param_type_name == "argument" and each.metavar in _TEXTS]
    if texts and type(problem).__name__ == _UNKNOWN_OPTION:
        return f"{message}; what begins with - and is no option stands after --: {command} ... -- {texts[0]}"
    # A question of its own, such as which command is meant, stands there already.
    return f"{message} See {command} --help" if message.endswith("?") else f"{message}; see {command} --help"


def one_line(text: str) -> str:
    """All of ``text`` on one line."""
    return " ".join(text.split())


def _write(message: str) -> int:
    sys.stderr.write(f"pdacon: {in_options(one_line(message))}\n")
    return BAD_INPUT
