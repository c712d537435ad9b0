"""The routes, and what holds for all of them: keys, sizes, errors, streams, figures."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from pdacon.serving import chat, completions, lorax
from pdacon.serving.accounts import GONE, OPEN, Accounts, current, event
from pdacon.serving.advice import cut, shown
from pdacon.serving.answers import Job
from pdacon.serving.bodies import Bodies
from pdacon.serving.draining import Draining
from pdacon.serving.engine import Engine
from pdacon.serving.failures import RequestError, unexpected
from pdacon.serving.keys import require_key
from pdacon.serving.memory import give_back
from pdacon.serving.metrics import Metrics
from pdacon.serving.preparing import Preparer
from pdacon.serving.prompts import Prompts
from pdacon.serving.protocol import ChatRequest, Common, CompletionRequest, NativeRequest
from pdacon.serving.request_constraints import Compiler
from pdacon.serving.response_formats import Wanted, format_of
from pdacon.serving.settings import ServerSettings
from pdacon.serving.token_choice import Sampling

log = logging.getLogger("pdacon.serving")
R = TypeVar("R")
Endpoint = Callable[[Request], Awaitable[Response]]
_QUOTED = 100  # characters of a path
_LOOK_SECONDS = 0.2  # between two looks at whether the client is still there


def create_app(model: Any, tokenizer: Any, settings: ServerSettings | None = None) -> Starlette:
    """An ASGI application that serves one model.

    Parameters
    ----------
    model : transformers.PreTrainedModel
        A causal language model that continuous batching supports, on its device.
    tokenizer : transformers.PreTrainedTokenizerFast
        Its tokenizer.
    settings : ServerSettings, optional

    Returns
    -------
    starlette.applications.Starlette
        To be run by one worker process: the model's thread starts with its lifespan, and stops with it.

    Raises
    ------
    VocabularyError
        The tokenizer cannot be read, or has no end token.
    """
    return _Application(model, tokenizer, settings or ServerSettings()).app


class _Application:
    def __init__(self, model: Any, tokenizer: Any, settings: ServerSettings) -> None:
        self.settings = settings
        self.metrics = Metrics(settings.model_name)
        self.engine = Engine(model, tokenizer, settings, self.metrics)
        self.compiler = Compiler(self.engine.vocabulary, settings, self.metrics)
        self.preparer = Preparer(settings.prepare_workers, settings.max_requests)
        self.bodies = Bodies(settings, self.preparer)
        self.prompts = Prompts(self.engine, settings.template_seconds)
        accounts = Accounts(self.metrics)
        self.draining = Draining(self.engine, accounts, settings)
        self.started = int(time.time())
        routes = [
            Route("/v1/chat/completions", self._guarded(self.chat_completions), methods=["POST"]),
            Route("/v1/completions", self._guarded(self.completions), methods=["POST"]),
            Route("/generate", self._guarded(self.generate), methods=["POST"]),
            Route("/generate_stream", self._guarded(self.generate_stream), methods=["POST"]),
            Route("/v1/models", self._guarded(self.models), methods=["GET"]),
            Route("/v1/models/{name:path}", self._guarded(self.one_model), methods=["GET"]),
            Route("/health", self._guarded(self.health), methods=["GET"]),
            Route("/ready", self._guarded(self.ready), methods=["GET"]),
            Route("/metrics", self._guarded(self.figures), methods=["GET"]),
        ]
        self.app = Starlette(
            routes=routes,
            middleware=[Middleware(accounts.around)],
            lifespan=self._lifespan,
            exception_handlers={HTTPException: _no_route},
        )
        self.app.router.redirect_slashes = False  # the redirection would be to whatever host the client names
        self.app.state.draining = self.draining
        self.app.state.compiler = self.compiler

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        self.engine.start()
        tasks = [asyncio.create_task(give_back()), asyncio.create_task(self.engine.watch())]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            self.compiler.close()
            self.preparer.close()
            await self.engine.stop()

    # What clients ask for.

    async def chat_completions(self, request: Request) -> Response:
        """``POST /v1/chat/completions``."""
        asked = await self.bodies.read(request, ChatRequest)
        self._require_sensible(asked)
        others = (asked.top_logprobs or 0) if asked.logprobs else None
        wanted, ids = await self._prepared(request, lambda: (format_of(asked), self.prompts.of_chat(asked)))
        job = await self._job(request, asked, ids, wanted, asked.most_tokens, others)
        reading = "text" if wanted is None else wanted.reading
        name = self.settings.model_name
        if asked.stream:
            return await _events(request, chat.stream(job, asked, name, reading), done=True)
        return await _whole(request, chat.answer(job, asked, name, reading))

    async def completions(self, request: Request) -> Response:
        """``POST /v1/completions``."""
        asked = await self.bodies.read(request, CompletionRequest)
        self._require_sensible(asked)
        most = self.settings.max_choices
        wanted, prompts = await self._prepared(
            request, lambda: (format_of(asked), self.prompts.of_completion(asked, most))
        )
        jobs = [await self._job(request, asked, ids, wanted, asked.max_tokens, asked.logprobs) for ids in prompts]
        if asked.stream:
            return await _events(request, completions.stream(jobs, asked, self.settings.model_name), done=True)
        return await _whole(request, completions.answer(jobs, asked, self.settings.model_name))

    async def generate(self, request: Request) -> Response:
        """``POST /generate``."""
        asked = await self.bodies.read(request, NativeRequest)
        job = await self._native_job(request, asked)
        if asked.stream:
            return await _events(request, lorax.stream(job, asked), done=False)
        return await _whole(request, lorax.answer(job, asked))

    async def generate_stream(self, request: Request) -> Response:
        """``POST /generate_stream``."""
        asked = await self.bodies.read(request, NativeRequest)
        return await _events(request, lorax.stream(await self._native_job(request, asked), asked), done=False)

    async def models(self, request: Request) -> Response:
        """``GET /v1/models``."""
        return JSONResponse({"object": "list", "data": [self._model()]})

    async def one_model(self, request: Request) -> Response:
        """``GET /v1/models/NAME``."""
        self._require_model(request.path_params["name"])
        return JSONResponse(self._model())

    async def health(self, request: Request) -> Response:
        """``GET /health``: 200 while the model's thread is alive and makes steps."""
        status = (
            "the model hangs" if self.engine.is_hung else "ok" if self.engine.is_running else "the model has stopped"
        )
        return JSONResponse({"status": status}, 200 if status == "ok" else 503)

    async def ready(self, request: Request) -> Response:
        """``GET /ready``: 200 while it makes sense to send requests here."""
        ready = self.draining.is_ready and not self.engine.is_hung
        return JSONResponse({"status": "ready" if ready else "not ready"}, 200 if ready else 503)

    async def figures(self, request: Request) -> Response:
        """``GET /metrics``."""
        text, content_type = self.metrics.text(request.headers.get("accept", ""))
        return Response(text, headers={"Content-Type": content_type})

    # What they have in common.

    def _model(self) -> dict[str, Any]:
        return {
            "id": self.settings.model_name,
            "object": "model",
            "created": self.started,
            "owned_by": "pdacon",
            "max_model_len": self.engine.context,
        }

    def _require_model(self, name: str | None) -> None:
        if name not in (None, "", self.settings.model_name):
            raise RequestError(
                404, f"there is no model {shown(name)}; this server has {self.settings.model_name!r}", param="model",
                code="model_not_found",
            )  # fmt: skip

    def _require_sensible(self, asked: Common) -> None:
        self._require_model(asked.model)
        most = min(self.settings.max_choices, self.settings.max_requests)
        if asked.n > most:
            raise RequestError(400, f"n is {asked.n}; at most {most} answers", param="n")
        if asked.stream_options is not None and not asked.stream:
            raise RequestError(400, "stream_options needs stream: true", param="stream_options")
        self.engine.require_room(asked.n)

    async def _job(
        self,
        request: Request,
        asked: Common,
        ids: list[int],
        wanted: Wanted | None,
        max_tokens: int | None,
        others: int | None,
    ) -> Job:
        sampling = Sampling(asked.temperature, asked.top_k, asked.top_p, asked.seed, others)
        job = await self._made(request, ids, wanted, sampling, max_tokens, asked.stop)
        return await asyncio.to_thread(job.completed, asked.soft) if asked.complete else job

    async def _native_job(self, request: Request, asked: NativeRequest) -> Job:
        parameters = asked.parameters
        lorax.require_adapter(self.engine, parameters)
        self.engine.require_room(1)
        wanted, ids = await self._prepared(
            request, lambda: (lorax.format_of(asked), self.prompts.of_text(asked.inputs, "inputs"))
        )
        most = parameters.max_new_tokens
        return await self._made(request, ids, wanted, lorax.sampling_of(parameters), most, parameters.stop)

    async def _prepared(self, request: Request, work: Callable[[], R]) -> R:
        """What takes as long as the request is, done in a thread."""
        return await _while_connected(request, self.preparer.run(work))

    async def _made(
        self,
        request: Request,
        ids: list[int],
        wanted: Wanted | None,
        sampling: Sampling,
        max_tokens: int | None,
        stops: tuple[str, ...],
    ) -> Job:
        """The job of a request, once its constraint is there."""
        most = self.settings.max_tokens if max_tokens is None else max_tokens
        constraint = None
        if wanted is not None:
            constraint = await _while_connected(request, self.compiler.constraint(wanted))
        self.metrics.prompt_tokens.inc(len(ids))
        current().prompt_tokens += len(ids)
        return Job.fitting(self.engine, ids, constraint, sampling, most, stops)

    def _guarded(self, endpoint: Endpoint) -> Endpoint:
        """An endpoint that first asks for a key, and answers with its errors."""

        async def guarded(request: Request) -> Response:
            try:
                if request.scope["route"].path not in OPEN:
                    require_key(self.settings.api_keys, request.scope["headers"])
                if request.method == "POST":
                    self.draining.require_open()
                return await endpoint(request)
            except RequestError as error:
                return current().refuse(error).response()
            except ClientDisconnect:
                return Response(status_code=GONE)

        return guarded


