"""How much memory a grammar takes.

In: a grammar. Out: bytes. It knows the kinds of objects that grammars are made of, and looks into no others, such as
the classes that a grammar of a Python type names.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from pdacon.errors import Span
from pdacon.grammar.flat import FlatProductions
from pdacon.grammar.grammar_data import GrammarData
from pdacon.grammar.labels import Label
from pdacon.grammar.model import (
    Definition,
    GrammarOptions,
    Import,
    Indentation,
    Island,
    Layout,
    Nonterminal,
    Pattern,
    Production,
    Terminal,
)
from pdacon.regular.records import Automaton, TextSet

_RECORDS = frozenset(
    (
        Automaton,
        Definition,
        FlatProductions,
        GrammarOptions,
        Import,
        Indentation,
        Island,
        Label,
        Layout,
        Nonterminal,
        Pattern,
        Production,
        Span,
        Terminal,
        TextSet,
    )
)
_ROWS = frozenset((tuple, list, frozenset, set))
_SINGLE = frozenset((str, bytes, int))


def held_bytes(grammar: GrammarData) -> int:
    """The bytes of the objects that a grammar is made of by now, each counted once.

    What several grammars share, such as the patterns of strings in JSON Schemas, counts for each of them.

    Cost: some 0.2 µs for each object: 0.1 ms for a schema, some milliseconds for a large grammar.
    """
    total = sys.getsizeof(grammar)
    seen: set[int] = set()
    left: list[Any] = [vars(grammar)]
    while left:
        one = left.pop()
        kind = type(one)
        if id(one) in seen:
            continue
        if kind in _SINGLE:
            pass
        elif kind in _RECORDS:
            left += [getattr(one, name) for name in kind.__slots__]
        elif kind in _ROWS:
            left += one
        elif kind is dict:
            left += one.keys()
            left += one.values()
        elif kind is np.ndarray:
            left.append(one.base)
        else:
            continue
        seen.add(id(one))
        total += sys.getsizeof(one)
    return total


def automaton_states(grammar: GrammarData) -> int:
    """How many states the automata have that its terminals came as."""
    patterns = [terminal.pattern for terminal in grammar.terminals if terminal.pattern is not None]
    return sum(len(pattern.automaton.kind) for pattern in patterns if pattern.automaton is not None)
