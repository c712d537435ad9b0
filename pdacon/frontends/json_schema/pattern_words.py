"""Patterns that list words, such as ``^X$`` and ``^(A|B)$``: an enum, written as a pattern."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from pdacon.regular import PatternError, ecma, parse_pattern

MOST_NAMES = 64
"""Up to so many names of members that a schema leaves open, but finitely many, are as good as listed."""
_MOST = 1000
_LONGEST = 20_000
_ONE_WORD = re.compile(r"\^[A-Za-z0-9_-]+\$")


def pattern_words(pattern: Any) -> list[str] | None:
    """The strings that a pattern matches, if it spells them out between its anchors; else None."""
    if not isinstance(pattern, str) or not (pattern.startswith("^") and pattern.endswith("$")):
        return None
    if _ONE_WORD.fullmatch(pattern):
        return [pattern[1:-1]]
    if len(pattern) > _LONGEST:
        return None
    words = _words(pattern)
    return None if words is None else list(words)


def names_spelled_out(pattern: str) -> list[str] | None:
    """The names that a pattern spells out, if they are so few that they are listed; else None."""
    words = pattern_words(pattern)
    return words if words is None or len(words) <= MOST_NAMES else None


@lru_cache(maxsize=256)
def _words(pattern: str) -> tuple[str, ...] | None:
    try:
        tree = parse_pattern(pattern)
    except PatternError:
        return None
    if not isinstance(tree, ecma.Sequence) or len(tree.parts) < 2:
        return None
    first, *parts, last = tree.parts
    if (first, last) != (ecma.Anchor("start"), ecma.Anchor("end")):
        return None
    words = [""]
    for part in parts:
        options = part.options if isinstance(part, ecma.Alternatives) else (part,)
        spelled = [_spelled(option) for option in options]
        if len(words) * len(spelled) > _MOST:
            return None
        words = [word + text for word in words for text in spelled if text is not None]
        if None in spelled:
            return None
    return tuple(dict.fromkeys(words))


def _spelled(tree: ecma.Tree) -> str | None:
    """The one text that a tree matches, if it is a sequence of characters."""
    text = ""
    for part in tree.parts if isinstance(tree, ecma.Sequence) else (tree,):
        if not isinstance(part, ecma.CharacterSet) or len(part.ranges) != 1 or part.ranges[0][0] != part.ranges[0][1]:
            return None
        text += chr(part.ranges[0][0])
    return text
