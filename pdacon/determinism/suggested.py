"""Patterns that a repair suggests: as a line that can be pasted, and read back as Lark reads it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pdacon.grammar import Grammar

if TYPE_CHECKING:
    from collections.abc import Iterable


_BLANKS = {" ": r"\x20", "\t": r"\t", "\n": r"\n", "\r": r"\r", "\f": r"\f", "\v": r"\v"}
_TO_ESCAPE = re.compile(r"(\\[^ \t\n\r\f\v])|\\?([ \t\n\r\f\v])|/")


def written(value: str, flags: Iterable[str]) -> str:
    """A pattern with its slashes and flags, without blanks: the line may be wrapped at them."""
    return f"/{_TO_ESCAPE.sub(_escaped, value)}/{''.join(sorted(flags))}"


def _escaped(match: re.Match[str]) -> str:
    return match.group(1) or _BLANKS.get(match.group(2), r"\/")


def definition(grammar: Grammar, index: int, pattern: str, priority: int | None = None) -> str:
    """What to write so that a terminal has another pattern, and another priority where one is given."""
    terminal = grammar.terminals[index]
    above = terminal.priority if priority is None else priority
    level = f".{above}" if above else ""
    if terminal.literal is not None:
        return _of_literal(grammar, index, pattern, level)
    imported = next((one for one in grammar.imports if one.name == terminal.name), None)
    if imported is None:
        return f"{terminal.name}{level}: {pattern}"
    if imported.original is None:
        return f"%override {terminal.name}{level}: {pattern}"
    return f"{imported.original}{level}: {pattern} in {imported.definition.path}"


def _of_literal(grammar: Grammar, index: int, pattern: str, level: str) -> str:
    terminal = grammar.terminals[index]
    ignored = index in grammar.ignore
    if not level:
        return f"%ignore {pattern}" if ignored else f"{pattern} instead of {terminal.literal}"
    name = terminal.name
    if name.startswith("__"):  # Lark has no good one for it
        name = free_name(grammar, "IGNORED" if ignored else "NAME")
    if ignored:
        return f"{name}{level}: {pattern} with %ignore {name}"
    instead = f" with {name} instead of {terminal.literal} in the rules" if pattern != terminal.literal else ""
    return f"{name}{level}: {pattern}{instead}"


def free_name(grammar: Grammar, name: str) -> str:
    """A name that no terminal has."""
    taken = {terminal.name for terminal in grammar.terminals}
    return next(free for k in range(1, len(taken) + 2) if (free := name if k == 1 else f"{name}_{k}") not in taken)


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
