"""Constraints for requests: each is compiled once, in a process of its own, so that running answers go on meanwhile."""

from __future__ import annotations

import asyncio
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace
from threading import Event

from pdacon.detokenizer import Vocabulary
from pdacon.errors import PdaconError
from pdacon.front.caching import CompileCache
from pdacon.front.constraint import Constraint
from pdacon.integrations.format_compiler import FormatCompiler
from pdacon.integrations.workers import WorkerError, Workers
from pdacon.serving.accounts import Line, current
from pdacon.serving.advice import in_requests
from pdacon.serving.failures import RequestError, of_grammar, unexpected
from pdacon.serving.metrics import Metrics
from pdacon.serving.response_formats import Wanted
from pdacon.serving.settings import ServerSettings

log = logging.getLogger("pdacon.serving")
_MOST_WARNED = 4096  # formats of which it is remembered what there is to warn of


@dataclass(slots=True)
class _Compilation:
    """One that waits or runs, and how many requests wait for it."""

    done: asyncio.Future[Constraint]
    cancel: Event
    waiting: int = 0


class Compiler:
    """Makes the constraints of requests; safe to use from one event loop.

    ``vocabulary``: of the model.

    A constraint that is in memory is looked up at once. Requests of one format wait for one compilation of it.
    """

    def __init__(self, vocabulary: Vocabulary, settings: ServerSettings, metrics: Metrics) -> None:
        self._settings = settings
        self._metrics = metrics
        self._pool = ThreadPoolExecutor(settings.compile_workers, thread_name_prefix="pdacon-compile")
        self.cache = CompileCache(settings.cache_bytes, settings.cache_directory, settings.cache_store)
        metrics.follow_cache(self._statistics)
        self._workers = None if settings.compile_in == "threads" else Workers(vocabulary, settings.limits)
        self._compiler = FormatCompiler(vocabulary, settings.limits, self.cache, self._workers)
        self._under_way: dict[tuple[str, ...], _Compilation] = {}
        self._asking = 0  # how many requests wait for their constraint, each with its text in memory
        self._warnings: dict[tuple[str, ...], list[str]] = {}  # of formats, by their keys
        self._waits = 0  # for the compilation of another request

    async def constraint(self, wanted: Wanted) -> Constraint:
        """The constraint that holds an answer to a format.

        Raises RequestError (400): it cannot be compiled, with the place and the reason. 503: too many are being
        compiled, or wait. 500: the process that compiled it has ended. asyncio.CancelledError: the client has left; the
        compilation ends soon if nobody else waits for it.
        """
        wanted = replace(wanted, format=wanted.format.by_default(self._settings.json))
        size, most = len(wanted.format.text.encode()), self._settings.max_grammar_bytes
        if size > most:
            raise RequestError(
                400,
                f"{wanted.param} has {size:,} bytes; at most {most:,} are taken",
                param=wanted.param,
                code="grammar_too_large",
            )
        if self._asking >= self._settings.max_requests:
            raise RequestError(503, "too many requests wait for their grammars; try again soon", code="busy")
        self._asking += 1
        began = time.perf_counter()
        try:
            constraint = self._compiler.kept(wanted.format) or await self._compilation(wanted)
            current().warnings += (f"{wanted.param}: {text}" for text in self._warnings.get(wanted.format.key, ()))
            return constraint
        except PdaconError as error:
            self._metrics.refusals.inc()
            raise of_grammar(error, wanted.param, wanted.tools) from error
        except WorkerError as error:
            log.error(Line(param=wanted.param, error=str(error)))
            raise unexpected() from None
        finally:
            self._asking -= 1
            self._metrics.compile_seconds.observe(time.perf_counter() - began)

    async def _compilation(self, wanted: Wanted) -> Constraint:
        """What the one compilation of a format gives, which begins if there is none."""
        key = wanted.format.key
        compilation = self._under_way.get(key)
        if compilation is None:
            if len(self._under_way) >= self._settings.max_compiles:
                raise RequestError(503, "too many grammars are being compiled; try again soon", code="busy")
            compilation = self._begin(wanted)
        else:
            self._waits += 1
        compilation.waiting += 1
        try:
            return await asyncio.shield(compilation.done)
        finally:
            compilation.waiting -= 1
            if not compilation.waiting and not compilation.done.done():
                compilation.cancel.set()
                if self._under_way.get(key) is compilation:  # whoever comes now begins another
                    del self._under_way[key]
                compilation.done.cancel()

    def _begin(self, wanted: Wanted) -> _Compilation:
        self._metrics.compiles_waiting.inc()
        key, cancel = wanted.format.key, Event()
        future = self._pool.submit(copy_context().run, self._compiled, wanted, cancel)

        def ended(done: asyncio.Future[Constraint]) -> None:
            if self._under_way.get(key) is compilation:
                del self._under_way[key]
            if future.cancelled():  # it has not begun, and will not
                self._metrics.compiles_waiting.dec()

        compilation = self._under_way[key] = _Compilation(asyncio.wrap_future(future), cancel)
        compilation.done.add_done_callback(ended)
        return compilation

    def _statistics(self) -> dict[str, int]:
        counted = self.cache.statistics()
        failed = 0 if self._workers is None else self._workers.failed
        return {**counted, "failed": failed, "waits": counted["waits"] + self._waits}

    def warm(self) -> None:
        """Start what the first compilation would wait for; returns at once."""
        if self._workers is not None:
            self._workers.warm()

    def close(self) -> None:
        """Let no compilation begin any more, and end those that run in processes."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        if self._workers is not None:
            self._workers.close()

    def _compiled(self, wanted: Wanted, cancel: Event) -> Constraint:
        """The constraint; what there is to warn of is in the log, and told to each client that asks for it."""
        told: list[str] = []

        def warn(kind: str, message: str) -> None:
            told.append(in_requests(message))
            log.warning(Line(param=wanted.param, kind=kind, warning=message))

        self._metrics.compiles_waiting.dec()
        with self._metrics.compiles_running.track_inprogress():
            constraint = self._compiler.compiled(wanted.format, warn, cancel)
        if told:
            if len(self._warnings) >= _MOST_WARNED:
                self._warnings.clear()
            self._warnings[wanted.format.key] = told
        return constraint
