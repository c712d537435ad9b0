"""A text as a stream of its pieces: the model runs in a thread, and whoever iterates gets what it has written."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from queue import SimpleQueue
from threading import Event, Thread
from typing import Any, Generic, TypeAlias, cast

from pdacon.base.cautions import caution, held
from pdacon.base.type_variables import Value
from pdacon.front.constraint import Constraint
from pdacon.frontends.partial_values import PartialInstance, PartialValue
from pdacon.integrations.huggingface.results import Generation

Call: TypeAlias = Callable[[Callable[[str], None], Callable[..., bool]], Generation]
"""Writes a text: it is given what takes its pieces (``on_text``) and a stopping criterion."""


class _Growing(Generic[Value]):
    """A text that grows from a prefix, and its value as far as it has come."""

    def __init__(self, constraint: Constraint[Value] | None, prefix: str) -> None:
        self._constraint, self.text = constraint, prefix
        self._partial: PartialValue[Value] | None = None
        self._read = 0

    def value(self, length: int) -> Value | PartialInstance | None:
        if self._constraint is None:
            raise TypeError("this text is of no grammar, so that it has no value")
        if self._partial is None or self._read > length:
            self._partial, self._read = self._constraint.partial(), 0
        self._partial.feed(self.text[self._read : length])
        self._read = length
        return self._partial.value


class Piece(str, Generic[Value]):
    """A piece of a text that is being written.

    Attributes
    ----------
    text : str
        All that has been written up to its end.
    """

    _growing: _Growing[Value]
    _length: int

    def __new__(cls, piece: str, growing: _Growing[Value]) -> Piece[Value]:
        made = super().__new__(cls, piece)
        growing.text += piece
        made._growing, made._length = growing, len(growing.text)
        return made

    @property
    def text(self) -> str:
        """All that has been written up to its end."""
        return self._growing.text[: self._length]

    @property
    def value(self) -> Value | PartialInstance | None:
        """What is certain of the value at its end; None if nothing is.

        Raises
        ------
        TypeError
            The grammar has no values that are known in part: see `Constraint.partial`.
        """
        return self._growing.value(self._length)


class Stream(Generic[Value]):
    """A text while it is written: iterate it for its pieces; then `result` is the whole `Generation`.

    ``for piece in stream: print(piece, end="")`` prints the text, and ``piece.value`` is its value as far as it has
    come. ``yield from`` gives the generation, too. Warnings come at the line that iterates, after the last piece.
    Whoever stops iterating ends the generation at the model's next step; its thread is waited for.
    """

    def __init__(self, call: Call, constraint: Constraint[Value] | None, prefix: str = "") -> None:
        self._result: Generation[Value] | None = None
        self._pieces = self._run(call, _Growing(constraint, prefix))

    def __iter__(self) -> Generator[Piece[Value], None, Generation[Value]]:
        """The pieces as they are written; the generation is what ``yield from`` gives."""
        return self._pieces

    def __next__(self) -> Piece[Value]:
        return next(self._pieces)

    def close(self) -> None:
        """End the generation at the model's next step."""
        self._pieces.close()

    @property
    def result(self) -> Generation[Value]:
        """What was generated.

        Raises
        ------
        ValueError
            The text is not written yet: iterate first.
        """
        if self._result is None:
            raise ValueError("this text is not written yet: iterate over the stream first")
        return self._result

    def _run(self, call: Call, growing: _Growing[Value]) -> Generator[Piece[Value], None, Generation[Value]]:
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
                yield Piece(piece, growing)
        finally:
            stopped.set()
            thread.join()
        for message, kind in cautions:
            caution(message, kind)
        if isinstance(outcome[0], BaseException):
            raise outcome[0]
        self._result = cast("Generation[Value]", outcome[0])
        return self._result


class AsyncStream(Generic[Value]):
    """The same for ``async for``: the loop is free while the model works."""

    def __init__(self, stream: Stream[Value]) -> None:
        self._stream = stream

    @property
    def result(self) -> Generation[Value]:
        """See `Stream.result`."""
        return self._stream.result

    async def __aiter__(self) -> AsyncIterator[Piece[Value]]:
        pieces: Iterator[Piece[Value]] = iter(self._stream)
        try:
            while (piece := await asyncio.to_thread(next, pieces, None)) is not None:
                yield piece
        finally:
            # An iteration that was given up may still wait for a piece in its thread.
            await asyncio.shield(asyncio.to_thread(self._close))

    def _close(self) -> None:
        while True:
            try:
                self._stream.close()
            except ValueError:  # the thread that was given up is still in it
                continue
            return
