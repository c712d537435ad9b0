"""Whether a schema may be read as texts are: a look at each of its places, before any text.

What cannot be enforced, or says nothing though it may be meant, is to be said when a schema is given. A schema that is
read on demand must not have any of it, so that all its keywords are among those below, with values that are right, all
its references lead somewhere, and all its members can come. Of any other schema the whole is read at once.
"""

from __future__ import annotations

import re
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from typing import Any

from pdacon.base.cancelling import look
from pdacon.base.quoting import did_you_mean
from pdacon.errors import UnsupportedSchemaError
from pdacon.frontends.json_schema.documents import Documents, Place
from pdacon.frontends.json_schema.keywords import is_assertion, remark
from pdacon.frontends.json_schema.plainness import plainly_has_values
from pdacon.frontends.json_schema.string_formats import NOT_REGULAR, PATTERNS, SINCE
from pdacon.regular import PatternError, parse_pattern

_ANNOTATIONS = frozenset({
    "$comment", "$id", "$schema", "contentEncoding", "contentMediaType", "default", "deprecated", "description",
    "enumNames", "example", "examples", "id", "note", "readOnly", "title", "writeOnly",
})  # fmt: skip
_READ = frozenset({
    "$defs", "$ref", "additionalProperties", "anyOf", "const", "definitions", "enum", "exclusiveMaximum",
    "exclusiveMinimum", "format", "items", "maxItems", "maxLength", "maximum", "minItems", "minLength", "minimum",
    "oneOf", "pattern", "patternProperties", "properties", "required", "type",
})  # fmt: skip
_KNOWN = _ANNOTATIONS | _READ
_NOT_OF_DRAFT_4 = frozenset({"const", "exclusiveMaximum", "exclusiveMinimum"})  # or with another meaning
_NAMES = frozenset({"null", "boolean", "number", "integer", "string", "array", "object"})
_MOST_COUNTED = 500
_LONG_COUNT = re.compile(r"\{\d*,?\d{3,}\}")
_LISTS = ("anyOf", "oneOf")
_BY_NAME = ("properties", "patternProperties", "$defs", "definitions")
_ONE = ("items", "additionalProperties")


class _UnusualError(Exception):
    """Something that is to be read at once."""


def may_be_read_on_demand(documents: Documents) -> bool:
    """Whether all that a schema says is usual. Cost: some microseconds for each place."""
    if documents.root.scope or not isinstance(documents.root.node, dict):
        return False
    try:
        _Survey(documents).look_at_all()
    except (_UnusualError, UnsupportedSchemaError, RecursionError):
        return False
    return True


class _Survey:
    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._pending = [documents.root]
        self._seen: set[int] = {id(documents.root.node)}
        self._same: dict[int, list[int]] = {}  # by schema: those that are applied to the same value

    def look_at_all(self) -> None:
        draft = self._documents.root.draft
        self._require_values(self._documents.root)
        while self._pending:
            look()
            place = self._pending.pop()
            if place.draft != draft:
                raise _UnusualError
            self._look_at(place, place.node)
        try:
            TopologicalSorter(self._same).prepare()
        except CycleError:
            raise _UnusualError from None

    def _look_at(self, place: Place, node: dict[str, Any]) -> None:
        keywords = node.keys()
        if not keywords <= _KNOWN and not all(map(_says_nothing, keywords - _KNOWN)):
            raise _UnusualError
        if place.draft <= 4 and keywords & _NOT_OF_DRAFT_4:
            raise _UnusualError
        if "$ref" in keywords:
            if keywords & _READ - {"$ref", "$defs", "definitions"}:
                raise _UnusualError
            self._follow(place)
        for keyword in keywords:
            check = _CHECKS.get(keyword)
            if check is not None and not check(node[keyword]):
                raise _UnusualError
        if "format" in keywords and not _is_known_format(node["format"], place.draft):
            raise _UnusualError
        if ("pattern" in keywords or "format" in keywords) and ("maxLength" in keywords or "minLength" in keywords):
            raise _UnusualError
        for keyword in _BY_NAME:
            if keyword in keywords:
                for name in _of(dict, node[keyword]):
                    if keyword == "patternProperties" and not _is_pattern(name):
                        raise _UnusualError
                    child = place.child(keyword, name)
                    self._add(child)
                    if keyword == "properties":
                        self._require_values(child)
        for keyword in _LISTS:
            if keyword in keywords:
                for k in range(len(_of(list, node[keyword])) or _unusual()):
                    child = place.child(keyword, k)
                    self._same.setdefault(id(node), []).append(id(child.node))
                    self._add(child)
        for keyword in _ONE:
            if keyword in keywords:
                self._add(place.child(keyword))

    def _add(self, place: Place) -> None:
        node = place.node
        if isinstance(node, bool):
            return
        if not isinstance(node, dict):
            raise _UnusualError
        if id(node) not in self._seen:
            self._seen.add(id(node))
            self._pending.append(place)

    def _follow(self, place: Place) -> None:
        """Look at the schema that a reference leads to, too; references to references lead on."""
        for _ in range(8):
            before, place = place, self._documents.referred(place, "$ref")
            self._same.setdefault(id(before.node), []).append(id(place.node))
            self._add(place)
            if not isinstance(place.node, dict) or "$ref" not in place.node:
                return
        raise _UnusualError

    def _require_values(self, place: Place) -> None:
        """A member that never comes though its schema does not say so is told of."""
        if place.node is not False and not plainly_has_values(place, self._documents):
            raise _UnusualError


def _unusual() -> int:
    raise _UnusualError


def _of(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise _UnusualError
    return value


def _says_nothing(keyword: str) -> bool:
    return (
        not keyword.startswith("$") and not is_assertion(keyword) and keyword != "discriminator" and not remark(keyword)
    )


@lru_cache(maxsize=1024)
def _is_known_format(name: str, draft: int) -> bool:
    if name in PATTERNS:
        return SINCE.get(name, 0) <= draft
    return name not in NOT_REGULAR and not did_you_mean(name, sorted(PATTERNS), 0.8)


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= _MOST_COUNTED


def _is_number(value: Any) -> bool:
    return type(value) is int or type(value) is float


def _is_type(value: Any) -> bool:
    if isinstance(value, str):
        return value in _NAMES
    return isinstance(value, list) and bool(value) and all(isinstance(one, str) and one in _NAMES for one in value)


def _is_pattern(value: Any) -> bool:
    if not isinstance(value, str) or len(value) > 200 or _LONG_COUNT.search(value):
        return False
    try:
        parse_pattern(value)
    except PatternError:
        return False
    return True


def _is_list_of_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _are_scalars(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_scalar, value))


def _is_scalar(value: Any) -> bool:
    return value is None or type(value) in (str, int, bool)


_CHECKS = {
    "type": _is_type,
    "required": _is_list_of_names,
    "enum": _are_scalars,
    "const": _is_scalar,
    "pattern": _is_pattern,
    "format": lambda value: isinstance(value, str),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), _is_count),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _is_number),
}
