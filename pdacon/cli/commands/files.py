"""About compiled files: ``compile``, ``show``; and what programs in C need to use them: ``config``."""

from __future__ import annotations

import shlex
import sys
from difflib import unified_diff
from pathlib import Path
from typing import Annotated, Literal

import typer

from pdacon.cli.failures import FINDINGS, BadInput
from pdacon.cli.grammars import DIALECTS, STDIN, decoded, in_dialect, is_for_llguidance, load_grammar
from pdacon.cli.inputs import tokens_of
from pdacon.cli.options import GrammarArgument, GrammarOptions, HelpAllOption, JsonOption, with_records
from pdacon.cli.waiting import reading


@with_records
def compile_grammar(
    grammar: GrammarArgument,
    *,
    out: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="Where to write, such as json.pda.")],
    tokenizer: Annotated[
        str, typer.Option("--tokenizer", "-t", metavar="NAME|PATH", help="The model's: as for the other commands.")
    ],
    eager: Annotated[bool, typer.Option("--eager", help="With every mask, or as many as there is room for.")] = False,
    seconds: Annotated[
        float | None, typer.Option("--seconds", min=0.001, metavar="N", help="With --eager: how long at most.")
    ] = None,
    canonical: Annotated[
        bool, typer.Option("--canonical", help="Only tokens that the tokenizer itself would produce.")
    ] = False,
    as_json: JsonOption = False,
    options: GrammarOptions,
) -> int:
    """Compile a grammar for a tokenizer into a file that loads fast.

    In Python: `pdacon.Constraint.load("json.pda")`. Nothing in such a file is executed. Rules that no text uses are
    named; `pdacon check` finds more that may not be meant.
    """
    if seconds is not None and not eager:
        raise BadInput("--seconds goes with --eager: without it masks are computed when they are first asked for")
    if eager and canonical:
        raise BadInput("with --canonical a mask depends on the last token: none is made beforehand, leave --eager out")
    if str(out) == STDIN:
        raise BadInput("a compiled grammar goes into a file: name one with --output")
    loaded = load_grammar(grammar, options, several_starts=True)
    from pdacon import Limits
    from pdacon.cli.compiling import compile_to_file

    tokens = tokens_of(tokenizer)
    limits = Limits(seconds=seconds or 0.0)
    return compile_to_file(loaded, tokens, out, eager=eager, canonical=canonical, limits=limits, json_format=as_json)


def convert(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A grammar in another dialect; `-` is standard input.")],
    *,
    dialect: Annotated[
        Literal["gbnf", "ebnf", "llguidance"] | None,
        typer.Option(
            "--from", metavar="gbnf|ebnf|llguidance", help="What FILE is written in. Default: what its name ends in."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Where to write. Default: standard output.")
    ] = None,
) -> int:
    """A grammar of GBNF, EBNF or llguidance, as Lark's language.

    The other commands take such files as they are.
    """
    chosen = dialect or (file.suffix[1:] if file.suffix in DIALECTS else None)
    if chosen is None and is_for_llguidance(file):
        chosen = "llguidance"
    if chosen is None:
        raise BadInput(f"{file}: what is it written in? Say --from gbnf, --from ebnf or --from llguidance")
    if str(file) != STDIN and not file.is_file():
        raise BadInput(f"{file}: no such file")
    content = sys.stdin.buffer.read() if str(file) == STDIN else file.read_bytes()
    grammar = in_dialect(chosen, decoded(content, str(file)), None if str(file) == STDIN else str(file))
    text = grammar.to_lark()
    if (start := grammar.data.options.start[0]) != "start":
        typer.echo(f"the start rule is {start}: give the other commands --start {start}", err=True)
    if out is None:
        typer.echo(text, nl=False)
    else:
        out.write_text(text, encoding="utf-8")
    return 0


def lay_out(
    grammars: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="Lark grammars, which are changed; `-`: input to output."),
    ],
    *,
    check: Annotated[bool, typer.Option("--check", help="Change nothing; name the files that would change.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Change nothing; show what would change.")] = False,
) -> int:
    """Lay out grammars: blanks, indentation, blank lines.

    Tokens, comments and where lines end stay as they are, and so does what the grammar means.

    Exit status: with --check or --diff 1 if a file would change.
    """
    from pdacon.grammar.formatting import formatted

    changed = 0
    for name in grammars:
        standard, path = name == STDIN, Path(name)
        if not standard and name and path.is_dir():
            raise BadInput(f"{path}: a directory; fmt takes files of Lark grammars, such as {path}/*.lark")
        if not standard and (not name or not path.exists()):
            raise BadInput(
                f"{name or repr(name)}: no such file; fmt takes files of Lark grammars, or - for standard input"
            )
        before = decoded(sys.stdin.buffer.read() if standard else path.read_bytes(), str(path))
        with reading(str(path)):
            after = formatted(before, str(path))
        if diff:
            lines = before.splitlines(keepends=True), after.splitlines(keepends=True)
            sys.stdout.writelines(unified_diff(*lines, str(path), f"{path}, laid out"))
        elif standard and not check:
            sys.stdout.write(after)
        elif after != before:
            typer.echo(f"{path}: would be laid out anew" if check else f"{path}: laid out anew")
            if not check:
                path.write_text(after, encoding="utf-8", newline="\n")
        changed += after != before
    return FINDINGS if changed and (check or diff) else 0


def show_file(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What pdacon compile has written.", show_default=False)],
    *,
    as_json: JsonOption = False,
    help_all: HelpAllOption = False,
) -> int:
    """What is in a compiled file? Is it damaged?"""
    from pdacon.cli.compiled import show_compiled

    return show_compiled(file, json_format=as_json)


def config(
    *,
    cflags: Annotated[bool, typer.Option("--cflags", help="What a compiler needs to find pdacon.h.")] = False,
    libs: Annotated[bool, typer.Option("--libs", help="What a linker needs to find libpdacon.")] = False,
) -> int:
    """Compiler options for programs in C that use compiled files.

    As in `cc program.c $(pdacon config --cflags --libs)`.
    """
    from pdacon._native.embedding import include_folder, library

    if not (cflags or libs):
        raise BadInput("say what for: --cflags, --libs or both")
    folder = shlex.quote(str(library().parent))
    wanted = [f"-I{shlex.quote(str(include_folder()))}"] if cflags else []
    if libs:
        wanted += [f"-L{folder}", "-lpdacon", f"-Wl,-rpath,{folder}"]
    typer.echo(" ".join(wanted))
    return 0
