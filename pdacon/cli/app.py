"""The commands and their options. What they do is next door, imported when it is needed."""

from __future__ import annotations

import sys
from enum import Enum
from importlib.metadata import version
from pathlib import Path
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


@app.command()
def generate(
    grammar: Annotated[str, typer.Option("--grammar", "-g", help="A Lark grammar: a file, or a built-in name.")],
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="NAME|PATH", help="A Hugging Face model. Default: a tiny one, embedded."),
    ] = None,
    prompt: Annotated[
        str | None,
        typer.Option(
            "--prompt", "-p", metavar="TEXT", help="What comes before. Default: one that the tiny model knows."
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, max=2**62, help="Makes it repeatable. Default: a new one."),
    ] = None,
    max_tokens: Annotated[int, typer.Option("--max-tokens", min=1, help="The most tokens of a text.")] = 256,
    temperature: Annotated[float, typer.Option("--temperature", min=0.0, help="0: always the likeliest token.")] = 1.0,
    count: Annotated[int, typer.Option("-n", min=1, help="How many texts; text i is that of seed + i.")] = 1,
    start: StartOption = None,
    conflicts: ConflictsOption = Conflicts.error,
    lookahead: LookaheadOption = Lookahead.reject,
) -> int:
    """Let a language model write a text that the grammar allows.

    The text goes to standard output as it comes, everything else to standard error.

    Example: `pdacon generate --grammar json --prompt "Describe a person as JSON:" --seed 1`
    """
    loaded = load_grammar(grammar, GrammarOptions(start or [], conflicts, lookahead))
    from pdacon.cli.generating import EMBEDDED_PROMPTS, Sampling, generate_texts

    if prompt is None and model is None and grammar in EMBEDDED_PROMPTS:
        prompt = EMBEDDED_PROMPTS[grammar]
        typer.echo(f"prompt: {prompt}", err=True)
    return generate_texts(loaded, model, Sampling(prompt or "", max_tokens, temperature, seed, count))


@app.command()
def mask(
    grammar: GrammarArgument,
    text: Annotated[
        str | None,
        typer.Argument(metavar="TEXT", help="The text so far. @PATH: a file; -: stdin; --: before a dash."),
    ] = None,
    file: Annotated[Path | None, typer.Option("--file", help="A file with the text so far.")] = None,
    tokenizer: Annotated[
        str | None,
        typer.Option("--tokenizer", metavar="NAME|PATH", help="A Hugging Face tokenizer. Default: the tiny model's."),
    ] = None,
    show: Annotated[int, typer.Option("--show", min=0, help="The most tokens to list.")] = 40,
    start: StartOption = None,
    conflicts: ConflictsOption = Conflicts.error,
    lookahead: LookaheadOption = Lookahead.reject,
    format: Annotated[
        Format, typer.Option("--format", help="How to write it; json lists all token ids.")
    ] = Format.text,
) -> int:
    """What may come after this text, as terminals and as tokens?

    Files and standard input are taken byte for byte, the last newline included. Exit status: 1 if the text is not the
    beginning of any text of the grammar; then it is shown where it stops being one.

    Example: `pdacon mask json '{"a": 1'`
    """
    loaded = load_grammar(grammar, GrammarOptions(start or [], conflicts, lookahead))
    from pdacon.cli.masking import show_mask
    from pdacon.cli.texts import read_text

    return show_mask(loaded, read_text(text, file), tokenizer, show=show, json_format=format is Format.json)
