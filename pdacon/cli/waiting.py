"""What a terminal shows while something takes longer than a second: what it is, for how long, and for how long yet.

In: a few words, and the most seconds that it may take, where there is a limit. Out: one line on standard error, which
is gone when the wait is over; nothing where standard error is no terminal.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Timer

from pdacon.base.cancelling import time_limit
from pdacon.cli.failures import BadInput
from pdacon.errors import LimitExceededError

READING_SECONDS = 60.0
"""Most time to read a grammar where a command has no ``--seconds``: enough for some 200,000 rules."""
_PATIENCE = 1.0  # seconds
_waits: ContextVar[bool] = ContextVar("pdacon_waits", default=False)


@contextmanager
def waiting(what: str, most: float = 0.0) -> Iterator[Callable[[str], None]]:
    """Say what is waited for; ``most`` are the seconds after which it ends at the latest, 0 if it has no limit.

    What it gives is called with how far that is. Within another one it says nothing. Cost: a thread that sleeps, and,
    after a second, four lines a second.
    """
    if _waits.get() or not sys.stderr.isatty():
        yield _say_nothing
        return
    waits = _waits.set(True)
    from pdacon.cli.waiting_line import waiting_line  # rich takes 20 ms to import, and few commands wait

    line = waiting_line(what, most)
    begin = Timer(_PATIENCE, line.start)
    begin.daemon = True
    begin.start()
    (task,) = line.task_ids
    try:
        yield lambda part: line.update(task, description=f"{what}: {part}")
    finally:
        begin.cancel()
        begin.join()
        line.stop()
        _waits.reset(waits)


def _say_nothing(part: str) -> None:
    """Nobody looks."""


@contextmanager
def reading(name: str, seconds: float = 0.0) -> Iterator[None]:
    """What reads a grammar, within ``seconds``, which are those of ``--seconds``; 0: the command has none.

    Raises BadInput: it takes longer.
    """
    most = seconds or READING_SECONDS
    try:
        with waiting(f"reading {name}", most), time_limit(most):
            yield
    except LimitExceededError as error:
        if error.what != "seconds" or error.fixed:
            raise
        way_out = "give more --seconds, or make it smaller" if seconds else "make it smaller"
        raise BadInput(f"{name}: reading it takes more than {most:g} s; {way_out}") from error
