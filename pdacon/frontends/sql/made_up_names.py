"""What callers give as names -> names that SQLite can have, or an error that says which argument is at fault."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pdacon.errors import SchemaError

LONGEST = 1000


def checked_names(where: str, names: Iterable[str], kind: str) -> dict[str, str]:
    """The names of an argument by their names without case: SQLite can have each, and no two are one to it.

    Raises
    ------
    TypeError
        It is no iterable of str.
    SchemaError
        SQLite can have no such name, or a name is there twice.
    """
    if isinstance(names, str):
        raise TypeError(f"{where}: expected an iterable of names, not the text {shown(names)}; write [{shown(names)}]")
    if not isinstance(names, Iterable):
        raise TypeError(f"{where}: expected an iterable of names, not {_type_of(names)}")
    seen: dict[str, str] = {}
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{where}: the name of a {kind} must be a str, not {_type_of(name)}")
        reason = no_name(name)
        if reason:
            raise SchemaError(f"{where}: {shown(name)} cannot be the name of a {kind}: {reason}; leave it out")
        key = lowered(name)
        if key in seen:
            raise SchemaError(
                f"{where}: {shown(seen[key])} and {shown(name)} are one {kind} to SQLite, where letters have no "
                "case; name it once"
            )
        seen[key] = name
    return seen


def checked_choice(where: str, value: object) -> bool:
    """True or False; a text or None would pass for one of them in silence.

    Raises
    ------
    TypeError
        It is neither.
    """
    if not isinstance(value, bool):
        raise TypeError(f"{where}: expected True or False, not {value!r:.60}")
    return value


def no_name(name: str) -> str:
    """Why a grammar can have no table or column of that name; empty if it can."""
    if not name:
        return "it is empty"
    if "\0" in name:
        return "a text of SQL ends at a NUL"
    if not name.isascii() and re.search("[\ud800-\udfff]", name):
        return "a surrogate is no character"
    return f"it has {len(name):,} characters, and at most {LONGEST:,} are taken" if len(name) > LONGEST else ""


def lowered(name: str) -> str:
    """SQLite's idea of equal names: letters beyond ASCII have no case."""
    return name.lower() if name.isascii() else re.sub("[A-Z]+", lambda letters: letters[0].lower(), name)


def shown(name: str) -> str:
    """A name in a message."""
    return repr(name) if len(name) <= 60 else f"{name[:40]!r}..."


def _type_of(value: object) -> str:
    return "None" if value is None else f"a value of type {type(value).__name__}"
