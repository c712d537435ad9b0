"""Draws what a page asks for: the rules, a terminal's automaton, the parser at a place.

In: a grammar or a constraint, and what is to be drawn. Out: the text of an SVG.
"""

from __future__ import annotations

from pdacon import Constraint, Grammar
from pdacon.drawing import draw_state, stack_after
from pdacon.lalr import build_tables
from pdacon.playground.sources import WrongRequest


def draw_grammar(grammar: Grammar, kind: str, name: str) -> str:
    """The rules, all or one of them, or a terminal's automaton.

    Raises WrongRequest, or DrawingError: there is no such rule or terminal.
    """
    if kind == "rules":
        return grammar.draw(*([name] if name else []))
    if kind == "automaton":
        return grammar.draw(name)
    raise WrongRequest("kind: expected rules, automaton, parser or conflict")


def draw_parser(constraint: Constraint, text: str) -> str:
    """The LR state after a text, or after as much of it as is the beginning of a sentence.

    Raises PdaconError: it cannot be drawn.
    """
    given = text.encode("utf-8", "surrogatepass")
    viable = given[: constraint.matcher().explain(given, lexemes=0).viable]
    grammar = constraint.grammar.data
    tables = build_tables(grammar)
    stack = stack_after(grammar, tables, viable)
    return draw_state(grammar, tables, stack[-1], stack=stack)


def terminals_of(grammar: Grammar) -> list[str]:
    """The terminals that can be drawn, by their names; after these the literals in the rules."""
    terminals = (terminal for terminal in grammar.data.terminals if terminal.pattern is not None)
    names = {terminal.literal or terminal.name for terminal in terminals}
    return sorted(names, key=lambda name: (not name[:1].isalpha() and name[:1] != "_", name))
