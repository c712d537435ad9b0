"""About a grammar: ``check``, ``test``, ``sample``, ``draw``; and ``doctor``."""

from __future__ import annotations

import gc
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from pdacon.cli.failures import BadInput, enough_is_enough
from pdacon.cli.grammars import load_grammar
from pdacon.cli.inputs import require_one_form, require_one_standard_input, tokens_of
from pdacon.cli.option_records import Subject
from pdacon.cli.options import (
    GRAMMAR_HELP,
    GrammarArgument,
    GrammarOptions,
    HelpAllOption,
    JsonLinesOption,
    JsonOption,
    Level,
    NullOption,
    ReportFormat,
    SeedOption,
    TokenizerOption,
    complete_grammar,
    hidden_option,
    with_records,
)


def list_grammars(*, as_json: JsonOption = False, help_all: HelpAllOption = False) -> int:
    """Which grammars come with pdacon?

    Each name stands for a grammar in every command; `Grammar.builtins()` has the same in Python.
    """
    from pdacon.cli.listing import show_builtins

    return show_builtins(json_format=as_json)


@with_records
def check(
    grammars: Annotated[
        list[str] | None,
        typer.Argument(metavar="GRAMMAR", help=GRAMMAR_HELP, autocompletion=complete_grammar, show_default=False),
    ] = None,
    *,
    options: GrammarOptions,
    tokenizer: Annotated[
        str | None,
        typer.Option(
            "--tokenizer",
            "-t",
            "--vocabulary",
            metavar="NAME|PATH",
            help="Examples as tokens of this vocabulary, too.",
            show_default=False,
        ),
    ] = None,
    format: Annotated[
        ReportFormat,
        typer.Option(
            "--format", metavar="FORMAT", help="text, json (an object a line), sarif or github.", show_default=False
        ),
    ] = "text",
    as_json: Annotated[bool, typer.Option("--json", help="As --format json.")] = False,
    explain: Annotated[
        str | None, typer.Option("--explain", metavar="ID", help="What does PDA001 mean, or GrammarSyntaxError?")
    ] = None,
    fail_on: Annotated[
        Level,
        typer.Option(
            "--fail-on",
            metavar="LEVEL",
            help="Exit with 1 from this level on: error (default), warning or note.",
            show_default=False,
        ),
    ] = "error",
    sizes: Annotated[
        bool, hidden_option("--sizes", help="Say how large the automata are, and what makes them so.")
    ] = False,
    whole: Annotated[
        bool, typer.Option("--all", "-v", help="Notes that need no repair in full, not in one line each.")
    ] = False,
    seconds: Annotated[
        float, hidden_option("--seconds", min=0, metavar="N", help="How long to look for examples and advice.")
    ] = 10.0,
    watch: Annotated[bool, typer.Option("--watch", help="Again whenever a file changes, until Ctrl-C.")] = False,
) -> int:
    """Is a grammar deterministic? If not: why, and what to write?

    Exit status: 0 no finding of the level of --fail-on, 1 findings, 2 not a grammar.
    """
    from pdacon.cli.checking import check_grammars, explain_finding

    if explain is not None:
        return enough_is_enough(explain_finding)(explain)
    if not grammars:
        raise BadInput("give a grammar: pdacon check GRAMMAR...")
    require_one_standard_input(*grammars)
    vocabulary = None if tokenizer is None else tokens_of(tokenizer).vocabulary
    run = partial(
        check_grammars,
        grammars,
        options,
        vocabulary,
        format="json" if as_json else format,
        fail_on=fail_on,
        sizes=sizes,
        seconds=seconds,
        whole=whole,
    )
    if not watch:
        return run()
    from pdacon.cli.watching import run_again

    return run_again(run, grammars)


@with_records
def run_tests(
    grammar: GrammarArgument,
    *,
    folder: Annotated[
        Path | None,
        typer.Option("--folder", metavar="DIR", help="What accept/ and reject/ lie in. Default: the grammar's folder."),
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Write the tree of each text, or what is said of it, beside it.")
    ] = False,
    options: GrammarOptions,
) -> int:
    """Does it take the texts in accept/, and refuse those in reject/?

    Beside `accept/NAME` may lie its tree, `NAME.tree`, and beside `reject/NAME` what `explain` says of it,
    `NAME.error`: they are compared, and `--update` writes them.

    Exit status: 1 if a text is not as expected.
    """
    loaded = load_grammar(grammar, options)
    from pdacon.cli.cases import run_cases
    from pdacon.cli.compiled import constraint_for

    path = Path(grammar)
    if folder is None and not path.is_file():
        raise BadInput(f"{grammar} has no folder of its own; give --folder")
    return run_cases(constraint_for(grammar, loaded, None), folder or path.parent, update=update)


