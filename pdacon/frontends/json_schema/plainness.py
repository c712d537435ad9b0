"""Whether a schema plainly has values: by a look at it, without what it says of them.

In: a schema's place, and the documents that it refers to. Out: True only if some value certainly satisfies it; where
False is said, one still may.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pdacon.errors import UnsupportedSchemaError
from pdacon.frontends.json_schema.documents import Documents, Place
from pdacon.frontends.json_schema.keywords import is_assertion
from pdacon.frontends.json_schema.string_formats import NOT_REGULAR
from pdacon.frontends.json_schema.wrong_values import wrong_value

_BESIDE_TYPE = {
    "null": frozenset({"type"}),
    "boolean": frozenset({"type"}),
    "string": frozenset({"type", "minLength", "maxLength", "pattern", "format"}),
    "number": frozenset({"type", "minimum", "maximum", "format"}),
    "integer": frozenset({"type", "minimum", "maximum", "format"}),
    "array": frozenset({"type", "items", "additionalItems", "minItems", "maxItems", "uniqueItems"}),
    "object": frozenset(
        {"type", "properties", "required", "additionalProperties", "patternProperties", "maxProperties"}
    ),
}
"""By type, the keywords beside which a value of the type can be plain."""
_PLAIN_PATTERN = re.compile(r"\^?(?:[^\\^$()\[\]]|\\[^bB]|\((?!\?)|\(\?:|\)|\[(?!\]|\^\])(?:[^\\\]]|\\.)*\])*\$?", re.S)
"""A pattern without anything that looks around, and with anchors at its ends only: some text matches it."""
_NARROW_CLASS = re.compile(r"\[\^[^\]]*\\[DSW]")
_DEEPEST = 30


def plainly_has_values(place: Place, documents: Documents, depth: int = 0) -> bool:
    """Whether it is plain that some value satisfies the schema of a place."""
    node = place.node
    if not isinstance(node, dict) or depth > _DEEPEST:
        return node is True
    keywords = {keyword for keyword in node if is_assertion(keyword)}
    if "$ref" in keywords:
        if len(keywords) > 1 and place.draft > 7:
            return False
        try:
            return plainly_has_values(documents.referred(place, "$ref"), documents, depth + 1)
        except UnsupportedSchemaError:
            return False
    if keywords in ({"const"}, {"enum"}, {"type", "enum"}):
        return place.draft > 4 if "const" in keywords else _lists_one(node.get("type"), node["enum"])
    if keywords == {"anyOf"} and isinstance(node["anyOf"], list):
        return any(plainly_has_values(place.child("anyOf", k), documents, depth + 1) for k in range(len(node["anyOf"])))
    if any(wrong_value(keyword, node[keyword], place.draft) for keyword in keywords):
        return False
    names = node.get("type", "null")
    for name in names if isinstance(names, list) else [names]:
        beside = _BESIDE_TYPE.get(name) if isinstance(name, str) else None
        if beside is not None and keywords <= beside and _has_value(name, place, node, documents, depth):
            return True
    return False


def _has_value(name: str, place: Place, node: Mapping[str, Any], documents: Documents, depth: int) -> bool:
    """Whether a value of a type is plain, where all keywords are of those beside it and right."""
    if name == "string":
        if "pattern" in node or node.get("format") in NOT_REGULAR:
            return len(node.keys() & {"pattern", "format", "minLength", "maxLength"}) == 1 and is_plain_pattern(
                node.get("pattern", "(")
            )
        if "format" in node:
            return not node.keys() & {"minLength", "maxLength"}
        return bool(node.get("minLength", 0) <= node.get("maxLength", float("inf")))
    if name in ("number", "integer"):
        least, most = node.get("minimum", 0), node.get("maximum")
        if most is None:
            return True
        room = 1 if name == "integer" else 0
        return all(isinstance(bound, int | float) for bound in (least, most)) and bool(most - least >= room)
    if name == "array":
        least = node.get("minItems", 0)
        if least > node.get("maxItems", least) or (least and "uniqueItems" in node):
            return False
        items = node.get("items", True)
        if not least or items is True:
            return True
        return isinstance(items, dict) and plainly_has_values(place.child("items"), documents, depth + 1)
    return name != "object" or _has_object(place, node, documents, depth)


def _has_object(place: Place, node: Mapping[str, Any], documents: Documents, depth: int) -> bool:
    required, listed = node.get("required", []), node.get("properties", {})
    if not isinstance(required, list) or not isinstance(listed, dict):
        return False
    if not required:
        return True
    if "patternProperties" in node or len(set(required)) > node.get("maxProperties", len(required)):
        return False
    for name in required:
        if name in listed:
            if not plainly_has_values(place.child("properties", name), documents, depth + 1):
                return False
        elif node.get("additionalProperties", True) is not True:
            return False
    return True


def is_plain_pattern(pattern: str) -> bool:
    """Whether it is plain that some text matches a pattern, which is right."""
    return _PLAIN_PATTERN.fullmatch(pattern) is not None and _NARROW_CLASS.search(pattern) is None


def _lists_one(name: Any, values: Any) -> bool:
    if not isinstance(values, list) or not values:
        return False
    if name is None:
        return True
    kinds = {"string": str, "boolean": bool, "integer": int, "number": int, "null": type(None)}
    return any(
        type(value) is kinds.get(kind)
        for kind in (name if isinstance(name, list) else [name])
        if isinstance(kind, str)
        for value in values
    )
