"""Compares two files that `answers.py` wrote: which answers about which grammars differ.

In: the files. Out: printed, for each field how many grammars differ in it, with the names of the first; and whether any
differs at all.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

FIRST = 8
"""So many names are printed of each field."""
ENDED = "ended"
"""Of a grammar that took too long, or a process that died: nothing else can be compared."""


def compare(before: Path, after: Path) -> int:
    """Print the differences; 1 if there are any, else 0."""
    first, second = read(before), read(after)
    both = [name for name in first if name in second]
    for path, only in ((before, first.keys() - second.keys()), (after, second.keys() - first.keys())):
        if only:
            print(f"only in {path}: {_listed(sorted(only))}")
    different: dict[str, list[str]] = defaultdict(list)
    answered: dict[str, int] = defaultdict(int)
    for name in both:
        fields = _fields(first[name]) | _fields(second[name])
        for field in {ENDED} if ENDED in fields else fields:
            answered[field] += 1
            if _of_field(first[name], field) != _of_field(second[name], field):
                different[field].append(name)
    for field, count in sorted(answered.items()):
        names = different[field]
        print(f"{field}: {len(names):,} of {count:,} differ" + (f": {_listed(names)}" if names else ""))
    some = {name for names in different.values() for name in names}
    print(f"{len(both):,} grammars, {sum(map(len, first.values())):,} answers, {len(some):,} grammars differ")
    return 1 if some or first.keys() != second.keys() else 0


def read(path: Path) -> dict[str, dict[str, str]]:
    """The answers of a file by the names of grammars."""
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {row["name"]: row["answers"] for row in rows}


def _fields(answers: dict[str, str]) -> set[str]:
    return {key.partition(" of start ")[0] for key in answers}


def _of_field(answers: dict[str, str], field: str) -> dict[str, str]:
    """The answers of a field, for each start."""
    return {key: answer for key, answer in answers.items() if key.partition(" of start ")[0] == field}


def _listed(names: list[str]) -> str:
    return "; ".join(names[:FIRST]) + (f"; and {len(names) - FIRST:,} more" if len(names) > FIRST else "")
