"""A least-recently-used cache, bounded in bytes: what was made for one schema and is wanted again for the next."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class Kept(Generic[T]):
    """Values by a key that says what they mean; the least recently used go first. Safe from any thread.

    Parameters
    ----------
    most_bytes : int
    size : callable
        The bytes of a value. What is larger than an eighth of the room is not kept.
    """

    def __init__(self, most_bytes: int, size: Callable[[T], int]) -> None:
        self._most, self._size = most_bytes, size
        self._bytes = 0
        self._values: OrderedDict[Hashable, tuple[int, T]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value of a key; made if it is not known, twice where two threads ask for it at once."""
        with self._lock:
            entry = self._values.get(key)
            if entry is not None:
                self._values.move_to_end(key)
                return entry[1]
        value = make()
        size = self._size(value)
        if size <= self._most // 8:
            with self._lock:
                former = self._values.pop(key, None)
                self._values[key] = size, value
                self._bytes += size - (former[0] if former else 0)
                while self._bytes > self._most:
                    self._bytes -= self._values.popitem(last=False)[1][0]
        return value
