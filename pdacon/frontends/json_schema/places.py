"""The end of a JSON text -> which schemas speak about the value there.

In: a schema and the beginning of a text that is one of its values. Out: a line for each value of the author's that
schemas speak of where the text ends, in words where they go, else with the keywords. This is for explanations, so that
what is missing or strange is passed over: a ``$ref`` into another document, for one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any

from pdacon.errors import LimitExceededError, UnsupportedSchemaError
from pdacon.frontends.json_schema.conditions import holds
from pdacon.frontends.json_schema.documents import MANY, NAMED, ONE, REFERENCES, Documents, Place
from pdacon.frontends.json_schema.facts import Matches
from pdacon.frontends.json_schema.positions import Path, open_values, path_of
from pdacon.frontends.json_schema.strings import PatternError, pattern_automaton
from pdacon.frontends.json_schema.value_words import are_said, value_name, value_words

_SILENT = frozenset({
    "$anchor", "$comment", "$dynamicAnchor", "$dynamicRef", "$id", "$recursiveAnchor", "$recursiveRef", "$ref",
    "$schema", "$vocabulary", "default", "deprecated", "description", "examples", "id", "readOnly", "title",
    "writeOnly",
})  # fmt: skip
_COMBINED = {"oneOf": "exactly one", "anyOf": "any", "allOf": "all"}
_SHOWN = 4
_WIDTH = 96


def schema_lines(source: str, text: str) -> tuple[str, ...]:
    """For the value that a text ends in, and the one around it, what the author calls them and what they have to be.

    Such as ``Invoice.issued: a date``. Where words do not have all that a schema says, it has its pointer and keywords.

    Parameters
    ----------
    source : str
        The schema as JSON.
    text : str
        The beginning of a value.
    """
    documents = Documents(json.loads(source), text=source, lenient=True)
    path = path_of(open_values(text))
    title = title_of(documents)
    inner = _lines(said_places(places_at(documents, path)), title)
    around = _lines(said_places(places_at(documents, path[:-1])), title) if path else []
    lines = list(dict.fromkeys([*inner, *around]))
    more = [f"({len(lines) - _SHOWN} more)"] if len(lines) > _SHOWN else []
    return (*lines[:_SHOWN], *more)


def value_at(source: str, text: str) -> tuple[str, str]:
    """What the author calls the value that a text ends in, and what it has to be, as far as words go.

    Arguments are those of `schema_lines`.
    """
    documents = Documents(json.loads(source), text=source, lenient=True)
    found = places_at(documents, path_of(open_values(text)))
    places = [place for place in said_places(found) if keywords_of(place) and not applicators_in(place.pointer)]
    if not places:
        return "", ""
    words = [value_words(place.node) if isinstance(place.node, dict) else "" for place in places]
    return value_name(places[0].pointer, title_of(documents)), " or ".join(dict.fromkeys(words)) if all(words) else ""


def applicators_in(pointer: str) -> list[int]:
    """Where in a pointer ``if``, ``then``, ``else`` and ``not`` stand as keywords: what they apply need not hold."""
    tokens = pointer.split("/")
    return [
        k
        for k, token in enumerate(tokens)
        if token in ("if", "then", "else", "not") and not (k and tokens[k - 1] in NAMED and _is_keyword(tokens, k - 1))
    ]


def _is_keyword(tokens: Sequence[str], at: int) -> bool:
    """Whether a token that is a keyword's name is one, and not the name of a member that is called so."""
    return not (at and tokens[at - 1] in NAMED and _is_keyword(tokens, at - 1))


def said_places(places: Sequence[Place]) -> list[Place]:
    """Those whose words are not among those of a schema that they are a part of."""
    said = are_said((place.pointer, place.node) for place in places)
    return [place for place, is_said in zip(places, said, strict=True) if not is_said]


def title_of(documents: Documents) -> str:
    """The title of a schema that is a name; else an empty text."""
    node = documents.root.node
    title = node.get("title") if isinstance(node, dict) else None
    return title if isinstance(title, str) and title.isidentifier() else ""


def _lines(places: Iterable[Place], title: str) -> list[str]:
    """A line for each value that schemas speak of, in words, and one for each schema that words do not have."""
    words: dict[str, list[str]] = {}
    others: list[str] = []
    for place in places:
        listed = keywords_of(place)
        said = value_words(place.node) if isinstance(place.node, dict) else ""
        if place.node is False and place.pointer.endswith("Properties"):
            words.setdefault(value_name(place.pointer.rpartition("/")[0], title), []).append("no other member")
        elif listed and said and not applicators_in(place.pointer):
            words.setdefault(value_name(place.pointer, title), []).append(said)
        elif listed:
            others.append(f"{place.pointer}: {listed}")
    return [*(f"{name}: {' or '.join(dict.fromkeys(parts))}" for name, parts in words.items()), *others]


