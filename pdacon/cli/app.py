"""The commands by name, with examples, and how one of them is run."""

from __future__ import annotations

import inspect
import os
import sys
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer

from pdacon.cli.commands import files, grammars, models, texts
from pdacon.cli.failures import BadInput, enough_is_enough, guarded
from pdacon.cli.help import Command, Group, described, marked
from pdacon.cli.options import LONG_HELP
from pdacon.errors import GrammarWarning

_EXAMPLES = 3  # in the short help

app = typer.Typer(
    cls=Group,
    help=described(
        "Constrain language models with Lark grammars.",
        (
            "pdacon generate json            # a model writes JSON, and nothing else",
            "pdacon check my.lark            # is your grammar deterministic?",
            """pdacon explain json '{"a" 1}'   # why is this no JSON?""",
        ),
    ),
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=marked(
        "More: convert, show, server (for editors), config (for C). `COMMAND --help-all` has all. Exit status: 0 done, "
        "1 findings, 2 bad input."
    ),
)


def run(argv: list[str]) -> int:
    """Run one command; its exit status."""
    # A stream that was closed before the start (>&-) is None.
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115
    if sys.stdin is None:
        sys.stdin = Path(os.devnull).open()  # noqa: SIM115
    # Output is UTF-8 whatever the locale, as texts of a grammar are; what cannot be encoded is shown escaped, never
    # an error.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    return guarded(lambda: _started(argv))


def _started(argv: list[str]) -> int:
    if sys.stdout is None:
        raise BadInput("standard output is closed")
    usual: Any = warnings.showwarning

    def show(message: Any, category: Any, *place: Any, **others: Any) -> None:
        """One line, as of everything else that a command has to say."""
        if issubclass(category, GrammarWarning):
            sys.stderr.write(f"pdacon: {message}\n")
        else:
            usual(message, category, *place, **others)

    with warnings.catch_warnings():
        warnings.simplefilter("default", GrammarWarning)
        warnings.showwarning = show
        return _commands()(argv, prog_name="pdacon", standalone_mode=False) or 0


@cache
def _commands() -> Any:
    """The parser of the command line, which Typer takes 30 ms to build: once in a process that calls ``main`` often."""
    return typer.main.get_command(app)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"pdacon {version('pdacon')}")
        raise typer.Exit


def _show_help(context: typer.Context, wanted: bool) -> None:
    """All that there is to say of ``pdacon`` itself is in the short help."""
    if wanted:
        typer.echo(context.get_help(), nl=False)
        raise typer.Exit


@app.callback()
def _common(
    show_version: Annotated[
        bool,
        typer.Option("--version", metavar="", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
    all_of_it: Annotated[
        bool, typer.Option("--help-all", metavar="", callback=_show_help, is_eager=True, hidden=True)
    ] = False,
) -> None:
    pass


def _add(command: Callable[..., int], name: str, *examples: str, hidden: bool = False, is_whole: bool = True) -> None:
    """``is_whole``: what the exit status says is known only once all is written."""
    text = inspect.getdoc(command) or ""
    summary = text.partition("\n\n")[0]
    LONG_HELP[name] = described(text, examples)
    shown = described(summary, examples[:_EXAMPLES])
    called = command if is_whole else enough_is_enough(command)
    app.command(name=name, cls=Command, help=shown, short_help=summary, hidden=hidden)(called)


_add(grammars.list_grammars, "list", "pdacon list", "pdacon list --json", is_whole=False)
_add(grammars.init, "init", "pdacon init orders")
_add(
    grammars.check,
    "check",
    "pdacon check my.lark",
    "pdacon check grammars/*.lark --format sarif > pdacon.sarif",
    "pdacon check my.lark --tokenizer tokenizer.json",
    "pdacon check my.lark --watch",
    "pdacon check --explain PDA001",
)
_add(grammars.run_tests, "test", "pdacon test my.lark", "pdacon test my.lark --update")
_add(
    files.compile_grammar,
    "compile",
    "pdacon compile json --tokenizer tokenizer.json -o json.pda",
    "pdacon compile my.lark -t NAME -o my.pda --eager --seconds 60",
)
_add(
    files.convert,
    "convert",
    "pdacon convert my.gbnf -o my.lark",
    "pdacon convert --from ebnf rules.txt",
    hidden=True,
    is_whole=False,
)
_add(files.lay_out, "fmt", "pdacon fmt my.lark", "pdacon fmt --check grammars/*.lark")
_add(files.config, "config", "cc program.c $(pdacon config --cflags --libs) -o program", hidden=True, is_whole=False)
_add(files.show_file, "show", "pdacon show json.pda", "pdacon show json.pda --json", hidden=True, is_whole=False)
_add(grammars.sample, "sample", "pdacon sample json -n 5", "pdacon sample my.lark --size 200 --seed 1 --jsonl")
_add(texts.mask, "mask", """pdacon mask json '{"a": 1'""", "pdacon mask my.lark @draft.txt -t tokenizer.json")
_add(
    texts.explain,
    "explain",
    """pdacon explain json '{"a" 1}'""",
    "pdacon explain json @data.json --whole",
    """pdacon explain json '{"a"' ,""",
    "pdacon explain json [ '#50'",
)
_add(
    texts.parse,
    "parse",
    """pdacon parse json '{"a": [1, 2]}'""",
    "pdacon parse my.lark @draft.txt --json",
    is_whole=False,
)
_add(
    models.generate,
    "generate",
    "pdacon generate json",
    "pdacon generate my.lark --model NAME -p 'Two guests: ' -n 3 --jsonl",
    "pdacon generate json --input prompts.jsonl --jsonl > answers.jsonl",
)
_add(
    models.serve,
    "serve",
    "pdacon serve",
    "pdacon serve --model NAME --port 8000 --cache ~/.cache/pdacon",
)
_add(
    texts.bench,
    "bench",
    "pdacon bench my.lark --tokenizer tokenizer.json",
    "pdacon bench my.lark -t NAME --text @answer.txt",
)
_add(
    grammars.playground,
    "playground",
    "pdacon playground",
    "pdacon playground --open --tokenizer tokenizer.json",
)
_add(grammars.server, "server", "pdacon server", hidden=True)  # which editors start, and people do not
_add(grammars.doctor, "doctor", "pdacon doctor")
_add(models.tokens, "tokens", "pdacon tokens --tokenizer tokenizer.json", """pdacon tokens '#50' '": "'""")
_add(
    grammars.draw,
    "draw",
    "pdacon draw my.lark -o rules.svg",
    "pdacon draw schema.json -o schema.svg",
    "pdacon draw json --terminal NUMBER -o number.svg",
    "pdacon draw my.lark --terminal if --terminal NAME -o words.svg",
    "pdacon draw my.lark --conflict 1 -o readings.svg",
    "pdacon draw json --pda -o parser.svg",
    "pdacon draw my.lark --state 12 --around 2 -o state.svg",
    """pdacon draw json --after '{"a": [1,' -o here.svg""",
    is_whole=False,
)
