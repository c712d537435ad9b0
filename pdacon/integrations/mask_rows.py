"""Masks as rows of a table on a device, found by number: the half of `DeviceMasks` that looks at no logits.

In: matchers of any constraints, with the tokens that they take. Out: the row of each one's mask, in a table whose new
rows have been sent. `pdacon.integrations.torch` and the processors of transformers mask logits with it.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from numpy.typing import NDArray

from pdacon._native import _core
from pdacon.matching import Matcher

Tokens = Sequence[int] | NDArray[np.int64]

_NONE = np.empty(0, np.int32)


class MaskRows:
    """A table of masks, on one stream of a device. Its owner lets one thread in at a time.

    Parameters
    ----------
    words : int
        Of a row. Masks may have fewer; what is after them is 0.
    device : torch.device
    rows : int
        For how many there is room at first.
    most_rows : int
        For how many at most.

    Attributes
    ----------
    written : int32[n]
        The rows that the last call of `find` has given other masks, also where it failed.
    """

    def __init__(self, words: int, device: torch.device, rows: int, most_rows: int) -> None:
        self.words = words
        self._arena = _core.MaskArena(words, rows, most_rows)
        self.written = _NONE
        self.device = device
        host = torch.from_numpy(self._arena.table())
        self.table = host if device.type == "cpu" else torch.empty_like(host, device=device)
        self._room = torch.empty(0, dtype=torch.int32)
        self._sending: deque[tuple[torch.Tensor, torch.cuda.Event]] = deque(maxlen=2)  # numbers that may be read yet

    def find(
        self,
        matchers: Sequence[Matcher | None],
        tokens: Tokens | None = None,
        others: NDArray[np.int32] | None = None,
        refused: list[int] | None = None,
    ) -> tuple[NDArray[np.int32], list[int]]:
        """Let the matchers take their tokens, and find the row of each one's mask; -1 for None.

        ``others``: masks that come without a matcher, int32[n, at most `words`]. ``refused``: an empty list, to which
        the indices of matchers are added that do not allow their tokens, in place of an error; if there are any, the
        rows are not all found. Returns the rows, valid until the next call, and those of the others. Whatever is
        raised, what was written is in the table.
        """
        if not isinstance(matchers, Iterable):
            raise TypeError(f"matchers must be a sequence of Matcher or None, not {type(matchers).__name__}")
        matchers = tuple(matchers)  # the caller's own may change during the call
        numbers = self._room_for(len(matchers))
        given: list[int] = []
        try:
            missed = self._arena.step(matchers, tokens, numbers, refused)
            if refused:
                return numbers[: len(matchers)], given
            if missed:
                _compute([matcher for at in missed if (matcher := matchers[at]) is not None], self.words)
                self._arena.place(matchers, missed, numbers)
            if others is not None:
                given = self._arena.add(others)
        finally:  # what a step has written before it failed is known to the next one
            self.written = self._arena.written() if self._arena.num_written else _NONE
            if len(self.written):
                self._copy_rows(self.written)
        return numbers[: len(matchers)], given

    def empty(self, numbers: NDArray[np.int32]) -> list[int]:
        """The indices of rows whose masks allow nothing."""
        return self._arena.empty(numbers)

    def sent(self, count: int) -> torch.Tensor:
        """The rows that `find` has found, so many of them, on the device: int32[count]."""
        if self.device.type == "cpu" and count == len(self._room):
            return self._room
        there = self._room[:count].to(self.device, non_blocking=True)
        if self.device.type == "cuda":
            self._sending.append((self._room, torch.cuda.current_stream(self.device).record_event()))
        return there

    def _copy_rows(self, rows: NDArray[np.int32]) -> None:
        """Bring rows that are new to the device."""
        host = torch.from_numpy(self._arena.table())
        if self.device.type == "cpu":
            self.table = host
        elif len(self.table) < len(host):
            self.table = host.to(self.device)
        else:
            places = torch.from_numpy(rows).long()
            self.table.index_copy_(0, places.to(self.device), host[places].to(self.device))

    def _room_for(self, count: int) -> NDArray[np.int32]:
        """Make room for at least so many numbers; pinned where a device reads it while the host goes on."""
        if self.device.type != "cuda":
            numbers = np.empty(count, np.int32)
            self._room = torch.from_numpy(numbers)
            return numbers
        room = None
        if len(self._sending) == self._sending.maxlen:
            room, sent = self._sending.popleft()
            sent.synchronize()
        if room is None or len(room) < count:
            room = torch.empty(max(count, 64), dtype=torch.int32, pin_memory=True)
        self._room = room
        return room.numpy()


def _compute(matchers: Sequence[Matcher], words: int) -> None:
    """Compute masks, those of several constraints at once; whatever fails is met again by whoever asks for them."""

    def compute(of_one: Iterable[Matcher]) -> None:  # they would wait for each other
        row = np.empty(words, np.int32)
        for matcher in of_one:
            with contextlib.suppress(Exception):
                matcher.fill_bitmask(row)

    by_constraint: dict[int, dict[int, Matcher]] = {}
    for matcher in matchers:
        by_constraint.setdefault(id(matcher._explainer), {})[id(matcher)] = matcher
    if len(by_constraint) > 1:
        deque(_threads(os.getpid()).map(compute, [each.values() for each in by_constraint.values()]), maxlen=0)


@functools.lru_cache(maxsize=1)
def _threads(process: int) -> ThreadPoolExecutor:
    """Those of this process: a fork has none."""
    return ThreadPoolExecutor(max_workers=min(8, os.cpu_count() or 1), thread_name_prefix="pdacon-masks")
