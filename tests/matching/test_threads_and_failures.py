"""What a second thread sees of a matcher, and what is left of a constraint after a failure."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import pdacon

BYTES = [bytes([byte]) for byte in range(256)]


@pytest.fixture(scope="module")
def constraint() -> pdacon.Constraint:
    return pdacon.compile(pdacon.Grammar.builtin("json"), pdacon.Vocabulary.from_tokens([*BYTES, None], eos_ids=[256]))


class SelfishRow:
    """A tensor-like bitmask that uses the matcher it is filled from, and moves each time it is asked for."""

    dtype, device, ndim, shape = "torch.int32", "cpu", 1, (9,)

    def __init__(self) -> None:
        self.memory = [np.zeros(9, np.int32)]

    def stride(self, _: int) -> int:
        return 1

    def data_ptr(self) -> int:
        self.memory.append(np.zeros(9, np.int32))
        return self.memory[-1].ctypes.data


def test_a_row_that_moves_while_its_mask_is_computed_is_written_where_it_is(constraint: pdacon.Constraint) -> None:
    for fill in (lambda m, row: m.fill_bitmask(row), lambda m, row: pdacon.fill_bitmasks([m], row)):
        fresh = pdacon.compile(pdacon.Grammar.builtin("json"), constraint.vocabulary)
        matcher = fresh.matcher()
        assert matcher.accept_bytes(b'{"a": [')
        row = SelfishRow()
        fill(matcher, row)
        expected = np.zeros(9, np.int32)
        matcher.fill_bitmask(expected)
        assert np.array_equal(row.memory[-1], expected)
        assert expected.any()


class AskedMeanwhile:
    """A bitmask that asks the matcher which is being used for something."""

    dtype, device, ndim, shape = "torch.int32", "cpu", 1, (9,)

    def __init__(self, ask) -> None:
        self.ask, self.memory, self.error = ask, np.zeros(9, np.int32), None

    def stride(self, _: int) -> int:
        return 1

    def data_ptr(self) -> int:
        thread = threading.Thread(target=self.run)
        thread.start()
        thread.join()
        return self.memory.ctypes.data

    def run(self) -> None:
        try:
            self.ask()
        except pdacon.MatcherError as error:
            self.error = error


@pytest.mark.parametrize("question", ["is_terminated", "_length", "_stack", "_leading_space"])
def test_no_question_is_answered_while_another_thread_uses_the_matcher(
    constraint: pdacon.Constraint, question: str
) -> None:
    matcher = constraint.matcher()
    row = AskedMeanwhile(getattr(matcher, question))
    matcher.fill_bitmask(row)
    assert row.error is not None
