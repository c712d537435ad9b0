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
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from threading import Event
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from pdacon import Grammar, Vocabulary
from pdacon.errors import CancelledError, PdaconError
from pdacon.grammar.builtin import builtin_source
from pdacon.playground import looking
from pdacon.playground.examples import EXAMPLES
from pdacon.playground.findings import error_record, report_record
from pdacon.playground.pictures import draw_grammar, draw_parser, terminals_of
from pdacon.playground.sources import INDENTERS, NOTATIONS, Desk, Source, WrongRequest, first_report
from pdacon.playground.turns import Turns

_HOSTS = ("127.0.0.1", "localhost")
_WORKERS = 4
_BODY = 1 << 20  # bytes
_SAMPLES, _SAMPLE_BYTES = 8, 60
_MOST_CHIPS = 2000
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
_Answer = Callable[[dict[str, Any], Event], dict[str, Any]]


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
        self._desk = Desk(vocabularies)
        self._turns = Turns()
        self._hosts = hosts
        self._workers = ThreadPoolExecutor(_WORKERS, thread_name_prefix="playground")
        answers: dict[str, _Answer] = {
            "look": self._look,
            "check": self._check,
            "explain": self._explain,
            "picture": self._picture,
            "names": self._names,
            "samples": self._samples,
        }
        routes = [
            Route("/api/start", self._guarded(self._start), methods=["GET"]),
            *(
                Route(f"/api/{topic}", self._guarded(self._asked(topic, answer)), methods=["POST"])
                for topic, answer in answers.items()
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

    def _asked(self, topic: str, answer: _Answer) -> Callable[[Request], Awaitable[Response]]:
        """Work in a thread, which the page's next request of the kind ends."""

        async def respond(request: Request) -> Response:
            given = await _body(request)
            source = Source.of(given.get("source"))
            page = _text_of(given, "page")
            cancel = self._turns.take(page, topic, source)
            loop = asyncio.get_running_loop()
            try:
                return _json(await loop.run_in_executor(self._workers, self._answer, answer, given, source, cancel))
            except CancelledError:
                return _json({"cancelled": True}, 409)

        return respond

    @staticmethod
    def _answer(answer: _Answer, given: dict[str, Any], source: Source, cancel: Event) -> dict[str, Any]:
        if cancel.is_set():
            raise CancelledError("a later request has come")
        try:
            return answer({**given, "source": source}, cancel)
        except CancelledError:
            raise
        except (PdaconError, ValueError) as error:
            if cancel.is_set():
                raise CancelledError("a later request has come") from error
            return {"error": error_record(source, error)}
        except ModuleNotFoundError as error:
            return {"error": {"kind": "ModuleNotFoundError", "message": str(error), "span": None, "pointer": None}}

    async def _start(self, request: Request) -> Response:
        return _json(
            {
                "tokenizers": [{"name": name, "size": words.size} for name, words in self._desk.vocabularies.items()],
                "notations": list(NOTATIONS),
                "indenters": list(INDENTERS),
                "examples": [asdict(example) for example in EXAMPLES],
                "builtins": [{"name": name, "text": _builtin_text(name)} for name in Grammar.builtins()],
            }
        )

    async def _file(self, request: Request) -> Response:
        name, kind = _FILES[request.url.path]
        return Response(_content(name), media_type=kind)

    def _look(self, given: dict[str, Any], cancel: Event) -> dict[str, Any]:
        """The grammar, as far as compiling it tells, and the text under it."""
        source = given["source"]
        text, wanted = _text_of(given, "text", looking.LONGEST), _text_of(given, "wanted")
        vocabulary = self._desk.vocabulary(given.get("tokenizer"))
        most = given.get("most", 0)
        if isinstance(most, bool) or not isinstance(most, int) or not 0 <= most <= _MOST_CHIPS:
            raise WrongRequest(f"most: expected a number up to {_MOST_CHIPS}")
        try:
            constraint = self._desk.constraint(source, vocabulary, cancel)
        except PdaconError as error:
            report = first_report(error)
            if report is None:
                raise
            return {"report": report_record(source, report, complete=False)}
        chips = {"most": most} if most else {}
        return {"text": looking.read_text(constraint, text, wanted, **chips)}

    def _check(self, given: dict[str, Any], cancel: Event) -> dict[str, Any]:
        source = given["source"]
        return {"report": report_record(source, self._desk.report(source, cancel), complete=True)}

    def _explain(self, given: dict[str, Any], cancel: Event) -> dict[str, Any]:
        text, typed = _text_of(given, "text", looking.LONGEST), _text_of(given, "typed")
        vocabulary = self._desk.vocabulary(given.get("tokenizer"))
        token = given.get("token")
        if token is not None and (type(token) is not int or not 0 <= token < vocabulary.size):
            raise WrongRequest(f"token: expected an id below {vocabulary.size}")
        constraint = self._desk.constraint(given["source"], vocabulary, cancel)
        return looking.explain_token(constraint, text, token, typed)

    def _picture(self, given: dict[str, Any], cancel: Event) -> dict[str, Any]:
        source, kind, name = given["source"], _text_of(given, "kind"), _text_of(given, "name")
        if kind == "conflict":
            return {"svg": self._desk.report(source, cancel).draw(int(name) if name.isdecimal() else 1)}
        if kind == "parser":
            vocabulary = self._desk.vocabulary(given.get("tokenizer"))
            constraint = self._desk.constraint(source, vocabulary, cancel)
            return {"svg": draw_parser(constraint, _text_of(given, "text", looking.LONGEST))}
        return {"svg": draw_grammar(self._desk.grammar(source, cancel), kind, name)}

    def _names(self, given: dict[str, Any], cancel: Event) -> dict[str, Any]:
        return {"terminals": terminals_of(self._desk.grammar(given["source"], cancel))}

    def _samples(self, given: dict[str, Any], cancel: Event) -> dict[str, Any]:
        seed = given.get("seed", 1)
        if type(seed) is not int or not 0 <= seed < 1 << 31:
            raise WrongRequest("seed: expected a number from 0")
        grammar = self._desk.grammar(given["source"], cancel)
        return {"samples": self._desk.limited(cancel, lambda: grammar.sample(_SAMPLES, seed=seed, size=_SAMPLE_BYTES))}


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


def _text_of(given: Mapping[str, Any], name: str, most: int = 1000) -> str:
    text = given.get(name, "")
    if not isinstance(text, str):
        raise WrongRequest(f"{name}: expected a text")
    if len(text) > most:
        raise WrongRequest(f"{name}: it has at most {most:,} characters here")
    return text


def _without_port(host: str) -> str:
    """The name in a ``Host`` header, brackets of an address left out."""
    name, colon, port = host.rpartition(":")
    return (name if colon and port.isdecimal() else host).strip("[]")


def _json(content: Any, status: int = 200) -> Response:
    """ASCII: texts of a page may have halves of surrogate pairs, which are in no UTF-8."""
    return Response(json.dumps(content), status, media_type="application/json")


@cache
def _content(name: str) -> bytes:
    return files("pdacon.playground").joinpath("static", name).read_bytes()


@cache
def _builtin_text(name: str) -> str:
    return builtin_source(name)[0]
