"""sql_for_schema beside SQLite: queries that others wrote over their schema, the same with other names, random ones."""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import closing
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random

import pytest
from support.lark_oracle import accepts
from support.sql_names import named, schema_of, with_another_name
from support.token_walks import walked_texts

import pdacon
from pdacon import Constraint, Grammar, Vocabulary
from pdacon.front.sampling import sample

GOLD = Path(__file__).parents[3] / "shared" / "data" / "sql" / "spider_dev_gold.jsonl.gz"
EVERY_BYTE = Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], eos_ids=[256])

CONCERTS = {
    "singer": ["singer_id", "name", "age", "country"],
    "stadium": ["stadium_id", "name", "capacity", "opened in"],
    "concert": ["concert_id", "stadium_id", "year", "theme", "rank"],
    "singer_in_concert": ["concert_id", "singer_id"],
}


@cache
def spider() -> dict[str, list[str]]:
    """The queries about each database."""
    if not GOLD.exists():
        pytest.skip(f"{GOLD} is not there")
    queries: dict[str, list[str]] = defaultdict(list)
    with gzip.open(GOLD) as lines:
        for case in map(json.loads, lines):
            queries[case["db_id"]].append(case["sql"])
    return queries


@cache
def constraint_of(database: str) -> Constraint:
    return pdacon.compile(Grammar.from_sql_schema(schema_of(spider()[database])), EVERY_BYTE)


def is_sentence(constraint: Constraint, text: str) -> bool:
    matcher = constraint.matcher()
    return matcher.accept_bytes(text.encode()) and matcher.is_accepting()


def database_with(schema: dict[str, list[str]]) -> sqlite3.Connection:
    database = sqlite3.connect(":memory:")
    for table, columns in schema.items():
        listed = ", ".join(f'"{column}"' for column in columns) or "no_column"
        database.execute(f'CREATE TABLE "{table}" ({listed})')
    return database


def complaint(database: sqlite3.Connection, query: str) -> str:
    """What SQLite says of a query, without the names in it; empty: nothing."""
    try:
        database.execute(f"EXPLAIN {query}")
    except sqlite3.Error as error:
        return str(error).partition(":")[0]
    return ""


@pytest.mark.slow
def test_every_query_over_its_schema_is_accepted(scaled: Callable[[int], int], tally: Callable[..., None]) -> None:
    for name, queries in islice(spider().items(), scaled(5)):
        with closing(database_with(schema_of(queries))) as database:
            for query in queries:
                # The schema is guessed from the queries: SQLite agrees that it has what they name.
                assert not complaint(database, query).startswith("no such"), query
                assert is_sentence(constraint_of(name), query), query
                tally(queries=1)


@pytest.mark.slow
def test_no_query_with_another_name_is_accepted(scaled: Callable[[int], int], tally: Callable[..., None]) -> None:
    random = Random(1)
    names = {name: schema_of(queries) for name, queries in spider().items()}
    everything = {
        name: {*schema, *(c for columns in schema.values() for c in columns)} for name, schema in names.items()
    }
    for name, queries in islice(spider().items(), scaled(5)):
        others = sorted(set().union(*everything.values()) - everything[name])
        for query in queries:
            for other in ("zz_top", random.choice(others), random.choice(others)):
                for _, changed in with_another_name(query, other):
                    assert not is_sentence(constraint_of(name), changed), changed
                    tally(queries=1)


@pytest.mark.slow
def test_no_column_of_another_table_is_accepted_behind_a_table(
    scaled: Callable[[int], int], tally: Callable[..., None]
) -> None:
    for name, queries in islice(spider().items(), scaled(5)):
        schema = schema_of(queries)
        for table, own in schema.items():
            for column in {c for columns in schema.values() for c in columns}:
                accepted = is_sentence(constraint_of(name), f"SELECT {table}.{column} FROM {table}")
                assert accepted == (column in own), (table, column)
                tally(columns=1)


@pytest.mark.slow
def test_stock_lark_says_the_same(tally: Callable[..., None]) -> None:
    name, queries = next(iter(spider().items()))
    grammar = constraint_of(name).grammar
    for query in queries[:5]:
        texts = [query, *(changed for _, changed in with_another_name(query, "zz_top"))]
        for text in texts:
            assert accepts(grammar, text) == is_sentence(constraint_of(name), text), text
        tally(texts=len(texts))


def judge(texts: Iterable[str], tally: Callable[..., None]) -> None:
    """None has a syntax error. What SQLite alone can know is whether a name is one of the query's own sources."""
    with closing(database_with(CONCERTS)) as database:
        for text in texts:
            said = complaint(database, text)
            assert "syntax error" not in said, (said, text)
            assert said not in ("unrecognized token", "incomplete input", "no such function"), (said, text)
            scoping = said in ("no such column", "no such table", "ambiguous column name")
            tally(queries=1, of_another_source=int(scoping), wrong_otherwise=int(bool(said) and not scoping))


@pytest.mark.slow
def test_random_sentences_name_what_there_is(scaled: Callable[[int], int], tally: Callable[..., None]) -> None:
    constraint = pdacon.compile(Grammar.from_sql_schema(CONCERTS), EVERY_BYTE)
    judge(islice(sample(constraint, 1, size=40), scaled(6)), tally)


@pytest.mark.slow
def test_walks_over_tokens_name_what_there_is(
    tekken: Vocabulary, scaled: Callable[[int], int], tally: Callable[..., None]
) -> None:
    constraint = pdacon.compile(Grammar.from_sql_schema(CONCERTS), tekken)
    judge((text for text, _ in walked_texts(constraint, scaled(80))), tally)


def test_the_reader_of_names() -> None:
    query = "SELECT T1.a, b FROM t AS T1 JOIN u ON T1.c = u.d WHERE e = 'from v' AND f(g) IN (SELECT h FROM w)"
    found = {(name.kind, name.name, name.of) for name in named(query)}
    everywhere = ("t", "u", "w")
    assert found == {
        *(("table", table, ()) for table in everywhere),
        *(("column", column, ("t",)) for column in "ac"),
        ("column", "d", ("u",)),
        *(("column", column, everywhere) for column in "begh"),
    }
