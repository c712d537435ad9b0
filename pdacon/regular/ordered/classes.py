"""Which characters one node of a pattern's tree consumes, exactly as ``re`` decides it for str, or for bytes.

Surrogates are not characters of any text, so no set has them. Under IGNORECASE, ``re`` folds the text's character and
the class in its own way (and in 3.10 to 3.14 not quite the same way for a literal and for a class beyond the BMP), so
``re`` itself is asked about the 2,900 characters that have case; for every other character, case changes nothing.
ASCII letters and digits alone, by far the most frequent case, need no asking.

A pattern of bytes has the 256 first characters; categories and case are those of ASCII.
"""

from __future__ import annotations

from array import array
from functools import lru_cache
from itertools import chain
from typing import Any

from pdacon.regular.characters import ANY, complement, difference, union
from pdacon.regular.ordered import sre
from pdacon.regular.ordered.labels import FIRST_SYMBOL
from pdacon.regular.ordered.unicode_sets import SetName, runs, unicode_set
from pdacon.regular.ordered.utf8 import ByteTrie, Ranges, byte_trie, single_bytes, with_spellings

_NO_BYTE: Ranges = ((0x100, 0x10FFFF),)
_ANY_FLAGS = sre.DOTALL | sre.BYTES
_CLASS_FLAGS = sre.IGNORECASE | sre.ASCII | sre.UNICODE | sre.BYTES | sre.LABELS

_ASCII_CATEGORIES: dict[SetName, Ranges] = {
    "word": ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)),
    "digit": ((0x30, 0x39),),
    "space": ((0x09, 0x0D), (0x20, 0x20)),
}
_CATEGORIES: dict[str, tuple[SetName, bool]] = {
    "CATEGORY_WORD": ("word", True),
    "CATEGORY_NOT_WORD": ("word", False),
    "CATEGORY_DIGIT": ("digit", True),
    "CATEGORY_NOT_DIGIT": ("digit", False),
    "CATEGORY_SPACE": ("space", True),
    "CATEGORY_NOT_SPACE": ("space", False),
}
# Besides a letter's other case: the dotted capital and the dotless small i, the Kelvin sign, the long s.
_BEYOND_ASCII = {"i": (0x130, 0x131), "k": (0x212A,), "s": (0x17F,)}


def consumed(operator: Any, argument: Any, flags: int) -> ByteTrie:
    """The automaton of the bytes of the characters that a LITERAL, NOT_LITERAL, IN or ANY node consumes: their UTF-8.

    Cached; without IGNORECASE a miss costs some ten microseconds, with it up to 1 ms for a class that names
    categories or characters beyond ASCII.
    """
    if operator.name == "IN":
        argument = tuple(argument)
    relevant = _ANY_FLAGS if operator.name == "ANY" else _CLASS_FLAGS
    return _consumed(operator, argument, flags & relevant)


@lru_cache(maxsize=1024)
def _consumed(operator: Any, argument: Any, flags: int) -> ByteTrie:
    if flags & sre.LABELS:
        return _with_labels(operator, argument, flags & ~sre.LABELS)
    characters = character_set(operator, argument, flags)
    return single_bytes(characters) if flags & sre.BYTES else byte_trie(characters)


def _with_labels(operator: Any, argument: Any, flags: int) -> ByteTrie:
    """A set that may have labels beside characters. One that is negated has characters only."""
    items = argument if operator.name == "IN" else ((operator, argument),)
    labels = [value for op, value in items if op.name == "LITERAL" and value >> 11 == FIRST_SYMBOL >> 11]
    if operator.name == "LITERAL" and labels:
        return with_spellings(byte_trie(()), labels)
    characters = byte_trie(character_set(operator, argument, flags))
    return with_spellings(characters, labels) if labels and items[0][0].name != "NEGATE" else characters


def character_set(operator: Any, argument: Any, flags: int) -> Ranges:
    """The characters themselves, as ranges of code points; parameters as for ``consumed``."""
    if flags & sre.BYTES:
        return difference(character_set(operator, argument, flags & ~sre.BYTES | sre.ASCII), _NO_BYTE)
    if operator.name == "ANY":
        return ANY if flags & sre.DOTALL else difference(ANY, ((0x0A, 0x0A),))
    if operator.name == "IN":
        negated = argument[0][0].name == "NEGATE"
        items = argument[1:] if negated else argument
    else:
        negated = operator.name == "NOT_LITERAL"
        items = ((operator, argument),)
    named = union(*(_item(op.name, value, flags) for op, value in items))
    if flags & sre.IGNORECASE:
        if not all(op.name != "CATEGORY" and last < 0x80 for op, _ in items for _, last in named):
            return _asked(operator, argument, flags, complement(named) if negated else named)
        named = _fold_ascii(named, flags)
    return complement(named) if negated else named


def _item(name: str, value: Any, flags: int) -> Ranges:
    if name == "CATEGORY":
        category, positive = _CATEGORIES[value.name]
        members = _ASCII_CATEGORIES[category] if flags & sre.ASCII else unicode_set(category)
        return members if positive else complement(members)
    return (tuple(value),) if name == "RANGE" else ((value, value),)


def _fold_ascii(named: Ranges, flags: int) -> Ranges:
    letters = {chr(point).lower() for first, last in named for point in range(first, last + 1)}
    points = {ord(case) for letter in letters for case in (letter, letter.upper())}
    if not flags & sre.ASCII:
        points.update(chain.from_iterable(_BEYOND_ASCII.get(letter, ()) for letter in letters))
    return runs(sorted(points))


def _asked(operator: Any, argument: Any, flags: int, uncased: Ranges) -> Ranges:
    """What ``re`` says for characters that have case; ``uncased`` holds for all others."""
    text = _cased_text()
    found = sre.compile_character(operator, argument, flags).findall(text)
    matched = runs(chain.from_iterable(map(ord, run) for run in found))
    return union(difference(uncased, unicode_set("cased")), matched)


@lru_cache(maxsize=1)
def _cased_text() -> str:
    points = array("I", chain.from_iterable(range(first, last + 1) for first, last in unicode_set("cased")))
    return points.tobytes().decode("utf-32")
