"""`Once`: what is made when it is first asked for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar, cast

T = TypeVar("T")


class Once(Generic[T]):
    """What is made when it is first asked for, by whichever thread that is."""

    __slots__ = ("_lock", "_made", "_make")

    def __init__(self, make: Callable[[], T]) -> None:
        self._make: Callable[[], T] | None = make
        self._made: T | None = None
        self._lock = threading.Lock()

    def __call__(self) -> T:
        if self._make is not None:
            with self._lock:
                if self._make is not None:
                    self._made = self._make()
                    self._make = None
        return cast(T, self._made)

    @property
    def is_made(self) -> bool:
        return self._make is None
