"""The tables and columns of a database -> a grammar of the SQL that names no others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from pdacon.errors import SchemaError
from pdacon.frontends.arguments import checked_names, lowered, shown
from pdacon.frontends.sql_names import as_literal, columns_of, pattern, qualified, spelled
from pdacon.frontends.sql_rules import Form, load, placeholder
from pdacon.grammar import Grammar, Pattern, Terminal

Statements = Literal["query", "changes"]

SHORT = "[a-z]_?[0-9]*"
"""What made-up names look like unless the caller says otherwise: a letter, or a letter and a number."""

FUNCTIONS: tuple[str, ...] = (
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "avg",
    "ceil",
    "ceiling",
    "char",
    "coalesce",
    "cos",
    "cosh",
    "count",
    "cume_dist",
    "date",
    "datetime",
    "degrees",
    "dense_rank",
    "exp",
    "first_value",
    "floor",
    "format",
    "group_concat",
    "hex",
    "ifnull",
    "iif",
    "instr",
    "json",
    "json_array",
    "json_array_length",
    "json_extract",
    "json_group_array",
    "json_group_object",
    "json_insert",
    "json_object",
    "json_patch",
    "json_quote",
    "json_remove",
    "json_replace",
    "json_set",
    "json_type",
    "json_valid",
    "julianday",
    "lag",
    "last_value",
    "lead",
    "length",
    "likelihood",
    "likely",
    "ln",
    "log",
    "log10",
    "log2",
    "lower",
    "ltrim",
    "max",
    "min",
    "mod",
    "nth_value",
    "ntile",
    "nullif",
    "percent_rank",
    "pi",
    "pow",
    "power",
    "printf",
    "quote",
    "radians",
    "random",
    "randomblob",
    "rank",
    "replace",
    "round",
    "row_number",
    "rtrim",
    "sign",
    "sin",
    "sinh",
    "soundex",
    "sqrt",
    "strftime",
    "substr",
    "substring",
    "sum",
    "tan",
    "tanh",
    "time",
    "total",
    "trim",
    "trunc",
    "typeof",
    "unicode",
    "unixepoch",
    "unlikely",
    "upper",
    "zeroblob",
)
"""SQLite's own functions, less those that load code or tell about the program."""


def sql_for_schema(
    schema: Mapping[str, Iterable[str]],
    statements: Statements = "query",
    *,
    aliases: str = SHORT,
    labels: str = SHORT,
    functions: Iterable[str] = FUNCTIONS,
) -> Grammar:
    """SQL, as SQLite reads it, that names only the tables and columns of a schema.

    Parameters
    ----------
    schema : mapping of str to iterable of str
        The columns of each table. Names are as SQLite has them: letters of ASCII have no case.
    statements : {"query", "changes"}
        One query, read-only; or one query, INSERT, UPDATE or DELETE.
    aliases : str
        A regular expression for the names that a text may make up for tables: aliases behind FROM, WITH and WINDOW.
        Letters of ASCII have no case. A name of a table is never an alias.
    labels : str
        The same for columns: what stands for a column and is none of the schema. Behind ``AS`` any name may stand.
    functions : iterable of str
        The functions that may be called. With ``regexp`` among them its operator is there, too.

    Raises
    ------
    SchemaError
        There is no table, a table or a column of a table is named twice, or a name cannot be one.
    GrammarSyntaxError, UnsupportedGrammarError
        ``aliases`` or ``labels`` is no regular expression that a terminal can have.
    ValueError, TypeError
        An argument is not one of those listed.

    Notes
    -----
    What is bound and what is not: see docs/sql.md. Cost: some milliseconds for 100 tables of 20 columns; the first call
    in a process loads sql.lark, which takes 0.2 s.
    """
    if statements not in ("query", "changes"):
        raise ValueError(f'statements must be "query" or "changes", not {statements!r}')
    tables, called = _checked(schema), checked_names("functions", functions, "function")
    if not called:
        raise ValueError("functions: at least one is needed; without the argument they are SQLite's own")
    made_up = _as_pattern("aliases", aliases), _as_pattern("labels", labels)
    terminals = _terminals(tables, called, labels)
    regexp = "regexp" in map(lowered, called)
    form = Form(statements == "changes", *made_up, _not_tables(tables, aliases), frozenset(terminals), regexp)
    return _filled(load(form), terminals)


def _checked(schema: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    if not isinstance(schema, Mapping):
        raise TypeError(f"schema must map each table to its columns, not be a {type(schema).__name__}")
    if not schema:
        raise SchemaError("the schema has no table; map the name of each to its columns, such as {'singer': ['name']}")
    checked_names("schema", schema, "table")
    return {table: checked_names(f"table {shown(table)}", columns, "column") for table, columns in schema.items()}


def _terminals(tables: Mapping[str, Sequence[str]], functions: Sequence[str], labels: str) -> dict[str, Pattern]:
    """What each terminal for names matches; one without names is left out."""
    columns = columns_of(tables)
    label = re.compile(labels, re.ASCII | re.IGNORECASE)
    # A name that can be either is a terminal of its own, so that what comes behind it decides.
    either = {lowered(name) for name in functions if lowered(name) in columns or label.fullmatch(name)}
    spelled_tables = {table: spelled(table) for table in tables}
    of_tables = [qualified(spelled_tables[t], columns[lowered(c)]) for t, cs in tables.items() for c in cs]
    named = {
        "TABLE_NAME": [*spelled_tables.values()],
        "COLUMN_NAME": [spelling for name, spelling in columns.items() if name not in either],
        "COLUMN_OR_FUNCTION": [spelled(name) for name in functions if lowered(name) in either],
        "FUNCTION": [spelled(name) for name in functions if lowered(name) not in either],
        "QUALIFIED_COLUMN": of_tables,
    }
    patterns = {name: pattern(names) for name, names in named.items() if names}
    return {**patterns, "ALL_COLUMNS": pattern(spelled_tables.values(), after=".*")}


def _as_pattern(where: str, regexp: str) -> str:
    """A caller's regular expression as a part of a terminal."""
    if not isinstance(regexp, str):
        raise TypeError(f"{where} must be a regular expression, a str, not {type(regexp).__name__}")
    try:
        re.compile(regexp)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"{where}: {shown(regexp)} is not a regular expression: {error}") from error
    return as_literal(regexp)


def _not_tables(tables: Iterable[str], aliases: str) -> str:
    """A name of a table is no alias, or else its columns would not be known."""
    alike = [table for table in tables if re.fullmatch(aliases, table, re.ASCII | re.IGNORECASE)]
    return f"/(?!{as_literal(pattern(map(spelled, alike)).value)})/" if alike else ""


def _filled(grammar: Grammar, patterns: Mapping[str, Pattern]) -> Grammar:
    """The grammar with patterns for the terminals that had none but their names."""
    source = grammar.source
    for name, made in patterns.items():
        source = source.replace(placeholder(name), placeholder(name, as_literal(made.value)))
    return replace(grammar, terminals=tuple(_with(t, patterns.get(t.name)) for t in grammar.terminals), source=source)


def _with(terminal: Terminal, made: Pattern | None) -> Terminal:
    return terminal if made is None else replace(terminal, pattern=made)
