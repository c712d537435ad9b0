"""The names of a schema -> patterns: how each may be written, and which terminal it belongs to."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from pdacon.frontends.sql.made_up_names import lowered
from pdacon.frontends.sql.source import sql_parts
from pdacon.grammar import Pattern
from pdacon.grammar.patterns import width_of

WORD_END = "(?![^\x00-#%-\\/:-@\\[-^`{-\x7f])"
"""sql.lark's W: no character of a word comes next."""

_NO_TEXT_GOES_ON = '(?!["])'
"""A quotation mark in the middle of a text is written twice."""

NAME = re.compile(r"[^\x00-@\[-^`{-\x7f\ufeff][^\x00-#%-/:-@\[-^`{-\x7f]*")
"""What can be a name without quotes, if it is no keyword."""
_ESCAPES = str.maketrans({special: f"\\{special}" for special in r"\^$.|?*+()[]{}/"})

JOIN_WORDS = frozenset({"cross", "full", "indexed", "inner", "left", "natural", "outer", "over", "right"})
"""Keywords that are names wherever a table or a column is named, and nothing that a text makes up."""

_BEGIN_EXPRESSIONS = ("cast", "current_date", "current_time", "current_timestamp", "raise")


@dataclass(frozen=True, slots=True)
class Spelled:
    """How names may be written: words, after which no character of a word comes, and what ends by itself."""

    words: tuple[str, ...]
    closed: tuple[str, ...]


@lru_cache
def _reserved() -> frozenset[str]:
    """The keywords that are never names, or never columns."""
    lists = re.findall(r"\(\?ai:([a-z|]+)\)", sql_parts().regexp("NOT_RESERVED"))
    return frozenset((*_BEGIN_EXPRESSIONS, *"|".join(lists).split("|")))


@lru_cache
def _keywords() -> frozenset[str]:
    return frozenset(name.lower() for name, terminal in sql_parts().terminals.items() if terminal.priority == 1)


def never_names() -> frozenset[str]:
    """The words that SQLite takes for no name that a text makes up, wherever one may stand."""
    return frozenset((*_reserved(), "filter", "raise"))


def spelled(name: str) -> Spelled:
    """As a word where it can be one; else in quotes."""
    if NAME.fullmatch(name) and ((key := lowered(name)) not in _reserved() or key in JOIN_WORDS):
        return Spelled((name,), ())
    return Spelled((), _quoted(name))


def spelled_function(name: str) -> Spelled:
    """SQLite takes no word of a join for a function."""
    return Spelled((), _quoted(name)) if lowered(name) in JOIN_WORDS else spelled(name)


def also_quoted(name: Spelled) -> Spelled:
    """With the words in double quotes, too."""
    return Spelled(name.words, tuple(f'"{word}"' for word in name.words)) if name.words else name


def _in_any_quotes(name: Spelled) -> Spelled:
    return Spelled(name.words, (*name.closed, *(text for word in name.words for text in _quoted(word))))


def _quoted(name: str) -> tuple[str, ...]:
    quoted = [quote + name.replace(quote, quote * 2) + quote for quote in ('"', "`")]
    return (*quoted, *([] if "]" in name else [f"[{name}]"]))


def pattern(names: Iterable[Spelled], after: str = "") -> Pattern:
    """A pattern for any of the names, followed by ``after``, which ends by itself."""
    words, closed = _texts(names)
    if after:
        words, closed = [], [text + after for text in (*words, *closed)]
    lengths = [len(text) for text in (*words, *closed)]
    return _pattern(_any_of(words, closed), min(lengths), max(lengths))


def _texts(names: Iterable[Spelled]) -> tuple[list[str], list[str]]:
    names = list(names)
    return [word for name in names for word in name.words], [text for name in names for text in name.closed]


def pattern_beside_texts(names: Iterable[str]) -> Pattern:
    """A pattern for names in double quotes where there are texts, too: ``"order""s"`` is one, and no name."""
    names = list(names)
    lengths = [*map(len, names)]
    return _pattern(f"(?:{_alternatives(names)}){_NO_TEXT_GOES_ON}", min(lengths), max(lengths))


