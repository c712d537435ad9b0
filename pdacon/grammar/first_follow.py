"""FIRST and FOLLOW of productions, as sets of terminals. Sets are integers: bit k is terminal k.

Source: A. V. Aho, M. S. Lam, R. Sethi and J. D. Ullman, "Compilers: principles, techniques, and tools" (2006), 4.4.2;
the order in which inclusions are followed is that of J. Kam and J. Ullman, "Global data flow analysis and iterative
algorithms", Journal of the ACM 23(1), 1976: what is included comes first, so that without circles once is enough.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pdacon.base.cancelling import every
from pdacon.grammar.grammar_data import GrammarData

Side = tuple[int, ...]
"""Symbols; terminals count from 0, nonterminals are ``~k``."""
Rule = tuple[int, Side]
"""A nonterminal and a right side."""


def rule_of(grammar: GrammarData, lhs: int, rhs: Sequence[int]) -> Rule:
    """A production in the numbers of these rules; ``lhs`` and ``rhs`` are symbols of the grammar."""
    lhs, *side = (symbol if symbol <= grammar.end else grammar.end - symbol for symbol in (lhs, *rhs))
    return lhs, tuple(side)


def first_sets(rules: Iterable[Rule]) -> tuple[Mapping[int, int], set[int]]:
    """For each nonterminal the terminals that it may begin with; and the nonterminals that may be empty.

    Cost: linear in the rules for each round, of which there is one without circles, times the width of a set.
    """
    rules = list(rules)
    nullable = _nullable(rules)
    first: defaultdict[int, int] = defaultdict(int)
    included: defaultdict[int, list[int]] = defaultdict(list)
    for lhs, side in every(rules):
        for symbol in side:
            if symbol >= 0:
                first[lhs] |= 1 << symbol
                break
            included[lhs].append(symbol)
            if symbol not in nullable:
                break
    _include(first, included)
    return first, nullable


def following(rules: Sequence[Rule]) -> Mapping[int, int]:
    """For each symbol the terminals that may come after it: FOLLOW, as far as the rules say."""
    first, nullable = first_sets(rules)
    follow: defaultdict[int, int] = defaultdict(int)
    included: defaultdict[int, list[int]] = defaultdict(list)
    for lhs, side in every(rules):
        behind, may_end = 0, True
        for symbol in reversed(side):
            follow[symbol] |= behind
            if may_end:
                included[symbol].append(lhs)
            if symbol >= 0:
                behind, may_end = 1 << symbol, False
            elif symbol in nullable:
                behind |= first[symbol]
            else:
                behind, may_end = first[symbol], False
    _include(follow, included)
    return follow


def _nullable(rules: Sequence[Rule]) -> set[int]:
    users: defaultdict[int, list[int]] = defaultdict(list)
    missing = []
    for number, (_, side) in enumerate(every(rules)):
        textless = all(symbol < 0 for symbol in side)
        missing.append(len(side) if textless else -1)
        for symbol in side if textless else ():
            users[symbol].append(number)
    pending = [rules[number][0] for number, count in enumerate(missing) if count == 0]
    nullable: set[int] = set()
    for symbol in every(pending):  # grows
        if symbol in nullable:
            continue
        nullable.add(symbol)
        for number in users[symbol]:
            missing[number] -= 1
            if missing[number] == 0:
                pending.append(rules[number][0])
    return nullable


def _include(sets: defaultdict[int, int], included: Mapping[int, Sequence[int]]) -> None:
    """Make each set include those that it is to include."""
    order = list(_included_first(included))
    grows = True
    while grows:
        grows = False
        for symbol in every(order):
            before = sets[symbol]
            for other in included[symbol]:
                sets[symbol] |= sets[other]
            grows = grows or sets[symbol] != before


def _included_first(included: Mapping[int, Sequence[int]]) -> Iterator[int]:
    """The symbols in postorder of a depth-first search."""
    seen: set[int] = set()
    for root in included:
        path = [(root, iter(included[root]))] if root not in seen else []
        seen.add(root)
        while path:
            symbol, others = path[-1]
            following = next((other for other in others if other not in seen and other in included), None)
            if following is None:
                path.pop()
                yield symbol
            else:
                seen.add(following)
                path.append((following, iter(included[following])))
