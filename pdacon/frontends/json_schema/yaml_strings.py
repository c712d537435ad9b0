"""Strings -> the texts that YAML writes them in: plain, in single or double quotes, or in lines of their own.

In: automata over code points, of strings. Out: automata over code points, of texts up to the end of their line. Texts
are those that readers of YAML 1.1 and of YAML 1.2 take for the same string: what looks like a number, a boolean, a
null, a date or a merge key to either of them is quoted, and what either of them takes for the end of a line is escaped.

Source: YAML 1.2.2, chapters 5 to 8 and 10.3; https://yaml.org/type/ for the types of YAML 1.1.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pdacon.base.cancelling import every
from pdacon.base.graphs import Numbering
from pdacon.base.limits import Limits
from pdacon.regular import Dfa, Languages, Ranges, combined, parse_pattern
from pdacon.regular.characters import difference, intersection, union
from pdacon.regular.operations import of_ranges
from pdacon.regular.string_programs import ByteArrays

Edges: TypeAlias = list[tuple[Ranges, int]]
Bytes: TypeAlias = NDArray[np.uint8]

INDENTED_BREAK = "\x01"
"""In place of a line break and the blanks of a line that is not empty; it stands in no line."""
_BREAKS = (10, ord(INDENTED_BREAK))

STATES = 200_000
"""Most states of an automaton over the characters of texts."""
_LIMITS = Limits(states=STATES, bytes=256 << 20)

_PRINTABLE: Ranges = (
    (0x20, 0x7E), (0xA0, 0x2027), (0x202A, 0xD7FF), (0xE000, 0xFEFE), (0xFF00, 0xFFFD), (0x10000, 0x10FFFF),
)  # fmt: skip
"""What stands for itself in quotes: no control characters, no ends of lines of YAML 1.1, no byte order mark."""
_TAB: Ranges = ((0x09, 0x09),)
_NEWLINE: Ranges = ((0x0A, 0x0A),)
_INDENTED: Ranges = ((ord(INDENTED_BREAK), ord(INDENTED_BREAK)),)
_BLANK: Ranges = ((0x20, 0x20),)
_QUOTE: Ranges = ((0x27, 0x27),)


def _class(ranges: Ranges) -> str:
    """A set of characters as a pattern writes it."""
    return "[" + "".join(f"\\u{{{first:x}}}-\\u{{{last:x}}}" for first, last in ranges) + "]"


_NO_INDICATOR = _class(difference(_PRINTABLE, union(*(((ord(sign), ord(sign)),) for sign in " -?:,[]{}#&*!|>'\"%@`"))))
_PLAIN = f"(?!---|\\.\\.\\.)(?![^]*(?:: | #))(?![^]*[: ]$)(?:{_NO_INDICATOR}|[-?:](?=[^ ])){_class(_PRINTABLE)}*"
"""What a reader takes for one scalar, of which only the type may be in doubt."""
_AMBIGUOUS = "|".join([
    "~|null|Null|NULL",
    "yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF",
    "<<|=",
    r"[-+]?0b[01_]+|[-+]?0o?[0-7_]+|[-+]?[0-9][0-9_]*|[-+]_[0-9_]*|[-+]?0x[0-9a-fA-F_]+",
    r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?",
    r"[-+]?[0-9][0-9_]*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?|[-+]?\.[0-9_]+(?:[eE][-+]?[0-9]+)?",
    r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}",
    r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt]| +)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?"
    r"(?: *(?:Z|[-+][0-9]{1,2}(?::[0-9]{2})?))?",
])  # fmt: skip
"""What is no string to a reader, of YAML 1.1 or of YAML 1.2."""
_VISIBLE, _IN_LINE = (_class(ranges) for ranges in (difference(union(_PRINTABLE, _TAB), union(_BLANK, _TAB)),
                                                    union(_PRINTABLE, _TAB)))  # fmt: skip
_LINES = f"{_VISIBLE}{_IN_LINE}*(?:\\n+[ \\t]*{_VISIBLE}{_IN_LINE}*)*"
"""Lines, the first of which is not indented and the last of which is not empty; none has only blanks."""


@lru_cache(maxsize=16)
def texts_matching(pattern: str) -> Dfa:
    """The texts that a pattern matches whole."""
    languages = Languages()
    return languages.deterministic(languages.whole(parse_pattern(pattern)), STATES)


@lru_cache(maxsize=1)
def plain_strings() -> Dfa:
    """The strings that may be written without quotes."""
    shape, ambiguous = texts_matching(_PLAIN), texts_matching(_AMBIGUOUS)
    return combined([shape, ambiguous], [(1, 0, 1), (0, 2, 0)], STATES)


def both(one: Dfa, other: Dfa) -> Dfa:
    """What both automata accept. Raises LimitExceededError."""
    return combined([one, other], [(1, 1, 0), (0, 2, 0)], STATES)


def either(one: Dfa, other: Dfa) -> Dfa:
    """What one of both accepts. Raises LimitExceededError."""
    return combined([one, other], [(1, 1, 0), (0, 1, 2)], STATES)


class Rows:
    """An automaton that is written state by state; the first one is the start."""

    def __init__(self) -> None:
        self.edges: list[Edges] = []
        self.accepting: list[bool] = []

    def state(self, *, accepts: bool = False) -> int:
        """A state of its own."""
        self.edges.append([])
        self.accepting.append(accepts)
        return len(self.edges) - 1

    def states(self, count: int) -> list[int]:
        """So many of them."""
        return [self.state() for _ in range(count)]

    def word(self, start: int, text: str, target: int) -> None:
        """The edges that read a text, which is not empty."""
        for sign in text[:-1]:
            after = self.state()
            self.edges[start].append((((ord(sign), ord(sign)),), after))
            start = after
        self.edges[start].append((((ord(text[-1]), ord(text[-1])),), target))

    def automaton(self) -> Dfa:
        """The least deterministic automaton. Raises LimitExceededError."""
        return of_ranges(every(self.edges), self.accepting, _LIMITS)


def in_single_quotes(contents: Dfa, ending: str) -> Dfa:
    """The texts in single quotes of the strings that an automaton accepts, with what stands after each.

    Raises LimitExceededError.
    """
    contents = both(contents, texts_matching(f"{_class(_PRINTABLE)}*"))
    rows = Rows()
    start, end, closed = rows.state(), rows.state(accepts=True), rows.state()
    own = rows.states(len(contents))
    rows.word(closed, ending, end)
    if own:
        rows.edges[start].append((_QUOTE, own[0]))
    for state, edges, accepts in zip(own, contents.edges(), contents.accepting(), strict=True):
        for target, ranges in edges.items():
            _add(rows.edges[state], difference(ranges, _QUOTE), own[target])
            if intersection(ranges, _QUOTE):
                rows.word(state, "''", own[target])
        if accepts:
            rows.edges[state].append((_QUOTE, closed))
    return rows.automaton()


def _add(edges: Edges, ranges: Ranges, target: int) -> None:
    if ranges:
        edges.append((ranges, target))


def in_lines(contents: Dfa) -> Dfa:
    """The texts, in lines of their own, of the strings that an automaton accepts. Raises LimitExceededError.

    They begin with ``|`` where a line break ends the string, and with ``|-`` where none does. `INDENTED_BREAK` is a
    line break with the blanks of a line that is not empty.
    """
    rows = Rows()
    start = rows.state()
    for header, pattern in (("|", f"{_LINES}\\n"), ("|-", _LINES)):
        some = both(contents, texts_matching(pattern))
        if len(some):
            _write_lines(rows, start, f"{header}{INDENTED_BREAK}", some, ends_in_break=header == "|")
    return rows.automaton()


def _write_lines(rows: Rows, start: int, header: str, contents: Dfa, *, ends_in_break: bool) -> None:
    """The strings in lines. Behind a line break stands another one, or the end, or a line, which is indented."""
    accepting, end = contents.accepting(), rows.state(accepts=True)
    within, lines, breaks = (rows.states(len(contents)) for _ in range(3))
    rows.word(start, header, lines[0])
    for state, edges in enumerate(contents.edges()):
        for target, ranges in edges.items():
            others = difference(ranges, _NEWLINE)
            _add(rows.edges[within[state]], others, within[target])
            _add(rows.edges[lines[state]], others, within[target])
            if intersection(ranges, _NEWLINE):
                for one in (within[state], breaks[state]):
                    rows.edges[one] += [(_NEWLINE, breaks[target]), (_INDENTED, lines[target])]
        if accepting[state] and ends_in_break:
            rows.accepting[breaks[state]] = True
        elif accepting[state]:
            rows.edges[within[state]].append((_NEWLINE, end))


def indented(texts: ByteArrays, accepting: Bytes, columns: int) -> tuple[ByteArrays, Bytes]:
    """An automaton over the bytes of `in_lines` with so many blanks, two or more, behind each break of such a kind."""
    offset, low, high, target = (array.tolist() for array in texts)
    breaks = [[-1, -1] for _ in range(len(offset) - 1)]  # for each state where each kind of break leads
    others: list[list[tuple[int, int, tuple[int, ...]]]] = []
    for state, (begin, end) in enumerate(every(pairwise(offset))):
        others.append([])
        for edge in range(begin, end):
            if low[edge] in _BREAKS:
                breaks[state][_BREAKS.index(low[edge])] = target[edge]
            else:
                others[-1].append((low[edge], high[edge], (target[edge],)))
    # A state is one of before; or one behind a break: what goes on if another break follows, and if blanks do, and how
    # many of these have come.
    states: Numbering[tuple[int, ...]] = Numbering((0,))
    rows: list[tuple[int, int, int]] = []
    starts, accepts = [0], []
    for place in every(states):
        edges: list[tuple[int, int, tuple[int, ...]]]
        if len(place) == 1:
            rest, edges = place[0], list(others[place[0]])
            accepts.append(False)
        else:
            rest, line, blanks = place
            edges = []
            if line >= 0:
                edges.append((32, 32, (-1, line, blanks + 1) if blanks + 1 < columns else (line,)))
            accepts.append(rest >= 0 and accepting[rest] != 0)
        if rest >= 0 and breaks[rest] != [-1, -1]:
            edges.append((10, 10, (*breaks[rest], 0)))
        rows += [(first, last, states[after]) for first, last, after in sorted(edges)]
        starts.append(len(rows))
    lows, highs, targets = (np.array(column) for column in zip(*rows, strict=True))
    arrays = np.array(starts, np.int32), lows.astype(np.uint8), highs.astype(np.uint8), targets.astype(np.int32)
    return arrays, np.array(accepts, np.uint8)
