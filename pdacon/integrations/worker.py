"""A process that compiles formats for the one that has started it; `pdacon.integrations.workers` is the other end.

In, on its standard input: a vocabulary and limits, then formats, one at a time, and perhaps that one is not wanted any
more. Out, on what was its standard output: that it is ready, then for each format the bytes of its constraint, or why
there is none, and what there is to warn of. It ends when its input does, so with the process at the other end.
"""

from __future__ import annotations

import ctypes
import gc
import os
import pickle
import signal
import sys
import time
import traceback
from dataclasses import dataclass
from io import BytesIO, FileIO
from queue import SimpleQueue
from threading import Event, Thread
from typing import Any

from pdacon.base.cautions import held
from pdacon.base.limits import Limits
from pdacon.detokenizer import Vocabulary
from pdacon.errors import ArtifactError, CancelledError, PdaconError
from pdacon.front.caching import CompileCache
from pdacon.integrations.answer_formats import Format, Kind, tokens_in_tags
from pdacon.integrations.json_reading import JsonReading

GARBAGE = (20_000, 10, 10)
"""Thresholds of the garbage collector for who makes some 100,000 objects in a second, nearly none of them garbage."""

_LENGTH = 8  # bytes in which the length of a message stands before it
_PIECE = 1 << 20  # bytes that are read and written at a time
_LONG_SECONDS = 0.1  # of a compilation, after which free memory goes back to the system


@dataclass(frozen=True, slots=True)
class Start:
    """What a process is for."""

    vocabulary: Vocabulary
    limits: Limits


@dataclass(frozen=True, slots=True)
class Request:
    """A format to compile.

    Attributes
    ----------
    number : int
        For who does not want it any more.
    kind, text, reading
        Of a `Format`.
    is_whole : bool
        Whether the constraint is to be written with its vocabulary, as a file has it.
    """

    number: int
    kind: Kind
    text: str
    reading: JsonReading | None
    is_whole: bool


@dataclass(frozen=True, slots=True)
class Cancel:
    """Nobody waits for a format any more."""

    number: int


@dataclass(frozen=True, slots=True)
class Written:
    """A constraint as bytes, with its vocabulary if it is whole; no bytes: no file can hold it."""

    content: bytes
    is_whole: bool


@dataclass(frozen=True, slots=True)
class Ready:
    """The process can be asked."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What becomes of a format."""

    # Why there is no constraint, or the traceback of what should not happen. None: the next message is a constraint, as
    # `Constraint.to_bytes` writes it, or nothing if it is one that no file can hold.
    failure: PdaconError | str | None
    is_whole: bool  # whether it has its vocabulary
    cautions: list[tuple[str, type[UserWarning]]]  # what there is to warn of


def send(pipe: FileIO, message: Any) -> None:
    """Write a message. Raises OSError if nobody reads any more."""
    send_bytes(pipe, pickle.dumps(message, pickle.HIGHEST_PROTOCOL))


def send_bytes(pipe: FileIO, message: bytes) -> None:
    """Write bytes as a message."""
    pipe.write(len(message).to_bytes(_LENGTH, "big"))
    content = memoryview(message)
    while content:
        content = content[pipe.write(content[:_PIECE]) :]


def receive(pipe: FileIO) -> Any:
    """The next message; EOFError if there will be none."""
    return pickle.loads(receive_bytes(pipe))


def receive_bytes(pipe: FileIO) -> bytes:
    """The next message, whose bytes are the message."""
    return _read(pipe, int.from_bytes(_read(pipe, _LENGTH), "big"))


def _read(pipe: FileIO, length: int) -> bytes:
    """So many bytes, in pieces: to join large ones would hold Python's lock."""
    content, left = BytesIO(), length
    while left:
        piece = pipe.read(min(left, _PIECE))
        if not piece:
            raise EOFError
        left -= content.write(piece)
    return content.getvalue()


class _Inbox:
    """What comes in, read by a thread of its own."""

    def __init__(self, pipe: FileIO) -> None:
        self.requests: SimpleQueue[tuple[Request, Event]] = SimpleQueue()
        self._pipe = pipe
        Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        cancels: dict[int, Event] = {}
        try:
            while True:
                message = receive(self._pipe)
                if isinstance(message, Request):
                    cancels = {message.number: Event()}  # a format comes when the one before it has its reply
                    self.requests.put((message, cancels[message.number]))
                elif message.number in cancels:
                    cancels[message.number].set()
        except (EOFError, OSError):
            os._exit(0)  # whatever the other thread does


def main() -> None:
    """Compile until nobody asks any more."""
    for name in ("SIGINT", "SIGTERM"):  # these are for the process at the other end, which ends this one in time
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    asked = FileIO(0)
    told = FileIO(os.dup(1), "w")
    os.dup2(2, 1)  # what anybody prints is no message
    start: Start = receive(asked)
    gc.freeze()
    gc.set_threshold(*GARBAGE)
    inbox = _Inbox(asked)
    send(told, Ready())
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    while True:
        request, cancel = inbox.requests.get()
        began = time.monotonic()
        with held() as cautions:
            result = _result(start, request, cancel)
        if isinstance(result, Written):
            send(told, Reply(None, result.is_whole, cautions))
            send_bytes(told, result.content)
        else:
            send(told, Reply(result, False, cautions))
        del result
        if trim is not None and time.monotonic() - began > _LONG_SECONDS:
            gc.collect()
            trim(0)


def _result(start: Start, request: Request, cancel: Event) -> Written | PdaconError | str:
    """The constraint, why there is none, or the traceback of what should not happen."""
    try:
        if cancel.is_set():
            raise CancelledError("the compilation was cancelled")
        format = Format.of(request.kind, request.text, request.reading)
        cache = CompileCache(0)  # the other end keeps what is to be kept
        constraint = cache.compile_keyed(
            format.key,
            lambda: format.grammar(start.limits, tokens_in_tags(start.vocabulary)),
            start.vocabulary,
            limits=start.limits,
            cancel=cancel,
        )
        is_whole = request.is_whole or bool(constraint.grammar.data.labels)  # labels belong to the vocabulary
        try:
            return Written(constraint.to_bytes(with_vocabulary=is_whole), is_whole)
        except ArtifactError:
            return Written(b"", is_whole)
    except PdaconError as error:
        return error
    except Exception:
        return traceback.format_exc()
