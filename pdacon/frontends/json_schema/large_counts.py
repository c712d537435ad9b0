"""The largest count of a schema, which is what a refusal of the whole is about more often than not.

In: a schema. Out: the JSON pointer of the schema that has the count, its keyword and the number.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pdacon.base.json_pointers import pointer_token

_COUNTS = frozenset({"minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains"})
_LARGE = 1000


def refused_count(root: Any, why: str) -> tuple[str, str, str]:
    """The place and the words of a refusal of the whole: of its largest count, if it has a large one.

    ``why``: what is refused, without the way out.
    """
    counts = sorted(((number, pointer, keyword) for pointer, keyword, number in _counts(root)), reverse=True)
    if not counts:
        return "#", "", f"{why}; make counts or combinations smaller"
    number, pointer, keyword = counts[0]
    others = f" ({len(counts) - 1} other counts are large, too)" if len(counts) > 1 else ""
    return pointer, keyword, f"{why}, and {number:,} is its largest count{others}; make it smaller, or leave it out"


def _counts(root: Any) -> Iterator[tuple[str, str, int]]:
    pending = [("#", root)]
    while pending:
        pointer, node = pending.pop()
        inner = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        for key, value in inner:
            if key in _COUNTS and isinstance(value, int) and not isinstance(value, bool) and value >= _LARGE:
                yield pointer, str(key), value
            elif isinstance(value, dict | list):
                pending.append((f"{pointer}/{pointer_token(key)}", value))
