"""Work that another thread, or a time limit, can stop: what `compile` is given for that, and how its stages ask."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

from pdacon.errors import CancelledError, LimitExceededError

_Item = TypeVar("_Item")


class CancelEvent(Protocol):
    """What `compile` asks whether to stop: a ``threading.Event``, or anything that has its ``is_set``.

    Asked from the thread that compiles, some fifty times a second: let it answer at once.
    """

    def is_set(self) -> bool:
        """Whether the work is to stop."""
        ...


def stop_if_set(cancel: CancelEvent | None) -> None:
    """Raise `CancelledError` if the caller wants the work to stop."""
    if cancel is not None and cancel.is_set():
        raise CancelledError("the compilation was cancelled")


def until_set(items: Iterable[_Item], cancel: CancelEvent | None) -> Iterator[_Item]:
    """The items, as long as the caller does not want the work to stop; asked before each."""
    for item in items:
        stop_if_set(cancel)
        yield item


class Watch:
    """The time limit of some work, in seconds (0: none), and whether it was cancelled.

    Within it, an error of a stage that ran out of time tells the time of all stages, and their limit. It is a
    `CancelEvent` itself, for stages that ask for no more: out of time, it raises.
    """

    def __init__(self, seconds: float, cancel: CancelEvent | None) -> None:
        self.seconds = seconds
        self.cancel = cancel
        self.start = time.monotonic()

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, LimitExceededError) and error.what == "seconds":
            raise LimitExceededError("seconds", self._spent(), self.seconds, error.detail) from None

    def is_set(self) -> bool:
        """Never: what stops the work is raised."""
        self.left()
        return False

    def left(self) -> float:
        """Seconds that are left, or 0 where there is no limit. Raises if it is time to stop."""
        stop_if_set(self.cancel)
        if self.seconds and self._spent() >= self.seconds:
            raise LimitExceededError("seconds", self._spent(), self.seconds)
        return self.rest()

    def rest(self) -> float:
        """The same for what does without the rest of its work when there is no time left."""
        return max(self.seconds - self._spent(), 1e-9) if self.seconds else 0.0

    def _spent(self) -> float:
        return time.monotonic() - self.start
