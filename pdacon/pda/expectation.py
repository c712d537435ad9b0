"""Which terminals a configuration is waiting for, for people to read.

In: a `Configuration`. Out: the terminals that its lexeme can still become, and those that can come next.
"""

from __future__ import annotations

from dataclasses import dataclass

from pdacon.pda.configuration import Configuration


@dataclass(frozen=True, slots=True)
class Expectation:
    """Terminals by what they are to the text so far, ids in the order in which the lexer tries them.

    Notes
    -----
    The parser takes each of them here. Whether every one leads on to a sentence is not asked: see `Matcher` for what
    does.
    """

    # Terminals that the bytes read last may still become, or become more of. Empty between two lexemes.
    unfinished: tuple[int, ...]
    # Terminals that may begin right here: between two lexemes, or after a lexeme that may end here.
    next: tuple[int, ...]
    end: bool  # Whether the text may end here


def expect(configuration: Configuration) -> Expectation:
    """What may come after the text of a configuration. Cost: one reduce chain for each terminal that is looked for."""
    unfinished: dict[int, None] = {}
    begin: dict[int, None] = {}
    for alternative in configuration.alternatives():
        group = begin if alternative.fresh else unfinished
        for terminal, _ in (*alternative.reading, *alternative.keyword_threads):
            if alternative.takes(terminal):
                group[terminal] = None
    return Expectation(tuple(unfinished), tuple(begin), configuration.ends())
