"""sql_select.lark: the queries of sql.lark, and nothing that SQLite would let change a database."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from support.lark_oracle import accepts
from support.sqlite import syntax_error

from pdacon import Grammar

GRAMMARS = Path(__file__).parents[2] / "grammars"
SCHEMA = "CREATE TABLE t (a, b, c); CREATE TABLE vacuum (abort, fail, pragma, [drop])"


def samples(grammar: str, kind: str) -> list[Any]:
    return [
        pytest.param(path.read_text(), id=f"{grammar}/{path.name}")
        for path in sorted((GRAMMARS / grammar / kind).iterdir())
    ]


@pytest.fixture(scope="module")
def grammar() -> Grammar:
    return Grammar.builtin("sql_select")


@pytest.fixture(scope="module")
def query() -> Grammar:
    return Grammar.builtin("sql", start="query")


def test_names_are_those_of_sql(grammar: Grammar) -> None:
    """Every rule and terminal is imported by its name: Lark would write sql__ before the others."""
    symbols = [symbol.name for symbol in (*grammar.data.terminals, *grammar.data.nonterminals)]
    assert [name for name in symbols if "sql__" in name] == []
    assert {"INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "PRAGMA"}.isdisjoint(symbols)


@pytest.mark.slow
@pytest.mark.parametrize("text", samples("sql_select", "accept"))
def test_accepts(grammar: Grammar, text: str) -> None:
    assert syntax_error(text, SCHEMA) is None
    assert accepts(grammar, text)


@pytest.mark.slow
@pytest.mark.parametrize("text", samples("sql_select", "reject"))
def test_rejects(grammar: Grammar, text: str) -> None:
    assert not accepts(grammar, text)


@pytest.mark.slow
@pytest.mark.parametrize("text", samples("sql", "accept") + samples("sql", "reject"))
def test_queries_are_those_of_sql(grammar: Grammar, query: Grammar, text: str) -> None:
    one = text.strip().removesuffix(";")
    assert accepts(grammar, one) == accepts(query, one)


@pytest.mark.parametrize("text", samples("sql_select", "accept"))
def test_queries_only_read(text: str) -> None:
    """SQLite asks before each thing that a statement does; of a query all answers are to read."""
    harmless = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
    asked: set[int] = set()
    database = sqlite3.connect(":memory:")
    database.executescript(SCHEMA + "; CREATE TABLE singer (name, age)")
    database.set_authorizer(lambda action, *_: asked.add(action) or sqlite3.SQLITE_OK)
    database.execute(text)
    database.close()
    assert asked <= harmless
