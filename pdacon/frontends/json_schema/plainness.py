"""Whether schemas plainly have a value in common: by a look at them, without what they say of it.

In: schemas' places, and the documents that they refer to. Out: True only if some value certainly satisfies all of them;
where False is said, one still may.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from pdacon.base.cancelling import look
from pdacon.errors import UnsupportedSchemaError
from pdacon.frontends.json_schema.documents import Closed, Documents, Place
from pdacon.frontends.json_schema.keywords import is_assertion
from pdacon.frontends.json_schema.looks import is_leaf, look_for
from pdacon.frontends.json_schema.string_formats import NOT_REGULAR
from pdacon.frontends.json_schema.type_bits import (
    ALL,
    ARRAY,
    BOOLEAN,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    type_of,
    types_in,
    types_of_values,
)
from pdacon.frontends.json_schema.wrong_values import types_of, wrong_value

_OF_TYPE = {
    NULL: frozenset[str](),
    BOOLEAN: frozenset[str](),
    STRING: frozenset({"minLength", "maxLength", "pattern", "format"}),
    NUMBER: frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}),
    ARRAY: frozenset({"items", "additionalItems", "prefixItems", "minItems", "maxItems", "uniqueItems"}),
    OBJECT: frozenset({
        "properties", "required", "additionalProperties", "patternProperties", "minProperties", "maxProperties",
    }),
}  # fmt: skip
"""By type, the keywords beside which a value of the type can be plain."""
_OF_ALL = frozenset({"type", "enum", "const"})
_BASES = {"null": NULL, "true": BOOLEAN, "false": BOOLEAN, "number": NUMBER, "string": STRING, "array": ARRAY,
          "object": OBJECT}  # fmt: skip
_Choice: TypeAlias = tuple[Place, str]
"""A schema, and its keyword with alternatives of which a value has to satisfy one."""
_PLAIN_PATTERN = re.compile(r"\^?(?:[^\\^$()\[\]]|\\[^bB]|\((?!\?)|\(\?:|\)|\[(?!\]|\^\])(?:[^\\\]]|\\.)*\])*\$?", re.S)
"""A pattern without anything that looks around, and with anchors at its ends only: some text matches it."""
_NARROW_CLASS = re.compile(r"\[\^[^\]]*\\[DSW]")
_DEEPEST = 30
_MOST_WORK = 2_000  # schemas that are looked at for one answer
_MOST_TRIED = 20  # of listed values, and of alternatives
_MOST_REFERENCES = 8
_MOST_AT_SIGHT = 2  # objects within one another


class Plainness:
    """Answers about the schemas of some documents.

    Parameters
    ----------
    documents : Documents
    closed : bool or tuple of str
        Whether an object has only the properties that its schema lists, if it lists any.
    counts_digits : bool
        Whether the spelling limits the digits of numbers: then none may be written between two bounds.
    """

    def __init__(self, documents: Documents, closed: Closed = False, *, counts_digits: bool = False) -> None:
        self._documents, self._closed, self._counts_digits = documents, closed, counts_digits
        self._known: dict[tuple[int, ...], bool] = {}
        self._work = 0

    def assume(self, *places: Place) -> None:
        """Let some value satisfy the schemas of all places, which somebody else finds out."""
        self._known[self._key(places)] = True

    def have_a_value(self, *places: Place) -> bool:
        """Whether it is plain that some value satisfies the schemas of all places."""
        self._work = 0
        return self._have(places, 0)

    def _key(self, places: Sequence[Place]) -> tuple[int, ...]:
        return tuple(id(self._referred(place).node) for place in places)

    def _have(self, places: Sequence[Place], depth: int) -> bool:
        if len(places) == 1 and self._has_a_value_at_sight(places[0], 0):  # as most have
            return True
        if depth > _DEEPEST or self._work > _MOST_WORK:
            return False
        key = self._key(places)
        known = self._known.get(key)
        if known is None:
            look()
            self._work += 1
            known = self._found(places, depth)
            if known or self._work <= _MOST_WORK:
                self._known[key] = known
        return known

    def _has_a_value_at_sight(self, place: Place, depth: int) -> bool:
        """Whether an empty value satisfies a schema, or an object of members that it lists and asks for."""
        place = self._referred(place)
        node, draft = place.node, place.draft
        if _has_an_empty_value(node, draft):
            return True
        if not isinstance(node, dict) or not look_for(node, draft).lists_members or node.get("type") != "object":
            return False
        listed, required = node.get("properties"), node.get("required")
        if not isinstance(listed, dict) or not isinstance(required, list):
            return False
        known = self._known.get((id(node),))
        if known is None:
            for name in required:
                member = listed.get(name) if isinstance(name, str) else None
                if self._is_plain_member(member, draft):
                    continue
                if not isinstance(member, dict) or depth == _MOST_AT_SIGHT:
                    return False
                if not self._has_a_value_at_sight(place.child("properties", name), depth + 1):
                    return False
            known = self._known[id(node),] = True
        return known

    def _referred(self, place: Place) -> Place:
        """The schema that one means which only refers to another one."""
        for _ in range(_MOST_REFERENCES):
            if not isinstance(place.node, dict) or len(place.node) != 1 or "$ref" not in place.node:
                break
            try:
                place = self._documents.referred(place, "$ref")
            except UnsupportedSchemaError:
                break
        return place

    def _is_plain_member(self, node: Any, draft: int) -> bool:
        """Whether it takes no more than a look that some value satisfies the schema of a member."""
        if not isinstance(node, dict) or "$schema" in node:
            return False
        return _has_an_empty_value(node, draft) or is_leaf(node, draft, self._counts_digits)

    def _found(self, places: Sequence[Place], depth: int) -> bool:
        applied = self._applied(places)
        return applied is not None and self._chosen(*applied, depth)

    def _chosen(self, places: list[Place], choices: list[_Choice], depth: int) -> bool:
        """Whether a value is plain that satisfies schemas, and for each choice an alternative of it."""
        if not choices:
            return any(self._has(kind, places, depth) for kind in _kinds(places))
        (place, keyword), *others = choices
        self._work += 1
        options = place.node[keyword]
        too_much = depth > _DEEPEST or self._work > _MOST_WORK
        if too_much or not isinstance(options, list) or (keyword == "oneOf" and len(options) > _MOST_TRIED):
            return False
        children = [place.child(keyword, k) for k in range(min(len(options), _MOST_TRIED))]
        types = [self.types(child) for child in children]
        for k, child in enumerate(children):
            if keyword == "oneOf" and any(types[k] & some for at, some in enumerate(types) if at != k):
                continue  # a value of it could be one of another one, too
            applied = self._applied([child])
            if applied is not None and self._chosen([*places, *applied[0]], [*others, *applied[1]], depth + 1):
                return True
        return False

    def types(self, place: Place) -> int:
        """The types of which a schema's values may be, as bits, as far as that is plain."""
        types = ALL
        for _ in range(_MOST_REFERENCES):
            node = place.node
            if not isinstance(node, dict):
                return types if node is True else 0
            refers = "$ref" in node
            if not refers or place.draft > 7:
                types &= types_in(node["type"]) if "type" in node else ALL
                for values in _listed(place):
                    types &= types_of_values(values)
            if not refers:
                break
            try:
                place = self._documents.referred(place, "$ref")
            except UnsupportedSchemaError:
                break
        return types

    def _applied(self, places: Sequence[Place]) -> tuple[list[Place], list[_Choice]] | None:
        """Schemas with those that they apply to the same value, and choices; None if some of them is not plain."""
        flat: list[Place] = []
        choices: list[_Choice] = []
        pending = list(places)
        seen: set[int] = set()
        while pending:
            place = pending.pop()
            node = place.node
            if node is True or id(node) in seen:
                continue
            if not isinstance(node, dict) or len(seen) > _DEEPEST:
                return None
            seen.add(id(node))
            if "$ref" in node:
                try:
                    pending.append(self._documents.referred(place, "$ref"))
                except UnsupportedSchemaError:
                    return None
                if place.draft <= 7:
                    continue
            if "allOf" in node:
                if not isinstance(node["allOf"], list) or not node["allOf"]:
                    return None
                pending += [place.child("allOf", k) for k in range(len(node["allOf"]))]
            choices += [(place, keyword) for keyword in ("anyOf", "oneOf") if keyword in node]
            flat.append(place)
        return flat, choices

    def _has(self, kind: int, places: Sequence[Place], depth: int) -> bool:
        """Whether a value of a type is plain."""
        allowed = _OF_TYPE[kind]
        for place in places:
            for keyword, value in place.node.items():
                if keyword in allowed:
                    passed_over = keyword == "required" and place.draft <= 4 and isinstance(value, bool)
                    if wrong_value(keyword, value, place.draft) and not passed_over:
                        return False
                elif keyword not in _OF_ALL and is_assertion(keyword) and _may_be_about(keyword, kind, place.node):
                    return False
        nodes = [place.node for place in places]
        lists = [values for place in places for values in _listed(place)]
        if lists:
            return kind & (ARRAY | OBJECT) == 0 and any(
                type_of(value) == kind and all(_takes(place, lists, value) for place in places)
                for value in lists[0][:_MOST_TRIED]
            )
        if kind == STRING:
            return _has_string(nodes)
        if kind == NUMBER:
            return _has_number(places, self._counts_digits)
        if kind == ARRAY:
            return self._has_array(places, depth)
        return kind != OBJECT or self._has_object(places, depth)

    def _has_array(self, places: Sequence[Place], depth: int) -> bool:
        nodes = [place.node for place in places]
        least = max(node.get("minItems", 0) for node in nodes)
        if least > min(node.get("maxItems", least) for node in nodes):
            return False
        if not least:
            return True
        if any("prefixItems" in node or isinstance(node.get("items"), list) for node in nodes):
            return False
        unique = any(node.get("uniqueItems") is True for node in nodes)
        items = [place.child("items") for place in places if "items" in place.node]
        return (least == 1 or not unique) and self._have(items, depth + 1)

    def _has_object(self, places: Sequence[Place], depth: int) -> bool:
        nodes = [place.node for place in places]
        required = {name: None for node in nodes for name in _required(node)}
        least = max(node.get("minProperties", 0) for node in nodes)
        fewest = max(len(required), least)
        if fewest > min(node.get("maxProperties", fewest) for node in nodes):
            return False
        if not all(self._has_member(places, name, depth) for name in required):
            return False
        missing = least - len(required)
        if missing <= 0:
            return True
        names = {name for node in nodes for name in node.get("properties", ()) if name not in required}
        more = (name for name in names if self._has_member(places, name, depth))
        if sum(1 for _ in zip(range(missing), more, strict=False)) == missing:
            return True
        return self._have_others(places, depth)

    def _has_member(self, places: Sequence[Place], name: str, depth: int) -> bool:
        if len(places) == 1 and "patternProperties" not in (node := places[0].node):
            member = node.get("properties", {}).get(name)
            if self._is_plain_member(member, places[0].draft):
                return True  # most members need no place of their own
        asked = []
        for place in places:
            node = place.node
            if node.get("patternProperties"):
                return False
            if name in node.get("properties", ()):
                asked.append(place.child("properties", name))
            elif "additionalProperties" in node:
                asked.append(place.child("additionalProperties"))
            elif place.lists_all(self._closed):
                return False
        return self._have(asked, depth + 1)

    def _have_others(self, places: Sequence[Place], depth: int) -> bool:
        """Whether objects may have any number of members that are not listed."""
        if any(node.get("patternProperties") for node in (place.node for place in places)):
            return False
        if any(place.lists_all(self._closed) for place in places):
            return False
        asked = [place.child("additionalProperties") for place in places if "additionalProperties" in place.node]
        return self._have(asked, depth + 1)


