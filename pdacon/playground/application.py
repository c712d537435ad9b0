"""The routes of the playground, and what holds for all of them: sizes, turns, errors, and who may ask.

Answers are JSON. What is wrong with a grammar or a text is an answer like any other (200); 400 is for a request that
makes no sense, 409 for one that a later request of the same page has ended.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from pdacon import Vocabulary
from pdacon.errors import CancelledError
from pdacon.playground.answers import Answers, text_of
from pdacon.playground.files import content
from pdacon.playground.sources import Source, WrongRequest
from pdacon.playground.turns import Turns

_HOSTS = ("127.0.0.1", "localhost")
_WORKERS = 4
_BODY = 1 << 20  # bytes
_FILES = {
    "/": ("page.html", "text/html; charset=utf-8"),
    "/style.css": ("style.css", "text/css; charset=utf-8"),
    "/editor.js": ("editor.js", "text/javascript; charset=utf-8"),
    "/state.js": ("state.js", "text/javascript; charset=utf-8"),
    "/panels.js": ("panels.js", "text/javascript; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


def create_app(vocabularies: Mapping[str, Vocabulary], hosts: tuple[str, ...] = _HOSTS) -> Starlette:
    """An ASGI application that serves the playground.

    Parameters
    ----------
    vocabularies : mapping of str to Vocabulary
        What a page may choose, by name; the first one is chosen at the start. At least one.
    hosts : tuple of str
        What the ``Host`` of a request may be, without the port. Others are refused, so that no page from elsewhere
        can ask by a name that leads here.

    Returns
    -------
    starlette.applications.Starlette

    Raises
    ------
    ValueError
        There is no vocabulary.
    """
    if not vocabularies:
        raise ValueError("create_app: give at least one vocabulary")
    return _Application(dict(vocabularies), hosts).app


class _Application:
    def __init__(self, vocabularies: dict[str, Vocabulary], hosts: tuple[str, ...]) -> None:
        self._answers = Answers(vocabularies)
        self._turns = Turns()
        self._hosts = hosts
        self._workers = ThreadPoolExecutor(_WORKERS, thread_name_prefix="playground")
        routes = [
            Route("/api/start", self._guarded(self._start), methods=["GET"]),
            *(
                Route(f"/api/{topic}", self._guarded(self._asked(topic)), methods=["POST"])
                for topic in self._answers.topics
            ),
            *(Route(path, self._guarded(self._file), methods=["GET"]) for path in _FILES),
        ]
        self.app = Starlette(routes=routes, lifespan=self._lifespan)

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        yield
        self._turns.end_all()
        self._workers.shutdown(wait=False, cancel_futures=True)

    def _guarded(self, endpoint: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        """Only pages of this server may ask."""

        async def answer(request: Request) -> Response:
            host = request.headers.get("host", "")
            origin = request.headers.get("origin")
            if _without_port(host) not in self._hosts or origin not in (None, f"http://{host}"):
                return _json({"error": "this server answers its own page only"}, 403)
            try:
                response = await endpoint(request)
            except WrongRequest as error:
                response = _json({"error": str(error)}, 400)
            response.headers.update(_HEADERS)
            return response

        return answer

    def _asked(self, topic: str) -> Callable[[Request], Awaitable[Response]]:
        """Work in a thread, which the page's next request of the kind ends."""

        async def respond(request: Request) -> Response:
            given = await _body(request)
            source = Source.of(given.get("source"))
            page = text_of(given, "page")
            cancel = self._turns.take(page, topic, source)
            loop = asyncio.get_running_loop()
            try:
                return _json(
                    await loop.run_in_executor(self._workers, self._answers.answer, topic, given, source, cancel)
                )
            except CancelledError:
                return _json({"cancelled": True}, 409)

        return respond

    async def _start(self, request: Request) -> Response:
        return _json(self._answers.start())

    async def _file(self, request: Request) -> Response:
        name, kind = _FILES[request.url.path]
        return Response(content(name), media_type=kind)


async def _body(request: Request) -> dict[str, Any]:
    """The object in a request's body.

    Raises WrongRequest.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise WrongRequest("expected application/json")  # which no form of another site can send
    body = bytearray()
    try:
        async for piece in request.stream():
            body += piece
            if len(body) > _BODY:
                raise WrongRequest(f"a request has at most {_BODY:,} bytes")
        given = json.loads(body)
    except ClientDisconnect:
        raise WrongRequest("the request was cut off") from None
    except (ValueError, RecursionError):
        raise WrongRequest("the request is not JSON") from None
    if not isinstance(given, dict):
        raise WrongRequest("expected an object")
    return given


def _without_port(host: str) -> str:
    """The name in a ``Host`` header, brackets of an address left out."""
    name, colon, port = host.rpartition(":")
    return (name if colon and port.isdecimal() else host).strip("[]")


def _json(content: Any, status: int = 200) -> Response:
    """ASCII: texts of a page may have halves of surrogate pairs, which are in no UTF-8."""
    return Response(json.dumps(content), status, media_type="application/json")
