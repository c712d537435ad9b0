"""A text as a stream of its pieces: the model runs in a thread, and whoever iterates gets what it has written."""

from __future__ import annotations

from collections.abc import Callable, Generator
from queue import SimpleQueue
from threading import Event, Thread
from typing import Any, cast

from pdacon.base.cautions import caution, held
from pdacon.integrations.huggingface.results import Generation

Stream = Generator[str, None, Generation]
"""Pieces of a text; what ``yield from`` and ``StopIteration.value`` give is the whole `Generation`."""


def stream(call: Callable[[Callable[[str], None], Callable[..., bool]], Generation]) -> Stream:
    """The pieces of what a call writes.

    ``call``: is given what takes the pieces (``on_text``) and a stopping criterion, and returns the generation. It runs
    in a thread of its own.
    Raises Exception: what `call` raises, once the pieces before it have been taken.

    Warnings come at the line that iterates, after the last piece. Whoever stops iterating ends the generation at the
    model's next step; its thread is waited for.
    """
    pieces: SimpleQueue[str | None] = SimpleQueue()
    stopped, outcome = Event(), list[Any]()
    cautions: list[tuple[str, type[UserWarning]]] = []

    def run() -> None:
        with held() as said:
            try:
                outcome.append(call(pieces.put, lambda *_, **__: stopped.is_set()))
            except BaseException as error:
                outcome.append(error)
        cautions.extend(said)
        pieces.put(None)

    thread = Thread(target=run, name="pdacon-stream", daemon=True)
    thread.start()
    try:
        while (piece := pieces.get()) is not None:
            yield piece
    finally:
        stopped.set()
        thread.join()
    for message, kind in cautions:
        caution(message, kind)
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return cast("Generation", outcome[0])
