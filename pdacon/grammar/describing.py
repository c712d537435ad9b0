"""Symbols and productions in the author's words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby

from pdacon.grammar.model import AnyGrammar, GrammarData

_LONGEST = 80  # Repetitions nest; longer ones are shown as (...), so that a description stays one readable line.
_DEEPEST = 4
_NAME = re.compile(r"\w+")  # in the name of a template's use there are several


def describe_symbol(grammar: GrammarData, symbol: int, depth: int = 0) -> str:
    """A name, a literal such as ``"{"``, or what a helper repeats, such as ``("," pair)+``."""
    if symbol < grammar.end:
        terminal = grammar.terminals[symbol]
        return terminal.literal or describe_name(grammar, terminal.name)
    name = describe_name(grammar, grammar.symbol_name(symbol))
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


def describe_name(grammar: GrammarData, name: str) -> str:
    """A name as its author writes it; of what an import brings along, the name that it has in its file.

    With the path before it, as in ``%import``, where that name stands for something else too.
    """
    names = grammar.names_in_imported_files
    return _NAME.sub(lambda match: names.get(match.group(), match.group()), name) if names else name


def as_written_in(grammar: AnyGrammar, path: str | None) -> AnyGrammar:
    """The same grammar, described in the names that an imported file has for what it defines itself.

    ``%import .lib.expr -> e`` gives ``expr`` another name here; what is to be written in the file has to use its own.
    """
    text = dict(grammar.imported_files).get(path or "")
    if text is None:
        return grammar
    lines = text.split("\n")
    own = {
        one.name: lines[one.definition.line - 1][one.definition.column - 1 : one.definition.end_column - 1]
        for one in grammar.imports
        if one.definition.path == path
    }
    view = replace(grammar)
    view.__dict__["names_in_imported_files"] = {**grammar.names_in_imported_files, **own}
    return view


def describe_production(grammar: GrammarData, production: int) -> str:
    """``lhs: rhs``, with ``-> alias`` where there is one; an empty right side is shown as nothing."""
    p = grammar.productions[production]
    body = _sequence(grammar, p.rhs, 0)
    alias = f" -> {p.alias}" if p.alias else ""
    return f"{describe_symbol(grammar, p.lhs)}:{' ' if body else ''}{body}{alias}"


def _sequence(grammar: GrammarData, symbols: Iterable[int], depth: int) -> str:
    words = []
    for symbol, run in groupby(symbols):
        word, count = describe_symbol(grammar, symbol, depth), len(list(run))
        words.extend([f"{word}~{count}"] if count > 2 else [word] * count)
    return " ".join(words)
