"""The commands and their options. What they do is next door, imported when it is needed."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pdacon.cli.failures import BadInput, guarded
from pdacon.cli.grammars import STDIN, artifact_of, load_grammar
from pdacon.cli.options import (
    GRAMMAR_HELP,
    FailOn,
    FileOption,
    Format,
    FormatOption,
    GrammarArgument,
    GrammarOptions,
    JsonLinesOption,
    ReportFormat,
    SeedOption,
    TextArgument,
    TokenizerOption,
    complete_grammar,
    with_grammar_options,
)

if TYPE_CHECKING:
    from pdacon.cli.vocabularies import Tokens


def _examples(*commands: str) -> str:
    return "\n".join(["Examples:", "", *(f"- `{command}`" for command in commands)])


app = typer.Typer(
    help="Constrain language models with Lark grammars.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit status: 0 done, 1 findings, 2 bad input. `pdacon COMMAND --help` has examples.",
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
    return app(argv, prog_name="pdacon", standalone_mode=False) or 0


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"pdacon {version('pdacon')}")
        raise typer.Exit


@app.callback()
def _common(
    show_version: Annotated[
        bool,
        typer.Option("--version", metavar="", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    pass


@app.command(
    epilog=_examples(
        "pdacon check my.lark",
        "pdacon check grammars/*.lark --format sarif > pdacon.sarif",
        "pdacon check my.lark --tokenizer tokenizer.json",
        "pdacon check --explain PDA001",
    )
)
@with_grammar_options
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
            "--vocabulary",
            "-t",
            metavar="NAME|PATH",
            help="Show examples as tokens of this vocabulary, and what it cannot spell.",
            show_default=False,
        ),
    ] = None,
    format: Annotated[
        ReportFormat,
        typer.Option(
            "--format",
            metavar="text|json|sarif|github",
            help="How to write it: 'json' an object a line, 'sarif' for code scanning, 'github' as annotations.",
        ),
    ] = ReportFormat.text,
    explain: Annotated[
        str | None,
        typer.Option("--explain", metavar="ID", help="Say what a finding such as PDA001 means, and stop."),
    ] = None,
    fail_on: Annotated[
        FailOn,
        typer.Option(
            "--fail-on", metavar="error|warning|note", help="Exit with 1 if there is a finding of this level or above."
        ),
    ] = FailOn.error,
    sizes: Annotated[
        bool, typer.Option("--sizes", metavar="", help="Say how large the automata are, and what makes them so.")
    ] = False,
    seconds: Annotated[
        float, typer.Option("--seconds", min=0, metavar="N", help="How long to look for examples and advice.")
    ] = 10.0,
) -> int:
    """Are these grammars deterministic? If not: where, why, and what to write instead.

    Exit status: 0 no finding of the level of --fail-on, 1 findings, 2 not a grammar.
    """
    from pdacon.cli.checking import check_grammars, explain_finding

    if explain is not None:
        return explain_finding(explain)
    if not grammars:
        raise BadInput("give a grammar: pdacon check GRAMMAR...")
    _one_standard_input(*grammars)
    vocabulary = None if tokenizer is None else _tokens(tokenizer).vocabulary
    return check_grammars(
        grammars, options, vocabulary, format=format, fail_on=fail_on.value, sizes=sizes, seconds=seconds
    )


@app.command(
    name="compile",
    epilog=_examples(
        "pdacon compile json --tokenizer tokenizer.json -o json.pda",
        "pdacon compile my.lark -t NAME -o my.pda --eager --seconds 60",
    ),
)
@with_grammar_options
def compile_grammar(
    grammar: GrammarArgument,
    *,
    out: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="Where to write, such as json.pda.")],
    tokenizer: Annotated[
        str, typer.Option("--tokenizer", "-t", metavar="NAME|PATH", help="The model's: as for the other commands.")
    ],
    eager: Annotated[
        bool,
        typer.Option(
            "--eager",
            help="With every mask, or as many as there is room for; for a large grammar that takes some seconds. "
            "Default: each at first sight.",
        ),
    ] = False,
    seconds: Annotated[
        float | None,
        typer.Option(
            "--seconds", min=0.001, metavar="N", help="With --eager: how long at most, all in all; what is ready then."
        ),
    ] = None,
    options: GrammarOptions,
) -> int:
    """Compile a grammar for a tokenizer into a file that loads in a moment.

    In Python: `pdacon.Constraint.load("json.pda")`. Nothing in such a file is executed.
    """
    if seconds is not None and not eager:
        raise BadInput("--seconds goes with --eager: without it masks are computed at first sight")
    if str(out) == STDIN:
        raise BadInput("a compiled grammar goes into a file: name one with --output")
    loaded = load_grammar(grammar, options, several_starts=True)
    from pdacon.cli.compiling import compile_to_file

    return compile_to_file(loaded, _tokens(tokenizer), out, eager=eager, seconds=seconds or 0.0)


@app.command(name="show", epilog=_examples("pdacon show json.pda", "pdacon show json.pda --format json"))
def show_file(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="What `pdacon compile` has written.", show_default=False)
    ],
    *,
    format: FormatOption = Format.text,
) -> int:
    """What is in a compiled file: of which grammar, for which vocabulary, with how many masks? Is it damaged?"""
    from pdacon.cli.compiled import show_compiled

    return show_compiled(file, json_format=format is Format.json)


@app.command(epilog=_examples("pdacon sample json -n 5", "pdacon sample my.lark --size 200 --seed 1 --jsonl"))
@with_grammar_options
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
            help="How long a text may grow before it is brought to its end, in bytes (in tokens with --tokenizer). "
            "Default: 60 bytes or 20 tokens.",
        ),
    ] = None,
    seed: SeedOption = None,
    tokenizer: TokenizerOption = None,
    json_lines: JsonLinesOption = False,
    options: GrammarOptions,
) -> int:
    """Random texts of a grammar: what does it mean, and what may a reader of it have to expect?

    Without a tokenizer they are put together from short lexemes. With one they are random walks over the tokens that
    the mask allows, and `--jsonl` has the token ids.
    """
    loaded = load_grammar(grammar, options)
    from pdacon.cli.compiled import constraint_for
    from pdacon.cli.sampling import show_samples

    tokens = None if tokenizer is None else _tokens(tokenizer)
    constraint = constraint_for(grammar, loaded, None if tokens is None else tokens.vocabulary)
    return show_samples(constraint, tokens, count=count, size=size, seed=seed, json_lines=json_lines)


@app.command(
    epilog=_examples("""pdacon mask json '{"a": 1'""", "pdacon mask my.lark @draft.txt --tokenizer tokenizer.json")
)
@with_grammar_options
def mask(
    grammar: GrammarArgument,
    *,
    text: TextArgument = None,
    file: FileOption = None,
    tokenizer: TokenizerOption = None,
    show: Annotated[int, typer.Option("--show", min=0, metavar="N", help="The most tokens to list.")] = 40,
    uncut: Annotated[
        bool, typer.Option("--all", metavar="", help="All listed texts, and the completion, however long.")
    ] = False,
    options: GrammarOptions,
    format: FormatOption = Format.text,
) -> int:
    """What may come after this text, as terminals and as tokens?

    Files and standard input are taken byte for byte, the last newline included. Exit status: 1 if the text is not the
    beginning of any text of the grammar; then it is shown where it stops being one. `--format json` lists all ids.
    """
    _one_standard_input(grammar, text)
    loaded = load_grammar(grammar, options)
    from pdacon.cli.compiled import constraint_for
    from pdacon.cli.masking import show_mask
    from pdacon.cli.texts import read_text

    given = read_text(text, file)
    tokens = _tokens(tokenizer or _artifact_name(grammar))
    constraint = constraint_for(grammar, loaded, tokens.vocabulary)
    json_format = format is Format.json
    return show_mask(constraint, given, tokens, most=show, uncut=uncut, json_format=json_format)


@app.command(
    epilog=_examples(
        """pdacon explain json '{"a" 1}'""",
        "pdacon explain json @data.json --whole",
        """pdacon explain json '{"a"' ,""",
        "pdacon explain json [ '#50'",
    )
)
@with_grammar_options
def explain(
    grammar: GrammarArgument,
    *,
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="The text. @PATH: a file; -: standard input.", show_default=False)
    ],
    token: Annotated[
        str | None,
        typer.Argument(
            metavar="TOKEN",
            help="What is to come after it: a text, or '#ID' of a token (## for a text that begins with #).",
            show_default=False,
        ),
    ] = None,
    tokenizer: TokenizerOption = None,
    whole: Annotated[
        bool, typer.Option("--whole", metavar="", help="Exit with 1 unless the text is a whole one, as a parser does.")
    ] = False,
    full: Annotated[
        bool, typer.Option("--full", metavar="", help="Every rule that is being parsed, and blanks between lexemes.")
    ] = False,
    uncut: Annotated[
        bool, typer.Option("--all", metavar="", help="All lexemes, and texts and the stack as long as they are.")
    ] = False,
    options: GrammarOptions,
    format: FormatOption = Format.text,
) -> int:
    """Why may this token, or this text, not come here? How is the text read?

    Without a TOKEN: where the text stops being the beginning of a text of the grammar, or whether it is a whole one.
    Shows the last lexemes, what is expected, the rules that are being parsed, and the parser's stack.

    Exit status: 0 if it is allowed, 1 if it is not; with `--whole` 1 if the text could not end there.
    """
    _one_standard_input(grammar, text)
    loaded = load_grammar(grammar, options)
    from pdacon.cli.compiled import constraint_for
    from pdacon.cli.explaining import show_explanation
    from pdacon.cli.inventory import is_id
    from pdacon.cli.texts import read_text

    given = read_text(text, None)
    tokenizer = tokenizer or _artifact_name(grammar)
    tokens = _tokens(tokenizer) if tokenizer is not None or (token is not None and is_id(token)) else None
    json_format = format is Format.json
    constraint = constraint_for(grammar, loaded, None if tokens is None else tokens.vocabulary)
    return show_explanation(
        constraint, given, token, tokens, whole=whole, full=full, uncut=uncut, json_format=json_format
    )


@app.command(
    epilog=_examples(
        "pdacon generate json",
        "pdacon generate my.lark --model NAME -p 'Two guests: ' -p 'Five: ' -n 3 --jsonl",
        "pdacon generate json --input prompts.jsonl --jsonl --batch-size 8 > answers.jsonl",
    )
)
@with_grammar_options
def generate(
    *,
    positional: Annotated[
        str | None,
        typer.Argument(metavar="GRAMMAR", help=GRAMMAR_HELP, autocompletion=complete_grammar, show_default=False),
    ] = None,
    grammar: Annotated[
        str | None,
        typer.Option(
            "--grammar", "-g", metavar="GRAMMAR", help="The same, as an option.", autocompletion=complete_grammar
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", metavar="NAME|PATH", help="A Hugging Face model. Default: a tiny one, embedded."),
    ] = None,
    prompts: Annotated[
        list[str] | None,
        typer.Option(
            "--prompt",
            "-p",
            metavar="TEXT",
            help="What comes before; may be repeated. Default: one that the tiny model knows.",
        ),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            "--input",
            "-i",
            metavar="PATH",
            help="A file (-: standard input) with a JSON object a line that has a 'prompt', or 'messages' of a chat.",
        ),
    ] = None,
    chat: Annotated[
        bool, typer.Option("--chat", metavar="", help="Write prompts with the tokenizer's chat template.")
    ] = False,
    prefix: Annotated[
        str, typer.Option("--prefix", metavar="TEXT", help="How each text begins.", show_default=False)
    ] = "",
    count: Annotated[int, typer.Option("-n", min=1, metavar="N", help="How many texts for each prompt.")] = 1,
    seed: SeedOption = None,
    max_tokens: Annotated[
        int, typer.Option("--max-tokens", min=1, metavar="N", help="The most tokens of a text.")
    ] = 256,
    temperature: Annotated[
        float | None,
        typer.Option(
            "--temperature",
            min=0.0,
            max=100.0,
            metavar="T",
            help="0: always the likeliest token. Default: 1, or 0 with beams.",
        ),
    ] = None,
    top_p: Annotated[
        float | None,
        typer.Option("--top-p", min=0.0, max=1.0, metavar="P", help="Draw from the likeliest tokens that make up P."),
    ] = None,
    beams: Annotated[int, typer.Option("--beams", min=1, metavar="N", help="Beam search with so many beams.")] = 1,
    batch: Annotated[
        int, typer.Option("--batch-size", min=1, metavar="N", help="How many texts are generated at a time.")
    ] = 1,
    json_lines: JsonLinesOption = False,
    options: GrammarOptions,
) -> int:
    """Let a language model write texts that the grammar allows.

    Texts go to standard output, one by one as they come or, with `--jsonl`, as one object a line with what the input's
    line said, `text` and `complete`; everything else goes to standard error. Text i is drawn with seed + i, a batch
    with the seed of its first text.

    A text that `--max-tokens` cuts off is the beginning of a text of the grammar; it is said which ones are.
    """
    if (positional is None) == (grammar is None):
        raise BadInput("give the grammar: pdacon generate GRAMMAR" + ("" if grammar is None else ", only once"))
    name = positional if grammar is None else grammar
    assert name is not None
    _one_standard_input(name, source)
    loaded = load_grammar(name, options)
    from pdacon.cli.generating import EMBEDDED_PROMPTS, Sampling, show_texts
    from pdacon.cli.prompts import requests_of

    if not prompts and source is None:
        known = EMBEDDED_PROMPTS.get(name) if model is None else None
        prompts = [known or ""]
        if known is not None:
            typer.echo(f"prompt: {known}", err=True)
    sampling = Sampling(max_tokens, temperature, top_p, seed, count, beams, batch, prefix)
    return show_texts(
        name, loaded, model, requests_of(prompts or [], source, chat=chat), sampling, json_lines=json_lines
    )


@app.command(epilog=_examples("pdacon tokens --tokenizer tokenizer.json", """pdacon tokens '#50' '": "'"""))
def tokens(
    wanted: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TOKEN",
            help="Tokens to look up: '#ID' (in quotes), or a text (## for one that begins with #).",
            show_default=False,
        ),
    ] = None,
    tokenizer: TokenizerOption = None,
    format: FormatOption = Format.text,
) -> int:
    """What does a vocabulary look like? What is this token?

    Exit status: 1 if a text is not one token; then those that begin with it are shown.
    """
    from pdacon.cli.inventory import show_tokens

    return show_tokens(_tokens(tokenizer), wanted or [], json_format=format is Format.json)


@app.command(
    epilog=_examples(
        "pdacon draw my.lark -o rules.svg",
        "pdacon draw json --terminal NUMBER -o number.svg",
        "pdacon draw my.lark --terminal if --terminal NAME -o words.svg",
        "pdacon draw my.lark --conflict 1 -o readings.svg",
        "pdacon draw json --pda -o parser.svg",
        "pdacon draw my.lark --state 12 --around 2 -o state.svg",
        """pdacon draw json --after '{"a": [1,' -o here.svg""",
    )
)
@with_grammar_options
def draw(
    grammar: GrammarArgument,
    *,
    rule: Annotated[
        list[str] | None,
        typer.Option("--rule", metavar="NAME", help="Only this rule; may be repeated. Default: all of them."),
    ] = None,
    terminal: Annotated[
        list[str] | None,
        typer.Option(
            "--terminal",
            metavar="NAME",
            help="A terminal's automaton: what does it match? Of several (repeat it): which of them wins?",
        ),
    ] = None,
    conflict: Annotated[
        int | None,
        typer.Option("--conflict", metavar="N", help="The two readings behind the Nth conflict that check finds."),
    ] = None,
    pda: Annotated[bool, typer.Option("--pda", metavar="", help="The parser: all its LR states.")] = False,
    state: Annotated[
        int | None,
        typer.Option("--state", metavar="N", help="An LR state: items, actions, conflicts, and what is around it."),
    ] = None,
    after: Annotated[
        str | None,
        typer.Option(
            "--after",
            metavar="TEXT",
            help="The LR state and the stack after this text (@PATH: a file); with --pda marked there.",
        ),
    ] = None,
    around: Annotated[
        int, typer.Option("--around", min=0, metavar="K", help="States up to K steps away are drawn, too.")
    ] = 1,
    context: Annotated[
        int | None, typer.Option("--context", metavar="N", help="A lexical context: which terminals compete.")
    ] = None,
    most: Annotated[int | None, typer.Option("--most", min=1, metavar="N", help="The most states to draw.")] = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Where to write. Default: standard output.")
    ] = None,
    options: GrammarOptions,
) -> int:
    """Pictures of a grammar, as SVG: its rules, or what a terminal matches, or what the parser does.

    Without an option that says what: railroad diagrams of all rules. Each picture is one file with nothing outside it;
    browsers show it. States and contexts have the same numbers in all pictures of a grammar.
    """
    _one_standard_input(grammar, after)
    loaded = load_grammar(grammar, options, several_starts=after is None)
    from pdacon.cli.drawing import Subject, write_picture
    from pdacon.cli.texts import read_text

    text = None if after is None else read_text(after, None)
    subject = Subject(
        rules=tuple(rule or ()),
        terminals=tuple(terminal or ()),
        state=state,
        after=text,
        context=context,
        conflict=conflict,
        pda=pda,
    )
    return write_picture(loaded, subject, out, around=around, most=most)


def _one_standard_input(*arguments: str | None) -> None:
    if arguments.count(STDIN) > 1:
        raise BadInput("standard input (-) can be given only once")


def _artifact_name(grammar: str) -> str | None:
    """The file that a GRAMMAR names, if that has a vocabulary of its own."""
    return None if artifact_of(grammar) is None else grammar


def _tokens(name: str | None) -> Tokens:
    """The vocabulary, with a sign of life while it is read."""
    from rich.console import Console

    from pdacon.cli.vocabularies import load_vocabulary

    with Console(stderr=True).status("loading the tokenizer"):
        return load_vocabulary(name)
