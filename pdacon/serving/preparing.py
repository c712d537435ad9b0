"""Does what takes long of a request in threads beside the event loop, which answers others meanwhile."""

from __future__ import annotations

import asyncio
import ctypes
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from pdacon.serving.failures import RequestError

R = TypeVar("R")


class Preparer:
    """Runs functions in threads; safe to use from one event loop.

    Parameters
    ----------
    workers : int
        How many run at the same time.
    most : int
        How many may run and wait together.
    """

    def __init__(self, workers: int, most: int) -> None:
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="pdacon-prepare")
        self._most = most
        self._under_way: set[Future[Any]] = set()

    async def run(self, work: Callable[[], R]) -> R:
        """What a function gives, once a thread has room for it.

        Raises
        ------
        RequestError
            503: too many wait.
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


def within(seconds: float, work: Callable[[], R]) -> R:
    """What a function gives that is written in Python, and is stopped where it is after so many seconds.

    What is in C goes on until it returns.

    Raises
    ------
    TimeIsUp
    """
    thread, lock = ctypes.c_ulong(threading.get_ident()), threading.Lock()
    running, sent, arrived = True, False, False

    def stop() -> None:
        nonlocal sent
        with lock:
            if running:
                sent = True
                ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(TimeIsUp))

    timer = threading.Timer(seconds, stop)
    timer.daemon = True
    timer.start()
    try:
        return work()
    except TimeIsUp:
        arrived = True
        raise
    finally:
        timer.cancel()
        with lock:
            running = False
        # What was sent and has not arrived would arrive in the next work of this thread. It cannot be taken back: to
        # clear it leaves the interpreter looking for it for ever, at each call of every thread (CPython 3.11).
        while sent and not arrived:
            time.sleep(0.001)
