"""The grammar that a command is about."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pdacon.base.languages import BY_ENDING, LLGUIDANCE, is_llguidance
from pdacon.base.quoting import did_you_mean, line_and_column
from pdacon.cli.failures import BadInput
from pdacon.cli.imported import imported, is_imported
from pdacon.cli.options import FILTER_OPTIONS, JSON_OPTIONS, SCHEMA_OPTIONS, GrammarOptions
from pdacon.cli.postlexers import load_postlexer
from pdacon.cli.waiting import reading
from pdacon.errors import EmptyLanguageError, GrammarWarning, PdaconError, SchemaError, UnsupportedSchemaError

if TYPE_CHECKING:
    from pdacon.front.grammar import Grammar
    from pdacon.regular import RegularSet

STDIN = "-"
DIALECTS = tuple(ending for ending, language in BY_ENDING.items() if language.defines)
"""The endings of files in dialects; others are Lark's."""
_ARTIFACT = b"\x89PDA"
_COMPILED = ".pda"


def load_grammar(name: str, options: GrammarOptions, *, several_starts: bool = False, seconds: float = 0.0) -> Grammar:
    """The built-in grammar of that name, else that of the file, compiled or not, or standard input for ``-``.

    ``seconds`` are those of the command's ``--seconds``; 0: it has none, and reading has its own.

    Raises BadInput: if there is no such grammar or script, there are several starts where a text begins with one, or
    reading takes too long. GrammarError: if it is not a grammar that pdacon takes. TypeError, ValueError: if what
    ``--postlex`` names is no Indenter.
    """
    with reading(name, seconds):
        return _read(name, options, several_starts=several_starts)


def _read(name: str, options: GrammarOptions, *, several_starts: bool) -> Grammar:
    filters = options.given(FILTER_OPTIONS)
    if filters and artifact_of(name) is not None:
        raise BadInput(f"{name}: a compiled grammar has its filters; leave them out, or give the grammar itself")
    if "characters" in filters:
        _tell_of_characters(filters["characters"])
    options = replace(options, characters=None, scripts=None, normal_form=None)
    if not options.given((*JSON_OPTIONS, *SCHEMA_OPTIONS)) and (source := _lark_source(name)) is not None:
        return _of_lark(*source, options, filters, several_starts=several_starts)
    grammar = _load(name, options, several_starts=several_starts)
    return grammar & _texts(filters) if filters else grammar


def _tell_of_characters(given: str) -> None:
    """Say what a word means where characters are wanted: it may be meant as the name of a script.

    Raises BadInput: there are none.
    """
    if not given:
        raise BadInput("--characters is empty; give characters, such as 0123456789, or ascii")
    if len(given) > 2 and given != "ascii" and given.isalpha() and [*given] != sorted(given):
        sys.stderr.write(
            f"pdacon: --characters {given}: texts have only these letters; the one word that it knows is ascii, and "
            "--script takes the name of a script, such as Latin\n"
        )


def _lark_source(name: str) -> tuple[str, str | None] | None:
    """The text of a file in Lark's language, and its path, if that is what a name stands for, or of standard input."""
    from pdacon.grammar.builtin import builtin_names
    from pdacon.grammar.lark_reading import read_source

    if name == STDIN:
        return decoded(sys.stdin.buffer.read()), None
    path = Path(name)
    if not name or name in builtin_names() or is_imported(name) or path.is_dir() or not path.exists():
        return None
    if path.suffix.lower() in (*BY_ENDING, _COMPILED) or is_artifact(path):
        return None
    return read_source(path), name


def _of_lark(
    text: str, path: str | None, options: GrammarOptions, filters: dict[str, Any], *, several_starts: bool
) -> Grammar:
    """A text in Lark's language, under the options of the command line, and else those at its head."""
    from pdacon.front.grammar import Grammar
    from pdacon.front.lark_files import lark_file_grammar

    if is_llguidance(text):
        given = _of_dialect(path or "standard input", options, LLGUIDANCE.policies)
    else:
        given = _lark_options(options)
    try:
        grammar = lark_file_grammar(Grammar, text, path, given, filters=filters)
    except ValueError as error:
        raise BadInput(f"--script: {error}") from error
    _require_one_start(grammar.data.options.start, several_starts=several_starts)
    return grammar


