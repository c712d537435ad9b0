"""Why a member, or the end of an object, is refused: in the words of the schema; see `refused_values` for values.

In: a schema, the beginning of a text that is one of its values, and what is refused after it. Out: a sentence, if it
is about members: one that is missing, that has come before, that is out of order, or that no schema lists. Only what
is certain is said: by the schemas that the object has to satisfy whatever else it is, or because the grammar takes the
member elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence

from pdacon.base.quoting import did_you_mean, listing
from pdacon.frontends.json_schema.documents import Documents, Place
from pdacon.frontends.json_schema.places import patterns_that_match, places_at
from pdacon.frontends.json_schema.positions import STRING, open_values, path_of, unescaped
from pdacon.frontends.json_schema.refused_values import because, of_value, what_has_come
from pdacon.frontends.json_schema.slips import slip
from pdacon.frontends.json_schema.value_words import value_name

_OTHERWISE = frozenset({
    "additionalProperties", "const", "dependencies", "dependentRequired", "dependentSchemas", "enum", "if",
    "maxProperties", "not", "oneOf", "patternProperties", "propertyNames", "unevaluatedProperties",
})  # fmt: skip
"""Keywords that may refuse a member that no schema lists."""


def why_refused(source: str, read: str, refused: str, takes: Callable[[str], bool]) -> str:
    """Why what is refused cannot stand there, as far as the schema has words for it; else an empty text.

    Parameters
    ----------
    source : str
        The schema as JSON.
    read : str
        The beginning of a value.
    refused : str
        What was to come after it, as far as it is known.
    takes : callable
        Whether a text is the beginning of a value.
    """
    return slip(read, refused, takes) or _of_member(source, read, refused, takes) or of_value(source, read, refused)


def _of_member(source: str, read: str, refused: str, takes: Callable[[str], bool]) -> str:
    opened = open_values(read)
    if not opened or opened[-1].index is not None or opened[-1].expects in ("colon", "value", "rest of a value"):
        return ""
    innermost = opened[-1]
    come, whole = innermost.names, read + refused
    if innermost.expects == "rest of a name":
        come, at = come[:-1], come[-1][1]
    else:
        at = len(whole) - len(refused.lstrip())
        if whole[at : at + 1] == "," and innermost.expects == "comma":
            at = len(whole) - len(whole[at + 1 :].lstrip())
    documents, path = Documents(json.loads(source), text=source, lenient=True), path_of(opened[:-1])
    known = what_has_come(read)
    must = [place for place in places_at(documents, path, certain=True, come=known) if isinstance(place.node, dict)]
    if whole[at : at + 1] == "}":
        return _missing(must, {name for name, _ in come})
    match = STRING.match(whole, at)
    if match is None:
        return ""
    about = [place for place in places_at(documents, path) if isinstance(place.node, dict)]
    return _misplaced(unescaped(match.group()), whole[:at], come, about, takes) or _unlisted(
        unescaped(match.group()), must, about
    )


def _missing(must: Sequence[Place], come: set[str]) -> str:
    """That members are required which have not come."""
    required = [(f"{place.pointer}/required", _required(place)) for place in must]
    for pointer, asked in (*required, *_dependent(must, come)):
        names = [name for name in asked if name not in come]
        if names:
            verb = "are" if len(names) > 1 else "is"
            return f"{listing(map(_shown, names), 'and')} {verb} missing, which {pointer} asks for{because(pointer)}"
    return ""


def _dependent(places: Sequence[Place], come: set[str]) -> Iterator[tuple[str, list[str]]]:
    """Where schemas ask for members because others have come, and for which."""
    for place in places:
        keyword = "dependentRequired" if place.draft >= 2019 else "dependencies"
        dependent = place.node.get(keyword)
        for name, names in dependent.items() if isinstance(dependent, dict) else ():
            if name in come and isinstance(names, list):
                yield place.child(keyword, name).pointer, [name for name in names if isinstance(name, str)]


def _misplaced(
    name: str, before: str, come: Sequence[tuple[str, int]], about: Sequence[Place], takes: Callable[[str], bool]
) -> str:
    """That a member has come before, comes after a later one, or comes before a required one."""
    lists = [(place, list(_listed(place))) for place in about if name in _listed(place)]
    if lists and name in {name for name, _ in come}:
        return f"{_shown(name)} has come before, and a member that the schema lists comes once"
    for other, at in come:
        if takes(before[:at] + _shown(name)):
            both = [place for place, names in lists if other in names[names.index(name) :]]
            if both:
                return (
                    f"{_shown(name)} comes before {_shown(other)} in {both[0].pointer}/properties, and members are "
                    'written in that order; Spelling(order="any") takes any order'
                )
    for place, names in lists:
        for other in names[: names.index(name)]:
            if other in _required(place) and other not in {name for name, _ in come} and takes(before + _shown(other)):
                return f"{_shown(other)} is required by {value_name(place.pointer)} and comes before {_shown(name)}"
    return ""


def _unlisted(name: str, must: Sequence[Place], about: Sequence[Place]) -> str:
    """That no member of this name may be there."""
    listed = list(dict.fromkeys(one for place in about for one in _listed(place)))
    for place in must:
        if place.node.get("additionalProperties") is False:
            silent = name not in _listed(place)
        else:
            silent = place.node.get("unevaluatedProperties") is False and name not in listed
        if silent and not any(True for one in about for _ in patterns_that_match(one, name)):
            closed = "additional" if place.node.get("additionalProperties") is False else "unevaluated"
            near = did_you_mean(name, listed)
            said = f"{value_name(place.pointer)} has no member {_shown(name)}, and its {closed}Properties is false"
            return f"{said}{because(place.pointer)}{f'; {near.strip()}' if near else ''}"
    listing_it = [place for place in must if _listed(place)]
    if listing_it and name not in listed and not any(_OTHERWISE & place.node.keys() for place in about):
        near = did_you_mean(name, listed).strip()  # nothing but closed=True refuses it
        return f"{value_name(listing_it[0].pointer)} lists no member {_shown(name)}, and objects are closed" + (
            f"; {near}" if near else ""
        )
    return ""


def _listed(place: Place) -> dict[str, object]:
    properties = place.node.get("properties")
    return properties if isinstance(properties, dict) else {}


def _required(place: Place) -> list[str]:
    required = place.node.get("required")
    return [name for name in required if isinstance(name, str)] if isinstance(required, list) else []


def _shown(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)
