"""A pattern of the strings in whose JSON spelling one of some excluded texts occurs.

In: texts. Out: a pattern of ECMA-262. A text may begin or end within an escape, such as the ``n`` of ``\\n``, and so
stands for several sequences of characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TypeAlias

from pdacon.frontends.json_schema.spelling import ESCAPED, spelled

Sets: TypeAlias = tuple[str, ...]
"""Sequences of characters, as a set for each position: a text of the characters that may stand there."""
_ESCAPES = {chr(point): spelled(chr(point))[1:-1] for low, high in ESCAPED for point in range(low, high + 1)}
"""The characters that do not stand for themselves, with what is written for them."""
_LONGEST = max(map(len, _ESCAPES.values()))
_NEVER = "[]"
"""A pattern that no string matches: some texts, such as line breaks, occur in no string."""


@lru_cache(maxsize=64)
def strings_with(texts: tuple[str, ...]) -> str:
    """A pattern that is found in the strings whose spelling, within the quotes, has one of some texts in it."""
    sequences = dict.fromkeys(sets for text in texts for sets in _sequences(text))
    return "|".join("".join(map(_class, sets)) for sets in sequences) or _NEVER


def is_spelled_with(texts: Iterable[str], string: str) -> bool:
    """Whether the spelling of a string, within the quotes, has one of some texts in it."""
    inner = spelled(string)[1:-1]
    return any(text in inner for text in texts)


def _sequences(text: str) -> Iterator[Sets]:
    """The shortest sequences of characters in whose spelling a text occurs."""
    if within := "".join(character for character, escape in _ESCAPES.items() if text in escape):
        yield (within,)
    yield from _from_a_border(text)
    for length in range(1, min(len(text), _LONGEST)):
        end = text[:length]
        first = "".join(character for character, escape in _ESCAPES.items() if escape.endswith(end) and escape != end)
        if first:
            yield from ((first, *sets) for sets in _from_a_border(text[length:]))


def _from_a_border(text: str) -> Iterator[Sets]:
    """The same where the text begins where the spelling of a character does."""
    pending: list[tuple[Sets, str]] = [((), text)]
    while pending:
        before, rest = pending.pop()
        if not rest:
            yield before
            continue
        for character, escape in _ESCAPES.items():
            if rest.startswith(escape):
                pending.append(((*before, character), rest[len(escape) :]))
        last = "".join(
            character for character, escape in _ESCAPES.items() if escape.startswith(rest) and escape != rest
        )
        if last:
            yield (*before, last)
        if rest[0] not in _ESCAPES:
            pending.append(((*before, rest[0]), rest[1:]))


def _class(characters: str) -> str:
    """The pattern of one character, out of some."""
    escaped = [one if one.isalnum() or ord(one) > 0xFFFF else f"\\u{ord(one):04x}" for one in characters]
    return escaped[0] if len(escaped) == 1 else f"[{''.join(escaped)}]"