def _lark_options(options: GrammarOptions) -> dict[str, Any]:
    """The arguments of `Grammar.from_lark` that the command line gives."""
    given = options.given(("conflicts", "lookahead", "lexer", "use_bytes"))
    if options.start:
        given["start"] = list(dict.fromkeys(options.start))
    if options.postlex:
        given["postlex"] = load_postlexer(options.postlex)
    if options.import_path:
        given["import_paths"] = options.import_path
    return given


def _of_dialect(name: str, options: GrammarOptions, taken: Sequence[str]) -> dict[str, Any]:
    """Of the options of Lark grammars those that a dialect takes. Raises BadInput: others are given."""
    given = options.given(taken)
    if options != GrammarOptions(**given):
        switches = " and ".join(map(_switch, taken))
        raise BadInput(f"{name}: of the options of a Lark grammar only {switches} goes with this dialect")
    return given


def _require_one_start(starts: Sequence[str], *, several_starts: bool) -> None:
    if len(set(starts)) > 1 and not several_starts:
        raise BadInput(f"--start is given {len(set(starts))} times, but a text of this command begins with one rule")


def _texts(filters: dict[str, Any]) -> RegularSet:
    """The texts that all filters allow that were given."""
    from pdacon.front.lark_files import filter_texts

    try:
        return filter_texts(**filters)
    except ValueError as error:
        raise BadInput(f"--script: {error}") from error


def _load(name: str, options: GrammarOptions, *, several_starts: bool) -> Grammar:
    """The grammar of what is no text in Lark's language, or with options that do not go with one."""
    from pdacon.front.grammar import Grammar
    from pdacon.grammar.builtin import builtin_names

    if schema := _json_schema(name, options):
        return _of_json_schema(schema, options)
    if options.given(JSON_OPTIONS) and not is_imported(name):
        option = _switch(next(iter(options.given(JSON_OPTIONS))))
        raise BadInput(f"{option} goes with a JSON Schema or a Python type only")
    if given := options.given(SCHEMA_OPTIONS):
        return _of_schema(name, options, given)
    _require_one_start(options.start or (), several_starts=several_starts)
    if is_imported(name):
        return _of_object(name, options)
    names = builtin_names()
    if name in names:
        if Path(name).is_file():
            sys.stderr.write(f"pdacon: {name} is the built-in grammar; write ./{name} for the file of that name\n")
        return Grammar.builtin(name, **_lark_options(options))
    path = Path(name)
    if name and path.is_dir():
        raise BadInput(f"{name}: a directory, not a grammar; built-in grammars: {', '.join(names)}")
    if not name or not path.exists():
        meant = did_you_mean(name, [*names, *(entry.name for entry in _folder_of(path))])
        raise BadInput(
            f"{name or repr(name)}: no such file, and no built-in grammar of that name; {meant}"
            f"`pdacon list` has those there are"
        )
    if is_artifact(path) or path.suffix == _COMPILED:
        from pdacon import Constraint

        _refuse(options, f"{path}: a compiled grammar has its options; leave them out, or give the grammar itself")
        return Constraint.load(path).grammar
    return Grammar.from_file(path, **_of_dialect(str(path), options, BY_ENDING[path.suffix.lower()].policies))


def _refuse(options: GrammarOptions, why: str) -> None:
    if options != GrammarOptions():
        raise BadInput(why)


def written_in(path: Path, text: str) -> str | None:
    """The dialect that a text is in, by the name of its file or its first statement; None where neither says one."""
    if path.suffix.lower() in DIALECTS:
        return path.suffix[1:].lower()
    return "llguidance" if is_llguidance(text) else None


