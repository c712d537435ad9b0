"""Symbols and productions in the author's words."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from pdacon.grammar.model import Grammar

_LONGEST = 80  # Repetitions nest; longer ones are shown as (...), so that a description stays one readable line.
_DEEPEST = 4


def describe_symbol(grammar: Grammar, symbol: int, depth: int = 0) -> str:
    """A name, a literal such as ``"{"``, or what a helper repeats, such as ``("," pair)+``."""
    if symbol < grammar.end:
        terminal = grammar.terminals[symbol]
        return terminal.literal or terminal.name
    name = grammar.symbol_name(symbol)
    if symbol == grammar.end or not grammar.nonterminals[symbol - grammar.end - 1].repeats:
        return name
    if depth == _DEEPEST:
        return "(...)"
    # x+ is x | helper x: what is repeated are the alternatives that do not begin with the helper itself.
    right_sides = [production.rhs for production in grammar.productions if production.lhs == symbol]
    bodies = [rhs for rhs in right_sides if symbol not in rhs]
    shown = " | ".join(_sequence(grammar, body, depth + 1) for body in bodies)
    if len(bodies) != 1 or len(bodies[0]) != 1:
        shown = f"({shown})"
    if len(shown) > _LONGEST:
        shown = "(...)"
    return shown if len(bodies) == len(right_sides) else f"{shown}+"


def describe_production(grammar: Grammar, production: int) -> str:
    """``lhs: rhs``, with ``-> alias`` where there is one; an empty right side is shown as nothing."""
    p = grammar.productions[production]
    body = _sequence(grammar, p.rhs, 0)
    alias = f" -> {p.alias}" if p.alias else ""
    return f"{describe_symbol(grammar, p.lhs)}:{' ' if body else ''}{body}{alias}"


def _sequence(grammar: Grammar, symbols: Iterable[int], depth: int) -> str:
    words = []
    for symbol, run in groupby(symbols):
        word, count = describe_symbol(grammar, symbol, depth), len(list(run))
        words.extend([f"{word}~{count}"] if count > 2 else [word] * count)
    return " ".join(words)
