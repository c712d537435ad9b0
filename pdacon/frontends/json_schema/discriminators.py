"""OpenAPI's ``discriminator``: whether alternatives can be told apart by the member that it names.

In: a schema with one. Out: why it says nothing. JSON Schema has no such keyword, so that only the members' own schemas
tell alternatives apart.
"""

from __future__ import annotations

import json
from contextlib import suppress

from pdacon.errors import UnsupportedSchemaError
from pdacon.frontends.json_schema.documents import Documents, Place

_DEEPEST = 8  # references that lead to where a member is listed


def why_nothing_is_told(documents: Documents, place: Place) -> str:
    """Why the member does not tell alternatives apart; empty if each of them lists its values."""
    named = place.node["discriminator"]
    name = named.get("propertyName") if isinstance(named, dict) else named
    alternatives = next((keyword for keyword in ("oneOf", "anyOf") if keyword in place.node), None)
    if alternatives is None or not isinstance(name, str) or not isinstance(place.node[alternatives], list):
        return ""
    for k in range(len(place.node[alternatives])):
        with suppress(UnsupportedSchemaError):  # which is an error where it is read
            alternative = place.child(alternatives, k)
            if not _lists_values(documents, alternative, name, 0):
                return (
                    "it is of OpenAPI and says nothing of values; give each alternative's member "
                    f"{json.dumps(name, ensure_ascii=False)} a const, which {alternative.pointer} does not"
                )
    return ""


def _lists_values(documents: Documents, place: Place, name: str, depth: int) -> bool:
    """Whether a schema lists the values of a member."""
    node = place.node
    if not isinstance(node, dict) or depth > _DEEPEST:
        return False
    if isinstance(node.get("$ref"), str) and _lists_values(
        documents, documents.referred(place, "$ref"), name, depth + 1
    ):
        return True
    member = node["properties"].get(name) if isinstance(node.get("properties"), dict) else None
    if isinstance(member, dict) and member.keys() & {"const", "enum"}:
        return True
    parts = node.get("allOf")
    return isinstance(parts, list) and any(
        _lists_values(documents, place.child("allOf", k), name, depth + 1) for k in range(len(parts))
    )
