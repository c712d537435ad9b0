"""How much time and memory searches for advice have, and the error that says that the time is over."""

from __future__ import annotations

import time

ADVICE_BYTES = 1 << 27
"""Most memory for each native automaton that a search makes. They come on top of those of the grammar itself, and of a
constraint that is asked for its report; with the default limits all of that stays below 1 GB."""


class OutOfTimeError(Exception):
    """A search ended before it was done; whoever gave it its time says so in the report."""


class Deadline:
    """A point in time that searches share."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds until then; 0 when it is over."""
        return max(self._end - time.monotonic(), 0.0)

    def left_or_little(self) -> float:
        """As `left`, for the native core, to which 0 is no limit."""
        return max(self.left(), 0.001)

    def passed(self) -> bool:
        """Whether it is over."""
        return time.monotonic() >= self._end

    def require(self) -> None:
        """Go on, or raise `OutOfTimeError`."""
        if self.passed():
            raise OutOfTimeError
