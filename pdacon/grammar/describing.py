"""Symbols and productions in the author's words."""

from __future__ import annotations

from pdacon.grammar.model import Grammar

_DEPTH = 3  # Repetitions nest; deeper ones are shown by name, so that a description stays one readable line.


def describe_symbol(grammar: Grammar, symbol: int, depth: int = 0) -> str:
    """A name, a literal such as ``"{"``, or what a helper repeats, such as ``("," pair)+``."""
    if symbol < grammar.end:
        terminal = grammar.terminals[symbol]
        return terminal.literal or terminal.name
    name = grammar.symbol_name(symbol)
    if symbol == grammar.end or not grammar.nonterminals[symbol - grammar.end - 1].repeats:
        return name
    if depth >= _DEPTH:
        return "(...)"
    # x+ is x | helper x: what is repeated are the alternatives that do not begin with the helper itself.
    bodies = [p.rhs for p in grammar.productions if p.lhs == symbol and symbol not in p.rhs]
    shown = " | ".join(" ".join(describe_symbol(grammar, s, depth + 1) for s in body) for body in bodies)
    recursive = any(p.lhs == symbol and symbol in p.rhs for p in grammar.productions)
    single = len(bodies) == 1 and len(bodies[0]) == 1
    return (shown if single else f"({shown})") + ("+" if recursive else "")


def describe_production(grammar: Grammar, production: int) -> str:
    """``lhs: rhs``, with ``-> alias`` where there is one; an empty right side is shown as nothing."""
    p = grammar.productions[production]
    body = " ".join(describe_symbol(grammar, symbol) for symbol in p.rhs)
    alias = f" -> {p.alias}" if p.alias else ""
    return f"{describe_symbol(grammar, p.lhs)}:{' ' if body else ''}{body}{alias}"