def init(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="What to make; the grammar is named like it.")],
    *,
    help_all: HelpAllOption = False,
) -> int:
    """A grammar to begin with, and texts to take and to refuse.

    No file that is there is written over.
    """
    from pdacon.cli.beginning import write_beginning

    if not folder:
        raise BadInput("give the folder a name, such as: pdacon init orders")
    if folder.endswith(".lark"):
        raise BadInput(f"{folder}: give the name of the folder, in which the grammar is named like it: {folder[:-5]}")
    return write_beginning(Path(folder))


def doctor(*, help_all: HelpAllOption = False) -> int:
    """What is installed here, and does it fit?

    Exit status: 1 if something does not.
    """
    from pdacon.cli.doctor import show_state

    return show_state()


@with_records
def sample(
    grammar: GrammarArgument,
    *,
    count: Annotated[int, typer.Option("-n", min=1, metavar="N", help="How many texts, all different.")] = 10,
    size: Annotated[
        int | None,
        typer.Option(
            "--size",
            min=1,
            metavar="N",
            help="How long a text may grow before it is brought to its end. Default: 60 bytes, or 20 tokens.",
        ),
    ] = None,
    seed: SeedOption = None,
    tokenizer: TokenizerOption = None,
    json_lines: JsonLinesOption = False,
    null: NullOption = False,
    options: GrammarOptions,
) -> int:
    """Random texts of a grammar: what does it mean?

    Without a tokenizer they are put together from short lexemes. With one they are random walks over the tokens that
    the mask allows, and `--jsonl` has the token ids.

    Once a text has several lines, `--- 2 ---` and so on stand between texts; `--jsonl` and `--null` say exactly where
    each ends.
    """
    require_one_form(json_lines, null)
    loaded = load_grammar(grammar, options)
    from pdacon.cli.compiled import constraint_for
    from pdacon.cli.sampling import show_samples

    tokens = None if tokenizer is None else tokens_of(tokenizer)
    constraint = constraint_for(grammar, loaded, None if tokens is None else tokens.vocabulary)
    return show_samples(constraint, tokens, count=count, size=size, seed=seed, json_lines=json_lines, null=null)


@with_records
def draw(
    grammar: GrammarArgument,
    *,
    subject: Subject,
    out: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Where to write. Default: standard output.")
    ] = None,
    options: GrammarOptions,
) -> int:
    """Pictures of a grammar: its rules, terminals, parser, conflicts.

    Without an option that says what: railroad diagrams of all rules, or of what a JSON Schema says. Each picture is one
    SVG file with nothing outside it; browsers show it. A file whose name ends in .png is PNG, which needs
    `pdacon[png]`. States and contexts have the same numbers in all pictures of a grammar.
    """
    require_one_standard_input(grammar, subject.after)
    loaded = load_grammar(grammar, options, several_starts=subject.after is None)
    from pdacon.cli.drawing import write_picture

    return write_picture(loaded, subject, out)


def playground(
    *,
    tokenizers: Annotated[
        list[str] | None,
        typer.Option(
            "--tokenizer",
            "-t",
            metavar="NAME|PATH",
            help="A tokenizer to choose on the page, beside 'tiny' and 'bytes'; may be repeated.",
            show_default=False,
        ),
    ] = None,
    host: Annotated[str, hidden_option("--host", metavar="ADDRESS", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, metavar="PORT", help="0: a free one.")] = 8765,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    export: Annotated[
        Path | None,
        typer.Option(
            "--export",
            metavar="FILE",
            help="Write the page into FILE.html: its examples, for the first tokenizer, without a server.",
            show_default=False,
        ),
    ] = None,
    help_all: HelpAllOption = False,
) -> int:
    """Try grammars on a page in the browser.

    What is typed is checked at once: findings with repairs that can be taken, how a text is cut into lexemes, which
    tokens may come next, and why others may not. The page asks nobody but this command, which runs until Ctrl-C; what
    you write is in the page's address.
    """
    from pdacon.cli.playing import export_playground, show_playground

    if export is not None:
        return export_playground(tokenizers or [], export)
    return show_playground(tokenizers or [], host, port, open_browser=open_browser)


def server(*, help_all: HelpAllOption = False) -> int:
    """A language server for grammars, which an editor starts.

    It speaks the language server protocol by standard input and output; docs/editors.md says what to write into an
    editor's settings.
    """
    from pdacon.cli.models import require

    require("pygls", extra="editor")
    from pdacon.editor import create_server

    language_server = create_server()
    gc.freeze()  # What is here stays, so that no garbage is looked for among it while somebody types.
    language_server.start_io()
    return 0
