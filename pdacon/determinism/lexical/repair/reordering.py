"""Patterns with their alternatives in another order, in which the longest text is found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, pairwise, permutations

from pdacon._native import _core
from pdacon.determinism.deadline import REPAIR, Deadline
from pdacon.determinism.lexical.repair.suggested import read, written
from pdacon.errors import PdaconError
from pdacon.grammar import GrammarData, Terminal
from pdacon.lalr import build_tables
from pdacon.lexer import build_lexer

_MOST_PATTERNS = 30


def with_longest_first(
    grammar: GrammarData,
    terminal: Terminal,
    deadline: Deadline,
    is_harmless: Callable[[str], bool] = lambda pattern: True,
) -> str | None:
    """The pattern of a terminal with the alternatives of one group in another order, so that it has no early end.

    The texts that it denotes are the same. ``is_harmless`` says whether a pattern, with its slashes and flags, makes
    nothing else wrong. None where no order does, or too many would have to be tried, or the time is over.
    """
    assert terminal.pattern is not None
    for tried, value in enumerate(_reordered(terminal.pattern.value)):
        if tried == _MOST_PATTERNS or deadline.passed():
            break
        pattern = written(value, terminal.pattern.flags)
        try:
            repaired = read(grammar, pattern)
            lexer = build_lexer(repaired, build_tables(repaired), REPAIR)
            if _core.find_early_end(lexer.nfa, 0, REPAIR.states, REPAIR.bytes) is None and is_harmless(pattern):
                return pattern
        except PdaconError:
            continue
    return None


def _reordered(value: str) -> Iterator[str]:
    """The pattern with the alternatives of one group in each other order: first with the long ones in front."""
    for begin, bars, end in _alternations(value):
        cuts = [begin - 1, *bars, end]
        parts = [value[a + 1 : b] for a, b in pairwise(cuts)]
        longest = sorted(parts, key=len, reverse=True)
        for order in chain([longest, parts[::-1]], permutations(parts)):  # far too many to list
            if list(order) != parts:
                yield value[:begin] + "|".join(order) + value[end:]


def _alternations(value: str) -> list[tuple[int, list[int], int]]:
    """Where alternatives begin, are parted and end: those of the whole pattern first, then group by group."""
    found = []
    pending: list[tuple[int, list[int]]] = [(0, [])]
    at = 0
    while at < len(value):
        if value[at] == "\\":
            at += 1
        elif value[at] == "[":
            at = _class_end(value, at)
        elif value[at] == "(":
            plain = 3 if value.startswith("(?:", at) else 1
            pending.append((at + plain, []))
        elif value[at] == "|":
            pending[-1][1].append(at)
        elif value[at] == ")" and len(pending) > 1:
            begin, bars = pending.pop()
            if bars and value[begin] != "?":
                found.append((begin, bars, at))
        at += 1
    begin, bars = pending[0]
    return [(begin, bars, len(value)), *found] if bars else found


def _class_end(value: str, at: int) -> int:
    """The place of the bracket that closes a character class; one that comes first is a character."""
    at += 2 if value.startswith("[^", at) else 1
    first = at
    while at < len(value) and (value[at] != "]" or at == first):
        at += 2 if value[at] == "\\" else 1
    return at
