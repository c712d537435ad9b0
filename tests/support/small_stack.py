"""Threads whose stack is small: what recurses on its input ends the process there."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

STACK = 256 * 1024
"""Bytes; servers with many threads give them as little."""


def in_small_stack(work: Callable[[], T]) -> T:
    """What the work returns, or raises, in such a thread."""
    before = threading.stack_size(STACK)
    try:
        with ThreadPoolExecutor(1) as threads:
            return threads.submit(work).result()
    finally:
        threading.stack_size(before)
