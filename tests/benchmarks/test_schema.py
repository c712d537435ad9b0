"""What a grammar of a schema costs, beside the one that it is made of, in one process that has compiled both before.

    pytest tests/benchmarks/test_schema.py --benchmark-enable --benchmark-timer=time.process_time

prints a table. Without ``--benchmark-enable`` a schema of three tables is tried. Nothing here asserts a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from random import Random
from typing import Any

import pytest
from support.sentences import EVERY_BYTE

import pdacon

TEXT = (
    "id name age title year city street phone email price total count date owner status type code size color weight "
    "height first last middle note text kind level user item stock store region country state zip"
)
WORDS = TEXT.split()


def schema_of(tables: int, columns: int, reserved: Sequence[str]) -> dict[str, list[str]]:
    random = Random(1)
    pool = sorted({"_".join(random.sample(WORDS, random.choice((1, 2, 2, 3)))) for _ in range(tables * columns)})
    chosen: dict[str, list[str]] = {}
    while len(chosen) < tables:
        own = random.sample(pool, min(len(pool), columns - len(reserved)))
        chosen["_".join(random.sample(WORDS, 2)) + "s"] = [*own, *reserved]
    return chosen


@pytest.mark.slow
def test_schema(measured: bool, clock: Callable[[], float], show: Callable[..., None]) -> None:
    number = count()

    def spent(work: Callable[[], Any]) -> float:
        """Milliseconds, the least of some."""
        found = []
        for _ in range(9 if measured else 1):
            begin = clock()
            work()
            found.append((clock() - begin) * 1000)
        return min(found)

    def row(name: str, make: Callable[[], pdacon.Grammar]) -> list[object]:
        found = pdacon.compile(make(), EVERY_BYTE).statistics()
        size = f"{found['lexer_states']:,}", f"{found['bytes'] / 1e6:.1f}"
        return [name, f"{spent(make):.0f}", f"{spent(lambda: pdacon.compile(make(), EVERY_BYTE)):.0f}", *size]

    base = pdacon.Grammar.builtin("sql_select")

    def made(schema: dict[str, list[str]]) -> Callable[[], pdacon.Grammar]:
        # A table has another name each time, so that no pattern is known from the time before.
        return lambda: pdacon.Grammar.from_sql_schema({f"{table}{next(number)}": own for table, own in schema.items()})

    rows = [row("sql_select, made before", lambda: base), row("a schema of one table", made({"singer": ["name"]}))]
    for tables, columns in ((10, 10), (100, 20), (500, 40)) if measured else ((3, 4),):
        plain = schema_of(tables, columns, [])
        different = len({column for own in plain.values() for column in own})
        rows.append(row(f"{tables} tables of {columns} columns, {different:,} different names", made(plain)))
        rows.append(row("the same with a reserved word in each", made(schema_of(tables, columns, ["order"]))))
    show(("", "make the grammar", "make and compile", "lexer states", "MB"), rows)
    assert pdacon.compile(pdacon.Grammar.from_sql_schema(plain), EVERY_BYTE).matcher().accept_bytes(b"SELECT ")
