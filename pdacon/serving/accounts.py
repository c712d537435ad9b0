"""What becomes of each request: its line in the log and its part of the figures, both when its answer has ended.

An answer that is streamed has a status long before anybody knows how it ends. So requests are counted and logged around
the whole application, where the last byte goes out, with what the parts within have noted meanwhile. Warnings that they
have noted are in the headers of the answer.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pdacon.serving.advice import cut
from pdacon.serving.failures import RequestError, stopping, unexpected
from pdacon.serving.metrics import Metrics

log = logging.getLogger("pdacon.serving")
REQUEST_ID = "X-Request-Id"
WARNING = "X-Pdacon-Warning"
"""What there is to warn of in a request's schema or grammar, one line each."""
GONE = 499
"""The status of a request whose client has left; it is sent to nobody."""
OPEN = ("/health", "/ready", "/metrics")
"""Paths for whoever looks after the server; no key is asked for."""
_GIVEN_ID = re.compile(r"[\x21-\x7e]{1,128}")
_MOST_WARNINGS, _LONGEST_WARNING = 8, 400
_ELSEWHERE = "other"  # the path of whatever has no route, which clients make up


class Line(dict[str, Any]):
    """What one line of the log says; its text is JSON whoever formats it."""

    def __str__(self) -> str:
        return json.dumps(self, default=str)


@dataclass(slots=True, eq=False)
class Record:
    """What is noted of one request.

    Attributes
    ----------
    request_id : str
        The client's own, or a new one; the response has it, too.
    method : str
    began : float
        Of `time.perf_counter`.
    status : int
        That of the response; after it was sent, how its answer ended. 0: nothing was sent.
    error : RequestError or None
        Why it is no answer.
    is_stream : bool
    prompt_tokens, tokens : int
        Of all its prompts and answers together.
    first_token_seconds : float or None
    endings : Counter
        How its answers have ended, as `Metrics.answers` has it.
    has_left : bool
        The client did not wait for the end.
    warnings : list of str
        What its client is told of in headers.
    has_begun, has_ended : bool
        Whether the first, and the last of the response was sent.
    """

    request_id: str = ""
    method: str = ""
    began: float = field(default_factory=time.perf_counter)
    status: int = 0
    error: RequestError | None = None
    is_stream: bool = False
    prompt_tokens: int = 0
    tokens: int = 0
    first_token_seconds: float | None = None
    endings: Counter[str] = field(default_factory=Counter)
    has_left: bool = False
    warnings: list[str] = field(default_factory=list)
    has_begun: bool = False
    has_ended: bool = False

    def refuse(self, error: RequestError) -> RequestError:
        """Note why the request has no answer, or none that is whole."""
        self.error = error
        self.status = error.status
        return error


_current: ContextVar[Record] = ContextVar("pdacon_request")


def current() -> Record:
    """The record of the request that is being answered; outside of one, a new one that nobody reads."""
    return _current.get(None) or Record()


