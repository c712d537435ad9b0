"""sql.lark: its samples, stock Lark and SQLite agree."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from support.builtin import builtin
from support.lark_oracle import accepts
from support.sqlite import syntax_error

from pdacon import Grammar

SAMPLES = Path(__file__).parents[2] / "grammars" / "sql"
SCHEMA = "CREATE TABLE t (a, b, c)"


def samples(kind: str) -> list[Any]:
    return [pytest.param(path.read_text(), id=path.name) for path in sorted((SAMPLES / kind).iterdir())]


@pytest.fixture(scope="module")
def grammar() -> Grammar:
    return builtin("sql")


@pytest.mark.slow
@pytest.mark.parametrize("text", samples("accept"))
def test_accepts(grammar: Grammar, text: str) -> None:
    assert syntax_error(text, SCHEMA) is None
    assert accepts(grammar, text)


@pytest.mark.slow
@pytest.mark.parametrize("text", samples("reject"))
def test_rejects(grammar: Grammar, text: str) -> None:
    assert syntax_error(text, SCHEMA) is not None
    assert not accepts(grammar, text)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "not_taken"),
    [
        ("CREATE TABLE {} (x)", ""),
        ("CREATE TABLE u ({} int)", "WINDOW"),
        ("SELECT t.{}, {}.a FROM t", ""),
        ("SELECT {} FROM t", ""),
        ("SELECT {}(1)", ""),
        ("SELECT 1 AS {}", ""),
        ("SELECT 1 {} FROM t", "OVER WINDOW"),
        ("SELECT 1 FROM t {} WHERE 1", "GLOB LIKE MATCH OVER REGEXP WINDOW"),
        ("SELECT {}", ""),
        ("{}", ""),
    ],
)
def test_keywords_are_names_where_sqlite_takes_them(grammar: Grammar, text: str, not_taken: str) -> None:
    keywords = re.findall(r"^([A-Z_]+)\.1:", str(grammar.data.source), re.MULTILINE)
    assert len(keywords) == 150
    for word in keywords:
        with_word = text.format(word, word)
        taken = syntax_error(with_word, SCHEMA) is None and word not in not_taken.split()
        assert accepts(grammar, with_word) == taken, with_word


def test_a_byte_order_mark_begins_no_name(grammar: Grammar) -> None:
    """SQLite skips U+FEFF where a word could begin: the name would be another one. Within a word it is a letter."""
    for text in ("SELECT \ufeffa FROM t", "SELECT 1 AS \ufeffa", "CREATE TABLE \ufeffu (x)", "SELECT t.\ufeffa FROM t"):
        assert syntax_error(text, SCHEMA) is None
        assert not accepts(grammar, text), text
    assert accepts(grammar, "SELECT a\ufeff, [\ufeffa] FROM t")
