"""sql.lark: its samples, stock Lark and SQLite agree."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from support.lark_oracle import accepts
from support.sqlite import syntax_error

from pdacon import Grammar, check

SAMPLES = Path(__file__).parents[2] / "grammars" / "sql"
SCHEMA = "CREATE TABLE t (a, b, c)"


def samples(kind: str) -> list[Any]:
    return [pytest.param(path.read_text(), id=path.name) for path in sorted((SAMPLES / kind).iterdir())]


@pytest.fixture(scope="module")
def grammar() -> Grammar:
    return Grammar.builtin("sql")


def test_it_is_deterministic(grammar: Grammar) -> None:
    assert {finding.level for finding in check(grammar).findings} <= {"note"}


@pytest.mark.parametrize("text", samples("accept"))
def test_accepts(grammar: Grammar, text: str) -> None:
    assert syntax_error(text, SCHEMA) is None
    assert accepts(grammar, text)


@pytest.mark.parametrize("text", samples("reject"))
def test_rejects(grammar: Grammar, text: str) -> None:
    assert syntax_error(text, SCHEMA) is not None
    assert not accepts(grammar, text)


def test_names_are_as_sqlite_has_them(grammar: Grammar) -> None:
    """Which of the keywords can name a table, a column or a result."""
    keywords = re.findall(r"^([A-Z_]+)\.1:", str(grammar.source), re.MULTILINE)
    assert len(keywords) > 140
    for word in keywords:
        for text in (f"CREATE TABLE {word} (x)", f"CREATE TABLE t1 ({word} int)", f"SELECT t.{word} AS {word} FROM t"):
            if accepts(grammar, text) != (syntax_error(text, SCHEMA) is None):
                # docs/grammars.md: words of joins, and INDEXED, are names only in quotes.
                assert word in {"CROSS", "FULL", "INDEXED", "INNER", "LEFT", "NATURAL", "OUTER", "RIGHT"}, text
                assert not accepts(grammar, text)