async def _while_connected(request: Request, work: Awaitable[R]) -> R:
    """The result of some work, which is cancelled when the client leaves.

    Raises ClientDisconnect.
    """
    task = asyncio.ensure_future(work)
    try:
        while not (await asyncio.wait({task}, timeout=_LOOK_SECONDS))[0]:
            if await request.is_disconnected():
                raise ClientDisconnect
        return task.result()
    finally:
        if not task.done():
            task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await task


async def _whole(request: Request, answer: Awaitable[str]) -> Response:
    """A whole answer, which is JSON."""
    return Response(await _while_connected(request, answer), media_type="application/json")


async def _events(request: Request, chunks: AsyncGenerator[dict[str, Any], None], *, done: bool) -> Response:
    """Server-sent events; an error on the way is an event, since the status was sent before.

    Nothing is sent before there is something of the answer: what is refused up to then is an error with its own status.
    """
    try:
        first = await _while_connected(request, anext(chunks))
    except BaseException:
        await chunks.aclose()
        raise

    async def lines() -> AsyncIterator[str]:
        try:
            yield event(first)
            async for chunk in chunks:
                yield event(chunk)
            if done:
                yield "data: [DONE]\n\n"
        except RequestError as error:
            yield event(current().refuse(error).body())
        except Exception:
            log.exception("a stream failed")
            yield event(current().refuse(unexpected()).body())
        finally:
            await chunks.aclose()

    current().is_stream = True
    headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
    return StreamingResponse(lines(), media_type="text/event-stream", headers=headers)


async def _no_route(request: Request, error: Exception) -> Response:
    """What is said where no route takes a request; its URL is not parsed, since the client wrote it."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    path, method = cut(request.scope["path"], _QUOTED), cut(request.method, _QUOTED)
    if status == 405:
        allowed = (error.headers or {}).get("Allow", "") if isinstance(error, HTTPException) else ""
        refusal = RequestError(405, f"{path} takes {allowed}, not {method}", headers={"Allow": allowed})
    else:
        paths = "GET /v1/models, POST /v1/chat/completions, /v1/completions, /generate"
        refusal = RequestError(status, f"{method} {path}: there is no such path; see {paths}")
    return current().refuse(refusal).response()
