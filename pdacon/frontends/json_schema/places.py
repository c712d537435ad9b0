"""The end of a JSON text -> which schemas speak about the value there.

In: a schema and the beginning of a text that is one of its values. Out: a line for each schema that applies to the
value which the text ends in, with the keywords that it says of the value itself. This is for explanations, so that what
is missing or strange is passed over: a ``$ref`` into another document, for one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TypeAlias

from pdacon.errors import LimitExceededError, UnsupportedSchemaError
from pdacon.frontends.json_schema.documents import MANY, NAMED, ONE, Documents, Place
from pdacon.frontends.json_schema.facts import Matches
from pdacon.frontends.json_schema.strings import PatternError, pattern_automaton

Path: TypeAlias = tuple[str | int, ...]

_SILENT = frozenset({
    "$anchor", "$comment", "$dynamicAnchor", "$dynamicRef", "$id", "$recursiveAnchor", "$recursiveRef", "$ref",
    "$schema", "$vocabulary", "default", "deprecated", "description", "examples", "id", "readOnly", "title",
    "writeOnly",
})  # fmt: skip
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
_SHOWN = 4
_WIDTH = 96


def schema_lines(source: str, text: str) -> tuple[str, ...]:
    """For the value that a text ends in, and the one around it, the pointers of their schemas and what those say.

    Parameters
    ----------
    source : str
        The schema as JSON.
    text : str
        The beginning of a value.
    """
    documents = Documents(json.loads(source))
    path = path_at_end(text)
    inner = [_line(place) for place in _at(documents, path)]
    around = [_line(place) for place in _at(documents, path[:-1])] if path else []
    lines = [line for line in dict.fromkeys([*inner, *around]) if line]
    more = [f"({len(lines) - _SHOWN} more)"] if len(lines) > _SHOWN else []
    return (*lines[:_SHOWN], *more)


def path_at_end(text: str) -> Path:
    """The names and indices that lead to the value which the beginning of a text ends in, or has read last."""
    path: list[str | int | None] = []  # for each open object its current name, for each open array the index
    named = False  # whether the colon behind the name has been read
    for token in _TOKEN.findall(text):
        if token in "{[":
            path.append(0 if token == "[" else None)
            named = False
        elif token in "}]":
            if path:
                path.pop()
            named = True
        elif token == ",":
            if path:
                path[-1] = path[-1] + 1 if isinstance(path[-1], int) else None
            named = False
        elif token == ":":
            named = True
        elif path and not isinstance(path[-1], int) and not named:
            path[-1] = _unescaped(token)
    return tuple(token for token in path if token is not None)


def _unescaped(name: str) -> str:
    try:
        return str(json.loads(name))
    except ValueError:
        return name.strip('"')


def _at(documents: Documents, path: Path) -> list[Place]:
    """The schemas that apply to the value at a path."""
    places = list(_applied(documents, [documents.root]))
    for token in path:
        below = [child for place in places for child in _below(place, token)]
        places = list(_applied(documents, below))
    return places


def _applied(documents: Documents, places: Iterable[Place]) -> Iterator[Place]:
    """Schemas, and those that they apply to the same value."""
    pending = list(places)[::-1]
    seen: set[Place] = set()
    while pending:
        place = pending.pop()
        node = place.node
        if place in seen or not isinstance(node, (dict, bool)):
            continue
        seen.add(place)
        yield place
        if isinstance(node, bool):
            continue
        found: list[Place] = []
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            if isinstance(node.get(keyword), str):
                try:
                    found.append(documents.referred(place, keyword))
                except UnsupportedSchemaError:
                    continue
        for keyword in ("allOf", "anyOf", "oneOf"):
            if isinstance(node.get(keyword), list):
                found += [place.child(keyword, k) for k in range(len(node[keyword]))]
        found += [place.child(keyword) for keyword in ("if", "then", "else", "not") if keyword in node]
        for keyword in ("dependentSchemas", "dependencies"):
            if isinstance(node.get(keyword), dict):
                found += [place.child(keyword, name) for name in node[keyword]]
        pending += reversed(found)


def _below(place: Place, token: str | int) -> Iterator[Place]:
    """The schemas that one applies to a member or an item."""
    node = place.node
    if isinstance(node, bool):
        return
    if isinstance(token, int):
        first = node.get("prefixItems", node.get("items"))
        if isinstance(first, list) and token < len(first):
            yield place.child("prefixItems" if "prefixItems" in node else "items", token)
        else:
            keyword = "additionalItems" if isinstance(node.get("items"), list) else "items"
            yield from _each(place, keyword)
        yield from _each(place, "contains", "unevaluatedItems")
        return
    known = False
    properties = node.get("properties")
    if isinstance(properties, dict) and token in properties:
        known = True
        yield place.child("properties", token)
    patterns = node.get("patternProperties")
    for pattern in patterns if isinstance(patterns, dict) else ():
        with suppress(PatternError, LimitExceededError):  # one that was left out with lax=True
            if pattern_automaton(Matches(pattern)).accepts(token):
                known = True
                yield place.child("patternProperties", pattern)
    if not known:
        yield from _each(place, "additionalProperties", "unevaluatedProperties")


def _each(place: Place, *keywords: str) -> Iterator[Place]:
    return (place.child(keyword) for keyword in keywords if keyword in place.node)


def _line(place: Place) -> str:
    """A schema's place, and the keywords that speak of the value itself; empty if there are none."""
    node = place.node
    if isinstance(node, bool):
        return f"{place.pointer}: {json.dumps(node)}"
    own = {
        keyword: value
        for keyword, value in node.items()
        if keyword not in _SILENT and (keyword not in ONE | MANY | NAMED or (keyword in ONE and value is False))
    }
    said = ", ".join(f"{keyword} {json.dumps(value, ensure_ascii=False)}" for keyword, value in own.items())
    return f"{place.pointer}: {said if len(said) <= _WIDTH else f'{said[: _WIDTH - 4]} ...'}" if said else ""
