"""The parts of the product that takes guards away, on an automaton that is written by hand: ``(?<=a)b``."""

from __future__ import annotations

import pytest

from pdacon.errors import LimitExceededError
from pdacon.regular.ordered.guarded import BEHIND, MATCH_STATE, Guarded, distances_to_trackers, longest_matches
from pdacon.regular.ordered.guards import expand
from pdacon.regular.ordered.program import BYTES, MATCH
from pdacon.regular.ordered.threads import NOTHING, Threads
from pdacon.regular.ordered.trackers import Trackers, intervals

A, B = ord("a"), ord("b")
BODY, THEN, GUARD = 1, 2, 3
BEHIND_A = Guarded(
    kinds=[MATCH, BYTES, BYTES, BEHIND],
    edges=[(), ((A, A, MATCH_STATE),), ((B, B, MATCH_STATE),), ((0, 0, 0), (0, 0, THEN))],
    trackers=[BODY],
)


def parts(limit: int = 1000) -> tuple[Threads, Trackers]:
    threads = Threads(BEHIND_A, limit)
    return threads, Trackers(BEHIND_A, threads, limit)


def test_a_tracker_is_asked_where_its_guard_stands() -> None:
    assert distances_to_trackers(BEHIND_A) == [{}, {}, {}, {0: 0}]
    assert longest_matches(BEHIND_A) == [0, 1, 1, 1]


def test_two_things_can_lie_behind_a_lexeme() -> None:
    _, trackers = parts()
    states, step = trackers.reachable(GUARD)
    assert len(states) == 2
    for row in step:
        assert [byte for byte in range(256) if row[byte] == 1] == [A]
    assert [any(thread == (MATCH_STATE, NOTHING) for thread in state[0] or ()) for state in states] == [False, True]


def test_a_guard_is_passed_where_its_tracker_matches() -> None:
    threads, trackers = parts()
    (elsewhere, behind_a), _ = trackers.reachable(GUARD)
    assert threads.closure(GUARD, NOTHING, elsewhere) == []
    assert threads.closure(GUARD, NOTHING, behind_a) == [(THEN, NOTHING)]
    assert threads.move((THEN, NOTHING), B, behind_a) == [(MATCH_STATE, NOTHING)]
    assert threads.move((THEN, NOTHING), A, behind_a) == []


def test_what_lies_behind_is_forgotten_where_nothing_asks() -> None:
    _, trackers = parts()
    (_, behind_a), _ = trackers.reachable(GUARD)
    assert trackers.relevant(behind_a, (THEN, NOTHING)) == (None,)
    assert trackers.relevant(behind_a, (GUARD, NOTHING)) == behind_a


def test_the_program_has_an_entry_for_each() -> None:
    program = expand(BEHIND_A, GUARD, 1000)
    states = program.states()
    nothing, reads_b = (states[entry] for entry in program.entries.tolist())
    assert not nothing[1]
    ((low, high, target),) = reads_b[1]
    assert (low, high, states[target][0]) == (B, B, MATCH)
    assert program.look_behind[:, A].tolist() == [1, 1]


def test_states_are_limited() -> None:
    with pytest.raises(LimitExceededError):
        parts(limit=16)[1].reachable(GUARD)


def test_intervals_lie_between_boundaries() -> None:
    assert list(intervals([A, A + 1, 300])) == [(0, A - 1), (A, A), (A + 1, 255)]
