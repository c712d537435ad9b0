"""Refuses a schema that a service would refuse, and names the place and the keyword.

In: documents. Out: an error at the first place that the service does not take. What is enforced does not change.

Source: OpenAI, "Structured model outputs", supported schemas (strict mode), as of 2026.
"""

from __future__ import annotations

from typing import Any

from pdacon.base.cancelling import look
from pdacon.errors import UnsupportedSchemaError
from pdacon.frontends.json_schema.documents import Documents, Place, subschemas

PROFILES = ("openai",)
_MODE = "OpenAI's strict mode"
_REFUSED = ("allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "dependencies")
_MOST = {
    "properties": 5_000,
    "levels of objects": 10,
    "values of enum": 1_000,
    "characters of names and values": 120_000,
}
_MANY_VALUES, _MOST_CHARACTERS_OF_MANY = 250, 15_000


def require_profile(profile: str | None, documents: Documents) -> None:
    """Check a schema against a profile; None: none.

    Raises
    ------
    ValueError
        There is no such profile.
    UnsupportedSchemaError
        The service refuses the schema.
    """
    if profile is None:
        return
    if profile not in PROFILES:
        raise ValueError(f"profile is {' or '.join(map(repr, PROFILES))} or None, not {profile!r:.40}")
    root = documents.root
    if not isinstance(root.node, dict) or root.node.get("type") != "object":
        raise UnsupportedSchemaError("#", "type", f'{_MODE} wants an object at the top; say "type": "object"')
    if "anyOf" in root.node:
        raise UnsupportedSchemaError("#", "anyOf", f"{_MODE} has none at the top; put it below a property")
    counts = dict.fromkeys(_MOST, 0)
    pending = [(root, 0)]
    while pending:
        look()
        place, level = pending.pop()
        if not isinstance(place.node, dict):
            continue
        level += _is_object(place.node)
        _require_keywords(place)
        _count(place, level, counts)
        pending += [(child, level) for child in subschemas(place)]


def _is_object(node: dict[str, Any]) -> bool:
    types = node.get("type")
    return types == "object" or (isinstance(types, list) and "object" in types) or "properties" in node


def _require_keywords(place: Place) -> None:
    """Raise if a schema has a keyword that is refused, or an object lacks what every object must say."""
    node = place.node
    for keyword in _REFUSED:
        if keyword in node:
            instead = "; anyOf is taken" if keyword == "oneOf" else ""
            raise UnsupportedSchemaError(place.pointer, keyword, f"{_MODE} does not take it{instead}")
    if not _is_object(node):
        return
    if node.get("additionalProperties") is not False:
        why = f'{_MODE} wants "additionalProperties": false in every object'
        raise UnsupportedSchemaError(place.pointer, "additionalProperties", why)
    named, required = node.get("properties", {}), node.get("required", [])
    if isinstance(named, dict) and isinstance(required, list):
        for name in named:
            if name not in required:
                why = f"{_MODE} wants every property, and {name!r:.60} is not there; let it be null where it may lack"
                raise UnsupportedSchemaError(place.pointer, "required", why)


def _count(place: Place, level: int, counts: dict[str, int]) -> None:
    """Add what a schema has to the counts of the whole, and raise if one of them is too large."""
    node = place.node
    named, listed = node.get("properties"), node.get("enum")
    names = [
        name for key in ("properties", "$defs", "definitions") if isinstance(node.get(key), dict) for name in node[key]
    ]
    values = [*(listed if isinstance(listed, list) else []), *([node["const"]] if "const" in node else [])]
    texts = [value for value in values if isinstance(value, str)]
    counts["properties"] += len(named) if isinstance(named, dict) else 0
    counts["levels of objects"] = max(counts["levels of objects"], level)
    counts["values of enum"] += len(listed) if isinstance(listed, list) else 0
    counts["characters of names and values"] += sum(map(len, [*names, *texts]))
    for what, count in counts.items():
        if count > _MOST[what]:
            raise UnsupportedSchemaError(place.pointer, "", f"{_MODE} takes {_MOST[what]:,} {what} at most")
    if len(texts) > _MANY_VALUES and sum(map(len, texts)) > _MOST_CHARACTERS_OF_MANY:
        why = (
            f"{_MODE} takes {_MOST_CHARACTERS_OF_MANY:,} characters at most where there are more than "
            f"{_MANY_VALUES} values"
        )
        raise UnsupportedSchemaError(place.pointer, "enum", why)