def _of_object(name: str, options: GrammarOptions) -> Grammar:
    """The grammar of what a module has: a type, a function, a `Grammar` or a `RegularSet`."""
    from pdacon.front.grammar import Grammar, grammar_of
    from pdacon.frontends.types import is_type

    taken = options.given(
        option for option in JSON_OPTIONS if option not in ("closed", "asserted", "formats", "profile")
    )
    if options != GrammarOptions(**taken):
        raise BadInput(f"{name}: options of a Lark grammar do not go with Python types; leave them out")
    given = imported(name, name)
    described: dict[str, Any] = {"spelling": _spelling(options), "lax": options.lax, "strict": options.strict}
    try:
        if is_type(given):
            grammar = Grammar.from_type(given, **described)
        elif taken:
            raise BadInput(f"{name}: {_switch(next(iter(taken)))} goes with a type, which this is not")
        else:
            grammar = grammar_of("pdacon", given)
    except (TypeError, ValueError) as error:
        raise BadInput(f"{name}: {error}") from error
    return _telling(grammar)


def _spelling(options: GrammarOptions) -> Any:
    from pdacon import Spelling

    chosen = {field.name: getattr(options, field.name) for field in fields(Spelling) if field.name != "order"}
    chosen["excludes"] = tuple(options.excludes or ())
    try:
        return Spelling(order="any" if options.any_order else "schema", **chosen)
    except ValueError as error:
        raise BadInput(str(error)) from None


def _telling(grammar: Grammar) -> Grammar:
    """The grammar, once standard error has what it does not enforce."""
    for place, what, why in grammar.unenforced:
        sys.stderr.write(f"pdacon: not enforced: {place}: {what}: {why}\n")
    return grammar


def in_dialect(dialect: str, text: str, path: str | None) -> Grammar:
    """The grammar of a text in a dialect."""
    from pdacon.front.grammar import Grammar

    readers = {"gbnf": Grammar.from_gbnf, "ebnf": Grammar.from_ebnf, "llguidance": Grammar.from_llguidance}
    return readers[dialect](text, source_path=path)


def _folder_of(path: Path) -> Iterator[Path]:
    """The grammars and compiled grammars where a file was looked for."""
    folder = path.parent
    return (
        (entry for entry in folder.iterdir() if entry.suffix in (".lark", _COMPILED, *DIALECTS))
        if folder.is_dir()
        else iter(())
    )


def artifact_of(name: str) -> Path | None:
    """The file of ``pdacon compile`` that a GRAMMAR names, if it does."""
    from pdacon.grammar.builtin import builtin_names

    path = Path(name)
    return path if name and name != STDIN and is_artifact(path) and name not in builtin_names() else None


