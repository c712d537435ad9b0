"""The tables and columns of a database -> a grammar of the SQL that names no others."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Literal, get_args

from pdacon.errors import SchemaError
from pdacon.frontends.made_up import made_up
from pdacon.frontends.sql.functions import SQL_FUNCTIONS
from pdacon.frontends.sql.made_up_names import checked_choice, checked_names, lowered, shown
from pdacon.frontends.sql.names import (
    Spelled,
    also_quoted,
    columns_of,
    lexeme,
    made_up_patterns,
    pattern,
    pattern_beside_texts,
    qualified,
    spelled,
    spelled_function,
)
from pdacon.frontends.sql.rules import Form, load
from pdacon.grammar import GrammarData, Pattern

Statements = Literal["query", "changes"]
DoubleQuoted = Literal["text", "name"]

SHORT = "[a-z]_?[0-9]*"
"""What made-up names look like unless the caller says otherwise: a letter, or a letter and a number."""

ROW_IDS = ("rowid", "oid", "_rowid_")
"""The names by which any table has its ROWID."""


def sql_for_schema(
    schema: Mapping[str, Iterable[str]],
    statements: Statements = "query",
    *,
    aliases: str = SHORT,
    labels: str = SHORT,
    functions: Iterable[str] = SQL_FUNCTIONS,
    targets: Iterable[str] | None = None,
    double_quoted: DoubleQuoted = "text",
    bound_labels: bool = False,
    comments: bool = True,
    with_clause: bool = True,
) -> GrammarData:
    """See `Grammar.from_sql_schema`."""
    _chosen("statements", statements, Statements)
    _chosen("double_quoted", double_quoted, DoubleQuoted)
    tables, called = _checked(schema), checked_names("functions", functions, "function")
    if not called:
        raise ValueError("functions: at least one is needed; without the argument they are SQLite's own")
    columns = columns_of(tables)
    aliases, labels = made_up("aliases", aliases, frozenset(map(lowered, tables))), made_up("labels", labels)
    changes, texts = statements == "changes", double_quoted == "text"
    changed = _targets(tables, columns, targets, changes)
    terminals = _terminals(tables, columns, called, labels, changed, double_quoted)
    form = Form(
        changes=changes,
        texts=texts,
        any_result=not checked_choice("bound_labels", bound_labels),
        comments=checked_choice("comments", comments),
        with_clause=checked_choice("with_clause", with_clause),
        kinds=frozenset(terminals),
        regexp="regexp" in called,
    )
    # SQLite's own alias, for the row that an upsert did not insert.
    own = f"{aliases}|excluded" if changes else aliases
    patterns = {**terminals, **made_up_patterns(own, labels, _not_tables(tables, aliases), not texts)}
    if texts:
        patterns["DOUBLE_QUOTED"] = _double_quoted(columns)
    source = json.dumps({table: list(names.values()) for table, names in tables.items()}, ensure_ascii=False)
    return _filled(load(form), patterns, source)


def _chosen(argument: str, value: object, choices: object) -> None:
    if value not in get_args(choices):
        raise ValueError(f"{argument} must be {' or '.join(map(repr, get_args(choices)))}, not {value!r}")


def _checked(schema: Mapping[str, Iterable[str]]) -> dict[str, dict[str, str]]:
    """The columns of each table, by their names without case."""
    if not isinstance(schema, Mapping):
        raise TypeError(
            f"schema must map each table to its columns, not be a {type(schema).__name__}; sql_schema_of reads one "
            "from a database"
        )
    if not schema:
        raise SchemaError("the schema has no table; map the name of each to its columns, such as {'singer': ['name']}")
    checked_names("schema", schema, "table")
    return {table: checked_names(f"table {shown(table)}", columns, "column") for table, columns in schema.items()}


def _targets(
    tables: Iterable[str],
    columns: Mapping[str, Spelled],
    targets: Iterable[str] | None,
    changes: bool,
) -> list[str]:
    """The tables that may be changed; none where that is no question, because there are no changes or all may be."""
    if not changes:
        if targets is not None:
            raise ValueError('targets: nothing is changed by statements="query"; leave it out, or write "changes"')
        return []
    if not columns:
        raise SchemaError('statements="changes": no table has a column that could be set')
    if targets is None:
        return []
    named = checked_names("targets", targets, "table")
    by_key = {lowered(table): table for table in tables}
    unknown = [shown(name) for key, name in named.items() if key not in by_key]
    if unknown or not named:
        reason = f"no table {unknown[0]} in the schema" if unknown else "no table"
        raise SchemaError(f'targets: {reason}; name tables of the schema, or take statements="query"')
    return [] if len(named) == len(by_key) else [by_key[key] for key in named]


def _terminals(
    tables: Mapping[str, Iterable[str]],
    columns: Mapping[str, Spelled],
    functions: Mapping[str, str],
    labels: str,
    changed: Iterable[str],
    double_quoted: DoubleQuoted,
) -> dict[str, Pattern]:
    """What each terminal for names matches; one without names is left out."""
    label = re.compile(labels, re.ASCII | re.IGNORECASE)
    # A name that can be either is a terminal of its own, so that what comes after it decides.
    either = {
        key
        for key, name in functions.items()
        if key in columns or any(map(label.fullmatch, (name, name.lower(), name.upper())))
    }
    # Where a text may stand a name in double quotes is one, unless it needs them: then it is a terminal of its own.
    texts = double_quoted == "text"
    as_written = _as_it_is if texts else also_quoted
    others = [spelling for name, spelling in columns.items() if name not in either]
    in_double_quotes = [text for name in others for text in name.closed if texts and text[0] == '"']
    if texts:
        others = [Spelled(name.words, tuple(text for text in name.closed if text[0] != '"')) for name in others]
    spelled_tables = {table: spelled(table) for table in tables}
    named = {
        "TABLE_NAME": [*map(as_written, spelled_tables.values())],
        "CHANGED_TABLE": [as_written(spelled_tables[table]) for table in changed],
        "COLUMN_NAME": [*map(as_written, others)],
        "COLUMN_OR_FUNCTION": [as_written(spelled_function(name)) for key, name in functions.items() if key in either],
        "FUNCTION": [spelled_function(name) for key, name in functions.items() if key not in either],
    }
    # To SQLite these are names of columns, unless there is no such column.
    named["BOOLEAN"] = [spelled(name) for name in ("true", "false") if name not in columns and name not in functions]
    patterns = {name: pattern(names) for name, names in named.items() if names}
    if in_double_quotes:
        patterns["QUOTED_COLUMN"] = pattern_beside_texts(in_double_quotes)
    if columns:
        patterns["QUALIFIED_COLUMN"] = qualified(spelled_tables, columns, tables)
    return {**patterns, "ALL_COLUMNS": pattern(map(also_quoted, spelled_tables.values()), after=".*")}


def _as_it_is(name: Spelled) -> Spelled:
    return name


def _not_tables(tables: Iterable[str], aliases: str) -> str:
    """A name of a table is no alias, or else its columns would not be known."""
    words = [name.words for name in map(spelled, tables)]
    if aliases == SHORT:  # few are alike, and to look out for all of them would cost something in every text
        short = re.compile(f"{SHORT}|excluded", re.ASCII | re.IGNORECASE)
        words = [some for some in words if any(map(short.fullmatch, some))]
    alike = [Spelled(some, ()) for some in words if some]
    return f"(?!{pattern(alike).value})" if alike else ""


def _double_quoted(columns: Mapping[str, Spelled]) -> Pattern:
    """SQLite takes what is in double quotes for a text where it is no name. Every table has its ROWID."""
    row_ids = [name for name in ROW_IDS if name not in columns]
    no_text = f'(?!(?ai:{"|".join(row_ids)})")' if row_ids else ""
    return lexeme(f'"{no_text}([^"\x00]|"")*"')


def _filled(grammar: GrammarData, patterns: Mapping[str, Pattern], source: str) -> GrammarData:
    """The grammar with patterns for the terminals that had none but their names."""
    terminals = tuple(
        replace(terminal, pattern=patterns.get(terminal.name, terminal.pattern)) for terminal in grammar.terminals
    )
    return replace(grammar, terminals=terminals, source=source, language="SQL schema")
