"""About compiled files: ``compile``, ``show``; and what programs in C need to use them: ``config``."""

from __future__ import annotations

import shlex
import sys
from difflib import unified_diff
from pathlib import Path
from typing import Annotated, Literal

import typer

from pdacon.base.snippets import shown_in
from pdacon.cli.failures import FINDINGS, BadInput
from pdacon.cli.grammars import DIALECTS, STDIN, decoded, in_dialect, load_grammar, written_in
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

    The other commands take such files as they are. What is written has the start rule at its head where that is not
    `start`.
    """
    name = "standard input" if str(file) == STDIN else str(file)
    if str(file) == STDIN:
        text = decoded(sys.stdin.buffer.read())
    else:
        _require_file(str(file), "convert takes files in GBNF, EBNF or llguidance's language, or - for standard input")
        text = decoded(file.read_bytes(), name)
    chosen = dialect or written_in(file, text)
    if chosen is None:
        ready = f"{name}: it is in Lark's language already, by its name; if not, say"
        what = ready if file.suffix.lower() == ".lark" else f"{name}: what is it written in? Say"
        raise BadInput(f"{what} --from gbnf, --from ebnf or --from llguidance")
    grammar = in_dialect(chosen, text, None if str(file) == STDIN else str(file))
    text = grammar.to_lark()
    if (start := grammar.data.options.start[0]) != "start":
        text = f"// pdacon: --start {start}\n{text}"
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

    Tokens, comments and where lines end stay as they are, and so does what the grammar means. A text that is no grammar
    stays as it is.

    Exit status: 2 if one is no grammar; with --check or --diff 1 if a file would change.
    """
    from pdacon.base.languages import is_llguidance
    from pdacon.grammar.diagnosis import require_syntax
    from pdacon.grammar.formatting import formatted

    changed = 0
    for name in grammars:
        standard, path = name == STDIN, Path(name)
        if not standard and name and path.is_dir():
            raise BadInput(f"{path}: a directory; fmt takes files of Lark grammars, such as {path}/*.lark")
        if not standard:
            _require_file(name, "fmt takes files of Lark grammars, or - for standard input")
        called = "standard input" if standard else name
        before = decoded(sys.stdin.buffer.read() if standard else path.read_bytes(), called)
        with reading(called), shown_in(before, called):
            if path.suffix.lower() in DIALECTS or is_llguidance(before):
                raise BadInput(f"{called}: fmt lays out Lark's language only; pdacon convert writes that")
            after = formatted(before, called)
            require_syntax(before, called)
        if "\r\n" in before:
            after = after.replace("\n", "\r\n")
        if diff:
            lines = before.splitlines(keepends=True), after.splitlines(keepends=True)
            sys.stdout.writelines(unified_diff(*lines, str(path), f"{path}, laid out"))
        elif standard and not check:
            sys.stdout.write(after)
        elif after != before:
            typer.echo(f"{path}: would be laid out anew" if check else f"{path}: laid out anew")
            if not check:
                path.write_text(after, encoding="utf-8", newline="")
        changed += after != before
    return FINDINGS if changed and (check or diff) else 0


def _require_file(name: str, what: str) -> None:
    """Raise BadInput if there is no file of that name, or pipe; ``what`` says what there could be."""
    if not name or not Path(name).exists():
        raise BadInput(f"{name or repr(name)}: no such file; {what}")
    if Path(name).is_dir():
        raise BadInput(f"{name}: a directory; {what}")


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
