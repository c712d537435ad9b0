"""FIRST and FOLLOW of the terminals of productions.

Source: A. V. Aho, M. S. Lam, R. Sethi and J. D. Ullman, "Compilers: principles, techniques, and tools" (2006), 4.4.2.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

Side = tuple[int, ...]
"""Symbols; terminals count from 0, nonterminals are ``~k``."""
Rule = tuple[int, Side]
"""A nonterminal and a right side."""


def first_sets(rules: Iterable[Rule]) -> tuple[dict[int, set[int]], set[int]]:
    """For each nonterminal the terminals that it may begin with; and the nonterminals that may be empty."""
    rules = list(rules)
    nullable: set[int] = set()
    first: dict[int, set[int]] = {}
    changed = True
    while changed:
        changed = False
        for lhs, side in rules:
            begun = first.setdefault(lhs, set())
            known = len(begun), lhs in nullable
            begun |= _first_of(side, first, nullable)
            if nullable.issuperset(side):
                nullable.add(lhs)
            changed |= known != (len(begun), lhs in nullable)
    return first, nullable


def following(rules: Sequence[Rule]) -> Mapping[int, set[int]]:
    """For each nonterminal the terminals that may come after it: FOLLOW, as far as the rules say."""
    first, nullable = first_sets(rules)
    follow: defaultdict[int, set[int]] = defaultdict(set)
    changed = True
    while changed:
        changed = False
        for lhs, side in rules:
            for place, symbol in enumerate(side):
                if symbol >= 0:
                    continue
                rest = side[place + 1 :]
                known_size = len(follow[symbol])
                follow[symbol] |= _first_of(rest, first, nullable)
                if nullable.issuperset(rest):
                    follow[symbol] |= follow[lhs]
                changed |= known_size != len(follow[symbol])
    return follow


def _first_of(side: Side, first: Mapping[int, set[int]], nullable: set[int]) -> set[int]:
    found: set[int] = set()
    for symbol in side:
        found |= {symbol} if symbol >= 0 else first.get(symbol, set())
        if symbol not in nullable:
            break
    return found
