"""What the core is given of terminals: contexts by the action table, programs as bytes, and what is refused."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from pdacon._native import _core

ACTION = np.array([[2, 0, 3, 0], [0, -1, 0, 0], [2, 0, 3, -1]], np.int32)  # three terminals and $END


def test_contexts() -> None:
    order, always = np.array([2, 0], np.int32), np.array([0, 0, 0], np.uint8)
    sets, of_state, after = _core.lexical_contexts(ACTION, order, always)
    assert (sets, of_state.tolist(), after) == ([[2, 0], []], [0, 1, 0], [[1], [], [0]])
    sets, of_state, _ = _core.lexical_contexts(ACTION, order, np.array([0, 1, 1], np.uint8))
    assert (sets, of_state.tolist()) == ([[2, 0], [2]], [0, 1, 0])


def test_what_is_no_table_is_refused() -> None:
    order, always = np.array([0], np.int32), np.zeros(3, np.uint8)
    with pytest.raises(IndexError):
        _core.lexical_contexts(ACTION, np.array([3], np.int32), always)
    with pytest.raises(IndexError):
        _core.lexical_contexts(ACTION + 5, order, always)
    with pytest.raises(ValueError, match="lengths"):
        _core.lexical_contexts(ACTION, order, np.zeros(4, np.uint8))


@pytest.mark.parametrize(
    "piece",
    [
        (1, b"a"),  # no such terminal
        (0, b"\x02", b"\0" * 4, b"", b"", b""),  # an offset is missing
        (0, b"\x02", b"\0" * 8, b"a", b"b", b"\0" * 4),  # an edge of no position
        (0, b"", b"\0" * 4, b"", b"", b""),  # no position
        (0, b"a", b"b"),
    ],
)
def test_what_is_no_program_is_refused(piece: tuple[object, ...]) -> None:
    with pytest.raises(ValueError, match="program"):
        _core.Nfa.joined(1, [piece])  # type: ignore[list-item]


def test_a_program_keeps_what_it_is_read_from() -> None:
    """One program alone is read where it lies, as bytes; beside another one it is copied. Both read the same."""

    def pieces() -> list[tuple[int, bytes] | tuple[int, bytes, bytes, bytes, bytes, bytes] | None]:
        offset, target = np.arange(65_001, dtype="<i4"), np.arange(1, 65_001, dtype="<i4")
        kind, byte = np.zeros(65_001, np.uint8), np.frombuffer(b"abc" * 21_666 + b"de", np.uint8)
        kind[-1] = 2
        return [
            (
                0,
                kind.tobytes(),
                np.append(offset, offset[-1:]).tobytes(),
                byte.tobytes(),
                byte.tobytes(),
                target.tobytes(),
            )
        ]

    def automaton(nfa: _core.Nfa, terminals: int) -> _core.LexingAutomaton:
        return _core.LexingAutomaton.make(
            nfa,
            ignored=np.zeros(terminals, np.uint8),
            alternations=[[0]],
            renames=[[]],
            follow=[[]] * terminals,
            starts=[0],
            newline=-1,
            tab_width=8,
            max_states=1_000_000,
        )

    alone = _core.Nfa.joined(1, pieces())
    gc.collect()
    beside = _core.Nfa.joined(2, [*pieces(), (1, b"f")])
    one, other = automaton(alone, 1), automaton(beside, 2)
    assert one.num_states == other.num_states == 65_000
    state = other_state = one.entry(0, 0)
    for byte in b"abc" * 100:
        state, other_state = one.next(state, one.byte_class(byte)), other.next(other_state, other.byte_class(byte))
        assert state == other_state >= 0
