"""sql_for_schema: what is named is in the schema, for every schema."""

from __future__ import annotations

from typing import Any

import pytest
from support.lark_oracle import accepts

import pdacon
from pdacon import Grammar, SchemaError
from pdacon.frontends import sql_for_schema

SCHEMA = {
    "Singer": ["singer_id", "Name", "age", "rank", "count"],
    "concert": ["id", "singer_id", "first name", "order", "key"],
    "t": ["a"],
}


@pytest.fixture(scope="module")
def grammar() -> Grammar:
    return sql_for_schema(SCHEMA)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT name FROM singer",
        "select NAME, singer.age, SINGER.* from SINGER;",
        "SELECT T1.name, T2.`first name` FROM singer AS T1 JOIN concert T2 ON T1.singer_id  =  T2.singer_id",
        'SELECT "first name", [First Name], `first name` FROM concert WHERE id = "x y"',
        "SELECT name FROM singer WHERE age > 20 GROUP BY name HAVING count(*) > 1 ORDER BY count (*) DESC, count",
        "SELECT count(*) AS how_many, max(age) AS 'the oldest' FROM singer",
        "WITH c(x) AS (SELECT name FROM singer) SELECT c.x, x, * FROM c, t WHERE x NOT IN (SELECT a FROM t)",
        "SELECT name FROM singer UNION SELECT a FROM t EXCEPT SELECT [order] FROM concert LIMIT 3 OFFSET 1",
        "SELECT key, concert.key, concert.`key`, T1.key FROM concert AS T1 WHERE singer_id IN t",
        "SELECT rank, rank() OVER (PARTITION BY age ORDER BY rank) FROM singer",
        "SELECT sum(n) FROM (SELECT count(*) AS n FROM singer GROUP BY age) AS s WHERE s.n > 1",
        "SELECT CAST(age AS real) / 2, CASE WHEN age IS NULL THEN 'none' ELSE age END FROM singer NATURAL JOIN concert",
        "SELECT a FROM t JOIN concert USING (singer_id) ORDER BY a COLLATE nocase",
        "SELECT t.a FROM t /* why not */ -- indeed",
        "SELECT 1",
    ],
)
def test_accepts(grammar: Grammar, text: str) -> None:
    assert accepts(grammar, text)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT nam FROM singer",
        "SELECT names FROM singer",
        "SELECT name FROM singers",
        "SELECT name FROM main",
        "SELECT singer.id FROM singer",  # a column of another table
        "SELECT t.name FROM t",
        "SELECT name FROM concert AS t WHERE t.name = 1",  # a name of a table is no alias
        "SELECT singers.name FROM singer",
        "SELECT T1.nam FROM singer AS T1",
        "SELECT T1.nam FROM singer AS concert_of_singer",
        'SELECT T1."nam" FROM singer AS T1',
        "SELECT [nam] FROM singer",
        "SELECT first FROM concert",
        "SELECT order FROM concert",
        "SELECT name FROM singer JOIN concert USING (nam)",
        "SELECT name FROM singer WHERE age IN singers",
        "SELECT no_function(name) FROM singer",
        "SELECT name FROM main.singer",
        "SELECT name FROM singer; SELECT name FROM singer",
        "DELETE FROM singer",
        "DROP TABLE singer",
        "PRAGMA query_only = 0",
        "",
    ],
)
def test_rejects(grammar: Grammar, text: str) -> None:
    assert not accepts(grammar, text)


def test_changes() -> None:
    grammar = sql_for_schema(SCHEMA, statements="changes")
    for text in (
        "SELECT name FROM singer",
        "INSERT INTO singer (name, age) VALUES ('a', 1) ON CONFLICT (name) DO UPDATE SET age = excluded.age",
        "INSERT INTO t SELECT name FROM singer",
        "UPDATE singer SET name = 'x', (age, count) = (1, 2) WHERE singer.age = 3 RETURNING *",
        "WITH c AS (SELECT 1) DELETE FROM singer AS s WHERE s.name IN c",
    ):
        assert accepts(grammar, text), text
    for text in (
        "INSERT INTO singers VALUES (1)",
        "INSERT INTO singer (nam) VALUES (1)",
        "UPDATE singer SET nam = 1",
        "DELETE FROM c",
        "DROP TABLE singer",
    ):
        assert not accepts(grammar, text), text


def test_made_up_names_are_the_callers_affair() -> None:
    grammar = sql_for_schema(SCHEMA, aliases="[a-z_]+", labels="total|count|how_many")
    assert accepts(
        grammar, "SELECT old.name, count(*) AS how_many FROM singer AS old ORDER BY how_many, count, count(*)"
    )
    assert not accepts(grammar, "SELECT old.name FROM singer AS old ORDER BY how_few")
    assert not accepts(grammar, "SELECT singer.id FROM singer")


def test_functions_are_those_that_are_listed() -> None:
    grammar = sql_for_schema(SCHEMA, functions=["regexp", "mine", "count"])
    assert accepts(grammar, "SELECT mine(name), regexp('a', name), count FROM singer WHERE name REGEXP 'a.*'")
    assert not accepts(grammar, "SELECT max(name) FROM singer")
    assert not accepts(sql_for_schema(SCHEMA), "SELECT name FROM singer WHERE name REGEXP 'a.*'")


def test_names_that_begin_others() -> None:
    """A table, a column, an alias and a function of one name: what comes behind it tells which is meant."""
    grammar = sql_for_schema({"rank": ["a", "b1"], "a": ["rank"], "concerts": ["a_1"]})
    for text in (
        "SELECT rank, rank.a, rank.*, rank() OVER () FROM rank JOIN a",
        "SELECT b.a, b, b1, b2.rank, B2 FROM rank AS b, a b2 ORDER BY a, a.rank",
        "SELECT a_1, a_2, a_2.a_1 FROM concerts AS a_2",
    ):
        assert accepts(grammar, text), text
    for text in ("SELECT rank.rank FROM rank", "SELECT a.a FROM a", "SELECT a_1x FROM a", "SELECT a. FROM a"):
        assert not accepts(grammar, text), text


def test_it_prints_itself_as_lark(grammar: Grammar) -> None:
    again = Grammar.from_lark(grammar.to_lark())
    assert again == grammar
    assert again.terminals == grammar.terminals
    assert again.fingerprint == grammar.fingerprint


def test_it_is_deterministic(grammar: Grammar) -> None:
    assert {finding.level for finding in pdacon.check(grammar).findings} <= {"note"}


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({}, "no table"),
        ({"": ["a"]}, "empty"),
        ({"a": ["x\0y"]}, "NUL"),
        ({"a": ["\ud800"]}, "surrogate"),
        ({"a": ["x" * 100_000]}, "100,000 characters"),
        ({"a": ["x"], "A": ["x"]}, "one table"),
        ({"a": ["x", "X"]}, "one column"),
        ({"a": ["x", "y", "x"]}, "one column"),
    ],
)
def test_what_cannot_be_a_schema(schema: dict[str, list[str]], words: str) -> None:
    with pytest.raises(SchemaError, match=words):
        sql_for_schema(schema)


@pytest.mark.parametrize("schema", [None, ["a"], {"a": "name"}, {"a": [1]}, {1: ["a"]}, {"a": None}])
def test_what_is_of_another_type(schema: Any) -> None:
    with pytest.raises(TypeError):
        sql_for_schema(schema)


@pytest.mark.parametrize("options", [{"statements": "all"}, {"aliases": "("}, {"labels": "[a"}, {"functions": []}])
def test_what_is_no_option(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        sql_for_schema(SCHEMA, **options)
