"""Names, numbers and patterns in lines that fit a box."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from pdacon.grammar import Grammar, Terminal

WIDEST = 72
"""Characters of a line before it is broken."""

_CUT = 100  # characters of a line that cannot be broken
_MOST_NUMBERS = 16


def grammar_name(grammar: Grammar) -> str:
    """The file's name, without where it is."""
    return (grammar.source_path or "grammar").replace("\\", "/").rpartition("/")[2]


def pattern(terminal: Terminal) -> str:
    """What a terminal matches, between slashes or quotation marks, cut where it is long."""
    if terminal.pattern is None:
        return ""
    sign = '"' if terminal.pattern.kind == "str" else "/"
    text = f"{sign}{terminal.pattern.value}{sign}{''.join(sorted(terminal.pattern.flags))}"
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 4]} ..."


def wrapped(head: str, words: Sequence[str], widest: int = WIDEST) -> list[str]:
    """The words behind the head, in lines."""
    lines = [head]
    for word in words:
        if len(lines[-1]) + len(word) + 1 > widest:
            lines.append(f"    {word}")
        else:
            lines[-1] += f" {word}"
    return lines


def shortened(text: str) -> str:
    """A line that is not too long."""
    return text if len(text) <= _CUT else f"{text[: _CUT - 4]} ..."


def numbers(states: Sequence[int]) -> str:
    """Some states by number, and how many more there are."""
    more = f" and {len(states) - _MOST_NUMBERS} more" if len(states) > _MOST_NUMBERS else ""
    return f"{', '.join(map(str, states[:_MOST_NUMBERS]))}{more}"


def suggestion(name: str, known: Sequence[str]) -> str:
    """What may have been meant by a name that is not known."""
    near = get_close_matches(name, known, n=3, cutoff=0.6) or get_close_matches(name.upper(), known, n=3, cutoff=0.6)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return f"there are: {', '.join(known[:12])}{', ...' if len(known) > 12 else ''}"
