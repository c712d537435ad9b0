"""Why a value is refused: in the words of the schema, with what its author calls the value.

In: a schema, the beginning of a text, and what is refused after it. Out: a sentence such as ``"x" cannot come here;
expected "red" or "green" for Invoice.color``, or an empty text where words do not have what the schema says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from pdacon.base.json_pointers import pointer_token
from pdacon.base.quoting import quoted
from pdacon.frontends.json_schema.conditions import holds
from pdacon.frontends.json_schema.documents import Documents, Place
from pdacon.frontends.json_schema.places import applicators_in, keywords_of, places_at, said_places, title_of
from pdacon.frontends.json_schema.positions import Path, begun_scalar, is_in_value, open_values, path_of
from pdacon.frontends.json_schema.value_words import UNNAMED, value_name, value_words
from pdacon.frontends.partial_values import PartialValue

_NUMBER = re.compile(r"-?[0-9]*\.?[0-9]*\Z")


def what_has_come(read: str) -> Callable[[Path], Any]:
    """What has come of the values of a text, by their paths; it raises KeyError where nothing has."""
    partial = PartialValue[Any]()
    partial.feed(read)
    return lambda path: partial.at("".join(f"/{pointer_token(token)}" for token in path))


def because(pointer: str) -> str:
    """For a schema below a ``then`` or an ``else``: which ``if`` it is asked for by; else an empty text."""
    tokens = pointer.split("/")
    at = max((k for k in applicators_in(pointer) if tokens[k] in ("then", "else")), default=None)
    if at is None:
        return ""
    return f", as {'/'.join(tokens[:at])}/if {'holds' if tokens[at] == 'then' else 'does not hold'}"


def of_value(source: str, read: str, refused: str) -> str:
    """Why a value cannot go on so, or begin so; empty where it is not about a value, or no words say it."""
    if not is_in_value(read) or refused[:1] in (",", "]", "}"):
        return ""
    path = path_of(open_values(read))
    documents = Documents(json.loads(source), text=source, lenient=True)
    places = [one for one in said_places(places_at(documents, path)) if keywords_of(one)]
    certain = places_at(documents, path, certain=True, come=what_has_come(read))
    must = [one for one in said_places(certain) if keywords_of(one)]
    branches = [one for one in must if because(one.pointer)]
    words = _words([one for one in places if not applicators_in(one.pointer)])
    if not words and not branches:
        return ""
    text = begun_scalar(read)
    if text and (digits := _too_many_digits(documents, must, text, refused)):
        words, branches = digits, []
    asked = [f"{one.pointer} asks for {keywords_of(one)}{because(one.pointer)}" for one in branches]
    if words:
        name = value_name(places[0].pointer, title_of(documents))
        asked.insert(0, f"expected {words}" + ("" if name == UNNAMED else f" for {name}"))
    shown = quoted(refused[:1]) if text else quoted(_first(refused))
    where = f"follow {quoted(text[-40:])}" if text else "come here"
    return f"{shown} cannot {where}; {', and '.join(asked)}"


def _words(places: list[Place]) -> str:
    """What the schemas ask for, each in words; empty if one of them has none."""
    said = [value_words(place.node) if isinstance(place.node, dict) else "" for place in places]
    return " or ".join(dict.fromkeys(said)) if said and all(said) else ""


def _first(refused: str) -> str:
    """What is refused where a value begins: a word, or a character."""
    word = re.match(r"[\w.+-]+", refused)
    return word.group()[:40] if word is not None else refused[:1]


def _too_many_digits(documents: Documents, must: list[Place], text: str, refused: str) -> str:
    """Of a number that only has too many digits, how many it may have; empty where something else is the matter."""
    if not _NUMBER.fullmatch(text) or not refused[:1].isdigit() or not text[-1:].isdigit():
        return ""
    longer = Decimal(text + refused[0])
    if not all(holds(documents, place, longer) for place in must):
        return ""
    whole, point, fraction = text.lstrip("-").partition(".")
    where = "after" if point else "before"
    count = len(fraction if point else whole)
    return f"a number of at most {count} digit{'' if count == 1 else 's'} {where} its point"
