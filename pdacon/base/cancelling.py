"""Lets a time limit, or another thread, stop work: the one clock of a call, and how every stage looks at it.

In: seconds, and an event that cancels. Out: a `Watch`. A door enters it (``with Watch(...)``); from there on every loop
of every room looks at it with `look`, and the native core does so by itself. It is not handed on as a parameter: what
has to be handed on is forgotten somewhere, in a constructor or behind a cache, and there the limit would not hold.
A watch holds for its thread and for what is called within its block.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from typing import Protocol, SupportsFloat, TypeVar

from pdacon.base.arguments import require_cancel, require_seconds
from pdacon.errors import CancelledError, LimitExceededError, PdaconError

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


def raise_if_out_of_time(error: PdaconError) -> None:
    """Raise an error again if a limit on time was met, for those who have an answer to other limits and refusals."""
    if isinstance(error, LimitExceededError) and error.what == "seconds":
        raise error


_LOOKS = 64
"""`every` looks at the clock before each so many items."""
_SMALL = 10_000
_CALLS = 256
"""Other code is asked to stop at each so many of its calls and returns, which take some 0.1 ms."""


class Watch:
    """The time limit of some work, in seconds (0: none), and whether it was cancelled.

    Within its block every stage looks at it, and at those around it. An error of a stage that ran out of its time tells
    the time of all stages, and their limit.

    Parameters
    ----------
    seconds : float
        Most time; 0: no limit.
    cancel : CancelEvent, optional
        Stops the work when it is set.
    clock : callable, optional
        What time it is, in seconds; the wall clock if it is not given. ``time.thread_time`` counts the work of this
        thread, whatever else the machine does.
    patience : float
        After how many seconds, by the wall clock, the native core looks again.
    """

    def __init__(
        self,
        seconds: float,
        cancel: CancelEvent | None = None,
        *,
        clock: Callable[[], float] | None = None,
        patience: float = 0.02,
    ) -> None:
        if isinstance(seconds, bool | str | bytes) or not isinstance(seconds, SupportsFloat):
            raise TypeError(f"seconds must be a number, not {type(seconds).__name__}")
        if seconds != seconds:
            raise ValueError("seconds is nan; it must be a number, 0 for no limit")
        require_cancel("", cancel)
        self.seconds = seconds
        self.cancel = cancel
        self.patience = patience
        self._clock = clock
        self._start = self._now()
        self._outer: Watch | None = None
        self._token: Token[Watch | None] | None = None

    def __enter__(self) -> Watch:
        self._outer = _current.get()
        self._token = _current.set(self)
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if self._token is not None:
            _current.reset(self._token)
        self._token = self._outer = None
        own = isinstance(error, LimitExceededError) and error.what == "seconds" and not error.fixed
        if own and self.seconds and self._spent() >= self.seconds:
            assert isinstance(error, LimitExceededError)
            raise LimitExceededError("seconds", self._spent(), self.seconds, error.detail) from None

    def look(self) -> None:
        """Raise `LimitExceededError` if the time is over, and `CancelledError` if the caller cancelled the work."""
        stop_if_set(self.cancel)
        if self.seconds and self._spent() >= self.seconds:
            raise LimitExceededError("seconds", self._spent(), self.seconds)
        if self._outer is not None:
            self._outer.look()

    def left(self) -> float:
        """Seconds that are left, or 0 where there is no limit. Raises if it is time to stop."""
        self.look()
        return self.rest()

    def rest(self) -> float:
        """The same for what does without the rest of its work when there is no time left."""
        return max(self.seconds - self._spent(), 1e-9) if self.seconds else 0.0

    def _spent(self) -> float:
        return self._now() - self._start

    def _now(self) -> float:
        return time.monotonic() if self._clock is None else self._clock()


_current: ContextVar[Watch | None] = ContextVar("pdacon_watch", default=None)


def current() -> Watch | None:
    """The innermost watch in whose block the caller is. The native core asks for it when a call begins."""
    return _current.get()


def look() -> None:
    """Stop, by an error, if the time of the current work is over or it was cancelled.

    For every loop whose length input decides. Cost: some 0.2 µs.

    Raises
    ------
    LimitExceededError, CancelledError
    """
    watch = _current.get()
    if watch is not None:
        watch.look()


def every(items: Iterable[_Item], looks: int = _LOOKS) -> Iterator[_Item]:
    """The items; before each so many of them it is looked at the clock. For loops of short steps."""
    watch = _current.get()
    if watch is None:
        yield from items
        return
    for number, item in enumerate(items):
        if not number % looks:
            watch.look()
        yield item


@contextmanager
def within_other_code(size: int) -> Iterator[None]:
    """A block of Python code that is not ours and so does not look at the clock: it is stopped at one of its calls.

    By the hook for profilers, which is the only one that may raise; where a profiler has it, the block is not stopped.
    With it the code takes up to three times as long. So what is small, which takes some 50 ms at most, does without,
    and so does everything where there is no watch. ``size``: in characters, or what takes about as long.
    """
    watch = _current.get()
    if watch is None or size <= _SMALL or sys.getprofile() is not None:
        yield
        return
    calls = 0
    stop: BaseException | None = None

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls, stop
        calls += 1
        if not calls % _CALLS:
            try:
                watch.look()
            except BaseException as error:
                stop = error
                raise

    sys.setprofile(count)
    try:
        yield
    except Exception:
        if stop is not None:  # the other code may have wrapped it in an error of its own
            raise stop from None
        raise
    finally:
        sys.setprofile(None)
    if stop is not None:
        raise stop


def time_limit(seconds: float, cancel: CancelEvent | None = None) -> Watch:
    """A block in which everything that pdacon does has so much time, and can be cancelled.

    Parameters
    ----------
    seconds : float
        Most time, by the wall clock, for the whole block; 0: no limit.
    cancel : threading.Event, optional
        Stops the work in it when it is set, from another thread.

    Raises
    ------
    TypeError, ValueError
        ``seconds`` is no number, or less than 0.

    Notes
    -----
    In the block, work that is not done in time ends with `LimitExceededError` (``what`` is ``"seconds"``) and cancelled
    work with `CancelledError`; both come within some 50 ms. Blocks can stand within each other, and beside limits such
    as ``compile(limits=Limits(seconds=1))``: whichever ends first counts. It holds for the thread that entered it, and
    only for what pdacon does: other code in the block is not interrupted. Masks that a `Matcher` computes are not
    limited.

    Examples
    --------
    >>> import pdacon
    >>> with pdacon.time_limit(2.0):
    ...     grammar = pdacon.Grammar.from_gbnf('root ::= "a"{0,40}')
    ...     constraint = pdacon.compile(grammar, pdacon.Vocabulary.bytes())
    """
    require_seconds("time_limit", seconds)
    return Watch(seconds, cancel)
