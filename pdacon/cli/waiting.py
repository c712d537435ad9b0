"""What a terminal shows while something takes longer than a second: what it is, for how long, and for how long yet.

In: a few words, and the most seconds that it may take, where there is a limit. Out: one line on standard error, which
is gone when the wait is over; nothing where standard error is no terminal.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer

from rich.console import Console
from rich.progress import Progress, ProgressColumn, Task, TextColumn
from rich.text import Text

_PATIENCE = 1.0  # seconds


@contextmanager
def waiting(what: str, most: float = 0.0) -> Iterator[None]:
    """Say what is waited for; ``most`` are the seconds after which it ends at the latest, 0 if it has no limit.

    Cost: a thread that sleeps, and, after a second, four lines a second.
    """
    if not sys.stderr.isatty():
        yield
        return
    progress = Progress(
        TextColumn("{task.description}"),
        _Seconds(most),
        console=Console(stderr=True),
        transient=True,
        refresh_per_second=4,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    progress.add_task(what, total=None)
    begin = Timer(_PATIENCE, progress.start)
    begin.daemon = True
    begin.start()
    try:
        yield
    finally:
        begin.cancel()
        begin.join()
        progress.stop()


class _Seconds(ProgressColumn):
    def __init__(self, most: float) -> None:
        super().__init__()
        self._most = most

    def render(self, task: Task) -> Text:
        """``12 s, at most 48 s more``"""
        spent = task.elapsed or 0.0
        left = f", at most {max(0.0, self._most - spent):.0f} s more" if self._most else ""
        return Text(f"{spent:.0f} s{left}")
