"""Terminals -> ordered byte automata: their patterns, as the options of the grammar have them read."""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np

from pdacon.errors import UnsupportedGrammarError
from pdacon.grammar import GrammarData, Pattern, Terminal
from pdacon.regular.ordered import sre
from pdacon.regular.ordered.patterns import STATES_LIMIT, compile_pattern
from pdacon.regular.ordered.program import BYTES, MATCH, Program, from_automaton

_MAYBE_NUMBERED = re.compile(r"\\[1-9]|\(\?\([0-9]")


def compile_terminal(grammar: GrammarData, terminal: Terminal, limit: int = STATES_LIMIT) -> Program:
    """Lower the pattern of a terminal that has one, as the grammar's options have it read; see `compile_pattern`."""
    options = grammar.options
    if terminal.pattern is None:
        raise ValueError(f"{terminal.name} has no pattern")
    if terminal.pattern.automaton is not None:
        return from_automaton(terminal.pattern.automaton)
    regexp = terminal.pattern.regexp
    literal = one_text(grammar, terminal.pattern)
    if literal is not None and 0 < len(literal) < limit:
        return _literal(literal)
    numbered = {"numbered_backreference", "numbered_conditional_group"}
    found = sre.first_of(numbered, regexp, options.g_regex_flags) if _MAYBE_NUMBERED.search(regexp) else None
    if found is not None:
        _, text, column = found
        raise UnsupportedGrammarError(
            f"{text} at column {column} of the pattern {sre.quoted(regexp)}: Lark's lexer counts the "
            "groups of all terminals, so that it means another group, or none",
            feature="group-numbers",
            advice="name the group, (?P<q>...), and write (?P=q) or (?(q)...)",
        )
    return compile_pattern(
        regexp, options.g_regex_flags, limit, use_bytes=options.use_bytes, labels=bool(grammar.labels)
    )


def one_text(grammar: GrammarData, pattern: Pattern) -> bytes | None:
    """The bytes that a pattern stands for, if it is a string and no flag makes it match others."""
    if pattern.kind != "str" or pattern.flags or grammar.options.g_regex_flags:
        return None
    try:
        return pattern.value.encode(grammar.options.encoding)
    except UnicodeEncodeError:
        return None  # for the general way to say


@lru_cache(maxsize=4096)
def _literal(text: bytes) -> Program:
    """What the general way makes of a text that stands for itself."""
    letters = np.frombuffer(text, np.uint8)
    steps = np.arange(len(text) + 1, dtype=np.int32)
    return Program(
        kind=np.append(np.full(len(text), BYTES, np.uint8), np.uint8(MATCH)),
        offset=np.append(steps, steps[-1:]),
        lo=letters,
        hi=letters,
        target=steps[1:],
        entries=np.zeros(1, np.int32),
        look_behind=np.zeros((1, 256), np.int32),
    )
