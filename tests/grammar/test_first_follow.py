"""FIRST and FOLLOW, against their definition."""

from __future__ import annotations

from random import Random

import pytest

from pdacon.base.bit_sets import members
from pdacon.base.cancelling import Watch
from pdacon.errors import LimitExceededError
from pdacon.grammar.first_follow import Rule, first_sets, following


def begins(first: dict[int, set[int]], symbols: tuple[int, ...]) -> set[int]:
    """What symbols can begin with; -1: they can be empty."""
    found = {-1}
    for symbol in symbols:
        if -1 in found:
            found = (found - {-1}) | ({symbol} if symbol >= 0 else first.get(symbol, set()))
    return found


def by_definition(rules: list[Rule]) -> tuple[dict[int, set[int]], dict[int, set[int]]]:
    """FIRST, with -1 for the empty text, and FOLLOW: the clauses of the book until nothing changes."""
    first: dict[int, set[int]] = {~k: set() for k in range(4)}
    follow: dict[int, set[int]] = {symbol: set() for symbol in (*range(3), *first)}
    for _ in range(40):
        for lhs, side in rules:
            first[lhs] |= begins(first, side)
    for _ in range(40):
        for lhs, side in rules:
            for place, symbol in enumerate(side):
                behind = begins(first, side[place + 1 :])
                follow[symbol] |= behind - {-1}
                follow[symbol] |= follow[lhs] if -1 in behind else set()
    return first, follow


def some_rules(random: Random) -> list[Rule]:
    size = random.randint(1, 4)
    symbols = [*range(3), *(~k for k in range(size))]
    return [
        (~random.randrange(size), tuple(random.choices(symbols, k=random.choice((0, 1, 1, 2, 3)))))
        for _ in range(random.randint(1, 7))
    ]


def test_random_rules() -> None:
    random = Random(3)
    for _ in range(500):
        rules = some_rules(random)
        first, nullable = first_sets(rules)
        follow = following(rules)
        begun, behind = by_definition(rules)
        for symbol in {~k for k in range(4)}:
            assert set(members(first[symbol])) == begun[symbol] - {-1}, rules
            assert (symbol in nullable) == (-1 in begun[symbol]), rules
        for symbol, expected in behind.items():
            assert set(members(follow[symbol])) == expected, rules


@pytest.mark.parametrize("backwards", [False, True])
def test_a_long_chain(backwards: bool) -> None:
    """Each rule may be empty or go on with the next: 3,000 steps, not their square."""
    rules: list[Rule] = []
    for k in range(3_000):
        rules += [(~k, (~(k + 1),)), (~k, (k, ~(k + 1))), (~k, ())]
    first, nullable = first_sets(rules[::-1] if backwards else rules)
    assert list(members(first[~0])) == list(range(3_000))
    assert len(nullable) == 3_000
    assert {symbol for symbol, behind in following(rules).items() if behind} == {*range(2_999)}


def test_it_looks_at_the_clock() -> None:
    rules: list[Rule] = [(~k, (k, ~(k + 1))) for k in range(1_000)]
    with pytest.raises(LimitExceededError), Watch(1, clock=iter(range(10)).__next__):
        following(rules)
