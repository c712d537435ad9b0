"""Python's ``json`` and the ``json5`` package as judges of what json.lark and its variants mean."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NoReturn


def is_json(text: str) -> bool:
    """Whether ``json`` takes a text, without what it takes beyond RFC 8259."""
    try:
        json.loads(text, parse_constant=_refuse)
    except ValueError:
        return False
    return True


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is Python's, not JSON")


def is_laid_out(text: str, **layout: Any) -> bool:
    """Whether ``json`` lays a text out as it is.

    All names and values that are no containers become short strings, because how they are spelt is not layout.
    """
    if not is_json(text):
        return False
    count = 0

    def numbered(match: re.Match[str]) -> str:
        nonlocal count
        count += 1
        return f'"{count}"'

    plain = re.sub(r'"(?:[^"\\]|\\.)*"|[-+.0-9a-zA-Z]+', numbered, text)
    return json.dumps(json.loads(plain), **layout) == plain


def is_json5(text: str) -> bool:
    """Whether the ``json5`` package takes a text."""
    import json5

    try:
        json5.loads(text)
    except ValueError:
        return False
    return True


REFERENCES: dict[str, Callable[[str], bool]] = {
    "json": is_json,
    "json_compact": lambda text: is_laid_out(text, separators=(",", ":")),
    "json_dumps": is_laid_out,
    "json_pretty": lambda text: is_laid_out(text, indent=2),
    "json_pretty4": lambda text: is_laid_out(text, indent=4),
    "json5": is_json5,
    "jsonl": lambda text: all(map(is_json, text.removesuffix("\n").split("\n"))),
}