def places_at(
    documents: Documents, path: Path, *, certain: bool = False, come: Callable[[Path], Any] | None = None
) -> list[Place]:
    """The schemas that apply to the value at a path; ``certain``: those that it has to satisfy, whatever else it is.

    ``come`` says what has come of the values along the path (KeyError: nothing): then so are ``then`` and ``else`` by
    what ``if`` says of that.
    """
    places = list(_applied(documents, [documents.root], certain, (), come))
    for k, token in enumerate(path, 1):
        below = [child for place in places for child in _below(place, token, certain)]
        places = list(_applied(documents, below, certain, path[:k], come))
    return places


def _applied(
    documents: Documents,
    places: Iterable[Place],
    certain: bool,
    path: Path,
    come: Callable[[Path], Any] | None,
) -> Iterator[Place]:
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
        applied: list[Place] = []
        for keyword in REFERENCES:
            if isinstance(node.get(keyword), str):
                try:
                    applied.append(documents.referred(place, keyword))
                except UnsupportedSchemaError:
                    continue
        for keyword in ("allOf",) if certain else ("allOf", "anyOf", "oneOf"):
            if isinstance(node.get(keyword), list):
                applied += [place.child(keyword, k) for k in range(len(node[keyword]))]
        if certain and come is not None and "if" in node:
            with suppress(KeyError):
                verdict = holds(documents, place.child("if"), come(path))
                branch = "then" if verdict else "else"
                applied += [place.child(branch)] if verdict is not None and branch in node else []
        if not certain:
            applied += [place.child(keyword) for keyword in ("if", "then", "else", "not") if keyword in node]
            for keyword in ("dependentSchemas", "dependencies"):
                if isinstance(node.get(keyword), dict):
                    applied += [place.child(keyword, name) for name in node[keyword]]
        pending += reversed(applied)


def _below(place: Place, token: str | int, certain: bool) -> Iterator[Place]:
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
        if not certain:
            yield from _each(place, "contains", "unevaluatedItems")
        return
    is_sure = False
    properties = node.get("properties")
    if isinstance(properties, dict) and token in properties:
        is_sure = True
        yield place.child("properties", token)
    for pattern in patterns_that_match(place, token):
        is_sure = True
        yield place.child("patternProperties", pattern)
    if not is_sure:
        yield from _each(place, "additionalProperties", *([] if certain else ["unevaluatedProperties"]))


def patterns_that_match(place: Place, name: str) -> Iterator[str]:
    """Those of ``patternProperties`` that match a member's name."""
    patterns = place.node.get("patternProperties")
    for pattern in patterns if isinstance(patterns, dict) else ():
        with suppress(PatternError, LimitExceededError):  # one that was left out with lax=True
            if pattern_automaton(Matches(pattern)).accepts(name):
                yield pattern


def _each(place: Place, *keywords: str) -> Iterator[Place]:
    return (place.child(keyword) for keyword in keywords if keyword in place.node)


def keywords_of(place: Place) -> str:
    """The keywords of a schema that speak of the value itself; empty if there are none."""
    node = place.node
    if isinstance(node, bool):
        return json.dumps(node)
    own = {
        keyword: value
        for keyword, value in node.items()
        if keyword not in _SILENT and (keyword not in ONE | MANY | NAMED or (keyword in ONE and value is False))
    }
    listed = ", ".join(f"{keyword} {_shown(value)}" for keyword, value in own.items())
    return listed if len(listed) <= _WIDTH else f"{listed[: _WIDTH - 4]} ..."


def all_asked_of(place: Place) -> str:
    """What a schema asks of a value: its keywords, and how many of the schemas within it have to take the value."""
    node = place.node
    words = [own] if (own := keywords_of(place)) else []
    if isinstance(node, dict):
        words += [
            f"{how} of the {len(node[keyword])} in {keyword}" for keyword, how in _COMBINED.items() if keyword in node
        ]
        words += [f"{keyword} {_shown(node[keyword])[:_WIDTH]}" for keyword in ("not", *REFERENCES) if keyword in node]
        words += [f"{keyword} ..." for keyword in ("if", "then", "else") if isinstance(node.get(keyword), dict)]
    return ", ".join(words)


def _shown(value: Any) -> str:
    """A value as JSON; a number that no float is equal to as the schema writes it, if it stands alone."""
    return repr(value) if isinstance(value, Decimal) else json.dumps(value, ensure_ascii=False, default=float)
