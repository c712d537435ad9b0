"""Keywords that cannot mean anything with the value that they have.

In: a keyword, its value and the draft. Out: what is wrong with it. A keyword about values that a schema does not take
is never read, so that nobody would see what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from pdacon.frontends.json_schema.facts import Type
from pdacon.regular import PatternError, parse_pattern

OLD_BOOLEAN = 'a Boolean is of draft 3; list the names under "required" of the object that has them'


def exclusive_boolean(keyword: str, value: bool) -> str:
    """Why an exclusive bound of draft 4 means nothing in later ones, and what to write."""
    bound = "minimum" if keyword == "exclusiveMinimum" else "maximum"
    write = f"write the bound itself under it, in place of {bound}" if value else "leave it out"
    return f'a Boolean is of draft 4; {write}, or say "$schema": "http://json-schema.org/draft-04/schema#"'


def wrong_value(keyword: str, value: Any, draft: int) -> str:
    """What is wrong with the value of a keyword; empty if nothing is, or nothing is known of the keyword."""
    if keyword in ("exclusiveMinimum", "exclusiveMaximum"):
        if draft <= 4:
            return "" if isinstance(value, bool) else f"{value!r:.40} is no Boolean, which draft 4 has here"
        if isinstance(value, bool):
            return exclusive_boolean(keyword, value)
    if keyword == "required" and isinstance(value, bool):
        return OLD_BOOLEAN
    if keyword == ("$id" if draft <= 4 else "id") or (keyword == "$recursiveAnchor" and draft != 2019):
        return ""
    check = _CHECKS.get(keyword)
    return "" if check is None else check(value)


def types_of(keyword: str) -> tuple[Type, ...]:
    """The types of values that a keyword is about; none if it is about all."""
    return _TYPES.get(keyword, ())


def _count(value: Any) -> str:
    right = not isinstance(value, bool) and isinstance(value, (int, float)) and value >= 0 and value == int(value)
    return "" if right else f"{value!r:.40} is no count"


def _number(value: Any) -> str:
    right = not isinstance(value, bool) and isinstance(value, (int, float, Decimal))
    return "" if right else f"{value!r:.40} is no number"


def _divisor(value: Any) -> str:
    return _number(value) or ("" if value > 0 else "it must be greater than 0")


def _pattern(value: Any) -> str:
    if not isinstance(value, str):
        return f"a pattern is a string, not {value!r:.40}"
    try:
        parse_pattern(value)
    except PatternError as error:
        return str(error)
    return ""


def _text(value: Any) -> str:
    return "" if isinstance(value, str) else "it must be the name of a format"


def _boolean(value: Any) -> str:
    return "" if isinstance(value, bool) else "it must be true or false"


def _schema(value: Any) -> str:
    return "" if isinstance(value, (dict, bool)) else f"a schema is an object or a Boolean, not {value!r:.40}"


def _schemas(value: Any) -> str:
    return "" if isinstance(value, list) else "it must be a list of schemas"


def _items(value: Any) -> str:
    return "" if isinstance(value, list) else _schema(value)


def _object(value: Any) -> str:
    return "" if isinstance(value, dict) else f"it must be an object, not {value!r:.40}"


def _names(value: Any) -> str:
    right = isinstance(value, list) and all(isinstance(name, str) for name in value)
    return "" if right else "it must be a list of names"


def _string(value: Any) -> str:
    return "" if isinstance(value, str) else f"it must be a string, not {value!r:.40}"


OF_PLACES: dict[str, Callable[[Any], str]] = {
    **dict.fromkeys(("$anchor", "$dynamicAnchor", "$id", "id"), _string),
    **dict.fromkeys(("$defs", "$vocabulary", "definitions"), _object),
    "$recursiveAnchor": _boolean,
}
"""What is wrong with keywords that name a schema, or hold those that references lead to."""
_OF_TYPE: dict[Type, dict[str, Callable[[Any], str]]] = {
    "string": {"minLength": _count, "maxLength": _count, "pattern": _pattern, "format": _text},
    "number": {
        **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _number),
        "multipleOf": _divisor,
    },
    "array": {
        **dict.fromkeys(("minItems", "maxItems", "minContains", "maxContains"), _count),
        **dict.fromkeys(("additionalItems", "contains", "unevaluatedItems"), _schema),
        "items": _items,
        "prefixItems": _schemas,
        "uniqueItems": _boolean,
    },
    "object": {
        **dict.fromkeys(("minProperties", "maxProperties"), _count),
        **dict.fromkeys(("additionalProperties", "propertyNames", "unevaluatedProperties"), _schema),
        **dict.fromkeys(
            ("dependencies", "dependentRequired", "dependentSchemas", "patternProperties", "properties"), _object
        ),
        "required": _names,
    },
}
_CHECKS = {keyword: check for checks in _OF_TYPE.values() for keyword, check in checks.items()} | {
    **OF_PLACES,
    **dict.fromkeys(("then", "else"), _schema),
}
_TYPES: dict[str, tuple[Type, ...]] = {keyword: (kind,) for kind, checks in _OF_TYPE.items() for keyword in checks}
