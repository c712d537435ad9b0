"""Which generation a call of a processor belongs to, and whether that one has been interrupted by another.

A processor is given ids, and nothing that says whose they are. It keeps the rows of one generation. When another one
comes in between, be it of another thread or of a loop that takes turns in the same thread, the first one must not be
taken for a prompt when it comes back: its text would begin anew in its middle. So each thread remembers the ids of its
last generations, and ids that go on with one of those are recognised.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import torch

from pdacon.errors import MatcherError

_KEPT = 64  # Generations of one thread. For threads one would do; the others are for loops that take turns in one.
_INTERRUPTED = (
    "these ids go on with a text that this PDALogitsProcessor has left for another one, so that it cannot tell where "
    "the text began: two generations use it at once, from two threads, say. Make one PDALogitsProcessor for each (they "
    "can share the constraint), or use pdacon.Generator, which does. If the calls come one after the other, "
    "prompt_length= says where the text begins, and reset() that a new one begins here"
)


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """The ids of one call, and the column in which the text of its generation begins."""

    ids: torch.Tensor
    start: int

    def is_followed_by(self, ids: torch.Tensor) -> bool:
        """Whether these ids are those of this call, with one more in each row."""
        rows, columns = ids.shape
        if self.ids.shape != (rows, columns - 1):
            return False
        if ids.device.type == "cpu":  # where NumPy takes half the time
            return bool((ids.numpy()[:, :-1] == self.ids.numpy()).all())
        return torch.equal(ids[:, :-1], self.ids)

    def may_lead_to(self, ids: torch.Tensor) -> bool:
        """Whether a call with these ids can come next in the same generation.

        Beam search adds one column. Assisted decoding asks for candidates one by one and keeps some of them. So a
        generation that grows by more is another one.
        """
        return (
            len(ids) == len(self.ids)
            and self.start <= ids.shape[1] <= self.ids.shape[1] + 1
            and torch.equal(ids[:, : self.start], self.ids[:, : self.start])
        )

    def is_extended_by(self, ids: torch.Tensor) -> bool:
        """Whether each row is the beginning of a row of this call, and one id more."""
        known = ids.shape[1] - 1
        return (
            known >= self.start
            and self.may_lead_to(ids)
            and all(bool((self.ids[:, :known] == row).all(dim=1).any()) for row in ids[:, :known])
        )


class Succession:
    """The calls of one processor, in their order. Its owner lets one thread in at a time."""

    def __init__(self) -> None:
        self.last: Seen | None = None
        self._threads = threading.local()

    def grows_by_one(self, ids: torch.Tensor) -> bool:
        """Whether these ids are those of the last call, one of this thread, with one more in each row."""
        last = self.last
        return last is not None and self._is_mine and last.is_followed_by(ids)

    def start_of(self, ids: torch.Tensor, is_text: Callable[[int], bool]) -> int | None:
        """The column in which the text begins if the last call's generation goes on; None if a new one begins.

        ``ids``, torch.Tensor of shape (rows, length): the ids of a call. ``is_text``: whether what stands in these ids
        from a column on begins a text of the constraint. A prompt that only looks like an older one mostly does not.
        Raises MatcherError: an interrupted generation goes on.
        """
        mine, last = list(self._mine), self.last
        if self._is_mine and last is not None:
            if last.may_lead_to(ids):
                return last.start
            mine.pop()
        elif last is not None:
            mine.append(last)
        if any(one.is_extended_by(ids) and is_text(one.start) for one in mine):
            raise MatcherError(_INTERRUPTED)
        return None

    def add(self, ids: torch.Tensor, start: int) -> None:
        """Remember a call: in the place of the one that it goes on with, if that was the last one of this thread."""
        mine, last = self._mine, self.last
        if self._is_mine and last is not None and last.start == start and ids.shape[1] > last.ids.shape[1]:
            mine.pop()
        self.last = Seen(ids.clone(), start)
        mine.append(self.last)

    def forget(self) -> None:
        """Forget the last call, and all calls of this thread."""
        self.last = None
        self._mine.clear()

    @property
    def _is_mine(self) -> bool:
        """Whether the last call was one of this thread."""
        mine = self._mine
        return bool(mine) and mine[-1] is self.last

    @property
    def _mine(self) -> deque[Seen]:
        mine: deque[Seen] | None = getattr(self._threads, "calls", None)
        if mine is None:
            mine = self._threads.calls = deque(maxlen=_KEPT)
        return mine
