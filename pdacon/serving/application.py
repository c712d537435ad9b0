"""The routes, and what holds for all of them: keys, sizes, errors, streams, figures."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from typing import Any, TypeVar

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

import pdacon
from pdacon.serving import anthropic_messages, chat, completions, lorax, responses
from pdacon.serving.accounts import GONE, OPEN, Accounts, current, event
from pdacon.serving.advice import cut, shown
from pdacon.serving.answers import Job
from pdacon.serving.anthropic_messages import CountRequest, MessagesRequest
from pdacon.serving.bodies import Bodies
from pdacon.serving.describing import described, page, page_of_error
from pdacon.serving.draining import Draining
from pdacon.serving.engine import Engine
from pdacon.serving.failures import RequestError, of_validation, renamed, unexpected
from pdacon.serving.keys import require_key
from pdacon.serving.memory import give_back
from pdacon.serving.metrics import Metrics
from pdacon.serving.preparing import Preparer
from pdacon.serving.prompts import Prompts
from pdacon.serving.protocol import (
    ChatRequest,
    Common,
    CompletionRequest,
    DetokenizeRequest,
    NativeRequest,
    TokenizeRequest,
)
from pdacon.serving.request_constraints import Compiler
from pdacon.serving.requested_tools import calls_of
from pdacon.serving.response_formats import Wanted, requested_format
from pdacon.serving.responses import ResponsesRequest
from pdacon.serving.settings import ServerSettings
from pdacon.serving.token_choice import Sampling, Scoring
from pdacon.serving.tool_format import fitting_format

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
        The tokenizer cannot be read, or has no end token; or the model cannot write in the format of the settings.
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
        self.tool_format = fitting_format(settings.tool_format, tokenizer, self.engine.vocabulary, settings.limits)
        accounts = Accounts(self.metrics, told_at)
        self.draining = Draining(self.engine, accounts, settings)
        self.started = int(time.time())
        told = anthropic_messages.error_of
        routes = [
            Route("/v1/chat/completions", self._guarded(self.chat_completions), methods=["POST"]),
            Route("/v1/responses", self._guarded(self.responses), methods=["POST"]),
            Route("/v1/messages", self._guarded(self.anthropic_messages, told), methods=["POST"]),
            Route("/v1/messages/count_tokens", self._guarded(self.count_tokens, told), methods=["POST"]),
            Route("/v1/completions", self._guarded(self.completions), methods=["POST"]),
            Route("/tokenize", self._guarded(self.tokenize), methods=["POST"]),
            Route("/detokenize", self._guarded(self.detokenize), methods=["POST"]),
            Route("/version", self._guarded(self.version), methods=["GET"]),
            Route("/openapi.json", self._guarded(self.openapi), methods=["GET"]),
            Route("/docs", self._guarded(self.docs), methods=["GET"]),
            Route("/docs/{name}", self._guarded(self.one_page), methods=["GET"]),
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
        self.app.state.application = self
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
        job = await self._chat_job(request, asked)
        name = self.settings.model_name
        if asked.stream:
            return await _events(request, chat.stream(job, asked, name), done=True)
        return await _whole(request, chat.answer(job, asked, name))

    async def responses(self, request: Request) -> Response:
        """``POST /v1/responses``."""
        asked = await self.bodies.read(request, ResponsesRequest)
        with _named(responses.NAMES):
            job = await self._chat_job(request, await self._converted(request, lambda: responses.chat_of(asked)))
        name = self.settings.model_name
        if asked.stream:
            return await _events(request, responses.stream(job, asked, name), done=False)
        return await _whole(request, responses.answer(job, asked, name))

    async def anthropic_messages(self, request: Request) -> Response:
        """``POST /v1/messages``."""
        asked = await self.bodies.read(request, MessagesRequest)
        with _named(anthropic_messages.names_of(asked)):
            chat = await self._converted(request, lambda: anthropic_messages.chat_of(asked))
            job = await self._chat_job(request, chat)
        name = self.settings.model_name
        if asked.stream:
            chunks = anthropic_messages.stream(job, name)
            return await _events(request, chunks, done=False, told=anthropic_messages.error_of)
        return await _whole(request, anthropic_messages.answer(job, name))

    async def count_tokens(self, request: Request) -> Response:
        """``POST /v1/messages/count_tokens``."""
        asked = await self.bodies.read(request, CountRequest)
        self._require_model(asked.model)
        with _named(anthropic_messages.names_of(asked)):
            chat = await self._converted(request, lambda: anthropic_messages.chat_of(asked))
            ids = await self._prepared(request, lambda: self._prompt_of_chat(chat))
        return JSONResponse({"input_tokens": len(ids)})

    async def tokenize(self, request: Request) -> Response:
        """``POST /tokenize``."""
        asked = await self.bodies.read(request, TokenizeRequest)
        self._require_model(asked.model)
        ids = await self._prepared(request, lambda: self._tokenized(asked))
        said: dict[str, Any] = {"count": len(ids), "max_model_len": self.engine.context, "tokens": ids}
        if asked.return_token_strs:
            said["token_strs"] = self.engine.tokenizer.convert_ids_to_tokens(ids)
        return JSONResponse(said)

    def _tokenized(self, asked: TokenizeRequest) -> list[int]:
        if asked.prompt is not None:
            return self.prompts.of_text(asked.prompt, "prompt", special=asked.add_special_tokens)
        names = ("model", "messages", "tools", "chat_template_kwargs")
        chat = _validated(lambda: ChatRequest.model_validate({name: getattr(asked, name) for name in names}))
        return self._prompt_of_chat(chat)

    def _prompt_of_chat(self, asked: ChatRequest) -> list[int]:
        """The ids of a chat's prompt."""
        calls_of(asked)  # what is wrong with tools is said before the template sees them
        return self.prompts.of_chat(asked)

    async def detokenize(self, request: Request) -> Response:
        """``POST /detokenize``."""
        asked = await self.bodies.read(request, DetokenizeRequest)
        self._require_model(asked.model)
        ids = self.prompts.of_ids(asked.tokens, "tokens") if asked.tokens else []
        return JSONResponse({"prompt": await self._prepared(request, lambda: self.engine.tokenizer.decode(ids))})

    async def version(self, request: Request) -> Response:
        """``GET /version``."""
        return JSONResponse({"version": pdacon.__version__})

    async def openapi(self, request: Request) -> Response:
        """``GET /openapi.json``."""
        return JSONResponse(described())

    async def docs(self, request: Request) -> Response:
        """``GET /docs``."""
        return HTMLResponse(page())

    async def one_page(self, request: Request) -> Response:
        """``GET /docs/NAME``: the page about an error."""
        return PlainTextResponse(page_of_error(request.path_params["name"]), media_type="text/markdown")

    async def _converted(self, request: Request, work: Callable[[], ChatRequest]) -> ChatRequest:
        """A request of another interface as that of a chat. Raises RequestError."""
        return await self._prepared(request, lambda: _validated(work))

    async def _chat_job(self, request: Request, asked: ChatRequest) -> Job:
        """The job of a request of a chat, whichever interface it came by."""
        self._require_sensible(asked)
        others = (asked.top_logprobs or 0) if asked.logprobs else None
        wanted, ids = await self._prepared(request, lambda: self._of_chat(asked))
        job = await self._job(request, asked, ids, wanted, asked.most_tokens, others)
        return job if wanted is None else replace(job, texts=wanted.texts)

    def _of_chat(self, asked: ChatRequest) -> tuple[Wanted | None, list[int]]:
        """What the answer to a chat must be, and the ids of its prompt."""
        calls_of(asked)  # what is wrong with tools is said before the template sees them
        prompt = self.prompts.rendered(asked)
        return requested_format(asked, self.tool_format, prompt), self.prompts.of_rendered(prompt)

    async def completions(self, request: Request) -> Response:
        """``POST /v1/completions``."""
        asked = await self.bodies.read(request, CompletionRequest)
        self._require_sensible(asked)
        most = self.settings.max_choices
        wanted, prompts = await self._prepared(
            request, lambda: (requested_format(asked), self.prompts.of_completion(asked, most))
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

    def _require_tokens(self, asked: Common) -> None:
        """Refuse ids that are no tokens of the model. Raises RequestError."""
        size = self.engine.vocabulary.size
        for name, ids in (("stop_token_ids", asked.stop_token_ids), ("logit_bias", asked.logit_bias)):
            for token in ids:
                if not 0 <= token < size:
                    raise RequestError(400, f"{name}: {token} is none of the model's {size:,} tokens", param=name)

    async def _job(
        self,
        request: Request,
        asked: Common,
        ids: list[int],
        wanted: Wanted | None,
        max_tokens: int | None,
        others: int | None,
    ) -> Job:
        self._require_tokens(asked)
        sampling = Sampling(
            asked.temperature, asked.top_k, asked.top_p, asked.min_p, asked.seed, _scoring(asked), others=others
        )
        job = await self._made(request, ids, wanted, sampling, max_tokens, asked.stop)
        thinking = asked.thinking_token_budget if isinstance(asked, ChatRequest) else None
        job = replace(job, stop_tokens=frozenset(asked.stop_token_ids), thinking=thinking)
        return await asyncio.to_thread(job.completed, asked.soft) if asked.complete else job

    async def _native_job(self, request: Request, asked: NativeRequest) -> Job:
        parameters = asked.parameters
        lorax.require_adapter(self.engine, parameters)
        self.engine.require_room(1)
        wanted, ids = await self._prepared(
            request, lambda: (lorax.requested_format(asked), self.prompts.of_text(asked.inputs, "inputs"))
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
        values = None if wanted is None else wanted.values
        return Job.fitting(self.engine, ids, constraint, sampling, most, stops, values)

    def _guarded(self, endpoint: Endpoint, told: Callable[[RequestError], dict[str, Any]] | None = None) -> Endpoint:
        """An endpoint that first asks for a key, and answers with its errors; ``told``: in a shape of its own."""

        async def guarded(request: Request) -> Response:
            try:
                if request.scope["route"].path not in OPEN:
                    require_key(self.settings.api_keys, request.scope["headers"])
                if request.method == "POST":
                    self.draining.require_open()
                return await endpoint(request)
            except RequestError as error:
                return current().refuse(error).response(told and told(error))
            except ClientDisconnect:
                return Response(status_code=GONE)

        return guarded


@contextmanager
def _named(names: Sequence[tuple[str, str]]) -> Iterator[None]:
    """What is refused within is named as in the interface that the request came by."""
    try:
        yield
    except RequestError as error:
        raise renamed(error, names) from error


def _validated(work: Callable[[], ChatRequest]) -> ChatRequest:
    """The request of a chat that another request is turned into. Raises RequestError: a field of it is not valid."""
    try:
        return work()
    except ValidationError as error:
        raise of_validation(error) from error


def _scoring(asked: Common) -> Scoring | None:
    """What a request adds to the model's scores; None: nothing."""
    said = asked.presence_penalty, asked.frequency_penalty, asked.repetition_penalty, asked.logit_bias
    return None if said == (0, 0, 1, {}) else Scoring(*said)


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


async def _events(
    request: Request,
    chunks: AsyncGenerator[dict[str, Any], None],
    *,
    done: bool,
    told: Callable[[RequestError], dict[str, Any]] = RequestError.body,
) -> Response:
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
            yield event(told(current().refuse(error)))
        except Exception:
            log.exception("a stream failed")
            yield event(told(current().refuse(unexpected())))
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
        paths = (
            "GET /v1/models, /docs, POST /v1/chat/completions, /v1/responses, /v1/messages, /v1/completions, /generate"
        )
        refusal = RequestError(status, f"{method} {path}: there is no such path; see {paths}")
    return current().refuse(refusal).response(told_at(request.scope["path"], refusal))


def told_at(path: str, error: RequestError) -> dict[str, Any]:
    """What is sent of an error: in Anthropic's shape below its path, else in OpenAI's."""
    return anthropic_messages.error_of(error) if path.startswith("/v1/messages") else error.body()