def qualified(
    spelled_tables: Mapping[str, Spelled], spelled_columns: Mapping[str, Spelled], tables: Mapping[str, Iterable[str]]
) -> Pattern:
    """A pattern for a column after its table: ``singer.name``; either may be in double quotes.

    Parameters
    ----------
    tables : mapping of str to iterable of str
        For each table its columns, by their names in ``spelled_columns``.

    Notes
    -----
    Each kind of quotes would make the columns of every table once more. Keywords are few, and in quotes more often.
    """
    keywords = _keywords()
    behind_dot = {
        name: _in_any_quotes(column) if column.words and name in keywords else also_quoted(column)
        for name, column in spelled_columns.items()
    }
    parts = []
    shortest, longest = [], []
    for table, columns in tables.items():
        words, closed = _texts(behind_dot[column] for column in columns)
        if not words and not closed:
            continue
        named = also_quoted(spelled_tables[table])
        before = (*named.words, *named.closed)
        parts.append(f"(?:{_alternatives(before)})\\.(?:{_any_of(words, closed)})")
        shortest.append(min(map(len, before)) + 1 + min(map(len, (*words, *closed))))
        longest.append(max(map(len, before)) + 1 + max(map(len, (*words, *closed))))
    return _pattern("|".join(parts), min(shortest), max(longest))


def _pattern(value: str, shortest: int, longest: int) -> Pattern:
    value = f"(?ai:{value})"
    return Pattern("re", value, frozenset(), value, shortest, longest)


def _any_of(words: Collection[str], closed: Collection[str]) -> str:
    parts = [f"(?:{_alternatives(words)}){WORD_END}"] if words else []
    return "|".join([*parts, *([_alternatives(closed)] if closed else [])])


def _alternatives(texts: Collection[str]) -> str:
    """Longer ones first, as each has to be tried before those that it begins with."""
    key = str.lower if all(map(str.isascii, texts)) else lowered
    # No name has a NUL; the bars in names are escaped before it becomes one.
    return "\0".join(sorted(set(texts), key=key, reverse=True)).translate(_ESCAPES).replace("\0", "|")


def columns_of(schema: Mapping[str, Mapping[str, str]]) -> dict[str, Spelled]:
    """Every column of any table, once, by its name without case."""
    named = {key: column for columns in schema.values() for key, column in columns.items()}
    return {name: spelled(column) for name, column in named.items()}


def lexeme(regexp: str) -> Pattern:
    """The pattern of a regular expression."""
    return Pattern("re", regexp, frozenset(), regexp, *width_of(regexp))


def made_up_patterns(aliases: str, labels: str, not_tables: str, quoted: bool) -> dict[str, Pattern]:
    """The terminals for names that a text makes up, of which each looks like a regular expression.

    No such name is FILTER, which ends a call, or RAISE, which begins one in a trigger; ``not_tables`` is a look-ahead
    that keeps names of tables from being aliases. ``quoted`` says whether they may stand in double quotes.
    """
    name_begins, not_reserved, end = map(sql_parts().regexp, ("NAME_BEGINS", "NOT_RESERVED", "W"))
    begin = f"{name_begins}{not_reserved}(?!(?ai:filter|raise){end})"
    alias, label = f"{not_tables}{begin}(?ai:{aliases}){end}", f"{begin}(?ai:{labels}){end}"
    made_up = {
        "ALIAS": f'(?:"{alias}"|{alias})' if quoted else alias,
        "BARE_ALIAS": alias,
        "ALIAS_DOT": f'(?:"{alias}"|{alias})\\.',
        "ALIAS_BACK_DOT": f"{alias}`\\.",
        "ALIAS_BRACKET_DOT": f"{alias}\\]\\.",
        "LABEL": f'(?:"{label}"|{label})' if quoted else label,
        "BARE_LABEL": label,
    }
    return {name: lexeme(regexp) for name, regexp in made_up.items()}
