"""The names of a schema -> patterns: how each may be written, and which terminal it belongs to."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pdacon.frontends.arguments import lowered
from pdacon.frontends.definitions import definitions
from pdacon.grammar import Pattern
from pdacon.grammar.builtin import builtin_source

WORD_END = "(?![^\x00-#%-\\/:-@\\[-^`{-\x7f])"
"""sql.lark's W: no character of a word comes next."""

_PLAIN = re.compile(r"[^\x00-@\[-^`{-\x7f][^\x00-#%-/:-@\[-^`{-\x7f]*")
_ESCAPES = str.maketrans({special: f"\\{special}" for special in r"\^$.|?*+()[]{}/"})
# Lark drops a backslash before a double quote, be it escaped itself.
_UNPRINTABLE = re.compile(r'[\x00-\x1f\x7f-\xa0\u2028\u2029\ufeff]|(?<=\\)"')


_BEGIN_EXPRESSIONS = ("cast", "current_date", "current_time", "current_timestamp", "raise")


@dataclass(frozen=True, slots=True)
class Spelled:
    """How names may be written: words, after which no character of a word comes, and what ends by itself."""

    words: tuple[str, ...]
    closed: tuple[str, ...]


@lru_cache
def _keywords() -> tuple[frozenset[str], frozenset[str]]:
    """SQL's keywords, and those of them that are never names, or never columns."""
    text, _ = builtin_source("sql")
    reserved = re.findall(r"[a-z]+", " ".join(re.findall(r"\(\?ai:([a-z|]+)\)", definitions(text)["NOT_RESERVED"])))
    keywords = re.findall(r"^([A-Z_]+)\.1:", text, re.MULTILINE)
    return frozenset(map(str.lower, keywords)), frozenset((*_BEGIN_EXPRESSIONS, *reserved))


def spelled(name: str) -> Spelled:
    """As a word where it can be one; in quotes where it cannot, or is a keyword, which a word can be taken for."""
    keywords, reserved = _keywords()
    plain = _PLAIN.fullmatch(name) is not None
    words = (name,) if plain and lowered(name) not in reserved else ()
    if words and lowered(name) not in keywords:
        return Spelled(words, ())
    quoted = [quote + name.replace(quote, quote * 2) + quote for quote in ('"', "`")]
    return Spelled(words, (*quoted, *([] if "]" in name else [f"[{name}]"])))


def pattern(names: Iterable[Spelled], after: str = "") -> Pattern:
    """A pattern for any of the names, followed by ``after``, which ends by itself."""
    names = list(names)
    words = [word for name in names for word in name.words]
    closed = [text for name in names for text in name.closed]
    if after:
        words, closed = [], [text + after for text in (*words, *closed)]
    bounded, rest = (_alternatives(set(some)) for some in (words, closed))
    parts = [f"(?:{bounded}){WORD_END}"] if bounded else []
    value = f"(?ai:{'|'.join([*parts, *([rest] if rest else [])])})"
    lengths = [len(text) for text in (*words, *closed)]
    return Pattern("re", value, frozenset(), value, min(lengths), max(lengths))


def _alternatives(texts: Collection[str]) -> str:
    """Longer ones first, as each has to be tried before those that it begins with."""
    key = str.lower if all(map(str.isascii, texts)) else lowered
    # No name has a NUL; the bars in names are escaped before it becomes one.
    return "\0".join(sorted(texts, key=key, reverse=True)).translate(_ESCAPES).replace("\0", "|")


def qualified(table: Spelled, column: Spelled) -> Spelled:
    """A column behind its table: ``singer.name``."""
    tables = (*table.words, *table.closed)
    return Spelled(
        tuple(f"{first}.{word}" for first in tables for word in column.words),
        tuple(f"{first}.{text}" for first in tables for text in column.closed),
    )


def columns_of(schema: Mapping[str, Sequence[str]]) -> dict[str, Spelled]:
    """Every column of any table, once, by its name without case."""
    named = {lowered(column): column for columns in schema.values() for column in columns}
    return {name: spelled(column) for name, column in named.items()}


def as_literal(value: str) -> str:
    """The regular expression as Lark's language writes it, between slashes."""
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", value)