def is_plain_pattern(pattern: str) -> bool:
    """Whether it is plain that some text matches a pattern, which is right."""
    return _PLAIN_PATTERN.fullmatch(pattern) is not None and _NARROW_CLASS.search(pattern) is None


def _has_an_empty_value(node: Any, draft: int) -> bool:
    """Whether it takes no more than a look that the empty value of some type satisfies a schema."""
    return isinstance(node, dict) and bool(
        look_for(node, draft).with_empty & (types_in(node["type"]) if "type" in node else ALL)
    )


def _kinds(places: Sequence[Place]) -> Iterator[int]:
    """The types that schemas allow, as bits; those first of which values are plain most often."""
    types = ALL
    for place in places:
        if "type" in place.node:
            types &= types_in(place.node["type"])
    return (kind for kind in _OF_TYPE if types & kind)


def _listed(place: Place) -> Iterator[list[Any]]:
    """The lists of values that a schema allows."""
    if isinstance(values := place.node.get("enum"), list):
        yield values
    if "const" in place.node and place.draft > 4:
        yield [place.node["const"]]


def _may_be_about(keyword: str, kind: int, node: Mapping[str, Any]) -> bool:
    """Whether a keyword may say something about values of a type."""
    if keyword in ("$ref", "allOf", "anyOf", "oneOf"):
        return False  # which are looked at by themselves
    if keyword in ("then", "else"):
        return "if" in node
    own = types_of(keyword)
    return not own or any(_BASES[one] == kind for one in own)


