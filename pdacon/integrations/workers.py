"""`Workers`: processes that compile formats, so that nothing else waits for Python's lock meanwhile.

In: a vocabulary, limits, and formats from any number of threads. Out: constraints as bytes, or errors. A compilation
that does not keep to its time, or takes its process with it, is the error of who asked for it; the next one has another
process. `pdacon.integrations.worker` is what runs in them.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from queue import Empty, SimpleQueue
from tempfile import TemporaryFile
from threading import Lock, Thread
from typing import cast

from pdacon.base.cancelling import CancelEvent
from pdacon.base.cautions import caution
from pdacon.base.limits import Limits
from pdacon.detokenizer import Vocabulary
from pdacon.errors import CancelledError, LimitExceededError
from pdacon.integrations import worker
from pdacon.integrations.answer_formats import Kind
from pdacon.integrations.json_reading import JsonReading
from pdacon.integrations.worker import Cancel, Ready, Reply, Request, Start, Written

_START_SECONDS = 120.0  # for a process to be ready; a machine can be busy
_POLL = 0.02  # seconds between two looks at whether a compilation was cancelled
_OVERRUN, _MORE_SECONDS = 1.2, 5.0
"""A process is ended after this part of the seconds of its limits, and so many more."""
_CANCEL_SECONDS = 2.0  # for a process to heed that it is cancelled
_LAST_SECONDS = 5.0  # for a process to end that says nothing any more
_QUOTED = 2_000  # characters of what a process that has ended has said


class WorkerError(Exception):
    """A process has failed, not what it was asked for; the message is for a log."""


class Workers:
    """Processes that compile, started when there is work for them; safe to use from any number of threads.

    ``limits``: of each compilation. Its ``seconds`` are counted in the process; one that takes a fifth and five seconds
    more is ended.

    There are as many as compile at the same time. Each has pdacon and the vocabulary in memory (some 60 MiB, and more
    for a large vocabulary) and is ready after half a second.
    """

    def __init__(self, vocabulary: Vocabulary, limits: Limits) -> None:
        self._start = Start(vocabulary, limits)
        self._lock = Lock()
        self._all: set[_Worker] = set()
        self._idle: list[_Worker] = []
        self._is_closed = False
        self._failed = 0

    def compile(
        self,
        kind: Kind,
        text: str,
        cancel: CancelEvent | None = None,
        reading: JsonReading | None = None,
        *,
        is_whole: bool = False,
    ) -> Written:
        """The constraint of a format, for `Constraint.from_bytes`; what there is to warn of is warned of here.

        ``is_whole``: with its vocabulary, as a file has it.

        Raises PdaconError: the format cannot be compiled. WorkerError: the process has crashed, was killed or cannot be
        started.
        """
        with self._worker() as worker:
            return worker.compile(kind, text, reading, is_whole, cancel)

    def warm(self) -> None:
        """Start one, so that the first compilation need not wait for it; returns at once."""
        with self._worker():
            pass

    @property
    def failed(self) -> int:
        """How many processes have ended that nobody told to, or that did not keep to their time."""
        return self._failed

    def close(self) -> None:
        """End all of them, whatever they do."""
        with self._lock:
            self._is_closed = True
            workers = [*self._all]
        for one in workers:
            one.end()

    @contextmanager
    def _worker(self) -> Iterator[_Worker]:
        """One for the block, and for others after it unless it has ended."""
        with self._lock:
            if self._is_closed:
                raise WorkerError("there is no process to compile: all is closed")
            worker = self._alive_or_new()
            self._all.add(worker)
        try:
            yield worker
        finally:
            with self._lock:
                if worker.is_alive:
                    self._idle.append(worker)
                else:
                    self._forget(worker)

    def _alive_or_new(self) -> _Worker:
        while self._idle:
            worker = self._idle.pop()
            if worker.is_alive:
                return worker
            self._forget(worker)
        return _Worker(self._start)

    def _forget(self, worker: _Worker) -> None:
        self._all.discard(worker)
        self._failed += not self._is_closed


class _Worker:
    """A process, as who asks it sees it; asked by one thread at a time."""

    def __init__(self, start: Start) -> None:
        self._start = start
        self._said = TemporaryFile()  # noqa: SIM115 - it goes with the process
        command = f"import sys; sys.path[:] = {sys.path!r}; from {worker.__name__} import main; main()"
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-c", command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._said,
                bufsize=0,
                start_new_session=True,  # a terminal's Ctrl-C is not for it
            )
        except OSError as error:
            self._said.close()
            raise WorkerError(f"a compiling process cannot be started: {error}") from None
        self._to, self._from = cast(FileIO, self._process.stdin), cast(FileIO, self._process.stdout)
        self._number = 0
        self._is_ready = False
        self._came: SimpleQueue[Ready | tuple[Reply, bytes] | None] = SimpleQueue()
        self._last_words = ""
        self._thread = Thread(target=self._run, name="pdacon-worker", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        """Tell it what it is for, and pass on what it says, to its end; None is the last."""
        with suppress(EOFError, OSError):
            worker.send(self._to, self._start)
            while True:
                message = worker.receive(self._from)
                if isinstance(message, Reply):
                    message = message, b"" if message.failure else worker.receive_bytes(self._from)
                self._came.put(message)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_LAST_SECONDS)
        self.end()
        self._said.seek(0)
        self._last_words = self._said.read()[-_QUOTED:].decode(errors="replace").strip()
        for file in (self._to, self._from, self._said):
            file.close()
        self._came.put(None)

    def compile(
        self, kind: Kind, text: str, reading: JsonReading | None, is_whole: bool, cancel: CancelEvent | None
    ) -> Written:
        """The constraint of a format; see `Workers.compile`."""
        if not self._is_ready:
            if self._next(_START_SECONDS, cancel) is None:
                self.end()
                raise WorkerError(f"a compiling process is not ready after {_START_SECONDS:g} seconds")
            self._is_ready = True
        self._number += 1
        seconds = self._start.limits.seconds
        began = time.monotonic()
        try:
            worker.send(self._to, Request(self._number, kind, text, reading, is_whole))
            message = self._next(seconds * _OVERRUN + _MORE_SECONDS if seconds else None, cancel)
        except (OSError, ValueError):  # ValueError: its pipes are closed
            raise self._ended() from None
        except CancelledError:
            self._cancel()
            raise
        if message is None:
            self.end()
            raise LimitExceededError("seconds", time.monotonic() - began, seconds)
        assert not isinstance(message, Ready)
        reply, content = message
        for words, kind_of in reply.cautions:
            caution(words, kind_of)
        if isinstance(reply.failure, str):
            raise WorkerError(f"a compiling process has failed: {reply.failure}")
        if reply.failure is not None:
            raise reply.failure
        return Written(content, reply.is_whole)

    def _next(self, seconds: float | None, cancel: CancelEvent | None) -> Ready | tuple[Reply, bytes] | None:
        """What it says next; None: nothing in so many seconds. Raises CancelledError, WorkerError."""
        began = time.monotonic()
        while True:
            try:
                message = self._came.get(timeout=_POLL)
            except Empty:
                if cancel is not None and cancel.is_set():
                    raise CancelledError("the compilation was cancelled") from None
                if seconds is not None and time.monotonic() - began > seconds:
                    return None
                continue
            if message is None:
                raise self._ended()
            return message

    def _cancel(self) -> None:
        """Let it be ready for the next format soon, or end it."""
        try:
            worker.send(self._to, Cancel(self._number))
            if self._next(_CANCEL_SECONDS, None) is None:
                self.end()
        except (OSError, ValueError, WorkerError):
            self.end()

    def _ended(self) -> WorkerError:
        self._thread.join()
        status, words = self._process.returncode, self._last_words
        return WorkerError(f"a compiling process has ended with status {status}{f': {words}' if words else ''}")

    @property
    def is_alive(self) -> bool:
        """Whether it can be asked again."""
        return self._process.poll() is None

    def end(self) -> None:
        """End it, whatever it does."""
        self._process.kill()
        self._process.wait()
