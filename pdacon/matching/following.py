"""Which of the terminals that the parser takes here can begin here, if a sentence is to come of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

from pdacon.lexer import ANY_SIZE, compile_terminal
from pdacon.matching.lexemes import first_bytes
from pdacon.pda import Configuration, Expectation, expect


def expect_viable(place: Configuration, is_viable: Callable[[int], bool]) -> Expectation:
    """`pdacon.pda.expect` without the terminals none of which's first bytes may come next.

    Parameters
    ----------
    place : Configuration
    is_viable : callable
        Whether some sentence goes on with a byte.

    Returns
    -------
    Expectation
        Where a lexeme has been begun, a terminal is among ``next`` only if one of those bytes begins a new lexeme.

    Notes
    -----
    Cost: at most one step of the configuration for each of the 256 bytes. What follows the first byte is not asked, so
    that a terminal may be left over of whose lexemes no one is viable, though another lexeme begins like them.
    """
    grammar = place.machine.grammar
    expected = expect(place)

    @cache
    def begins_a_lexeme(byte: int) -> bool:
        if not is_viable(byte):
            return False
        after = place.step(byte)
        return after is not None and any(alternative.length <= 1 for alternative in after.alternatives())

    def begins(terminal: int) -> bool:
        record = grammar.terminals[terminal]
        if record.pattern is None:
            return False
        return any(map(begins_a_lexeme, first_bytes(compile_terminal(grammar, record, ANY_SIZE))))

    return replace(expected, next=tuple(filter(begins, expected.next)))
