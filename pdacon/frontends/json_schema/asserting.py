"""Keywords that a draft has as annotations, or not at all, written with those that it enforces.

In: a schema as plain values, and the keywords to enforce. Out: a schema that says the same with others.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from pdacon.base.cancelling import look
from pdacon.errors import UnsupportedSchemaError
from pdacon.frontends.json_schema.documents import MANY, NAMED, ONE
from pdacon.frontends.json_schema.drafts import draft_of

ASSERTED = ("contentEncoding", "contentMediaType", "dependencies")
"""Keywords that can be enforced where the draft does not."""

# RFC 4648, with padding, and without bits that say nothing.
_ENCODINGS = {
    "base64": "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?",
    "base64url": "(?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-][AQgw](?:==)?|[A-Za-z0-9_-]{2}[AEIMQUYcgkosw048]=?)?",
    "base32": "(?:[A-Z2-7]{8})*(?:[A-Z2-7][AEIMQUY4]======|[A-Z2-7]{3}[AQ]====|[A-Z2-7]{4}[ACEGIKMOQSUWY246]===|"
    "[A-Z2-7]{6}[AIQY]=)?",
    "base16": "(?:[0-9A-Fa-f]{2})*",
}


def with_asserted(schema: Any, keywords: Collection[str]) -> Any:
    """A copy of a schema in which some keywords are written with others.

    Raises
    ------
    ValueError
        A keyword is none of `ASSERTED`.
    UnsupportedSchemaError
        A keyword says what cannot be enforced.
    """
    if isinstance(keywords, str) or not all(keyword in ASSERTED for keyword in keywords):
        raise ValueError(f"asserted has keywords of {', '.join(ASSERTED)}, not {keywords!r:.60}")
    if not keywords or not isinstance(schema, dict):
        return schema
    is_late = draft_of(schema) >= 2019
    root = dict(schema)
    pending = [("#", root)]
    while pending:
        look()
        pointer, node = pending.pop()
        if "dependencies" in keywords and is_late:
            _write_dependencies(node, pointer)
        for keyword in ("contentEncoding", "contentMediaType"):
            if keyword in keywords and keyword in node:
                _write_content(node, keyword, pointer)
        for keyword, value in node.items():
            if keyword in ONE and isinstance(value, dict):
                node[keyword] = inner = dict(value)
                pending.append((f"{pointer}/{keyword}", inner))
            elif keyword in MANY and isinstance(value, list):
                copies = [dict(one) if isinstance(one, dict) else one for one in value]
                node[keyword] = copies
                pending += [(f"{pointer}/{keyword}/{k}", one) for k, one in enumerate(copies) if isinstance(one, dict)]
            elif keyword in NAMED and isinstance(value, dict):
                named = {name: dict(one) if isinstance(one, dict) else one for name, one in value.items()}
                node[keyword] = named
                pending += [
                    (f"{pointer}/{keyword}/{name}", one) for name, one in named.items() if isinstance(one, dict)
                ]
    return root


def _write_dependencies(node: dict[str, Any], pointer: str) -> None:
    """Draft 7's keyword as the two that it was parted into; beside these it is a schema of its own."""
    given = node.get("dependencies")
    if given is None:
        return
    if not isinstance(given, dict):
        raise UnsupportedSchemaError(pointer, "dependencies", "it must be an object")
    parted = {
        "dependentRequired": {name: one for name, one in given.items() if isinstance(one, list)},
        "dependentSchemas": {name: one for name, one in given.items() if not isinstance(one, list)},
    }
    said = {keyword: value for keyword, value in parted.items() if value}
    del node["dependencies"]
    if said.keys().isdisjoint(node):
        node.update(said)
    else:
        _add(node, said)


def _write_content(node: dict[str, Any], keyword: str, pointer: str) -> None:
    said = node[keyword]
    if keyword == "contentEncoding":
        pattern = _ENCODINGS.get(said.lower()) if isinstance(said, str) else None
        if pattern is None:
            why = f"{said!r:.40} cannot be enforced; there are {', '.join(_ENCODINGS)}"
            raise UnsupportedSchemaError(pointer, keyword, why)
        _add(node, {"pattern": f"^(?:{pattern})$"})
    elif not (isinstance(said, str) and said.lower().startswith("text/plain")):
        why = (
            f"{said!r:.40} cannot be enforced: what a document of that type is, written within a string, is more than "
            "an automaton can say; leave it out of asserted, or give the value itself a schema"
        )
        raise UnsupportedSchemaError(pointer, keyword, why)


def _add(node: dict[str, Any], schema: dict[str, Any]) -> None:
    """A schema that holds beside the others."""
    node["allOf"] = [*node.get("allOf", ()), schema]