class Accounts:
    """The requests that are open, and what is said of each when it has ended.

    Parameters
    ----------
    metrics : Metrics
    told : callable
        What is sent of an error, by the path of the request.

    Attributes
    ----------
    open : dict of Record to asyncio.Task
    is_closing : bool
        The server takes no more requests, and clients are told to keep no connection.
    """

    def __init__(self, metrics: Metrics, told: Callable[[str, RequestError], dict[str, Any]]) -> None:
        self.open: dict[Record, asyncio.Task[Any]] = {}
        self.is_closing = False
        self._metrics, self._told = metrics, told

    def is_idle(self) -> bool:
        """Whether no request is open."""
        return not self.open

    def close(self, records: Iterable[Record]) -> None:
        """Take no more requests, and refuse these, whatever they wait for."""
        self.is_closing = True
        for record in records:
            self.open[record].cancel()

    def around(self, app: ASGIApp) -> ASGIApp:
        """An application whose requests are counted and logged (ASGI middleware)."""
        return partial(self._answer, app)

    async def _answer(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Have a request answered by an application, and answer it if that fails."""
        if scope["type"] != "http":
            return await app(scope, receive, send)
        record = Record(_id_of(Headers(scope=scope).get(REQUEST_ID, "")), scope["method"])
        token = _current.set(record)
        task = asyncio.current_task()
        assert task is not None
        self.open[record] = task
        sending = self._watched_send(record, send)
        try:
            await app(scope, _watched_receive(record, receive), sending)
        except asyncio.CancelledError:  # the server stops; whoever runs it cancels what is late
            if not record.has_left:
                await self._end(record, stopping(), scope, receive, sending)
        except Exception:
            if not record.has_left:
                log.exception("%s %s failed", record.method, _path(scope))
                await self._end(record, unexpected(), scope, receive, sending)
        finally:
            del self.open[record]
            self._count(record, _path(scope))
            _current.reset(token)

    async def _end(self, record: Record, error: RequestError, scope: Scope, receive: Receive, send: Send) -> None:
        """Tell a client that there will be no answer, or no more of it: as an event where a stream has begun."""
        said = self._told(scope["path"], record.refuse(error))
        if not record.has_begun:
            await error.response(said)(scope, receive, send)
        elif record.is_stream and not record.has_ended:
            await send({"type": "http.response.body", "body": event(said).encode()})

    def _watched_send(self, record: Record, send: Send) -> Send:
        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                record.has_begun = True
                record.status = record.status or message["status"]
                headers = MutableHeaders(scope=message)
                headers[REQUEST_ID] = record.request_id
                for text in record.warnings[:_MOST_WARNINGS]:
                    headers.append(WARNING, _in_header(text))
                if self.is_closing:
                    headers["Connection"] = "close"
            await send(message)
            if message["type"] == "http.response.body" and not message.get("more_body", False):
                record.has_ended = True

        return sent

    def _count(self, record: Record, path: str) -> None:
        seconds = time.perf_counter() - record.began
        if record.has_left and not record.has_ended:
            record.status = GONE
        self._metrics.count_request(path, record.status, seconds)
        error = record.error
        said = {
            "request_id": record.request_id,
            "method": record.method,
            "path": path,
            "status": record.status,
            "code": None if error is None else error.code,
            "reason": "the client has left" if record.status == GONE else None if error is None else error.message,
            "model": self._metrics.model,
            "stream": record.is_stream or None,
            "prompt_tokens": record.prompt_tokens or None,
            "tokens": record.tokens or None,
            "endings": dict(record.endings) or None,
            "first_token_seconds": _rounded(record.first_token_seconds),
            "seconds": _rounded(seconds),
        }
        line = Line((key, value) for key, value in said.items() if value is not None)
        # Who asks every few seconds how the server is would fill the log.
        usual = logging.DEBUG if path in OPEN and record.status < 400 else logging.INFO
        log.log(logging.WARNING if record.status >= 500 else usual, line)


def _watched_receive(record: Record, receive: Receive) -> Receive:
    async def received() -> Message:
        message = await receive()
        if message["type"] == "http.disconnect" and not record.has_ended:
            record.has_left = True
        return message

    return received


def event(said: dict[str, Any]) -> str:
    """One event of a stream, as server-sent events are written; ASCII, since it may have half a surrogate pair.

    What has a type is an event of that name.
    """
    name = f"event: {said['type']}\n" if "type" in said else ""
    return f"{name}data: {json.dumps(said)}\n\n"


def _id_of(given: str) -> str:
    """The client's id for its request, if it is one that may stand in a header and in a log."""
    return given if _GIVEN_ID.fullmatch(given) else uuid.uuid4().hex


def _in_header(text: str) -> str:
    """A text as it may stand in a header: one line of ASCII."""
    plain = "".join(sign if sign.isprintable() else " " for sign in text)
    return cut(plain.encode("ascii", "backslashreplace").decode(), _LONGEST_WARNING)


def _path(scope: Scope) -> str:
    """The route of a request; there is a fixed number of them."""
    route = scope.get("route")
    return _ELSEWHERE if route is None else str(route.path)


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 4)
