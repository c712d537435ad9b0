"""Priorities that a repair suggests: how to write them down, and what they would cost."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pdacon.determinism.matching_texts import Run
from pdacon.lexer import compile_terminal

if TYPE_CHECKING:
    from pdacon.determinism.matching_texts import Threads
    from pdacon.grammar import Grammar, Terminal

_MOST_STATES = 12  # of the pattern, behind the text
_BYTES = [*b"0aA. _-", *range(0x21, 0x7F), 0x0A, 0x09]
"""What to try behind a text, what is good to read first."""


def with_priority(grammar: Grammar, index: int, priority: int) -> str:
    """A definition with a priority; what has no name gets one that is free, which the author may change."""
    terminal = grammar.terminals[index]
    if terminal.literal is None:
        return f"{terminal.name}.{priority}: ..."
    if index in grammar.ignore:
        name = free_name(grammar, "IGNORED")
        return f"{name}.{priority}: {terminal.literal} with %ignore {name}"
    return f"{free_name(grammar, 'NAME')}.{priority}: {terminal.literal}"


def free_name(grammar: Grammar, name: str) -> str:
    taken = {terminal.name for terminal in grammar.terminals}
    return next(free for k in range(1, len(taken) + 2) if (free := name if k == 1 else f"{name}_{k}") not in taken)


def text_cut_short(grammar: Grammar, raised: Terminal, other: Terminal, begun: bytes) -> tuple[bytes, int] | None:
    """A text of ``other`` that goes on behind ``begun`` and of which ``raised``, tried first, would take a part.

    Returns
    -------
    (bytes, int) or None
        The text, and how much of it would be taken; None if none was found soon.
    """
    options = grammar.options
    assert raised.pattern is not None
    assert other.pattern is not None
    first, second = (re.compile(t.pattern.regexp, options.g_regex_flags) for t in (raised, other) if t.pattern)
    run = Run(compile_terminal(grammar, other))
    threads = run.start
    for byte in begun:
        threads, _ = run.step(threads, byte)
    pending: list[tuple[Threads, bytes]] = [(threads, begun)]
    seen = {threads}
    for at, so_far in pending:  # grows
        for byte in _BYTES:
            after, ends = run.step(at, byte)
            text = so_far + bytes([byte])
            if ends:
                shown = text.decode(options.encoding)
                taken, whole = first.match(shown), second.fullmatch(shown)
                if taken is not None and whole is not None and 0 < taken.end() < len(shown):
                    return text, len(shown[: taken.end()].encode(options.encoding))
            if after not in seen and len(pending) < _MOST_STATES:
                seen.add(after)
                pending.append((after, text))
    return None
