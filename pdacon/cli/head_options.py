"""Options that a grammar's file says at its head: ``// pdacon: --start program --conflicts shift``.

In: the first lines of a Lark file, comments and blank lines, and the options of the command line. Out: both together;
where both say something, the command line is right. What a file says is data: nothing is imported because of it.
"""

from __future__ import annotations

import functools
import re
import shlex
from collections.abc import Callable
from dataclasses import fields, replace
from itertools import takewhile
from pathlib import Path
from typing import Any

import typer

from pdacon.cli.failures import BadInput, UsageProblem
from pdacon.cli.options import FILTER_OPTIONS, GrammarOptions, with_records

_LINE = re.compile(r"//\s*pdacon:(.*)")
_TAKEN = (*("start", "conflicts", "lookahead", "lexer", "postlex", "use_bytes", "import_path"), *FILTER_OPTIONS)


def with_head_options(path: Path, options: GrammarOptions) -> GrammarOptions:
    """The options, with those of a file's head that they leave open.

    Raises BadInput if the head cannot be understood; the place is in the message.
    """
    for number, line in _head(path):
        said = _read(line, path, number)
        options = replace(options, **said | options.given(said))
    return options


def _head(path: Path) -> list[tuple[int, str]]:
    """The lines of options among the comments at the beginning of a file, and their numbers."""
    with path.open(encoding="utf-8", errors="replace") as file:
        head = takewhile(lambda line: not line.strip() or line.lstrip().startswith("//"), file)
        numbered = [(number, _LINE.match(line.strip())) for number, line in enumerate(head, 1)]
    return [(number, found[1]) for number, found in numbered if found]


def _read(line: str, path: Path, number: int) -> dict[str, Any]:
    """What a line says, by the names of the fields."""
    place = f"{path}:{number}"
    try:
        read: GrammarOptions = _command()(shlex.split(line), standalone_mode=False, prog_name=place)
    except UsageProblem as error:
        raise BadInput(f"{place}: {error}") from None
    except ValueError as error:  # a quotation mark without another one
        raise BadInput(f"{place}: {error}") from None
    said = read.given(field.name for field in fields(GrammarOptions))
    if foreign := next((name for name in said if name not in _TAKEN), None):
        raise BadInput(f"{place}: --{foreign.replace('_', '-')} is for the command line; a grammar cannot ask for it")
    if ":" in (said.get("postlex") or ""):
        raise BadInput(f"{place}: a grammar cannot have a module imported; give --postlex on the command line")
    if folders := said.get("import_path"):
        said["import_path"] = [path.parent / folder for folder in folders]
    return said


@functools.cache
def _command() -> Callable[..., Any]:
    """What reads the options of a grammar, and gives them back."""

    @with_records
    def give_back(*, options: GrammarOptions) -> Any:
        return options

    app = typer.Typer(add_completion=False)
    app.command()(give_back)
    return typer.main.get_command(app)
