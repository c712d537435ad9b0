"""The values that a schema lists: what tells the alternatives of a union apart without a look into them.

In: a schema's place. Out: its values as keys, which are equal exactly if the values are; nothing where a schema says
more than a list of values and their types. Out, too: the types that values of a schema may be of.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from pdacon.errors import UnsupportedSchemaError
from pdacon.frontends.json_schema.documents import Documents, Place
from pdacon.frontends.json_schema.facts import TYPES, Type
from pdacon.frontends.json_schema.json_values import NAMES, kind_of, number_of
from pdacon.frontends.json_schema.keywords import is_assertion
from pdacon.frontends.json_schema.pattern_words import pattern_words

_DEEPEST = 8


def value_key(value: Any) -> Hashable:
    """A key that two JSON values share exactly if they are equal. Not for what is nested deeply."""
    kind = kind_of(value)
    if kind == "number":
        return number_of(value)
    if kind == "array":
        return "array", *map(value_key, value)
    if kind == "object":
        return "object", frozenset((name, value_key(part)) for name, part in value.items())
    return value if kind == "string" else (kind,)


def listed_values(documents: Documents, place: Place, depth: int = 0) -> list[Hashable] | None:
    """The keys of the values that a schema takes; None: it does not list them, or says more."""
    node = place.node
    if not isinstance(node, dict) or depth > _DEEPEST:
        return None
    keywords = {keyword for keyword in node if is_assertion(keyword)}
    try:
        if "$ref" in keywords and (place.draft <= 7 or len(keywords) == 1):
            return listed_values(documents, documents.referred(place, "$ref"), depth + 1)
        if keywords == {"anyOf"}:
            return _of_any(documents, place, depth)
        return _of_list(place, keywords)
    except (UnsupportedSchemaError, RecursionError):
        return None


def _of_any(documents: Documents, place: Place, depth: int) -> list[Hashable] | None:
    keys: dict[Hashable, None] = {}
    for k in range(len(place.node["anyOf"]) if isinstance(place.node["anyOf"], list) else 0):
        some = listed_values(documents, place.child("anyOf", k), depth + 1)
        if some is None:
            return None
        keys.update(dict.fromkeys(some))
    return list(keys)


def _of_list(place: Place, keywords: set[str]) -> list[Hashable] | None:
    node, said = place.node, place.node.get("type")
    lists = keywords - {"type"}
    values: Any
    if lists == {"pattern"} and said == "string":
        values = pattern_words(node["pattern"])
    elif lists == {"const"} and place.draft > 4:
        values = [node["const"]]
    else:
        values = node["enum"] if lists == {"enum"} else None
    if not isinstance(values, list):
        return None
    if said is not None:
        kinds = _types([said] if isinstance(said, str) else said)
        if kinds is None or ("number" in kinds and "number" not in said and not all(map(_is_no_fraction, values))):
            return None
        values = [value for value in values if kind_of(value) in kinds]
    return list(dict.fromkeys(map(value_key, values)))


def _is_no_fraction(value: Any) -> bool:
    """Whether a value is none, or an integer in every draft and spelling."""
    return kind_of(value) != "number" or isinstance(value, int)


def _types(names: Any) -> set[Type] | None:
    if not isinstance(names, list) or not all(isinstance(name, str) and name in NAMES for name in names):
        return None
    return {kind for name in names for kind in NAMES[name]}


def types_at(documents: Documents, place: Place, depth: int = 0) -> Iterable[Type]:
    """The types of which a schema's values may be, as far as that is plain."""
    node = place.node
    if not isinstance(node, dict) or depth > _DEEPEST:
        return TYPES if node is not False else ()
    if "$ref" in node and place.draft <= 7:
        return _types_referred(documents, place, depth)
    if "type" in node:
        said = node["type"]
        kinds = _types([said] if isinstance(said, str) else said)
        return TYPES if kinds is None else kinds
    if "const" in node and place.draft > 4:
        return (kind_of(node["const"]),)
    if isinstance(node.get("enum"), list):
        return {kind_of(value) for value in node["enum"]}
    if "$ref" in node:
        return _types_referred(documents, place, depth)
    alone = [keyword for keyword in node if is_assertion(keyword)]
    if alone in (["anyOf"], ["oneOf"]) and isinstance(node[alone[0]], list):
        return _types_of_any(documents, place, alone[0], depth) or TYPES  # where something is wrong, it is read
    return TYPES


def _types_of_any(documents: Documents, place: Place, keyword: str, depth: int) -> set[Type]:
    kinds: set[Type] = set()
    for k in range(len(place.node[keyword])):
        kinds.update(types_at(documents, place.child(keyword, k), depth + 1))
        if len(kinds) == len(TYPES):
            break
    return kinds


def _types_referred(documents: Documents, place: Place, depth: int) -> Iterable[Type]:
    try:
        return types_at(documents, documents.referred(place, "$ref"), depth + 1)
    except UnsupportedSchemaError:
        return TYPES
