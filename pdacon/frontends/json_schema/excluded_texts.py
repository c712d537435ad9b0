"""Texts that strings must not have in them as JSON writes them -> a pattern of the strings that have one.

In: texts. Out: a pattern of ECMA-262. A text may begin or end within an escape, such as the ``n`` of ``\\n``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from pdacon.frontends.json_schema.spelling import ESCAPED, spelled

_ESCAPES = {chr(point): spelled(chr(point))[1:-1] for low, high in ESCAPED for point in range(low, high + 1)}
"""The characters that do not stand for themselves, with what is written for them."""
_NEVER = "[]"
"""A pattern that no string matches: some texts, such as line breaks, stand in no string."""


@lru_cache(maxsize=64)
def strings_with(texts: tuple[str, ...]) -> str:
    """A pattern that is found in the strings of which the text within the quotes has one of some texts in it."""
    written = dict.fromkeys(way for text in texts for way in _ways(text))
    return "|".join("".join(map(_set, way)) for way in written) or _NEVER


def has_one(texts: Iterable[str], string: str) -> bool:
    """Whether a string has one of some texts in it as it is written."""
    inner = spelled(string)[1:-1]
    return any(text in inner for text in texts)


def _ways(text: str) -> Iterator[tuple[str, ...]]:
    """The characters that a text may stand for: for each of them those that it may be one of."""
    within = [character for character, escape in _ESCAPES.items() if text in escape]
    if within:
        yield ("".join(within),)
    ends = {text[:length] for length in range(1, 6) if length < len(text)}
    yield from _rest(text)
    for end in sorted(ends):
        begun = "".join(character for character, escape in _ESCAPES.items() if escape.endswith(end) and escape != end)
        if begun:
            yield from ((begun, *way) for way in _rest(text[len(end) :]))


def _rest(text: str) -> Iterator[tuple[str, ...]]:
    """The same for a text that begins with a character's."""
    ways: list[tuple[tuple[str, ...], str]] = [((), text)]
    while ways:
        before, left = ways.pop()
        if not left:
            yield before
            continue
        for character, escape in _ESCAPES.items():
            if left.startswith(escape):
                ways.append(((*before, character), left[len(escape) :]))
        begun = "".join(
            character for character, escape in _ESCAPES.items() if escape.startswith(left) and escape != left
        )
        if begun:
            yield (*before, begun)
        if left[0] not in _ESCAPES:
            ways.append(((*before, left[0]), left[1:]))


def _set(characters: str) -> str:
    """The pattern of one of some characters."""
    escaped = [one if one.isalnum() or ord(one) > 0xFFFF else f"\\u{ord(one):04x}" for one in characters]
    return escaped[0] if len(escaped) == 1 else f"[{''.join(escaped)}]"
