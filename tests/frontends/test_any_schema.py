"""sql_for_schema for schemas that nobody would make: deterministic, printable, and SQLite takes what is accepted."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing

import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from support.sql_names import assert_prints_itself
from support.sqlite import syntax_error

import pdacon
from pdacon import Grammar, Vocabulary
from pdacon.frontends.sql.made_up_names import lowered
from pdacon.frontends.sql.names import WORD_END, also_quoted, spelled
from pdacon.grammar.builtin import builtin_source

EVERY_BYTE = Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], eos_ids=[256])
KEYWORDS = [
    "select",
    "left",
    "indexed",
    "Key",
    "order",
    "raise",
    "cast",
    "current_date",
    "rowid",
    "excluded",
    "null",
    "window",
    "x",
]
HOSTILE = [
    'a"b',
    "a`b",
    "a]b",
    "[a",
    "a.b",
    "*",
    "a\nb",
    "--",
    "/*",
    "'",
    "\\",
    '\\"',
    "\\u0041",
    "a|b",
    "(?i)",
    "é",
    "K",
]
Schema = dict[str, list[str]]


def names() -> st.SearchStrategy[str]:
    short = st.text("aAb_1", min_size=1, max_size=3)  # many begin with others
    any_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=4)
    return st.one_of(short, st.sampled_from(KEYWORDS), st.sampled_from(HOSTILE), any_text)


def schemas() -> st.SearchStrategy[Schema]:
    columns = st.lists(names(), max_size=5, unique_by=lowered)
    pairs = st.lists(st.tuples(names(), columns), min_size=1, max_size=4, unique_by=lambda pair: lowered(pair[0]))
    return pairs.map(dict)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


# A failure is reported as it is: each step of making it smaller would compile a grammar.
@pytest.mark.slow
@settings(max_examples=3, derandomize=True, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(schemas())
@example({"t": [*HOSTILE, *KEYWORDS], "a": ["a", "aa", "aaa"], "A1": ["count"]})
@example({name: [name] for name in (*HOSTILE, *KEYWORDS)})
@example({f"table_{n}": [f"column_{n}_{k}" for k in range(12)] for n in range(12)})
def test_any_schema(schema: Schema) -> None:
    grammar = Grammar.from_sql_schema(schema)
    assert_prints_itself(grammar)
    constraint = pdacon.compile(grammar, EVERY_BYTE)  # raises for what is not deterministic
    with closing(sqlite3.connect(":memory:")) as database:
        for table, columns in schema.items():
            if lowered(table).startswith("sqlite_"):
                continue
            listed = ", ".join(map(quoted, columns)) or "no_column"
            database.execute(f"CREATE TABLE {quoted(table)} ({listed})")
            for text in _queries(table, columns):
                matcher = constraint.matcher()
                assert matcher.accept_bytes(text.encode()), text
                assert matcher.is_accepting(), text
                database.execute(text)


PLACES = (
    "SELECT {0}, {0}.{0}, T1.{0}, {0}.* FROM {0}, {0} AS T1 LEFT JOIN {0} USING ({0}) WHERE {0} = 1 ORDER BY 1 + {0}",
    "SELECT max({0}) FROM t NATURAL LEFT JOIN {0} WHERE 1 IN {0} GROUP BY {0} HAVING {0} IS NULL",
    "INSERT INTO {0} ({0}) VALUES (1) ON CONFLICT ({0}) DO UPDATE SET {0} = {0}.{0} RETURNING {0}",
    "UPDATE {0} SET {0} = {0}",
    "DELETE FROM {0} WHERE {0}",
)


@pytest.mark.slow
def test_keywords_are_words_where_sqlite_takes_them_for_names_everywhere() -> None:
    keywords = [name.lower() for name in re.findall(r"(?m)^([A-Z_]+)\.1:", builtin_source("sql")[0])]
    assert len(keywords) > 130
    schema = {"t": ["a"], **{word: [word] for word in keywords}}
    constraint = pdacon.compile(Grammar.from_sql_schema(schema, "changes"), EVERY_BYTE)
    for word in keywords:
        texts = [place.format(word) for place in PLACES]
        known = all(syntax_error(text) is None for text in texts)
        for text in texts:
            matcher = constraint.matcher()
            assert (matcher.accept_bytes(text.encode()) and matcher.is_accepting()) == known, text


def _queries(table: str, columns: list[str]) -> list[str]:
    """Queries in which each way to write the names is used."""
    tables = _ways(table, '"`[')
    dotted = [*also_quoted(spelled(table)).words, *also_quoted(spelled(table)).closed]
    queries = [f"SELECT {of}.* FROM {form}" for of, form in zip(dotted * 2, tables, strict=False)]
    for column in columns:
        forms = _ways(column, '"`[')
        queries += [f"SELECT T1.{form}, {form}, [T1].{form} FROM {of} AS `T1`" for of in tables for form in forms]
        queries += [
            f"SELECT {of}.{form} FROM {of}, (SELECT {form} FROM {of}) AS T1 GROUP BY {of}.{form}"
            for of in dotted
            for form in (*also_quoted(spelled(column)).words, *also_quoted(spelled(column)).closed)
        ]
    return queries


def _ways(name: str, quotes: str) -> list[str]:
    found = spelled(name)
    ends = {"[": "]"}
    return [*found.words, *found.closed, *(q + word + ends.get(q, q) for word in found.words for q in quotes)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "schema",
    [
        {"t": [*HOSTILE, *KEYWORDS], "T1": ["a", "ab", "A_1"], "singer": ["rank", "count", "singer"]},
        {f"table_{n}": [f"column_{k}" for k in range(20)] for n in range(20)},
    ],
)
def test_the_checker_has_nothing_to_say_of_the_names(schema: Schema) -> None:
    # Beside names that are in quotes anyway those that need none are told from them after some bytes.
    for finding in pdacon.check(Grammar.from_sql_schema(schema)).findings:
        assert finding.id == "PDA016" or (finding.id == "PDA018" and "OPEN_" in finding.title), finding


def test_words_end_as_in_sql() -> None:
    text, _ = builtin_source("sql")
    written = re.search(r"^W: /(.*)/$", text, re.MULTILINE)
    assert written is not None
    assert re.sub(r"\\x(..)", lambda escape: chr(int(escape[1], 16)), written[1]) == WORD_END
