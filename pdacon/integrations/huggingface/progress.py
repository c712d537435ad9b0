"""Tells how far a call has come that writes many texts, and how long the rest takes if it goes on like that.

In: who is told, how many texts there are, and how many are written by now. Out: a `Progress` for a function, or a bar
of tqdm, which transformers brings along: on standard error, or as a widget in a notebook. Nothing by itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from transformers import StoppingCriteria

Told = Callable[[int], None]
"""Is told how many texts are written."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a call has come: ``done`` of ``total`` texts are written, after so many ``seconds``."""

    done: int
    total: int
    seconds: float

    @property
    def seconds_left(self) -> float | None:
        """How long the rest takes if it goes on like that; None while no text is done."""
        return self.seconds * (self.total - self.done) / self.done if self.done else None

    def __str__(self) -> str:
        left = "" if self.seconds_left is None else f", {self.seconds_left:.0f} s left"
        return f"{self.done} of {self.total} texts in {self.seconds:.0f} s{left}"


@contextmanager
def telling(asked: bool | Callable[[Progress], None], total: int) -> Iterator[Told | None]:
    """A function that is told how many texts are written; None where nobody asks for that."""
    if asked is False or not total:
        yield None
        return
    if asked is True:
        from tqdm.auto import tqdm

        with tqdm(total=total, unit="text") as bar:
            yield lambda done: _move(bar, done)
        return
    begin, last = time.monotonic(), -1

    def tell(done: int) -> None:
        nonlocal last
        if done != last:
            last = done
            asked(Progress(done, total, time.monotonic() - begin))

    tell(0)
    yield tell


def _move(bar: Any, done: int) -> None:
    if done > bar.n:
        bar.update(done - bar.n)


class Finished(StoppingCriteria):
    """Tells after each step how many rows have ended; ends none itself."""

    def __init__(self, ends: Sequence[int], tell: Told) -> None:
        self._ends, self._tell = torch.tensor(sorted(ends), dtype=torch.long), tell
        self._ended: torch.Tensor | None = None

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor, **_: Any) -> Any:
        now = torch.isin(input_ids[:, -1].cpu(), self._ends)
        self._ended = now if self._ended is None else self._ended | now
        self._tell(int(self._ended.sum()))
        return torch.zeros(len(input_ids), dtype=torch.bool, device=input_ids.device)
