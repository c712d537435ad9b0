"""``pdacon check --watch``: the same again whenever a file has changed."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from pdacon.cli.failures import BadInput, complain
from pdacon.errors import PdaconError

_PAUSE = 0.3  # seconds between looks


def run_again(command: Callable[[], int], names: Iterable[str], *, changes: int | None = None) -> int:
    """Run a command, and again after each change of the files that are named or beside them, until Ctrl-C.

    ``changes``: end after so many, with the status of the last run.
    """
    folders = sorted({path.parent for name in names if (path := Path(name)).is_file()})
    if not folders:
        raise BadInput("--watch looks at files; give the path of a grammar")
    endings = {Path(name).suffix for name in names}
    while True:
        before = _state(folders, endings)
        if sys.stdout.isatty():
            sys.stdout.write("\033[2J\033[H")
        status = _ran(command)
        sys.stdout.flush()
        if changes == 0:
            return status
        sys.stderr.write("pdacon: waiting for a change; Ctrl-C ends\n")
        while _state(folders, endings) == before:
            time.sleep(_PAUSE)
        changes = None if changes is None else changes - 1


def _ran(command: Callable[[], int]) -> int:
    try:
        return command()
    except (BadInput, PdaconError, OSError) as problem:
        return complain(problem)


def _state(folders: Iterable[Path], endings: set[str]) -> dict[Path, tuple[int, int]]:
    """Which files there are, as they were last written: those that are imported lie beside the grammar, mostly."""
    state = {}
    for folder in folders:
        for path in folder.iterdir():
            if path.suffix in endings and path.is_file():
                status = path.stat()
                state[path] = status.st_mtime_ns, status.st_size
    return state
