"""Strings -> the texts that YAML writes them in: plain, in single or double quotes, or in lines of their own.

In: automata over code points, of strings. Out: automata over code points, of texts up to the end of their line. Texts
are those that readers of YAML 1.1 and of YAML 1.2 take for the same string: what looks like a number, a boolean, a
null, a date or a merge key to either of them is quoted, and what either of them takes for the end of a line is escaped.

Source: YAML 1.2.2, chapters 5 to 8 and 10.3; https://yaml.org/type/ for the types of YAML 1.1.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

from pdacon.base.cancelling import every
from pdacon.base.limits import Limits
from pdacon.regular import Dfa, Languages, Ranges, combined, parse_pattern
from pdacon.regular.characters import difference, intersection, union
from pdacon.regular.operations import of_ranges

Edges: TypeAlias = list[tuple[Ranges, int]]

STATES = 200_000
"""Most states of an automaton over the characters of texts."""
_LIMITS = Limits(states=STATES, bytes=256 << 20)
_MOST_OF_LINES = 20_000  # states of a string in lines of its own; larger ones are quoted only

_PRINTABLE: Ranges = (
    (0x20, 0x7E), (0xA0, 0x2027), (0x202A, 0xD7FF), (0xE000, 0xFEFE), (0xFF00, 0xFFFD), (0x10000, 0x10FFFF),
)  # fmt: skip
"""What stands for itself in quotes: no control characters, no ends of lines of YAML 1.1, no byte order mark."""
_TAB: Ranges = ((0x09, 0x09),)
_NEWLINE: Ranges = ((0x0A, 0x0A),)
_BLANK: Ranges = ((0x20, 0x20),)
_QUOTE, _DOUBLE_QUOTE, _BACKSLASH, _COLON = (((ord(sign), ord(sign)),) for sign in "'\"\\:")
_IN_SINGLE = difference(_PRINTABLE, _QUOTE)
_IN_DOUBLE = difference(_PRINTABLE, union(_DOUBLE_QUOTE, _BACKSLASH))

_SHORT = {
    0x00: "0", 0x07: "a", 0x08: "b", 0x09: "t", 0x0A: "n", 0x0B: "v", 0x0C: "f", 0x0D: "r", 0x1B: "e", 0x22: '"',
    0x5C: "\\", 0x85: "N", 0x2028: "L", 0x2029: "P",
}  # fmt: skip
_ESCAPED = (*range(0x20), 0x22, 0x5C, *range(0x7F, 0xA0), 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF)
"""The characters that have escapes in double quotes; the others stand for themselves."""


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
    r"[-+]?0b[01_]+|[-+]?0o?[0-7_]+|[-+]?[0-9][0-9_]*|[-+]?_[0-9_]*|[-+]?0x[0-9a-fA-F_]+",
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


def on_one_line(contents: Dfa, ending: str, *, quoted: bool = True) -> Dfa:
    """Plain and quoted texts of the strings that an automaton accepts, with what stands after each.

    ``quoted``: whether those that may be plain are written in quotes, too.

    Raises LimitExceededError.
    """
    rows = Rows()
    start, end = rows.state(), rows.state(accepts=True)
    plain = both(contents, plain_strings())
    if not quoted:
        contents = combined([contents, plain_strings()], [(1, 0, 1), (0, 2, 0)], STATES)
    _write_plain(rows, start, plain, ending, end)
    _write_quoted(rows, start, contents, ending, end)
    return rows.automaton()


def _write_plain(rows: Rows, start: int, contents: Dfa, ending: str, end: int) -> None:
    """The strings as they are."""
    own = [start, *rows.states(len(contents) - 1)] if len(contents) else []
    for state, edges, accepts in zip(own, contents.edges(), contents.accepting(), strict=True):
        rows.edges[state] += [(ranges, own[target]) for target, ranges in edges.items()]
        if accepts:
            rows.word(state, ending, end)


def _write_quoted(rows: Rows, start: int, contents: Dfa, ending: str, end: int) -> None:
    """The strings in quotes of both kinds."""
    if not len(contents):
        return
    single, double, closed = rows.states(len(contents)), rows.states(len(contents)), rows.state()
    rows.word(closed, ending, end)
    rows.edges[start] += [(_QUOTE, single[0]), (_DOUBLE_QUOTE, double[0])]
    escapes = _Escapes(rows, double)
    for one, other, edges, accepts in zip(single, double, contents.edges(), contents.accepting(), strict=True):
        for target, ranges in edges.items():
            _add(rows.edges[one], intersection(ranges, _IN_SINGLE), single[target])
            if intersection(ranges, _QUOTE):
                rows.word(one, "''", single[target])
            _add(rows.edges[other], intersection(ranges, _IN_DOUBLE), double[target])
        _add(rows.edges[other], _BACKSLASH, escapes.after_backslash(edges))
        if accepts:
            rows.edges[one].append((_QUOTE, closed))
            rows.edges[other].append((_DOUBLE_QUOTE, closed))


def _add(edges: Edges, ranges: Ranges, target: int | None) -> None:
    if ranges and target is not None:
        edges.append((ranges, target))


_Spelled: TypeAlias = tuple[tuple[tuple[str, ...], int], ...]
"""What may stand behind a backslash, sign by sign, each with all its cases; and the state behind it."""


class _Escapes:
    """What stands behind a backslash, by where the characters lead that have escapes; shared where that is the same."""

    def __init__(self, rows: Rows, states: list[int]) -> None:
        self._rows, self._states = rows, states
        self._shared: dict[_Spelled, int] = {}

    def after_backslash(self, edges: dict[int, Ranges]) -> int | None:
        """The state after the backslash; None if no character of an escape may come."""
        spelled = [
            (signs, self._states[target])
            for target, ranges in edges.items()
            for point in _ESCAPED
            if any(first <= point <= last for first, last in ranges)
            for signs in _spellings(point)
        ]
        return self._node(tuple(spelled)) if spelled else None

    def _node(self, spelled: _Spelled) -> int:
        known = self._shared.get(spelled)
        if known is not None:
            return known
        node = self._shared[spelled] = self._rows.state()
        behind: dict[str, list[tuple[tuple[str, ...], int]]] = {}
        for (sign, *rest), target in spelled:
            behind.setdefault(sign, []).append((tuple(rest), target))
        for sign, rests in behind.items():
            after = self._node(tuple(rests)) if rests[0][0] else rests[0][1]
            self._rows.edges[node].append((union(*(((ord(case), ord(case)),) for case in sign)), after))
        return node


@lru_cache(maxsize=256)
def _spellings(point: int) -> tuple[tuple[str, ...], ...]:
    """The escapes of a character, without the backslash; digits have two cases."""
    short = ((_SHORT[point],),) if point in _SHORT else ()
    if point in (0x22, 0x5C):
        return short
    digits = tuple(digit if digit.isdigit() else digit + digit.upper() for digit in f"{point:04x}")
    of_byte = (("x", *digits[2:]),) if point < 0x100 else ()
    return (*short, *of_byte, ("u", *digits))


def in_lines(contents: Dfa, columns: int) -> Dfa | None:
    """The texts, in lines of their own that are indented by so many blanks, of the strings that an automaton accepts.

    They begin with ``|`` where a line break ends the string, and with ``|-`` where none does. None if there are none,
    or too many states of them.
    """
    rows = Rows()
    start = rows.state()
    has_any = False
    for header, pattern in (("|\n", f"{_LINES}\\n"), ("|-\n", _LINES)):
        some = both(contents, texts_matching(pattern))
        if len(some) * (columns + 2) > _MOST_OF_LINES:
            return None
        if len(some):
            has_any = True
            _write_lines(rows, start, header, some, columns, ends_in_break=header == "|\n")
    return rows.automaton() if has_any else None


def _write_lines(rows: Rows, start: int, header: str, contents: Dfa, columns: int, *, ends_in_break: bool) -> None:
    """The strings in lines; behind each line break stand the blanks of the next line, unless that is empty."""
    within, edges, accepting = rows.states(len(contents)), list(contents.edges()), contents.accepting()
    end = rows.state(accepts=True)
    lines: dict[int, int] = {}  # by the state after a line break: where the next line begins

    def next_line(state: int) -> int:
        if state not in lines:
            blanks = rows.states(columns)
            lines[state] = blanks[0]
            rows.accepting[blanks[0]] = ends_in_break and accepting[state]
            for one, after in zip(blanks, [*blanks[1:], within[state]], strict=True):
                rows.edges[one].append((_BLANK, after))
            if (after_break := _after_break(edges[state])) is not None:
                rows.edges[blanks[0]].append((_NEWLINE, next_line(after_break)))
        return lines[state]

    rows.word(start, header, next_line(0))
    for state, own in enumerate(edges):
        for target, ranges in own.items():
            _add(rows.edges[within[state]], difference(ranges, _NEWLINE), within[target])
        if (after_break := _after_break(own)) is not None:
            rows.edges[within[state]].append((_NEWLINE, next_line(after_break)))
        if accepting[state] and not ends_in_break:
            rows.edges[within[state]].append((_NEWLINE, end))


def _after_break(edges: dict[int, Ranges]) -> int | None:
    """The state that a line break leads to."""
    return next((target for target, ranges in edges.items() if intersection(ranges, _NEWLINE)), None)
