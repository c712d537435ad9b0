"""Members that never come, told without the whole.

In: the schemas of members of which a search has found that no value satisfies them. Out: the notes that the whole would
tell of them; None where only the whole knows whether it comes to such a member, or whether anything asks for one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from pdacon.base.json_pointers import pointer_names
from pdacon.frontends.json_schema.documents import Place
from pdacon.frontends.json_schema.keywords import is_assertion
from pdacon.frontends.json_schema.type_bits import OBJECT, types_in

_LISTING = frozenset({"type", "properties", "required", "additionalProperties"})
"""Keywords beside which members may be left out that are not asked for by name."""


def never_comes(name: str) -> str:
    """Why a member is noted that no value satisfies."""
    return f"no value satisfies {json.dumps(name, ensure_ascii=False)}, so that it never comes"


def notes_of_members(root: Place, members: Sequence[Place]) -> dict[tuple[str, str, str], bool] | None:
    """The notes of members of one object, in a document in which no schema is applied to the value of another one.

    ``members`` are the schemas that no value satisfies, each at its place below ``root``.
    """
    found = [_holder(root, member) for member in members]
    holders = {holder.pointer: holder for holder, _ in filter(None, found)}
    if None in found or len(holders) != 1:
        return None
    (holder,), names = holders.values(), {name for _, name in filter(None, found)}
    required = holder.node.get("required", [])
    if not isinstance(required, list) or any(name in names for name in required):
        return None
    return {
        (holder.pointer, "properties", never_comes(name)): True for name in holder.node["properties"] if name in names
    }


def _holder(root: Place, member: Place) -> tuple[Place, str] | None:
    """The schema that lists a member, and its name, if all that leads there are members that may be left out."""
    holder, tokens = root, pointer_names(member.pointer)
    while tokens:
        node = holder.node
        if not isinstance(node, dict) or not _LISTING.issuperset(name for name in node if is_assertion(name)):
            return None
        if "type" in node and not types_in(node["type"]) & OBJECT:
            return None
        if len(tokens) < 2 or tokens[0] != "properties":
            return None
        _, name, *tokens = tokens
        if not tokens:
            return holder, name
        holder = holder.child("properties", name)
    return None
