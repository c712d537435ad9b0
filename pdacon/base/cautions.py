"""Warnings of Python's, at the line of the caller's code and not of pdacon's own."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from pdacon.errors import GrammarWarning

_held: ContextVar[list[tuple[str, type[UserWarning]]] | None] = ContextVar("_held", default=None)


def caution(message: str, kind: type[UserWarning] = GrammarWarning) -> None:
    """Warn the code that has called pdacon. Python shows the same words of the same line once."""
    if (kept := _held.get()) is not None:
        kept.append((message, kind))
        return
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith("pdacon."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, kind, stacklevel=level)


@contextmanager
def held() -> Iterator[list[tuple[str, type[UserWarning]]]]:
    """Keep what `caution` is given in a list, for work in a thread of pdacon's own, whose caller no frame tells."""
    kept: list[tuple[str, type[UserWarning]]] = []
    token = _held.set(kept)
    try:
        yield kept
    finally:
        _held.reset(token)
