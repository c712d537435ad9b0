"""The line that a terminal shows while something takes long: what it is, for how long, and for how long yet."""

from __future__ import annotations

from rich.console import Console
from rich.progress import Progress, ProgressColumn, Task, TextColumn
from rich.text import Text


def waiting_line(what: str, most: float) -> Progress:
    """A line on standard error, not yet shown; ``most``: seconds after which the wait ends, 0 if it has no limit."""
    line = Progress(
        TextColumn("{task.description}"),
        _Seconds(most),
        console=Console(stderr=True),
        transient=True,
        refresh_per_second=4,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    line.add_task(what, total=None)
    return line


class _Seconds(ProgressColumn):
    def __init__(self, most: float) -> None:
        super().__init__()
        self._most = most

    def render(self, task: Task) -> Text:
        """``12 s, at most 48 s more``"""
        spent = task.elapsed or 0.0
        left = f", at most {max(0.0, self._most - spent):.0f} s more" if self._most else ""
        return Text(f"{spent:.0f} s{left}")
