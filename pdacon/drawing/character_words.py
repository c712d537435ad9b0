"""Sets of characters in as few words as a reader needs."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from pdacon.regular.characters import ANY, Ranges, difference, intersection
from pdacon.regular.ordered.unicode_sets import SetName, unicode_set

_CATEGORIES: tuple[tuple[SetName, str], ...] = (("word", "\\w"), ("digit", "\\d"), ("space", "\\s"))
_LONGEST = 48  # characters of a label; a longer one is cut, and the number of characters is said
_ESCAPES = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\f": "\\f", "\v": "\\v", "\\": "\\\\", " ": '" "'}


def describe_set(characters: Ranges, whole: Ranges = ANY) -> str:
    """A set as an edge's label, where ``whole`` are all characters there are.

    ``a-z _``, ``\\w``, ``not " \t``, ``\\w except \\d``, ``any``: items with spaces between them, and whichever of
    these forms is the shortest. Bytes, and characters that would not show, are escaped as in Python; space is ``" "``.
    """
    if characters == whole:
        return "any"
    bytes_only = whole != ANY
    forms = [_items(characters, bytes_only), f"not {_items(difference(whole, characters), bytes_only)}"]
    word = unicode_set("word")
    if not difference(characters, word):
        forms.append(f"\\w except {_items(difference(word, characters), bytes_only)}")
    shortest = min(forms, key=len)
    if len(shortest) <= _LONGEST:
        return shortest
    return f"{_cut(forms[0])} ... ({sum(last - first + 1 for first, last in characters):,} characters)"


def _items(characters: Ranges, bytes_only: bool) -> str:
    words = []
    for name, sign in _CATEGORIES:
        members = intersection(unicode_set(name), ANY)
        if not difference(members, characters):
            words.append(sign)
            characters = difference(characters, members)
    return " ".join([*words, *(word for first, last in characters for word in _range(first, last, bytes_only))])


def _range(first: int, last: int, bytes_only: bool) -> Iterator[str]:
    if last - first < 2:
        yield from (_shown(point, bytes_only) for point in range(first, last + 1))
    else:
        yield f"{_shown(first, bytes_only)}-{_shown(last, bytes_only)}"


def _shown(point: int, bytes_only: bool) -> str:
    character = chr(point)
    if character in _ESCAPES:
        return _ESCAPES[character]
    if point < 0x7F and character.isprintable():
        return character
    # Letters that stand alone are read; marks, and signs that are easily taken for another, are not.
    if point > (0xFF if bytes_only else 0xBF) and unicodedata.category(character) in ("Lu", "Ll") and point < 0x530:
        return character
    return character.encode("unicode_escape").decode("ascii")


def _cut(items: str) -> str:
    kept = ""
    for word in items.split(" "):
        if len(kept) + len(word) > _LONGEST // 2:
            break
        kept += f" {word}" if kept else word
    return kept
