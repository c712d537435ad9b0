"""A SQLite file -> its tables and columns."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from pdacon.errors import SchemaError
from pdacon.frontends.sql_names import lowered

_SECONDS_TO_WAIT = 1.0


def sql_schema_of(path: str | os.PathLike[str], tables: Iterable[str] | None = None) -> dict[str, list[str]]:
    """The tables of a SQLite database with their columns, as :func:`sql_for_schema` takes them.

    Views and virtual tables count as tables, with hidden and generated columns. SQLite's own tables do not, nor do
    those in which a virtual table keeps its data.

    Parameters
    ----------
    path : str or path
        The file. It is opened for reading only, and what its schema defines is not trusted: of it are read the
        names of tables, and for each ``PRAGMA table_xinfo``.
    tables : iterable of str, optional
        Only these, in this order.

    Raises
    ------
    OSError
        The file cannot be read.
    SchemaError
        It is no database, has no table (or not one of ``tables``), is locked, or does not say what columns a view or
        a virtual table has.
    """
    place = os.fsdecode(path)
    with Path(place).open("rb") as file:  # where it cannot be opened this says why, and SQLite does not
        header = file.read(20)
    try:
        with closing(sqlite3.connect(_uri(place, header), uri=True, timeout=_SECONDS_TO_WAIT)) as database:
            database.execute("PRAGMA trusted_schema = OFF")
            known = _table_names(database)
            wanted = list(known.values()) if tables is None else [_found(table, known, place) for table in tables]
            schema = {table: _columns(database, table, place) for table in wanted}
    except sqlite3.Error as error:
        raise SchemaError(f"{place}: {_reason(error)}") from error
    if not schema:
        raise SchemaError(f"{place}: the database has no table")
    return schema


def _uri(place: str, header: bytes) -> str:
    # A database with a write-ahead log would be given an empty one, and could not be read in a folder that cannot be
    # written. Without a log nobody has it open, so that nothing changes while it is read.
    logged = header[18:20] == b"\x02\x02"
    immutable = "&immutable=1" if logged and not Path(f"{place}-wal").exists() else ""
    return f"{Path(place).absolute().as_uri()}?mode=ro{immutable}"


def _table_names(database: sqlite3.Connection) -> dict[str, str]:
    """The names of the tables by their names without case."""
    # Older versions of SQLite do not know the pragma, and list nothing.
    shadows = {name for _, name, kind, *_ in database.execute("PRAGMA table_list") if kind == "shadow"}
    rows = database.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY rowid")
    return {lowered(name): name for (name,) in rows if not lowered(name).startswith("sqlite_") and name not in shadows}


def _found(table: str, known: dict[str, str], place: str) -> str:
    name = known.get(lowered(table))
    if name is None:
        listed = ", ".join(list(known.values())[:8]) + (", ..." if len(known) > 8 else "")
        raise SchemaError(f"{place}: there is no table {table!r}; there are {listed or 'none'}")
    return name


def _columns(database: sqlite3.Connection, table: str, place: str) -> list[str]:
    quoted = '"' + table.replace('"', '""') + '"'
    try:
        return [str(name) for _, name, *_ in database.execute(f"PRAGMA table_xinfo({quoted})")]
    except sqlite3.Error as error:
        raise SchemaError(
            f"{place}: the columns of {table!r} are not known: {error}; leave it out with tables="
        ) from error


def _reason(error: sqlite3.Error) -> str:
    said = str(error)
    if "not a database" in said or "malformed" in said:
        return f"not a SQLite database, or a damaged or encrypted one ({said})"
    if "locked" in said:
        return "the database is locked by another program; try again when it is done, or give a copy of the file"
    return f"SQLite cannot read the schema: {said}"
