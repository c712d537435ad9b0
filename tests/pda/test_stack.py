"""The parser's stack beside tuples, which mean the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdacon.pda import Stack

_PUSHES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=12)


def _stacks(pushes: list[tuple[int, int]]) -> tuple[Stack, tuple[int, ...]]:
    """The start state, and then for each pair so many pops, as far as there is something to pop, and a push."""
    stack, states = Stack(0), (0,)
    for pops, state in pushes:
        count = min(pops, len(states) - 1)
        stack, states = stack.pop(count).push(state), (*states[: len(states) - count], state)
    return stack, states


@given(_PUSHES, _PUSHES)
def test_stacks_are_compared_by_their_states(first: list[tuple[int, int]], second: list[tuple[int, int]]) -> None:
    (one, states_of_one), (two, states_of_two) = _stacks(first), _stacks(second)
    assert tuple(one) == states_of_one
    assert (one.state, len(one)) == (states_of_one[-1], len(states_of_one))
    assert (one == two) == (states_of_one == states_of_two)
    assert one != two or hash(one) == hash(two)


@pytest.mark.slow
def test_deep_stacks_are_no_deep_recursion() -> None:
    one = two = Stack(0)
    for _ in range(100_000):
        one, two = one.push(1), two.push(1)
    assert one == two
    assert len({one, two, one.push(1)}) == 2
    assert list(one)[:2] == [0, 1]
    del one, two
