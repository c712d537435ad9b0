"""sql_schema_of: the tables and columns of a SQLite file, and what is said of files that have none."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from support.sentences import is_sentence

from pdacon import Grammar, SchemaError
from pdacon.cli import main
from pdacon.cli.grammars import load_grammar
from pdacon.cli.options import GrammarOptions
from pdacon.frontends import SQL_FUNCTIONS, sql_schema_of

TABLES = """
CREATE TABLE singer (id INTEGER PRIMARY KEY, name TEXT, "first name" TEXT, born AS (id + 1));
CREATE TABLE "order" ("select" INT, 'quote''d' INT);
CREATE VIEW adults AS SELECT name, id AS number FROM singer;
CREATE INDEX of_names ON singer (name);
INSERT INTO singer (name) VALUES ('a');
"""


@pytest.fixture
def database(tmp_path: Path) -> Iterator[tuple[Path, sqlite3.Connection]]:
    path = tmp_path / "a b?c#d%.db"
    connection = sqlite3.connect(path)
    connection.executescript(TABLES)
    yield path, connection
    connection.close()


def test_tables_and_views(database: tuple[Path, sqlite3.Connection]) -> None:
    path, _ = database
    schema = {
        "singer": ["id", "name", "first name", "born"],
        "order": ["select", "quote'd"],
        "adults": ["name", "number"],
    }
    assert sql_schema_of(path) == sql_schema_of(str(path)) == schema
    assert sql_schema_of(path, tables=["ADULTS"]) == {"adults": ["name", "number"]}
    assert is_sentence(Grammar.from_sql_schema(schema), """SELECT "order"."quote'd", `select` FROM [order], adults""")


def test_virtual_tables(database: tuple[Path, sqlite3.Connection]) -> None:
    path, connection = database
    try:
        connection.execute("CREATE VIRTUAL TABLE texts USING fts5(title, body)")
    except sqlite3.OperationalError:
        pytest.skip("this SQLite has no fts5")
    schema = sql_schema_of(path)
    assert schema["texts"] == ["title", "body", "texts", "rank"]
    if sqlite3.sqlite_version_info >= (3, 37):
        assert [name for name in schema if name.startswith("texts_")] == []
    assert is_sentence(Grammar.from_sql_schema(schema), "SELECT title FROM texts WHERE texts MATCH 'x' ORDER BY rank")


def test_nothing_is_written(database: tuple[Path, sqlite3.Connection]) -> None:
    path, _ = database
    before = path.read_bytes(), sorted(path.parent.iterdir())
    path.chmod(0o400)
    sql_schema_of(path)
    assert (path.read_bytes(), sorted(path.parent.iterdir())) == before


def test_a_write_ahead_log(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE singer (name)")
    assert sql_schema_of(path) == {"singer": ["name"]}  # of which nothing is in the file itself yet
    connection.close()
    assert [entry.name for entry in tmp_path.iterdir()] == ["log.db"]
    assert sql_schema_of(path) == {"singer": ["name"]}
    assert [entry.name for entry in tmp_path.iterdir()] == ["log.db"]


def test_a_link_to_a_database_with_a_write_ahead_log(tmp_path: Path) -> None:
    path, link = tmp_path / "log.db", tmp_path / "link.db"
    link.symlink_to(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE singer (name)")
        assert sql_schema_of(link) == {"singer": ["name"]}


def test_a_connection(database: tuple[Path, sqlite3.Connection]) -> None:
    path, connection = database
    connection.row_factory = sqlite3.Row
    connection.text_factory = str.encode
    assert sql_schema_of(connection) == sql_schema_of(path)
    assert connection.row_factory is sqlite3.Row
    assert connection.text_factory is str.encode
    closed = sqlite3.connect(":memory:")
    closed.close()
    with pytest.raises(SchemaError, match=r"the connection: .* closed"):
        sql_schema_of(closed)


def test_without_views(database: tuple[Path, sqlite3.Connection]) -> None:
    path, _ = database
    assert [*sql_schema_of(path, views=False)] == ["singer", "order"]
    with pytest.raises(SchemaError, match="no table 'adults'"):
        sql_schema_of(path, ["adults"], views=False)
    with pytest.raises(TypeError, match="views: expected True or False, not 'no'"):
        sql_schema_of(path, views="no")  # type: ignore[arg-type]


def test_what_no_grammar_can_name_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "odd.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f'CREATE TABLE t ("", a, b, "{"x" * 1001}")')
        connection.execute(f'CREATE TABLE "{"y" * 1001}" (a)')
        connection.execute('CREATE TABLE "" (a)')
        connection.execute("CREATE TABLE broken (nam1, name2)")
        connection.commit()
    path.write_bytes(path.read_bytes().replace(b"nam1", b"nam\xff"))
    schema = sql_schema_of(path)
    assert schema == {"t": ["a", "b"], "broken": ["name2"]}
    assert is_sentence(Grammar.from_sql_schema(schema), "SELECT a, name2 FROM t, broken")
    path.write_bytes(path.read_bytes().replace(b"broken", b"broke\xff"))
    assert sql_schema_of(path) == {"t": ["a", "b"]}


@pytest.mark.parametrize("byte", range(100, 1000, 60))
def test_damaged_files(tmp_path: Path, byte: int) -> None:
    path = tmp_path / "damaged.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(TABLES)
    whole = path.read_bytes()
    end = whole.index(b"CREATE TABLE singer") + 100
    for put in (b"\0", b"\xff", b"'"):
        at = end - byte % 800
        path.write_bytes(whole[:at] + put * 3 + whole[at + 3 :])
        try:
            Grammar.from_sql_schema(sql_schema_of(path))
        except SchemaError as error:
            assert "damaged.db: " in str(error)  # noqa: PT017 - either is an answer


def test_no_file_at_all(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/null"):
        with pytest.raises(SchemaError, match="pipe or a device"):
            sql_schema_of(path)
    with pytest.raises(SchemaError, match="no NUL"):
        sql_schema_of("a\0b")


@pytest.mark.parametrize(
    ("tables", "error", "words"),
    [
        ("person", TypeError, "tables: .* write .'person'."),
        ([1], TypeError, "tables: the name of a table must be a str, not a value of type int"),
        ([None], TypeError, "not None"),
        (3, TypeError, "tables: expected an iterable"),
        ([], SchemaError, "tables= names none"),
        (["singer", "Singer"], SchemaError, "tables: 'singer' and 'Singer' are one table"),
    ],
)
def test_tables_that_are_none(
    database: tuple[Path, sqlite3.Connection], tables: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        sql_schema_of(database[0], tables)


def test_tables_and_columns_that_are_left_out(database: tuple[Path, sqlite3.Connection]) -> None:
    path, connection = database
    connection.execute('CREATE TABLE "singer.v2" (id, "a.b")')
    whole = sql_schema_of(path)
    for excluded in (
        ["ADULTS"],
        ["singer.Name", "order"],
        ["singer.v2"],
        ["singer.v2.a.b"],
        ["singer.v2.id", "singer.id"],
    ):
        schema = sql_schema_of(path, exclude=excluded)
        # What is left out is what SQLite itself does not know by any of the names, as (table) and (table, column).
        assert schema == {
            table: [
                name
                for (_, name, *_) in connection.execute("SELECT * FROM pragma_table_xinfo(?)", (table,))
                if f"{table}.{name}".lower() not in map(str.lower, excluded)
            ]
            for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type != 'index' ORDER BY rowid")
            if table.lower() not in map(str.lower, excluded)
        }
        assert sql_schema_of(path, [*whole][::-1], exclude=excluded) == schema
    without = Grammar.from_sql_schema(sql_schema_of(path, exclude=["singer.name"]))
    assert is_sentence(without, "SELECT singer.id, adults.name FROM singer, adults")
    assert not is_sentence(without, "SELECT singer.name FROM singer")
    assert sql_schema_of(path, ["order"], exclude=["order.select", "order.quote'd"]) == {"order": []}
    connection.execute("CREATE VIEW broken AS SELECT * FROM nowhere")
    assert sql_schema_of(path, exclude=["broken"]) == whole


@pytest.mark.parametrize(
    ("exclude", "error", "words"),
    [
        (
            ["singer.nam"],
            SchemaError,
            r"exclude: there is no table or column 'singer.nam'; did you mean 'singer.name'\?",
        ),
        (["orders"], SchemaError, r"'orders'; did you mean 'order'\?"),
        (["born"], SchemaError, r"'born'; did you mean 'singer.born'\?"),
        (["qqq"], SchemaError, "'qqq'; write table, or table.column"),
        (["singer."], SchemaError, r"'singer.'; did you mean 'singer'\?"),
        ("singer", TypeError, "exclude: .* write .'singer'."),
        (None, TypeError, "exclude: expected an iterable of names, not None"),
        (["singer", "order", "adults"], SchemaError, "every table is left out by exclude="),
    ],
)
def test_what_cannot_be_left_out(
    database: tuple[Path, sqlite3.Connection], exclude: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        sql_schema_of(database[0], exclude=exclude)


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        sql_schema_of(tmp_path / "none.db")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(IsADirectoryError):
        sql_schema_of(tmp_path)
    text = tmp_path / "text.db"
    text.write_text("no database at all, but a text of some length\n" * 40)
    with pytest.raises(SchemaError, match=r"text\.db: not a SQLite database"):
        sql_schema_of(text)
    empty = tmp_path / "empty.db"
    empty.touch()
    with pytest.raises(SchemaError, match=r"empty\.db: the database has no table"):
        sql_schema_of(empty)


def test_databases_that_cannot_be_read(
    database: tuple[Path, sqlite3.Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, connection = database
    with pytest.raises(SchemaError, match=r"'singers'; did you mean 'singer'\? There are 'singer', 'order', 'adults'"):
        sql_schema_of(path, tables=["singers"])
    connection.execute("CREATE VIEW broken AS SELECT * FROM nowhere")
    with pytest.raises(
        SchemaError, match=r"the columns of 'broken' are not known: .*; leave it out with exclude=, .* views=False"
    ):
        sql_schema_of(path)
    assert [*sql_schema_of(path, views=False)] == ["singer", "order"]
    monkeypatch.setattr("pdacon.frontends.sql.sqlite_file._SECONDS_TO_WAIT", 0.01)
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.execute("BEGIN EXCLUSIVE")
    with pytest.raises(SchemaError, match="locked by another program"):
        sql_schema_of(path)


@pytest.mark.slow
def test_on_the_command_line(database: tuple[Path, sqlite3.Connection], capsys: pytest.CaptureFixture[str]) -> None:
    path, _ = database
    assert main(["mask", "sql_select", "--schema", str(path), "SELECT number FROM ad"]) == 0
    assert "TABLE_NAME" in capsys.readouterr().out
    for name, taken in (("sql_select", False), ("sql", True)):
        grammar = load_grammar(name, GrammarOptions(schema=[path]))
        assert is_sentence(grammar, "SELECT number FROM adults")
        assert is_sentence(grammar, "DELETE FROM singer WHERE name = 'a'") == taken
        assert not is_sentence(grammar, "SELECT numbers FROM adults")
    chosen = GrammarOptions(schema=[path], tables=["singer"], aliases="[a-z]+", labels="x[0-9]", functions=["mine"])
    grammar = load_grammar("sql_select", chosen)
    assert is_sentence(grammar, "SELECT mine(other.name), x1 FROM singer AS other")
    for text in ("SELECT number FROM adults", "SELECT x FROM singer", "SELECT yours(name) FROM singer"):
        assert not is_sentence(grammar, text)
    for options in (
        {"comments": False},
        {"with_clause": False, "bound_labels": True},
        {"double_quoted": "name"},
        {"views": False},
    ):
        schema = sql_schema_of(path, views=options.pop("views", True))
        grammar = load_grammar("sql_select", GrammarOptions(schema=[path], views="adults" in schema, **options))
        assert grammar == Grammar.from_sql_schema(schema, **options)
    without = GrammarOptions(schema=[path], exclude=["singer.name", "order"], functions=["mine", "ABS"])
    functions = [*SQL_FUNCTIONS, "mine"]  # ABS is one of them
    schema = {"singer": ["id", "first name", "born"], "adults": ["name", "number"]}
    assert load_grammar("sql_select", without) == Grammar.from_sql_schema(schema, functions=functions)
    writable = Grammar.from_sql_schema(sql_schema_of(path), "changes", targets=["singer", "order"])
    assert load_grammar("sql", GrammarOptions(schema=[path])) == writable  # nothing is inserted into a view
    assert load_grammar("sql", GrammarOptions(schema=[path], targets=["order", "singer"])) == writable


@pytest.mark.slow
def test_options_that_cannot_be(database: tuple[Path, sqlite3.Connection], capsys: pytest.CaptureFixture[str]) -> None:
    path, _ = database
    for arguments, words in (
        (["mask", "json", "--schema", str(path), "{"], "sql_select and sql only"),
        (["mask", "sql", "--schema", str(path), "--start", "query", "S"], "no other option"),
        (["mask", "sql", "--schema", str(path), "--schema", str(path), "S"], "--schema is given 2 times"),
        (["mask", "sql", "--tables", "singer", "S"], "--tables goes with --schema only"),
        (["mask", "sql", "--schema", str(path), "--tables", "singers", "S"], "did you mean 'singer'?"),
        (["mask", "sql", "--schema", str(path), "--aliases", "^x", "S"], "--aliases: '^x' cannot describe names"),
        (["mask", "sql", "--schema", str(path), "--functions", "a", "--functions", "A", "S"], "one function"),
        (["mask", "sql", "--schema", str(path), "--functions", "a b", "S"], "no name of a function; repeat the option"),
        (["mask", "sql", "--schema", str(path), "--targets", "singers", "S"], "--targets: no table 'singers'"),
        (["mask", "sql", "--schema", str(path), "--targets", "singers", "S"], "or take the grammar sql_select"),
        (
            ["mask", "sql_select", "--schema", str(path), "--targets", "singer", "S"],
            "--targets goes with the grammar sql",
        ),
        (
            ["mask", "sql", "--schema", str(path), "--tables", "a", "--tables", "A", "S"],
            "--tables: 'a' and 'A' are one",
        ),
        (
            ["mask", "sql", "--schema", str(path), "--exclude", "singer.nam", "S"],
            "--exclude: there is no table or column ",
        ),
        (["mask", "sql", "--schema", str(path), "--exclude", "a", "--exclude", "A", "S"], "--exclude: 'a' and 'A' are"),
        (["mask", "sql", "--no-with", "S"], "--no-with goes with --schema only"),
        (["mask", "sql", "--bound-labels", "S"], "--bound-labels goes with --schema only"),
        (["mask", "sql", "--schema", str(path) + "x", "S"], "No such file"),
        (["mask", "sql", "--schema", str(path.parent), "S"], "directory"),
    ):
        assert main(arguments) == 2
        assert words in capsys.readouterr().err