def _takes(place: Place, lists: list[list[Any]], value: Any) -> bool:
    """Whether it is plain that a listed null, Boolean, string or number satisfies what else is said of it."""
    node = place.node
    kind = type_of(value)
    if kind in (STRING, NUMBER) and node.keys() & _OF_TYPE[kind]:
        return False
    if "type" in node and types_in(node["type"]) & kind == 0:
        return False
    if kind == NUMBER and "number" not in _names(node.get("type", "number")) and type(value) is not int:
        return False
    return all(any(type(one) is type(value) and one == value for one in values) for values in lists)


def _names(said: Any) -> Any:
    return (said,) if isinstance(said, str) else said


def _has_string(nodes: Sequence[Mapping[str, Any]]) -> bool:
    patterns = {node["pattern"] for node in nodes if "pattern" in node}
    formats = {node["format"] for node in nodes if "format" in node}
    least = max(node.get("minLength", 0) for node in nodes)
    longest = [node["maxLength"] for node in nodes if "maxLength" in node]
    if len(patterns) + len(formats) > 1 or any(name in NOT_REGULAR for name in formats):
        return False
    if patterns or formats:
        return least == 0 and not longest and all(map(is_plain_pattern, patterns))
    return not longest or bool(least <= min(longest))


def _has_number(places: Sequence[Place], counts_digits: bool) -> bool:
    nodes = [place.node for place in places]
    old = any(place.draft <= 4 and place.node.keys() & {"exclusiveMinimum", "exclusiveMaximum"} for place in places)
    multiples = [node["multipleOf"] for node in nodes if "multipleOf" in node]
    least = [node[keyword] for node in nodes for keyword in ("minimum", "exclusiveMinimum") if keyword in node]
    most = [node[keyword] for node in nodes for keyword in ("maximum", "exclusiveMaximum") if keyword in node]
    if old or not all(isinstance(bound, int | float) for bound in (*least, *most)):
        return False
    if multiples:  # 0 is one
        strictly = [node.get(keyword) for node in nodes for keyword in ("exclusiveMinimum", "exclusiveMaximum")]
        return 0 not in strictly and all(bound <= 0 for bound in least) and all(bound >= 0 for bound in most)
    if not least or not most:
        return True
    strict = any(keyword in node for node in nodes for keyword in ("exclusiveMinimum", "exclusiveMaximum"))
    integral = not all("number" in _names(node.get("type", "number")) for node in nodes)
    if counts_digits and not integral:
        return False  # an integer has as many as its bounds
    return bool(min(most) - max(least) >= (2 if strict else 1 if integral else 0))


def _required(node: Mapping[str, Any]) -> list[str]:
    required: list[str] = node.get("required", [])
    return required if isinstance(required, list) else []
