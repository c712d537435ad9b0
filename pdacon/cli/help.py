"""How the help of a command is written: examples first, what is wanted bare in the usage, no types of arguments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import typer
from rich.markup import escape
from typer.core import TyperArgument, TyperCommand, TyperGroup

from pdacon.cli.failures import reader_gone

_WANTED = "GRAMMAR"  # Without one no command that has it does anything, though it may be given in two ways.
_CODE = re.compile(r"`([^`]*)`")


@contextmanager
def _seen_enough() -> Iterator[None]:
    """A reader of the help who has seen enough of it is no error."""
    try:
        yield
    except (BrokenPipeError, SystemExit):  # rich ends the process, in place of the error
        raise typer.Exit(reader_gone(0)) from None


class Command(TyperCommand):
    """A command of pdacon."""

    def make_context(self, *given: Any, **options: Any) -> Any:
        """What is asked for; help is shown here."""
        with _seen_enough():
            return super().make_context(*given, **options)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """``GRAMMAR [TEXT]``, not ``{GRAMMAR} [TEXT]`` or ``[GRAMMAR]``; ``FILE...``, not ``{FILE...}...``."""
        pieces = [re.sub(r"^\{(.*?)(?:\.\.\.)?\}", r"\1", piece) for piece in super().collect_usage_pieces(ctx)]
        return [piece.replace(f"[{_WANTED}]", _WANTED) for piece in pieces]

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, ``--help`` among them."""
        return _without_types(super().get_params(ctx))


class Group(TyperGroup):
    """The command ``pdacon`` itself."""

    def make_context(self, *given: Any, **options: Any) -> Any:
        """What is asked for; help and version are shown here."""
        with _seen_enough():
            return super().make_context(*given, **options)

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, ``--help`` among them, each in one line."""
        parameters = _without_types(super().get_params(ctx))
        for parameter in parameters:
            if parameter.name == "show_completion":
                parameter.help = "Show what that would install."
        return parameters


def described(text: str, examples: Iterable[str] = ()) -> str:
    """What stands above the options, in rich's markup: an example says more than they do, so examples come first."""
    shown = "\n".join(f"  $ [bold]{escape(example)}[/bold]" for example in examples)
    paragraphs = [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]
    # The library shows all but the first paragraph faintly.
    said = [f"[not dim]{marked(paragraph)}[/not dim]" for paragraph in paragraphs]
    return "\n\n".join([*([f"\b\n{shown}"] if shown else []), *said])


def marked(text: str) -> str:
    """A text in rich's markup: what stands between back quotes is bold."""
    return _CODE.sub(r"[bold]\1[/bold]", escape(text))


def _without_types(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
        # Its name says what an argument is; of a number the error says what its bounds are.
        if isinstance(parameter, TyperArgument):
            parameter.display_type_rich = lambda ctx: None  # type: ignore[method-assign]
        parameter._get_number_range_help_str = lambda: None
    return parameters
