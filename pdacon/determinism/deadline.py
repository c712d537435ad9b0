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
        return self.left() <= 0

    def require(self) -> None:
        """Go on, or raise `OutOfTimeError`."""
        if self.passed():
            raise OutOfTimeError

    def share(self, seconds: float) -> Deadline:
        """What one search may take of it, which is work: seconds of this thread's processor time.

        So what is found does not depend on what else the machine does, as long as the whole time is enough.
        """
        return _Share(self, seconds)


class _Share(Deadline):
    """A deadline within another one. The native core, which knows no processor time, gets what is left of the whole:
    what it is asked for in a share is bounded by states."""

    def __init__(self, whole: Deadline, seconds: float) -> None:
        self._whole = whole
        self._end = time.thread_time() + seconds

    def left(self) -> float:
        return min(self._whole.left(), max(self._end - time.thread_time(), 0.0))

    def left_or_little(self) -> float:
        return self._whole.left_or_little()
