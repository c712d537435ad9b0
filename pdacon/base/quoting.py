"""How texts and names are written in messages: quoted, cut where they are long, and listed.

In: bytes of a text, or names. Out: one line that a person reads.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice

LISTED = 12
"""So many names are given before the rest is counted."""
_COMPARED = 2000  # names, which takes some 20 ms
_SHORT = 4  # letters, in which two slips leave nothing to go by
_ALIKE = str.maketrans("01", "ol", "_- ")  # digits that look like letters, and what holds the words of a name apart
_SHOWN = 40  # Characters of a text that are enough to recognise the place.
_SHOWN_LEXEME = 80
NEAR = 4 * (_SHOWN + 1)
"""So many bytes of a text have more characters than `tail` shows, whatever they are."""


def quote(text: bytes) -> str:
    """Bytes as a string literal of Python's, on one line: UTF-8 as characters, double quotes unless they are inside.

    Backslashes are doubled; what is not printable, or not UTF-8, is escaped.
    """
    return _in_quotes(text.decode("utf-8", "surrogateescape"))


def _in_quotes(text: str) -> str:
    escaped = text
    if not escaped.isprintable() or "\\" in escaped:
        escaped = "".join(map(_escaped, escaped))
    if '"' in escaped and "'" not in escaped:
        return f"'{escaped}'"
    return '"' + escaped.replace('"', '\\"') + '"'


def listing(names: Iterable[str], last: str = "or", most: int = LISTED) -> str:
    """``a, b or c``; a long list is cut short."""
    shown = list(names)
    if len(shown) > most:
        shown = [*shown[: most - 1], f"{len(shown) - most + 1} others"]
    return " ".join(filter(None, [", ".join(shown[:-1]), last if len(shown) > 1 else "", *shown[-1:]]))


def near_names(name: str, known: Iterable[str], most: int = 3, *, nearness: float = 0.6, slips: int = 2) -> list[str]:
    """Which known names may have been meant, the likeliest first.

    Those that `difflib` finds alike (``nearness``: 1 for the name itself), in any case of letters; or else those from
    which at most so many slips lead to the name, one in short names: a letter too many, one that is missing, another
    one, or two that changed places.
    """
    compared = list(islice(known, _COMPARED))
    for spelling in (name, name.upper(), name.lower()):
        if near := get_close_matches(spelling, compared, most, nearness):
            return near
    plain = name.casefold().translate(_ALIKE)
    if not plain:
        return []
    distances = [(_slips(plain, other.casefold().translate(_ALIKE), slips), other) for other in compared]
    return [other for distance, other in sorted(distances, key=lambda pair: pair[0]) if distance <= slips][:most]


def did_you_mean(name: str, known: Iterable[str], nearness: float = 0.6, slips: int = 2) -> str:
    """``did you mean a or b? ``, with a space after it, or nothing where no known name is near: see `near_names`."""
    near = near_names(name, known, nearness=nearness, slips=slips)
    return f"did you mean {listing(near)}? " if near else ""


def _slips(name: str, meant: str, most: int) -> int:
    """How many slips lead from one name to another; a number above ``most`` if there are more than that."""
    long = max(len(name), len(meant))
    most = most if long > _SHORT else min(most - 1, long - 2)
    if abs(len(name) - len(meant)) > most:
        return most + 3
    older: list[int] = []
    last = list(range(len(meant) + 1))
    for i, letter in enumerate(name, 1):
        row = [i]
        for j, other in enumerate(meant, 1):
            least = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == meant[j - 2] and name[i - 2] == other:
                least = min(least, older[j - 2] + 1)
            row.append(least)
        older, last = last, row
    return last[-1] if last[-1] <= most else most + 3


def quoted(text: str) -> str:
    """A text, or what bytes that are not UTF-8 were decoded to (``surrogateescape``), as `quote` shows its bytes.

    Other halves of surrogate pairs, which a str can have and no text in UTF-8 has, are escaped.
    """
    try:
        return quote(text.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:
        return _in_quotes(text)


def is_literal(terminal: str, text: bytes) -> bool:
    """Whether a terminal is called by the text that it matches."""
    return len(text) <= len(terminal) and terminal == quote(text)


def line_and_column(before: bytes) -> tuple[int, int]:
    """Line and column, in characters from 1, of what comes after ``before``."""
    line = before[before.rfind(b"\n") + 1 :]
    return before.count(b"\n") + 1, len(line.decode("utf-8", "replace")) + 1


def first_character(text: bytes) -> bytes:
    """The first character, or the first byte where none begins."""
    character = text[:4].decode("utf-8", "ignore")[:1].encode()
    return character if character and text.startswith(character) else text[:1]


def tail(text: bytes) -> str:
    """The end of a text, quoted."""
    shown = text[-NEAR:].decode("utf-8", "surrogateescape")
    if not shown:
        return "the start of the text"
    return quote(text) if len(shown) <= _SHOWN else "..." + quoted(shown[-_SHOWN:])


def head(text: bytes, most: int = _SHOWN_LEXEME, length: int | None = None) -> str:
    """A text, quoted; of a long one the beginning, and how long it is (``length`` if there is more than this)."""
    shown = text[: 4 * (most + 1)].decode("utf-8", "surrogateescape")
    length = len(text) if length is None else length
    return quote(text) if len(shown) <= most else f"{quoted(shown[:most])}... ({length:,} bytes)"


def _escaped(character: str) -> str:
    if character.isprintable() and character != "\\":
        return character
    if "\udc80" <= character <= "\udcff":
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")
