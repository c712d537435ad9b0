"""What the core is given of terminals: contexts by the action table, programs as bytes, and what is refused."""

from __future__ import annotations

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
