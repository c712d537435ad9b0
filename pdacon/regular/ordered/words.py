"""Lists of words -> Program, without the detour by Python's pattern parser.

A pattern of the form ``(?ai:(?:word|word|...)(?![class])|word|...)``, as frontends write it for hundreds of names, or
of such lists after prefixes, ``(?ai:(?:prefix|...)\\.(?:list)|(?:prefix|...)\\.(?:list)|...)``, takes
`patterns.compile_pattern` 20 us a state. The states are those of a trie whose equal ends are one, which the native core
makes of the words at once. The form is read off the pattern's text; whatever departs from it, or needs the order of
its alternatives to mean what it means, is left to the general way.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import chain
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pdacon._native import _core
from pdacon.regular.ordered.program import MATCH, Program

_MATCH, _TAIL = -1, -2
"""What comes after a word: nothing, because it ends by itself, or what looks at the text that follows."""

_List: TypeAlias = list[tuple[bytes, int]]
"""Words in ascending order, and what comes after each: one of those above, or the list of that number."""

_TEXT = r"[^\\()]*(?:\\.[^\\()]*)*"
_TAIL_OF = r"(?P<tail>\(\?!\[(?:[^\\\]]|\\.)+\]\))(?:\|(?=[^)])|(?=\))|$)"
_LIST = rf"(?:\(\?:(?P<bounded>(?!\)){_TEXT})\){_TAIL_OF})?(?P<closed>{_TEXT})"
_FORM = re.compile(_LIST, re.DOTALL)
_PREFIXED = re.compile(rf"\(\?:(?P<prefixes>(?!\)){_TEXT})\)\\\.\(\?:{_LIST}\)(?:\||$)", re.DOTALL)
_ESCAPE = re.compile(r"\\([^0-9A-Za-z])", re.DOTALL)
_SPECIAL = re.compile(r"[\\()\[\]{}*+?.^$]")


def words_program(regexp: str, compile_pattern: Callable[[str], Program], limit: int) -> Program | None:
    """The Program of a pattern of many words; None where it is of another form, or the order of the words matters.

    ``compile_pattern`` lowers the pattern of one word, for what comes after each.

    Raises LimitExceededError: more than ``limit`` states.
    """
    read = _lists(regexp[5:-1]) if regexp.startswith("(?ai:") and regexp.endswith(")") else None
    if read is None:
        return None
    lists, after = read
    words = list(chain.from_iterable(lists))
    if len(words) == 1:  # the general way has what comes after it
        return None
    tail = compile_pattern(f"(?ai:(?:x){after})")
    if len(tail.entries) != 1 or len(tail) > 16:
        return None
    states = _core.read_words(
        np.frombuffer(b"".join([word for word, _ in words]), np.uint8),
        np.array([len(word) for word, _ in words], np.int32),
        np.array([look_behind for _, look_behind in words], np.int32),
        np.array([*map(len, lists)], np.int32),
        limit,  # the general way makes more of them
    )
    return None if states is None else _with_tail(*states, tail)


def _lists(value: str) -> tuple[list[_List], str] | None:
    """The lists of a pattern, the last of which is the whole, and what decides after a word that waits for it.

    None where the pattern is of another form.
    """
    whole = _FORM.fullmatch(value)
    found = [whole] if whole else [*_PREFIXED.finditer(value)]
    if not whole and (not found or sum(len(part[0]) for part in found) < len(value) or value.endswith("|")):
        return None
    lists: list[_List] = []
    prefixes: _List = []
    for part in found:
        bounded, closed = _words(part["bounded"]), _words(part["closed"])
        before = [] if whole else _words(part["prefixes"])
        if bounded is None or closed is None or before is None or not (bounded or closed):
            return None
        if bounded != sorted(bounded, reverse=True):  # longer words have to come first
            return None
        prefixes += [(prefix + b".", len(lists)) for prefix in before]
        lists.append(sorted([*((word, _TAIL) for word in bounded), *((word, _MATCH) for word in closed)]))
    tails = {part["tail"] for part in found} - {None}
    return (lists if whole else [*lists, sorted(prefixes)], "".join(tails)) if len(tails) < 2 else None


def _words(alternatives: str | None) -> list[bytes] | None:
    """The words between the bars, without case; None if there is more to them than characters."""
    if not alternatives:
        return []
    if "\0" in alternatives or _SPECIAL.search(_ESCAPE.sub("", alternatives)) is not None:
        return None
    if "\\" in alternatives:
        alternatives = _ESCAPE.sub(lambda escape: "\0" if escape[1] == "|" else escape[1], alternatives)
    words = alternatives.encode().lower().split(b"|")
    if "\0" in alternatives:
        words = [word.replace(b"\0", b"|") for word in words]
    return words if all(words) else None


def _with_tail(
    kind: NDArray[np.uint8],
    offset: NDArray[np.int32],
    letters: NDArray[np.uint8],
    target: NDArray[np.int32],
    entry: int,
    tail: Program,
) -> Program:
    """The states of words, and what comes after them: the tail's states less its first, where it reads the word."""
    (match,) = np.flatnonzero(tail.kind == MATCH).tolist()
    first, moved = int(tail.offset[1]), len(kind) - 1  # the entry is state 0, and nothing leads there
    look_behind = {_MATCH: match + moved, _TAIL: int(tail.target[0]) + moved}
    targets = np.select([target == place for place in look_behind], [*look_behind.values()], target)
    return Program(
        kind=np.concatenate([kind, tail.kind[1:]]),
        offset=np.concatenate([offset, tail.offset[2:] + (len(target) - first)]).astype(np.int32),
        lo=np.concatenate([letters, tail.lo[first:]]),
        hi=np.concatenate([letters, tail.hi[first:]]),
        target=np.concatenate([targets, tail.target[first:] + moved]).astype(np.int32),
        entries=np.array([entry], np.int32),
        look_behind=np.zeros((1, 256), np.int32),
    )
