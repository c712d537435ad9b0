"""Connections that do not wait for ever: requests whose head does not come to its end are cut off.

uvicorn has no time limit before a request's head is whole. The body's is that of `bodies`.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from functools import partial
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from pdacon.serving.failures import RequestError

# uvicorn warns of what is no HTTP and of each WebSocket: strangers would fill the log. Its errors stay.
_log = logging.getLogger("uvicorn.error.connections")
_log.setLevel(logging.ERROR)


def connections(read_seconds: float) -> Any:
    """What uvicorn makes connections of (``http=``): they have so many seconds for the head of each request."""
    return partial(_Connection, read_seconds=read_seconds)


class _Connection(H11Protocol):
    def __init__(self, *given: Any, read_seconds: float, **options: Any) -> None:
        super().__init__(*given, **options)
        self._seconds = read_seconds
        self._timer: asyncio.TimerHandle | None = None
        self.logger = _log

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to wait for a request."""
        super().connection_made(transport)  # type: ignore[arg-type]
        self._look()

    def data_received(self, data: bytes) -> None:
        """Take a piece of a request; wait no longer for its head if that is whole."""
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """Begin to wait for the next request."""
        super().on_response_complete()
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        self._forget()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Say that a request is no HTTP, as all errors are said; or close where an answer has begun."""
        refused = RequestError(400, msg).response()
        head = h11.Response(status_code=400, headers=[*refused.raw_headers, (b"connection", b"close")])
        # Where an answer has begun it is not whole, and the end of the connection says so.
        with suppress(h11.LocalProtocolError):
            for event in (head, h11.Data(data=bytes(refused.body)), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _look(self) -> None:
        """Have a timer while no request is being answered."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._forget()
        elif self._timer is None and not self.transport.is_closing():
            self._timer = self.loop.call_later(self._seconds, self.transport.close)

    def _forget(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
