"""What stock Lark does with a text, step by step: the lexemes it hands over, the rules that it reduces."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import lark
from lark.parsers.lalr_analysis import Shift


@dataclass
class Trace:
    """How far Lark got.

    Attributes
    ----------
    types
        The terminals that the lexer handed over, those that the parser then refused included.
    shifted
        How many of them the parser took.
    reduced
        The rules that it reduced: origin, and the names of the expansion.
    accepted
        Whether the text is a sentence.
    """

    types: list[str] = field(default_factory=list)
    shifted: int = 0
    reduced: set[tuple[str, tuple[str, ...]]] = field(default_factory=set)
    accepted: bool = False


def trace(parser: lark.Lark, text: str | bytes, start: str, most_steps: int = 2_000) -> Trace:
    """Parse a text as ``parser.parse`` does, with its tables and its lexer, and write down what happens."""
    found = Trace()
    interactive: Any = parser.parse_interactive(text, start)
    state = interactive.parser_state
    try:
        for token in interactive.lexer_thread.lex(state):
            found.types.append(token.type)
            if not _feed(state, token.type, found, most_steps):
                return found
            found.shifted += 1
        found.accepted = _feed(state, "$END", found, most_steps)
    except Exception:  # Whatever Lark raises, or its Indenter, this is as far as it gets.
        return found
    return found


def _feed(state: Any, name: str, found: Trace, most_steps: int) -> bool:
    stack, states, end = state.state_stack, state.parse_conf.states, state.parse_conf.end_state
    for _ in range(most_steps):
        if name not in states[stack[-1]]:
            return False
        action, argument = states[stack[-1]][name]
        if action is Shift:
            stack.append(argument)
            return True
        found.reduced.add((argument.origin.name, tuple(symbol.name for symbol in argument.expansion)))
        if argument.expansion:
            del stack[-len(argument.expansion) :]
        stack.append(states[stack[-1]][argument.origin.name][1])
        if name == "$END" and stack[-1] == end:
            return True
    return False
