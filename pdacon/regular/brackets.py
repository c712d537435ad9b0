"""Brackets in patterns of Python's ``re``, without what ``re`` warns of because a later Python may read it otherwise.

In: a pattern. Out: one that means the same, of which ``re`` has nothing to say but errors. What is no pattern stays
none.

Source: CPython's ``Lib/re/_parser.py``, where it warns of possible nested sets, differences and the like.
"""

from __future__ import annotations

import re

_CLASS = re.compile(r"\[\[:\^?(?:alpha|digit|alnum|upper|lower|space|blank|punct|print|graph|cntrl|xdigit|word):\]\]")
_OUTSIDE = re.compile(r"\\.|\(\?#[^)]*\)|(\[\^?)", re.DOTALL)  # in group 1: what begins a set
_OUTSIDE_VERBOSE = re.compile(rf"#[^\n]*|{_OUTSIDE.pattern}", re.DOTALL)
_VERBOSE = re.compile(r"\(\?[a-zA-Z]*x")
NO_POSIX = (
    "{} is no class of characters in Python's re, but one of those in it, and then a bracket; write a class such as "
    r"[0-9], \d or \w, and \[ for a bracket that is meant"
)
_AMBIGUOUS = ("[[", "[^[", "--", "&&", "~~", "||")
_ITEM = re.compile(r"\\?.", re.DOTALL)


def unambiguous(pattern: str, flags: int = 0) -> str:
    """The same pattern with a backslash before ``[`` where a set begins, and before ``--``, ``&&``, ``~~``, ``||``."""
    if not any(text in pattern for text in _AMBIGUOUS):
        return pattern
    outside = _OUTSIDE_VERBOSE if flags & re.VERBOSE or _VERBOSE.search(pattern) else _OUTSIDE
    written: list[str] = []
    at = 0
    while found := outside.search(pattern, at):
        written.append(pattern[at : found.end()])
        at = found.end()
        if found[1] is not None:
            end = _end_of_set(pattern, at)
            written.append(_set(pattern[at:end]))
            at = end
    return "".join([*written, pattern[at:]])


def _end_of_set(pattern: str, begin: int) -> int:
    """Where the bracket stands that ends it: not the first character."""
    at = begin
    while at < len(pattern) and (pattern[at] != "]" or at == begin):
        at += 2 if pattern[at] == "\\" else 1
    return min(at, len(pattern))


def _set(inside: str) -> str:
    items = _ITEM.findall(inside)
    written: list[str] = []
    at = 0
    while at < len(items):
        item, after = items[at], items[at + 1 : at + 3]
        doubled = item in ("-", "&", "~", "|") and after[:1] == [item]
        written.append(f"\\{item}" if doubled or (at == 0 and item == "[") else item)
        if after == ["-", "-"]:
            written.append(r"-\-")  # the end of a range
            at += 3
        elif len(after) == 2 and after[0] == "-":
            written += after
            at += 3
        else:
            at += 1
    return "".join(written)


def posix_class(pattern: str) -> str | None:
    """The first class in the notation of POSIX, such as ``[[:digit:]]``, which ``re`` does not have; None: none."""
    found = _CLASS.search(pattern)
    return None if found is None else found[0]
