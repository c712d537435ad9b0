"""How the help of a command is written: what is wanted stands bare in its usage, and flags have no type."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup

_WANTED = "GRAMMAR"  # Without one no command that has it does anything, though it may be given in two ways.


class Command(TyperCommand):
    """A command of pdacon."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """``GRAMMAR [TEXT]``, not ``{GRAMMAR} [TEXT]`` or ``[GRAMMAR]``."""
        pieces = super().collect_usage_pieces(ctx)
        return [piece.strip("{}").replace(f"[{_WANTED}]", _WANTED) for piece in pieces]

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, ``--help`` among them."""
        return _without_bools(super().get_params(ctx))


class Group(TyperGroup):
    """The command ``pdacon`` itself."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, ``--help`` among them."""
        return _without_bools(super().get_params(ctx))


def _without_bools(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
    return parameters
