"""The grammar that a command is about."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pdacon.cli.failures import BadInput
from pdacon.cli.options import GrammarOptions
from pdacon.cli.postlexers import load_postlexer

if TYPE_CHECKING:
    from pdacon.grammar import Grammar

STDIN = "-"
_ARTIFACT = b"\x89PDA"

_OF_SCHEMA = ("schema", "tables", "aliases", "labels", "functions")


def load_grammar(name: str, options: GrammarOptions, *, several_starts: bool = False) -> Grammar:
    """The built-in grammar of that name, else that of the file, compiled or not, or standard input for ``-``.

    Raises
    ------
    BadInput
        If there is no such grammar, or there are several starts where a text begins with one.
    GrammarError
        If it is not a grammar that pdacon takes.
    TypeError, ValueError
        If what ``--postlex`` names is no Indenter.
    """
    from pdacon.grammar import Grammar
    from pdacon.grammar.builtin import builtin_names

    chosen: dict[str, Any] = {
        "conflicts": options.conflicts.value,
        "lookahead": options.lookahead.value,
        "lexer": options.lexer.value,
        "postlex": options.postlex and load_postlexer(options.postlex),
        "use_bytes": options.use_bytes,
        "import_paths": options.import_path or [],
    }
    if any(getattr(options, option) for option in _OF_SCHEMA):
        return _of_schema(name, options)
    starts = list(dict.fromkeys(options.start or []))
    if len(starts) > 1 and not several_starts:
        raise BadInput(f"--start is given {len(starts)} times, but a text of this command begins with one rule")
    if starts:
        chosen["start"] = starts
    if name == STDIN:
        return Grammar.from_lark(_decoded(sys.stdin.buffer.read()), **chosen)
    names = builtin_names()
    if name in names:
        if Path(name).is_file():
            sys.stderr.write(f"pdacon: {name} is the built-in grammar; write ./{name} for the file of that name\n")
        if chosen["postlex"] is None:
            del chosen["postlex"]  # a grammar that needs one has it by itself
        return Grammar.builtin(name, **chosen)
    path = Path(name)
    if name and path.is_dir():
        raise BadInput(f"{name}: a directory, not a grammar; built-in grammars: {', '.join(names)}")
    if not name or not path.exists():
        raise BadInput(f"{name or repr(name)}: no such file, and no built-in grammar of that name ({', '.join(names)})")
    if is_artifact(path):
        return _of_artifact(path, options)
    return Grammar.from_file(name, **chosen)


def is_artifact(path: Path) -> bool:
    """Whether a file begins as what ``pdacon compile`` writes does."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_ARTIFACT)) == _ARTIFACT


def _of_artifact(path: Path, options: GrammarOptions) -> Grammar:
    """The grammar that a file of ``pdacon compile`` was made of, with the options that it was made with."""
    from pdacon import Constraint

    if options != GrammarOptions():
        raise BadInput(f"{path}: a compiled grammar has its options; leave them out, or give the grammar itself")
    return Constraint.load(path).grammar


def _of_schema(name: str, options: GrammarOptions) -> Grammar:
    """What of a SQL grammar names only the tables and columns of a database."""
    from pdacon.frontends import SQL_FUNCTIONS, sql_for_schema, sql_schema_of

    given = {option: value for option in _OF_SCHEMA if (value := getattr(options, option))}
    if not options.schema:
        raise BadInput(f"--{next(iter(given))} goes with --schema only")
    if len(options.schema) > 1:
        raise BadInput(f"--schema is given {len(options.schema)} times, but a grammar is of one database")
    if name not in ("sql", "sql_select"):
        raise BadInput(f"{name}: --schema goes with the grammars sql_select and sql only")
    if options != GrammarOptions(**given):
        others = ", ".join(f"--{option}" for option in _OF_SCHEMA[1:])
        raise BadInput(f"--schema goes with no other option of the grammar but {others}")
    schema = sql_schema_of(options.schema[0], options.tables or None)
    patterns = {option: given[option] for option in ("aliases", "labels") if option in given}
    functions = [*SQL_FUNCTIONS, *(options.functions or [])]
    try:
        return sql_for_schema(schema, "changes" if name == "sql" else "query", functions=functions, **patterns)
    except ValueError as error:
        raise BadInput(f"--{error}") from error


def _decoded(text: bytes) -> str:
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"standard input is not UTF-8: byte {error.start} is {text[error.start]:#04x}") from error
