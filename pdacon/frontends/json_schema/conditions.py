"""Whether a value satisfies a schema, where that is plain: which branch of an ``if`` has to hold.

In: a schema and a value of JSON. Out: True, False, or None where more would have to be read than a few keywords. It is
for explanations: what a grammar takes is never decided by it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from pdacon.errors import LimitExceededError, UnsupportedSchemaError
from pdacon.frontends.json_schema.documents import REFERENCES, Documents, Place
from pdacon.frontends.json_schema.facts import Matches
from pdacon.frontends.json_schema.keywords import is_assertion
from pdacon.frontends.json_schema.strings import PatternError, pattern_automaton

_DEEPEST = 20


def holds(documents: Documents, place: Place, value: Any, depth: int = 0) -> bool | None:
    """Whether a value satisfies a schema; None if that is not plain."""
    node = place.node
    if isinstance(node, bool):
        return node
    if not isinstance(node, dict) or depth > _DEEPEST:
        return None
    answers: list[bool | None] = []
    for keyword in node:
        if not is_assertion(keyword) and keyword != "$ref":
            continue
        if keyword in ("then", "else"):
            continue
        try:
            answers.append(_says(documents, place, keyword, value, depth))
        except (UnsupportedSchemaError, PatternError, LimitExceededError, TypeError, ValueError, ArithmeticError):
            answers.append(None)
    return _all(answers)


def _says(documents: Documents, place: Place, keyword: str, value: Any, depth: int) -> bool | None:
    """What one keyword says of a value."""
    node, asked = place.node, place.node[keyword]

    def inner(*tokens: str | int, of: Any = value) -> bool | None:
        return holds(documents, place.child(*tokens), of, depth + 1)

    if keyword in REFERENCES:
        return holds(documents, documents.referred(place, keyword), value, depth + 1)
    if keyword == "allOf":
        return _all([inner(keyword, k) for k in range(len(asked))])
    if keyword == "anyOf":
        return _not(_all([_not(inner(keyword, k)) for k in range(len(asked))]))
    if keyword == "oneOf":
        answers = [inner(keyword, k) for k in range(len(asked))]
        return None if None in answers else answers.count(True) == 1
    if keyword == "not":
        return _not(inner(keyword))
    if keyword == "if":
        found = inner(keyword)
        branch = "then" if found else "else"
        return None if found is None else inner(branch) if branch in node else True
    if isinstance(value, dict):
        if keyword == "properties":
            return _all([inner(keyword, name, of=value[name]) for name in asked if name in value])
        if keyword == "required":
            return all(name in value for name in asked)
        if keyword == "dependentRequired":
            return all(other in value for name in asked if name in value for other in asked[name])
    check = _CHECKS.get(keyword)
    if check is not None:
        return check(value, asked)
    kind = _ABOUT.get(keyword)
    return True if kind is not None and not _is_of(value, kind) else None


def _all(answers: list[bool | None]) -> bool | None:
    return False if False in answers else None if None in answers else True


def _not(answer: bool | None) -> bool | None:
    return None if answer is None else not answer


def _is_of(value: Any, kind: str) -> bool:
    if kind in ("number", "integer"):
        is_number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
        return is_number and (kind == "number" or value == int(value))
    return isinstance(value, {"string": str, "boolean": bool, "array": list, "object": dict}.get(kind, type(None)))


def _same(one: Any, other: Any) -> bool:
    """Whether two values are equal in JSON, where True is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    return bool(one == other)


def _of(kind: str, check: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    """A check of values of one type; all others pass it."""
    return lambda value, asked: not _is_of(value, kind) or check(value, asked)


def _matches(value: str, pattern: str) -> bool:
    return bool(pattern_automaton(Matches(pattern)).accepts(value))


_CHECKS: Mapping[str, Callable[[Any, Any], bool]] = {
    "const": _same,
    "enum": lambda value, asked: any(_same(value, one) for one in asked),
    "type": lambda value, asked: any(_is_of(value, kind) for kind in ([asked] if isinstance(asked, str) else asked)),
    "minimum": _of("number", lambda value, asked: value >= asked),
    "maximum": _of("number", lambda value, asked: value <= asked),
    "minLength": _of("string", lambda value, asked: len(value) >= asked),
    "maxLength": _of("string", lambda value, asked: len(value) <= asked),
    "pattern": _of("string", _matches),
    "minItems": _of("array", lambda value, asked: len(value) >= asked),
    "maxItems": _of("array", lambda value, asked: len(value) <= asked),
    "minProperties": _of("object", lambda value, asked: len(value) >= asked),
    "maxProperties": _of("object", lambda value, asked: len(value) <= asked),
}
_ABOUT = {
    **dict.fromkeys(("format",), "string"),
    **dict.fromkeys(("exclusiveMinimum", "exclusiveMaximum", "multipleOf"), "number"),
    **dict.fromkeys(("items", "prefixItems", "contains", "uniqueItems", "unevaluatedItems"), "array"),
    **dict.fromkeys(
        ("properties", "required", "additionalProperties", "patternProperties", "propertyNames", "dependentRequired"),
        "object",
    ),
}
"""The type of values that a keyword is about, where it says nothing of others."""
