"""Work that another thread can stop: what `compile` is given for that, and how its stages ask."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

from pdacon.errors import CancelledError

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
