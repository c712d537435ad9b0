"""What a JSON Schema says of a string, of a number and of the size of a list, in the few words that fit a box."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

_CUT = 48  # characters of a pattern or of a value
_REMARK = 80
_IDLE = {"minProperties": 0, "uniqueItems": False, "unevaluatedItems": True, "unevaluatedProperties": True}


def value_text(value: Any) -> str:
    """A value as JSON, cut where it is long."""
    return _cut(json.dumps(value, ensure_ascii=False), _CUT)


def string_words(node: Mapping[str, Any]) -> str:
    """``string, 1 to 20 characters, date``."""
    parts = ["string", _bounds(node.get("minLength"), node.get("maxLength"), "character")]
    parts += [node["format"]] if isinstance(node.get("format"), str) else []
    parts += [_cut(f"/{node['pattern']}/", _CUT)] if isinstance(node.get("pattern"), str) else []
    return ", ".join(part for part in parts if part)


def number_words(kind: str, node: Mapping[str, Any]) -> str:
    """``integer, 0 to 120``, ``number, above 0, multiple of 0.5``."""
    low, high = node.get("minimum"), node.get("maximum")
    above, below = node.get("exclusiveMinimum"), node.get("exclusiveMaximum")
    if above is True:  # as in draft 4, where it says how the other keyword is meant
        low, above = None, low
    if below is True:
        high, below = None, high
    parts = [kind, _bounds(low, high, "")]
    parts += [f"above {_number(above)}"] if _is_number(above) else []
    parts += [f"below {_number(below)}"] if _is_number(below) else []
    parts += [f"multiple of {_number(node['multipleOf'])}"] if _is_number(node.get("multipleOf")) else []
    return ", ".join(part for part in parts if part)


def remark(node: Mapping[str, Any], keywords: Iterable[str]) -> str:
    """Those of the keywords that demand something, with their values: ``minProperties 1, uniqueItems true``."""
    said = [one for one in keywords if one in node and node[one] != _IDLE.get(one)]
    return ", ".join(f"{one} {json.dumps(node[one], ensure_ascii=False)}" for one in said)


def heading(node: Any) -> str:
    """The title of a schema, or the beginning of its description."""
    if not isinstance(node, Mapping):
        return ""
    said = next((node[one] for one in ("title", "description") if isinstance(node.get(one), str)), "")
    return _cut(" ".join(said.split()), _REMARK)


def _bounds(least: Any, most: Any, unit: str) -> str:
    low, high = (_number(one) if _is_number(one) else None for one in (least, most))
    if unit and low == "0":
        low = None
    if low is None and high is None:
        return ""
    ones = f" {unit}{'' if (high or low) == '1' else 's'}" if unit else ""
    if low is None:
        return f"at most {high}{ones}"
    if high is None:
        return f"at least {low}{ones}"
    return f"{low}{ones}" if low == high else f"{low} to {high}{ones}"


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _number(value: Any) -> str:
    return json.dumps(value)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 4]} ..."
