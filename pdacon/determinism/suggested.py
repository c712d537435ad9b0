"""Patterns that a repair suggests: as a line that can be pasted, and read back as Lark reads it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pdacon.grammar import Grammar

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pdacon.grammar import Terminal

_BLANKS = {" ": r"\x20", "\t": r"\t", "\n": r"\n", "\r": r"\r", "\f": r"\f", "\v": r"\v"}
_TO_ESCAPE = re.compile(r"(\\[^ \t\n\r\f\v])|\\?([ \t\n\r\f\v])|/")


def written(value: str, flags: Iterable[str]) -> str:
    """A pattern with its slashes and flags, without blanks: the line may be wrapped at them."""
    return f"/{_TO_ESCAPE.sub(_escaped, value)}/{''.join(sorted(flags))}"


def _escaped(match: re.Match[str]) -> str:
    return match.group(1) or _BLANKS.get(match.group(2), r"\/")


def definition(terminal: Terminal, pattern: str) -> str:
    """What to write so that the terminal has another pattern."""
    if terminal.literal is not None:
        return f"{pattern} instead of {terminal.literal}"
    priority = f".{terminal.priority}" if terminal.priority else ""
    return f"{terminal.name}{priority}: {pattern}"


def read(grammar: Grammar, pattern: str) -> Grammar:
    """A grammar of one terminal that a text may consist of, with the pattern and the options of another grammar.

    Raises
    ------
    GrammarError
        Lark does not take the pattern.
    """
    return Grammar.from_lark(
        f"start: T\nT: {pattern}\n",
        g_regex_flags=grammar.options.g_regex_flags,
        use_bytes=grammar.options.use_bytes,
    )
