"""How texts and names are written in messages: quoted, cut where they are long, and listed.

In: bytes of a text, or names. Out: one line that a person reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

LISTED = 12
"""So many names are given before the rest is counted."""
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


def did_you_mean(name: str, known: Sequence[str], nearness: float = 0.6) -> str:
    """``did you mean "a" or "b"? ``, with a space after it, or nothing where no known name is near.

    ``nearness`` is that of `difflib`: 1 for the name itself.
    """
    spellings = name, name.upper(), name.lower()
    near = next(filter(None, (get_close_matches(one, known, cutoff=nearness) for one in spellings)), [])
    return f"did you mean {listing(near)}? " if near else ""


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
