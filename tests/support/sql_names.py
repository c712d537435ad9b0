"""Which tables and columns a query names, found without a grammar: by the words around them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from pdacon import Grammar

_LEXEME = re.compile(r"""(?P<text>'(?:[^']|'')*'|"(?:[^"]|"")*")|(?P<word>[A-Za-z_]\w*)|(?P<other>\S)""")
_WORDS = frozenset(
    re.findall(
        "[a-z]+",
        "all and as asc between by case cast desc distinct else end except exists from group having in inner intersect "
        "is join left like limit not null on or order outer select then union when where with",
    )
)


@dataclass(frozen=True)
class Named:
    """A place in a query where a table or a column is named."""

    kind: Literal["table", "column"]
    name: str
    begin: int
    end: int
    of: tuple[str, ...] = ()
    """Of a column: the tables that may have it."""


def named(query: str) -> list[Named]:
    """The tables and columns that a query names, in its order; qualifiers that are aliases are neither."""
    lexemes = [(m.lastgroup, m[0], m.start(), m.end()) for m in _LEXEME.finditer(query)]
    texts = [text.lower() for _, text, _, _ in lexemes] + [""] * 3
    tables = {k for k, text in enumerate(texts[:-3]) if _is_table(texts, k)}
    aliases: dict[str, list[str]] = defaultdict(list)
    for k in tables:
        alias = texts[k + 2] if texts[k + 1] == "as" else texts[k + 1]
        if alias.isidentifier() and alias not in _WORDS:
            aliases[alias].append(texts[k])
    found = []
    for k, (kind, _, begin, end) in enumerate(lexemes):
        if kind != "word" or texts[k] in _WORDS or texts[k + 1] == "(" or texts[k] in aliases:
            continue
        if k in tables or texts[k + 1] == ".":
            found.append(Named("table", texts[k], begin, end))
        elif texts[k - 1] != "as":
            of = (
                aliases.get(texts[k - 2], [texts[k - 2]]) if texts[k - 1] == "." else [texts[t] for t in sorted(tables)]
            )
            found.append(Named("column", texts[k], begin, end, tuple(of)))
    return found


def _is_table(texts: list[str], k: int) -> bool:
    return texts[k - 1] in ("from", "join") and texts[k].isidentifier() and texts[k] != "select"


def schema_of(queries: Iterable[str]) -> dict[str, list[str]]:
    """The least schema that the queries can be about."""
    columns: dict[str, dict[str, None]] = defaultdict(dict)
    for query in queries:
        for name in named(query):
            if name.kind == "table":
                columns[name.name]
            for table in name.of:
                columns[table][name.name] = None
    return {table: list(names) for table, names in columns.items()}


def with_another_name(query: str, other: str) -> Iterator[tuple[Named, str]]:
    """The query with one of its tables and columns replaced by another name, each in turn."""
    for name in named(query):
        yield name, query[: name.begin] + other + query[name.end :]


def assert_prints_itself(grammar: Grammar) -> None:
    """Stock Lark's grammar of the text has the same terminals and productions, but for the names of helpers."""
    again, data = Grammar.from_lark(grammar.to_lark()).data, grammar.data
    assert [(p.lhs, p.rhs) for p in again.productions] == [(p.lhs, p.rhs) for p in data.productions]
    patterns = [(one.pattern, one.priority) for one in data.terminals]
    assert [(one.pattern, one.priority) for one in again.terminals] == patterns
    assert (again.ignore, again.starts) == (data.ignore, data.starts)
