"""How much time and memory searches for advice have, and the error that says that the time is over.

Time is work here: processor time of the thread that checks. So what is found, and whether a check ends in time, does
not depend on what else the machine does.
"""

from __future__ import annotations

import time
from dataclasses import replace

from pdacon.base.cancelling import Watch, current
from pdacon.base.limits import Limits

ADVICE_BYTES = 1 << 27
"""Most memory for each native automaton that a search makes. They come on top of those of the grammar itself, and of a
constraint that is asked for its report; with the default limits all of that stays below 1 GB."""


ADVICE = Limits(states=1_000_000, bytes=ADVICE_BYTES)
"""For the automata that explain a grammar as it is."""
REPAIR = replace(ADVICE, states=20_000)
"""For those of another grammar, of which many are tried."""


class OutOfTimeError(Exception):
    """A search ended before it was done; whoever gave it its time says so in the report."""


def work_watch(seconds: float) -> Watch:
    """A watch over so many seconds of work of this thread; 0: no limit."""
    return Watch(seconds, clock=time.thread_time)


class Deadline:
    """A point in time that searches share. For the native core, which asks it for itself, there is `watch`."""

    def __init__(self, seconds: float, whole: Deadline | None = None) -> None:
        self._end = time.thread_time() + seconds
        self._whole = whole
        self._outer = current()

    def left(self) -> float:
        """Seconds until then; 0 when it is over. Raises where the time of a caller is."""
        if self._outer is not None:
            self._outer.look()
        left = max(self._end - time.thread_time(), 0.0)
        return left if self._whole is None else min(left, self._whole.left())

    def watch(self) -> Watch:
        return work_watch(max(self.left(), 1e-9))

    def passed(self) -> bool:
        return self.left() <= 0

    def require(self) -> None:
        """Go on, or raise `OutOfTimeError`."""
        if self.passed():
            raise OutOfTimeError

    def share(self, seconds: float) -> Deadline:
        """What one search may take of it."""
        return Deadline(seconds, self)
