"""Does what takes long of a request in threads beside the event loop, which answers others meanwhile."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import FrameType
from typing import Any, TypeVar

from pdacon.serving.failures import RequestError

R = TypeVar("R")


class Preparer:
    """Runs functions in threads; safe to use from one event loop.

    ``workers``: how many run at the same time. ``most``: how many may run and wait together.
    """

    def __init__(self, workers: int, most: int) -> None:
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="pdacon-prepare")
        self._most = most
        self._under_way: set[Future[Any]] = set()

    async def run(self, work: Callable[[], R]) -> R:
        """What a function gives, once a thread has room for it.

        Raises RequestError (503): too many wait.
        """
        if len(self._under_way) >= self._most:
            raise RequestError(503, "too many requests are being read; try again soon")
        future = self._pool.submit(work)
        self._under_way.add(future)
        future.add_done_callback(self._under_way.discard)
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Let nothing begin any more."""
        self._pool.shutdown(wait=False, cancel_futures=True)


class TimeIsUp(BaseException):
    """Raised in the midst of what takes too long; no handler of ``Exception`` catches it."""


def within(seconds: float, work: Callable[[], R], files: Sequence[str]) -> R:
    """What a function gives, which is stopped after so many seconds in code of some files.

    A trace function of this thread looks at the clock at each line of their code and at each call: what it raises goes
    through that code as if a line of it had raised. An exception that another thread sends could arrive within a
    callback of the interpreter's, which swallows it, or while the stack overflows, which ends the process.

    ``work``: what it runs in C, and in other files, goes on until it returns. ``files``: what the names of the files
    begin with.
    Raises TimeIsUp.

    Cost: some 0.2 µs for each line of these files.
    """
    end, beginnings = time.monotonic() + seconds, tuple(files)

    def look(frame: FrameType, event: str, argument: object) -> Callable[..., Any] | None:
        if not frame.f_code.co_filename.startswith(beginnings):
            return None
        if time.monotonic() > end:
            raise TimeIsUp
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        return work()
    finally:
        sys.settrace(before)
