"""SQLite as the judge of what SQL is: each statement is prepared in an empty database, and none is run."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing

# What SQLite says of a statement that it cannot parse. All else is said of one that it has parsed.
_SYNTAX = re.compile(
    r"syntax error|unrecognized token|incomplete input|clause should come (after|before)|JOIN clause is required"
    r"|one statement at a time"
)
_NO_STATEMENT = re.compile(r"([ \t\n\f\r;]|--[^\n]*|/\*((?!\*/).)*(\*/|$))*", re.DOTALL)


def statements(script: str) -> Iterator[str]:
    """The statements of a text, each with its semicolon."""
    begin = 0
    for end, character in enumerate(script, 1):
        if character == ";" and sqlite3.complete_statement(script[begin:end]):
            yield script[begin:end]
            begin = end
    yield script[begin:]


def syntax_error(script: str, schema: str = "") -> str | None:
    """What SQLite finds wrong with the syntax of a text; None: nothing."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript(schema)
        for statement in statements(script):
            if _NO_STATEMENT.fullmatch(statement):
                continue
            said = _message(database, f"EXPLAIN {statement}")
            if 'near "explain"' in said.lower():  # it explains itself
                said = _message(database, statement)
            if _SYNTAX.search(said):
                return said
    return None


def _message(database: sqlite3.Connection, statement: str) -> str:
    try:
        database.execute(statement)
    except (sqlite3.Error, sqlite3.Warning) as error:
        return str(error)
    return ""
