"""What several commands make of the inputs that they are given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pdacon.cli.failures import BadInput
from pdacon.cli.grammars import STDIN, artifact_of

if TYPE_CHECKING:
    from pdacon.cli.vocabularies import Tokens


def require_one_standard_input(*arguments: str | None) -> None:
    """Raise `BadInput` if several arguments are to be read from standard input."""
    if arguments.count(STDIN) > 1:
        raise BadInput("standard input (-) can be given only once")


def artifact_name(grammar: str) -> str | None:
    """The file that a GRAMMAR names, if that has a vocabulary of its own."""
    return None if artifact_of(grammar) is None else grammar


def tokens_of(name: str | None) -> Tokens:
    """The vocabulary, with a sign of life while it is read."""
    from rich.console import Console

    from pdacon.cli.vocabularies import load_vocabulary

    with Console(stderr=True).status("loading the tokenizer"):
        return load_vocabulary(name)


def require_one_form(json_lines: bool, null: bool) -> None:
    """Results are JSON lines, or texts with a NUL after each."""
    if json_lines and null:
        raise BadInput("--null and --json are two ways to keep texts apart: give one of them")
