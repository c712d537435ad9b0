"""Says in few words what a JSON Schema asks of a value, and which value of its author's it is.

In: a schema that speaks of the value itself, and its JSON pointer. Out: ``a string of at most 20 characters``, and
``Invoice.issued``. For pictures, explanations and what prints a matcher.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import unquote

from pdacon.base.json_pointers import pointer_names
from pdacon.base.quoting import listing

UNNAMED = "the value"
"""What is said of a value that its author has given no name."""
_CUT = 48  # characters of a pattern or of a value
_REMARK = 80
_DIGITS = re.compile(r"number of at most [0-9]+ digits?")
_IDLE = {"minProperties": 0, "uniqueItems": False, "unevaluatedItems": True, "unevaluatedProperties": True}


_TITLED = frozenset({"title", "description", "default", "examples", "$comment", "deprecated", "readOnly", "writeOnly"})
_BOUNDS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
_COVERED = {  # by a type the keywords that its words have
    "string": frozenset({"minLength", "maxLength", "format", "pattern"}),
    "integer": _BOUNDS,
    "number": _BOUNDS,
    "array": frozenset({"items", "minItems", "maxItems"}),
    "object": frozenset({"properties", "required", "additionalProperties"}),
    "boolean": frozenset[str](),
    "null": frozenset[str](),
}
_LISTED = 5  # values, or names of members


def value_words(node: Mapping[str, Any]) -> str:
    """What a value has to be: ``a date``, ``an integer, 1 to 5``, ``"a" or "b"``; empty if words do not have all of it.

    A title stands for a pattern.
    """
    own = node.keys() - _TITLED
    if own in ({"const"}, {"const", "type"}):
        return value_text(node["const"])
    if own in ({"enum"}, {"enum", "type"}) and isinstance(node["enum"], list):
        shown = [value_text(value) for value in node["enum"]]
        return listing(shown, most=_LISTED)
    kind = node.get("type")
    if (titled := _of_digits(node)) and kind == "number":
        return _with_article(titled)
    if not isinstance(kind, str) or not own - {"type", "$defs", "definitions"} <= _COVERED.get(kind, frozenset()):
        return ""
    if kind == "string":
        return _with_article(string_words(node))
    if kind in ("integer", "number"):
        return _with_article(number_words(kind, node))
    if kind == "array":
        counts = _bounds(node.get("minItems"), node.get("maxItems"), "item")
        return "a list" + (f", {counts}" if counts else "")
    if kind == "object":
        names = [name for name in node.get("required", ()) if isinstance(name, str)]
        return "an object" + (f" with {listing(names, 'and', _LISTED)}" if names else "")
    return {"boolean": "true or false"}.get(kind, kind)


def digits_title(total: int) -> str:
    """The title of numbers of so many digits in all, which no keyword says: their schema has a case for each point."""
    return f"number of at most {total} digit{'' if total == 1 else 's'}"


def _of_digits(node: Mapping[str, Any]) -> str:
    """What `digits_title` says of a schema that has it, with its bounds."""
    title = node.get("title")
    if not isinstance(title, str) or not _DIGITS.fullmatch(title) or "anyOf" not in node:
        return ""
    return ", ".join([title, *number_words("number", node).split(", ")[1:]])


def are_said(places: Iterable[tuple[str, Any]]) -> list[bool]:
    """Of schemas, each a pointer and a node, whether the words of one that it is a part of say what it says."""
    listed = list(places)
    titled = [pointer for pointer, node in listed if isinstance(node, dict) and _of_digits(node)]
    return [any(pointer.startswith(f"{other}/") for other in titled) for pointer, _ in listed]


def value_name(pointer: str, title: str = "") -> str:
    """What the author calls the value that a schema is of: ``Invoice.issued``, ``search.query``, ``tags[]``.

    ``pointer``: the schema's. ``title``: that of the whole; names of definitions stand for theirs.
    """
    tokens = pointer_names(unquote(pointer))
    begin = max((k + 1 for k, token in enumerate(tokens[:-1]) if token in ("$defs", "definitions")), default=-1)
    name, rest = (title, tokens) if begin < 0 else (tokens[begin], tokens[begin + 1 :])
    steps = iter(rest)
    for step in steps:
        if step in ("properties", "patternProperties"):
            member = next(steps, "")
            plain = step == "properties" and member.isidentifier()
            name += f".{member}" if plain else f"[{json.dumps(member, ensure_ascii=False)}]"
        elif step in ("items", "additionalItems", "unevaluatedItems", "contains"):
            name += "[]"
        elif step in ("additionalProperties", "unevaluatedProperties"):
            name += "[*]"
        elif step == "prefixItems":
            name += f"[{next(steps, '')}]"
    return name.lstrip(".") or UNNAMED


def _with_article(words: str) -> str:
    return f"{'an' if words[:1].lower() in 'aeio' else 'a'} {words}" if words[:1].isalpha() else words


def value_text(value: Any) -> str:
    """A value as JSON, cut where it is long."""
    return _cut(json.dumps(value, ensure_ascii=False), _CUT)


def string_words(node: Mapping[str, Any]) -> str:
    """``string, 1 to 20 characters, date``."""
    parts = ["string", _bounds(node.get("minLength"), node.get("maxLength"), "character")]
    parts += [node["format"]] if isinstance(node.get("format"), str) else []
    if "pattern" in node and isinstance(node.get("title"), str):  # says more than the pattern does
        return ", ".join(part for part in (node["title"], *parts[1:]) if part)
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
