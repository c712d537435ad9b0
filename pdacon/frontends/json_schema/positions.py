"""The beginning of a JSON text -> the arrays and objects that are open at its end, and how far each has come."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Path: TypeAlias = tuple[str | int, ...]
"""Names and indices that lead from the whole value to one within it."""

STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_TOKEN = re.compile(rf'{STRING.pattern}|"(?:[^"\\]|\\.)*|[{{}}\[\],:]|[^\s{{}}\[\],:"]+', re.DOTALL)


@dataclass(slots=True)
class Open:
    """An array or an object that has been begun.

    Attributes
    ----------
    index : int or None
        How many items came before the one that is read; None for an object.
    names : list of (str, int)
        The members that have come, the one that is read included, and where each name begins in the text.
    expects : str
        What comes next: a "name", a "colon", a "value", the "rest of a name" or "of a value" that is a string, or a
        "comma", which may be the end too.
    """

    index: int | None
    names: list[tuple[str, int]] = field(default_factory=list)
    expects: Literal["name", "rest of a name", "colon", "value", "rest of a value", "comma"] = "name"


def open_values(text: str) -> list[Open]:
    """The arrays and objects that the beginning of a text leaves open, the outermost first."""
    values: list[Open] = []
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token in "{[":
            values.append(Open(None) if token == "{" else Open(0, expects="value"))
            continue
        if token in "}]" and values:
            values.pop()
        if not values:
            continue
        last = values[-1]
        if token == ",":
            last.expects = "name"
            if last.index is not None:
                last.index, last.expects = last.index + 1, "value"
        elif token == ":":
            last.expects = "value"
        elif last.expects == "name" and token not in "}]":
            last.names.append((unescaped(token), match.start()))
            last.expects = "colon" if STRING.fullmatch(token) else "rest of a name"
        else:
            begun = token[0] == '"' and not STRING.fullmatch(token)
            last.expects = "rest of a value" if begun else "comma"
    return values


def begun_scalar(text: str) -> str:
    """The string that is open at the end of a text, or the number or constant that it ends in; else an empty text."""
    token = ""
    for match in _TOKEN.finditer(text):
        token = match.group() if match.end() == len(text) else ""
    return "" if token in "{}[],:" or STRING.fullmatch(token) else token


def is_in_value(text: str) -> bool:
    """Whether a text ends where a value is to begin, or within one that is neither an array nor an object."""
    opened = open_values(text)
    if not opened:
        return not text.strip() or bool(begun_scalar(text))
    expects = opened[-1].expects
    return expects in ("value", "rest of a value") or (expects == "comma" and bool(begun_scalar(text)))


def path_of(opened: Iterable[Open]) -> Path:
    """The names and indices that lead to the value which is read innermost, or was read last."""
    path: list[str | int] = []
    for value in opened:
        if value.index is not None:
            path.append(value.index)
        elif value.names and value.expects != "name":
            path.append(value.names[-1][0])
    return tuple(path)


def unescaped(name: str) -> str:
    """What a string of JSON says; of a broken one its text."""
    try:
        return str(json.loads(name))
    except ValueError:
        return name.strip('"')