def is_artifact(path: Path) -> bool:
    """Whether a file begins as what ``pdacon compile`` writes does."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_ARTIFACT)) == _ARTIFACT


def _json_schema(name: str, options: GrammarOptions) -> Path | None:
    """The JSON Schema that a command is about, if it is about one."""
    if name == "json" and options.schema:
        if len(options.schema) > 1:
            raise BadInput(f"--schema is given {len(options.schema)} times, but a grammar is of one schema")
        return options.schema[0]
    return Path(name) if name.lower().endswith(".json") and Path(name).is_file() else None


def _of_json_schema(path: Path, options: GrammarOptions) -> Grammar:
    """The values that satisfy a JSON Schema."""
    from pdacon import Grammar

    taken = options.given((*JSON_OPTIONS, "schema"))
    if options != GrammarOptions(**taken):
        others = ", ".join(map(_switch, JSON_OPTIONS))
        raise BadInput(f"{path}: a JSON Schema goes with no other option of the grammar but {others}")
    if not path.is_file():
        raise BadInput(f"{path}: no such file")
    content = path.read_bytes()
    if content.startswith(b"SQLite format 3\0"):
        raise BadInput(f"{path} is a database, which goes with the grammars sql_select and sql only")
    if options.strict:
        raise BadInput(f"{path}: --strict goes with a Python type; a JSON Schema is enforced, or refused without --lax")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GrammarWarning)  # it is among what is said below
            grammar = Grammar.from_json_schema(
                decoded(content, str(path)),
                _spelling(options),
                options.lax,
                formats=options.formats,
                closed=options.closed,
                asserted=options.asserted or (),
                profile=options.profile,
            )
    except UnsupportedSchemaError as error:
        raise UnsupportedSchemaError(f"{path}{error.pointer}", error.keyword, error.why) from None
    except EmptyLanguageError as error:
        raise EmptyLanguageError(f"{path}: {error}") from None
    except PdaconError:
        raise
    except ValueError as error:
        raise BadInput(f"{path}: {error}") from None
    return Grammar(replace(_telling(grammar).data, source_path=str(path)))


def _of_schema(name: str, options: GrammarOptions, given: dict[str, Any]) -> Grammar:
    """What of a SQL grammar names only the tables and columns of a database."""
    from pdacon import Grammar
    from pdacon.frontends import SQL_FUNCTIONS, sql_schema_of

    if not options.schema:
        raise BadInput(f"{_switch(next(iter(given)))} goes with --schema only")
    if len(options.schema) > 1:
        raise BadInput(f"--schema is given {len(options.schema)} times, but a grammar is of one database")
    if name not in ("sql", "sql_select"):
        raise BadInput(f"{name}: --schema goes with the grammars json, sql_select and sql only")
    if options != GrammarOptions(**given):
        others = ", ".join(map(_switch, SCHEMA_OPTIONS[1:]))
        raise BadInput(f"--schema goes with no other option of the grammar but {others}")
    for function in options.functions or []:
        if not function.isidentifier():
            raise BadInput(f"--functions {function!r}: no name of a function; repeat the option to name several")
    (database,) = options.schema
    changes = name == "sql"
    if options.targets and not changes:
        raise BadInput("--targets goes with the grammar sql only: sql_select changes no table")
    added = [function for function in options.functions or [] if function.lower() not in SQL_FUNCTIONS]
    try:
        schema = sql_schema_of(database, options.tables or None, views=options.views, exclude=options.exclude or [])
        if changes and not options.targets:
            changed = {table.lower() for table in sql_schema_of(database, views=False)}
            given["targets"] = [table for table in schema if table.lower() in changed]
        chosen = {option: given[option] for option in ("aliases", "labels", "targets") if option in given}
        return Grammar.from_sql_schema(
            schema,
            "changes" if changes else "query",
            functions=[*SQL_FUNCTIONS, *added],
            double_quoted=options.double_quoted,
            bound_labels=options.bound_labels,
            comments=options.comments,
            with_clause=options.with_clause,
            **chosen,
        )
    except (ValueError, SchemaError) as error:
        raise BadInput(_of_options(str(error))) from error


def _of_options(said: str) -> str:
    """What is said of an argument, said of the option that it comes from."""
    place, _, reason = said.rpartition(": exclude: ")
    if place:
        return f"{place}: --exclude: {reason}"
    return f"--{said}" if said.partition(":")[0] in SCHEMA_OPTIONS[1:] else said


def _switch(option: str) -> str:
    """What an option is called on the command line; of those that are on by themselves the one that turns them off."""
    name = {"with_clause": "no-with", "views": "no-views", "comments": "no-comments"}.get(option, option)
    return f"--{name.replace('_', '-')}"


def decoded(text: bytes, name: str = "standard input") -> str:
    """A text that a file or standard input has.

    Raises BadInput: it is not UTF-8, or begins with a byte order mark.
    """
    try:
        decoded = text.decode("utf-8")
    except UnicodeDecodeError as error:
        line, column = line_and_column(text[: error.start])
        raise BadInput(f"{name}:{line}:{column}: not UTF-8 at byte {error.start}; save it as UTF-8") from error
    if decoded.startswith("\ufeff"):
        raise BadInput(f"{name}:1:1: begins with a byte order mark; save it as UTF-8 without one")
    return decoded
