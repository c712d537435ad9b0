"""What a newline that ends lines must not be."""

from __future__ import annotations

from dataclasses import replace

from pdacon.errors import UnsupportedGrammarError
from pdacon.grammar import GrammarData
from pdacon.lexer.terminals import compile_terminal
from pdacon.regular.ordered.program import BYTES, MATCH, SPLIT

_BEFORE, _BEGUN, _INDENTED = range(3)
"""Where the last line of a newline is: it has none, it begins, or it has a blank."""


def check_newline(grammar: GrammarData) -> None:
    """Make sure that the column of the layout's newline is known where it ends.

    After a look-ahead several ends can wait at once, each with a column of its own; the automaton keeps one.

    Raises
    ------
    UnsupportedGrammarError
        The span is the newline's.
    """
    if grammar.layout is None:
        return
    terminal = grammar.terminals[grammar.layout.newline]
    if not set(compile_terminal(grammar, terminal).kind.tolist()) <= {BYTES, SPLIT, MATCH}:
        raise UnsupportedGrammarError(
            f"{terminal.name} ends lines, but what follows decides whether it matches, so that its column is not known "
            "where it ends",
            terminal.span,
            "postlex",
            "leave the look-ahead at its end out",
        )


def may_indent(grammar: GrammarData) -> bool:
    """Whether some text that the layout's newline denotes has a blank after its last line break.

    What the newline denotes, not what the lexer makes of it: where this says no, no line is ever indented.
    """
    assert grammar.layout is not None
    terminal = grammar.terminals[grammar.layout.newline]
    assert terminal.pattern is not None
    program = compile_terminal(grammar, replace(terminal, pattern=terminal.pattern.unescaped))
    states = program.states()
    pending = [(entry, _BEFORE) for entry in program.entries.tolist()]
    seen = set(pending)
    for state, place in pending:
        kind, edges = states[state]
        if kind == MATCH and place == _INDENTED:
            return True
        for low, high, target in edges:
            following = {place} if kind == SPLIT else _places_after(place, low, high)
            new = {(target, after) for after in following} - seen
            seen |= new
            pending += new
    return False


def _places_after(place: int, low: int, high: int) -> set[int]:
    found = set()
    if low <= ord("\n") <= high:
        found.add(_BEGUN)
    if place != _BEFORE and (low <= ord(" ") <= high or low <= ord("\t") <= high):
        found.add(_INDENTED)
    if low != high or low not in b"\n\t ":
        found.add(place)
    return found
