"""A SQLite database -> its tables and columns."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from pdacon.base.quoting import near_names
from pdacon.errors import SchemaError
from pdacon.frontends.sql.made_up_names import checked_choice, checked_names, lowered, no_name, shown

_SECONDS_TO_WAIT = 1.0


def sql_schema_of(
    database: str | os.PathLike[str] | sqlite3.Connection,
    tables: Iterable[str] | None = None,
    *,
    views: bool = True,
    exclude: Iterable[str] = (),
) -> dict[str, list[str]]:
    """The tables of a SQLite database with their columns, as :func:`sql_for_schema` takes them.

    Views and virtual tables count as tables, with hidden and generated columns. SQLite's own tables do not, nor do
    those in which a virtual table keeps its data. Left out is what no grammar can name: a table or column whose name is
    empty, is not UTF-8, or has more than 1,000 characters.

    Parameters
    ----------
    database : str, path or sqlite3.Connection
        The file, or a connection to it. A file is opened for reading only, and what its schema defines is not trusted:
        of it are read the names of tables, and for each ``PRAGMA table_xinfo``.
    tables : iterable of str, optional
        Only these, in this order.
    views : bool
        Whether views count. Nothing can be inserted into them, unless a trigger says how.
    exclude : iterable of str
        Tables, and columns as ``table.column``, that are left out: whatever can be read like that, in any case of
        letters. ``*`` reads such a column all the same.

    Raises
    ------
    OSError
        The file cannot be read.
    SchemaError
        It is no database, has no table (or not one of ``tables`` or ``exclude``), is locked, or does not say what
        columns a view or a virtual table has.
    TypeError
        An argument is of another type.
    """
    checked_choice("views", views)
    chosen = None if tables is None else checked_names("tables", tables, "table").values()
    without = checked_names("exclude", exclude, "table or column").values()
    place = "the connection" if isinstance(database, sqlite3.Connection) else _place(database)
    try:
        with _cursor(database, place) as cursor:
            names = _table_names(cursor, views)
            listed = list(names.values()) if chosen is None else [_found(table, names, place) for table in chosen]
            left_out = {key for name in without for key in _excluded(cursor, name, names, place)}
            schema = {
                table: [column for column in _columns(cursor, table, place) if (table, lowered(column)) not in left_out]
                for table in listed
                if (table, None) not in left_out
            }
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise SchemaError(f"{place}: {_reason(error)}") from error
    if not schema:
        none = "the database has no table" if chosen is None else "tables= names none"
        reason = "every table is left out by exclude=" if listed else none
        raise SchemaError(f"{place}: {reason}")
    return schema


def _place(path: str | os.PathLike[str]) -> str:
    """Where a file lies; what is no file is refused before it is opened, which may take for ever."""
    place = os.fsdecode(path)
    if "\0" in place:
        raise SchemaError(f"{place!r}: the name of a file has no NUL")
    mode = Path(place).stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise SchemaError(f"{place}: not a SQLite database, nor a file at all, but a pipe or a device; give a file")
    return place


@contextmanager
def _cursor(database: str | os.PathLike[str] | sqlite3.Connection, place: str) -> Iterator[sqlite3.Cursor]:
    """A cursor that gives texts as bytes: names in a damaged file may be none."""
    if isinstance(database, sqlite3.Connection):
        factory, database.text_factory = database.text_factory, bytes
        try:
            with closing(database.cursor()) as cursor:
                cursor.row_factory = None
                yield cursor
        finally:
            database.text_factory = factory
        return
    with Path(place).open("rb") as file:  # where it cannot be opened this says why, and SQLite does not
        header = file.read(20)
    with closing(sqlite3.connect(_uri(place, header), uri=True, timeout=_SECONDS_TO_WAIT)) as opened:
        opened.execute("PRAGMA trusted_schema = OFF")
        opened.text_factory = bytes
        with closing(opened.cursor()) as cursor:
            yield cursor


def _uri(place: str, header: bytes) -> str:
    # A database with a write-ahead log would be given an empty one, and could not be read in a folder that cannot be
    # written. Without a log nobody has it open, so that nothing changes while it is read. The log lies beside the file
    # itself, not beside a link to it.
    real = os.path.realpath(place)
    logged = header[18:20] == b"\x02\x02"
    immutable = "&immutable=1" if logged and not Path(f"{real}-wal").exists() else ""
    return f"{Path(real).as_uri()}?mode=ro{immutable}"


def _table_names(cursor: sqlite3.Cursor, views: bool) -> dict[str, str]:
    """The names of the tables by their names without case."""
    # Older versions of SQLite do not know the pragma, and list nothing.
    shadows = {name for _, name, kind, *_ in cursor.execute("PRAGMA table_list") if kind == b"shadow"}
    kinds = "'table', 'view'" if views else "'table'"
    rows = cursor.execute(f"SELECT name FROM sqlite_master WHERE type IN ({kinds}) ORDER BY rowid")
    names = _usable(name for (name,) in rows if name not in shadows)
    return {lowered(name): name for name in names if not lowered(name).startswith("sqlite_")}


def _found(table: str, names: dict[str, str], place: str) -> str:
    name = names.get(lowered(table))
    if name is None:
        near = near_names(lowered(table), names, 1)
        meant = f"did you mean {shown(names[near[0]])}? There" if near else "there"
        listed = ", ".join(map(shown, list(names.values())[:8])) + (", ..." if len(names) > 8 else "")
        raise SchemaError(f"{place}: there is no table {shown(table)}; {meant} are {listed or 'none'}")
    return name


def _excluded(cursor: sqlite3.Cursor, name: str, names: dict[str, str], place: str) -> list[tuple[str, str | None]]:
    """The tables, and the columns without case, that a name can mean: a name may have dots in it."""
    key = lowered(name)
    excluded: list[tuple[str, str | None]] = [(names[key], None)] if key in names else []
    for dot in (at for at, character in enumerate(key) if character == "."):
        table, column = names.get(key[:dot]), key[dot + 1 :]
        if table is not None and column in map(lowered, _columns(cursor, table, place)):
            excluded.append((table, column))
    if not excluded:
        near = _near(cursor, key, names, place)
        meant = f"did you mean {shown(near)}?" if near else "write table, or table.column"
        raise SchemaError(f"{place}: exclude: there is no table or column {shown(name)}; {meant}")
    return excluded


def _near(cursor: sqlite3.Cursor, key: str, tables: dict[str, str], place: str) -> str | None:
    """The table, or column after its table, that is meant."""
    names = dict(tables)
    for table in tables.values():
        with suppress(SchemaError):
            names |= {lowered(f"{table}.{column}"): f"{table}.{column}" for column in _columns(cursor, table, place)}
    near = [name for name in names if name.endswith(f".{key}")] or near_names(key, names, 1)
    return names[near[0]] if near else None


def _columns(cursor: sqlite3.Cursor, table: str, place: str) -> list[str]:
    quoted = '"' + table.replace('"', '""') + '"'
    try:
        return _usable(name for _, name, *_ in cursor.execute(f"PRAGMA table_xinfo({quoted})"))
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise SchemaError(
            f"{place}: the columns of {shown(table)} are not known: {error}; leave it out with exclude=, or all "
            "views with views=False"
        ) from error


def _usable(names: Iterable[object]) -> list[str]:
    """Those that a grammar can have, without what a damaged or hostile file has in place of names."""
    texts = (name.decode("utf-8", "surrogateescape") for name in names if isinstance(name, bytes))
    return [text for text in texts if not no_name(text)]


def _reason(error: Exception) -> str:
    message = str(error)
    # What is raised quotes the file, as if all of it were UTF-8.
    if isinstance(error, UnicodeDecodeError) or "not a database" in message or "malformed" in message:
        return f"not a SQLite database, or a damaged or encrypted one ({message})"
    if "locked" in message:
        return "the database is locked by another program; try again when it is done, or give a copy of the file"
    return f"SQLite cannot read the schema: {message}"
