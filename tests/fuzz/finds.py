"""What is found, and how far a case has come."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from mmap import mmap


class Found(Exception):
    """A promise that does not hold: its kind, such as ``unsound mask``, and what shows it."""

    def __init__(self, kind: str, message: str, **details: object) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind
        self.message = message
        self.details = {name: repr(value) for name, value in details.items()}


@dataclass
class Outcome:
    """What came of a case."""

    name: str = "unknown"
    detail: str = ""
    counts: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=dict)


class Progress:
    """The phase that a case is in, in memory that the parent reads if the child does not come back."""

    SIZE = 256

    def __init__(self, shared: mmap | None, outcome: Outcome) -> None:
        self.shared = shared
        self.outcome = outcome
        self.name = "begin"
        self.failed = ""

    def say(self, name: str) -> None:
        self.name = name
        if self.shared is not None:
            text = name.encode()[: self.SIZE - 1]
            self.shared[: self.SIZE] = text + bytes(self.SIZE - len(text))

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        before, began = self.name, time.thread_time()
        self.say(name)
        try:
            yield
        except BaseException:
            self.failed = self.failed or name
            raise
        finally:
            spent = time.thread_time() - began
            self.outcome.seconds[name] = self.outcome.seconds.get(name, 0.0) + spent
        self.say(before)
