"""What a second thread sees of a matcher, and what is left of a constraint after a failure."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import pdacon

BYTES = [bytes([byte]) for byte in range(256)]


@pytest.fixture(scope="module")
def constraint() -> pdacon.Constraint:
    return pdacon.compile(pdacon.Grammar.builtin("json"), pdacon.Vocabulary.from_tokens([*BYTES, None], eos_ids=[256]))


class MovingRow:
    """A tensor-like bitmask with new memory each time it is asked where it is; it notes how many masks are known."""

    dtype, device, ndim, shape = "torch.int32", "cpu", 1, (9,)

    def __init__(self, constraint: pdacon.Constraint) -> None:
        self.constraint, self.memory, self.known = constraint, [np.zeros(9, np.int32)], [0]

    def stride(self, _: int) -> int:
        return 1

    def data_ptr(self) -> int:
        self.memory.append(np.zeros(9, np.int32))
        self.known.append(len(self.constraint.mask_table()))
        return self.memory[-1].ctypes.data


def fill_one(matcher: pdacon.Matcher, row: MovingRow) -> None:
    matcher.fill_bitmask(row)


def fill_many(matcher: pdacon.Matcher, row: MovingRow) -> None:
    pdacon.fill_bitmasks([matcher], row)


@pytest.mark.parametrize("fill", [fill_one, fill_many])
def test_where_a_tensor_is_is_asked_behind_the_work_without_the_gil(constraint: pdacon.Constraint, fill) -> None:
    fresh = pdacon.compile(pdacon.Grammar.builtin("json"), constraint.vocabulary)
    matcher = fresh.matcher()
    assert matcher.accept_bytes(b'{"a": [')
    row = MovingRow(fresh)
    fill(matcher, row)
    assert row.known[-1] == len(fresh.mask_table())
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


@pytest.mark.slow
@pytest.mark.skipif(
    not sys.platform.startswith("linux") or shutil.which("c++") is None or "LD_PRELOAD" in os.environ,
    reason="allocations are made to fail by a preloaded library, which needs Linux, a compiler and no sanitizer",
)
def test_a_failed_allocation_ends_nothing(tmp_path: Path) -> None:
    here = Path(__file__).parent
    library = tmp_path / "failing.so"
    subprocess.run(["c++", "-shared", "-fPIC", "-o", library, here / "failing_allocations.cpp"], check=True)
    environment = {**os.environ, "LD_PRELOAD": str(library)}
    command = [sys.executable, "-P", here / "failing_allocations.py", library]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 100
