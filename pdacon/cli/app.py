"""The commands and their options. What they do is next door, imported when it is needed."""

from __future__ import annotations

import sys
from enum import Enum
from importlib.metadata import version
from typing import Annotated

import typer

from pdacon.cli.failures import guarded
from pdacon.cli.grammars import (
    Conflicts,
    ConflictsOption,
    GrammarArgument,
    GrammarOptions,
    Lookahead,
    LookaheadOption,
    StartOption,
    load_grammar,
)

app = typer.Typer(
    help="Constrain language models with Lark grammars.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Format(str, Enum):
    """How a result is written."""

    text = "text"
    json = "json"


class FailOn(str, Enum):
    """The least level of a finding that makes the exit status 1."""

    error = "error"
    warning = "warning"
    note = "note"


def run(argv: list[str]) -> int:
    """Run one command; its exit status."""
    # Output is UTF-8 whatever the locale, as texts of a grammar are; what cannot be encoded is shown escaped, never
    # an error.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    return guarded(lambda: app(argv, prog_name="pdacon", standalone_mode=False) or 0)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pdacon {version('pdacon')}")
        raise typer.Exit


@app.callback()
def _common(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


@app.command()
def check(
    grammar: GrammarArgument,
    start: StartOption = None,
    conflicts: ConflictsOption = Conflicts.error,
    lookahead: LookaheadOption = Lookahead.reject,
    format: Annotated[Format, typer.Option("--format", help="How to write the report.")] = Format.text,
    fail_on: Annotated[
        FailOn,
        typer.Option("--fail-on", metavar="LEVEL", help="Exit with 1 from this level on: error, warning or note."),
    ] = FailOn.error,
) -> int:
    """Is the grammar deterministic? If not: where, why, and what to write instead.

    Exit status: 0 no findings, 1 findings, 2 not a grammar.

    Example: `pdacon check my.lark --start expr --format json`
    """
    from pdacon.cli.checking import check_grammar

    loaded = load_grammar(grammar, GrammarOptions(start or [], conflicts, lookahead))
    return check_grammar(loaded, json_format=format is Format.json, fail_on=fail_on.value)
