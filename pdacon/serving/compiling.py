"""Constraints for requests: each is compiled once, in a process of its own, so that running answers go on meanwhile."""

from __future__ import annotations

import asyncio
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from threading import Event

from pdacon.base.cautions import held
from pdacon.detokenizer import Vocabulary
from pdacon.errors import CancelledError, PdaconError
from pdacon.front.caching import CompileCache
from pdacon.front.constraint import Constraint
from pdacon.integrations.formats import Kind, compile_format, format_name, grammar_kind
from pdacon.integrations.workers import WorkerError, Workers
from pdacon.serving.accounts import Line
from pdacon.serving.failures import RequestError, of_grammar, unexpected
from pdacon.serving.formats import Format
from pdacon.serving.metrics import Metrics
from pdacon.serving.settings import Settings

log = logging.getLogger("pdacon.serving")


@dataclass(slots=True)
class _Compilation:
    """One that waits or runs, and how many requests wait for it."""

    done: asyncio.Future[Constraint]
    cancel: Event
    waiting: int = 0


class Compiler:
    """Makes the constraints of requests; safe to use from one event loop.

    Parameters
    ----------
    vocabulary : Vocabulary
        Of the model.
    settings : Settings
    metrics : Metrics

    Notes
    -----
    A constraint that is in memory is looked up in a thread of its own, since even that writes a schema out once; it
    costs some 0.1 ms and waits for no compilation. Requests of one format wait for one compilation of it.
    """

    def __init__(self, vocabulary: Vocabulary, settings: Settings, metrics: Metrics) -> None:
        self._vocabulary = vocabulary
        self._settings = settings
        self._metrics = metrics
        self._pool = ThreadPoolExecutor(settings.compile_workers, thread_name_prefix="pdacon-compile")
        self._looking = ThreadPoolExecutor(1, thread_name_prefix="pdacon-look")
        self.cache = CompileCache(settings.cache_bytes, settings.cache_directory, settings.cache_store)
        metrics.follow_cache(self._statistics)
        self._workers = None if settings.compile_in == "threads" else Workers(vocabulary, settings.limits)
        self._under_way: dict[object, _Compilation] = {}
        self._asking = 0  # how many requests wait for their constraint, each with its text in memory
        self._waits = 0  # for the compilation of another request

    async def constraint(self, wanted: Format) -> Constraint:
        """The constraint that holds an answer to a format.

        Raises
        ------
        RequestError
            400: it cannot be compiled, with the place and the reason. 503: too many are being compiled, or wait. 500:
            the process that compiled it has ended.
        asyncio.CancelledError
            The client has left; the compilation ends soon if nobody else waits for it.
        """
        size, most = len(wanted.text.encode()), self._settings.max_grammar_bytes
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
            name, constraint = await asyncio.wrap_future(self._looking.submit(self._looked_up, wanted))
            return await self._compilation(wanted, name) if constraint is None else constraint
        except PdaconError as error:
            self._metrics.refusals.inc()
            raise of_grammar(error, wanted.param) from error
        except WorkerError as error:
            log.error(Line(param=wanted.param, error=str(error)))
            raise unexpected() from None
        finally:
            self._asking -= 1
            self._metrics.compile_seconds.observe(time.perf_counter() - began)

    async def _compilation(self, wanted: Format, name: str | None) -> Constraint:
        """What the one compilation of a format gives, which begins if there is none."""
        key: object = object() if name is None else name  # without a name it is like no other
        compilation = self._under_way.get(key)
        if compilation is None:
            if len(self._under_way) >= self._settings.max_compiles:
                raise RequestError(503, "too many grammars are being compiled; try again soon", code="busy")
            compilation = self._begin(wanted, name, key)
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

    def _begin(self, wanted: Format, name: str | None, key: object) -> _Compilation:
        self._metrics.compiles_waiting.inc()
        cancel = Event()
        future = self._pool.submit(copy_context().run, self._compiled, wanted, name, cancel)

        def ended(done: asyncio.Future[Constraint]) -> None:
            if self._under_way.get(key) is compilation:
                del self._under_way[key]
            if future.cancelled():  # it has not begun, and will not
                self._metrics.compiles_waiting.dec()

        compilation = self._under_way[key] = _Compilation(asyncio.wrap_future(future), cancel)
        compilation.done.add_done_callback(ended)
        return compilation

    def _looked_up(self, wanted: Format) -> tuple[str | None, Constraint | None]:
        """What the cache calls a format, and its constraint if that is in memory."""
        name = format_name(self.cache, _kind(wanted), wanted.text, self._vocabulary, self._settings.limits)
        return name, None if name is None else self.cache.kept(name)

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
        self._looking.shutdown(wait=False, cancel_futures=True)
        self._pool.shutdown(wait=False, cancel_futures=True)
        if self._workers is not None:
            self._workers.close()

    def _compiled(self, wanted: Format, name: str | None, cancel: Event) -> Constraint:
        """The constraint; what there is to warn of is in the log."""
        self._metrics.compiles_waiting.dec()
        with self._metrics.compiles_running.track_inprogress(), held() as cautions:
            constraint = self._compile(wanted, name, cancel)
        for message, kind in cautions:
            log.warning(Line(param=wanted.param, kind=kind.__name__, warning=message))
        return constraint

    def _compile(self, wanted: Format, name: str | None, cancel: Event) -> Constraint:
        if cancel.is_set():
            raise CancelledError("the compilation was cancelled")
        if self._workers is None:
            return self._compile_here(self.cache, wanted, cancel)
        make = partial(self._compile_elsewhere, self._workers, wanted, cancel)
        if name is not None:
            return self.cache.compile_elsewhere(name, self._vocabulary, make, cancel)
        made = make()
        return Constraint.from_bytes(made, self._vocabulary) if isinstance(made, bytes) else made

    def _compile_elsewhere(self, workers: Workers, wanted: Format, cancel: Event) -> Constraint | bytes:
        settings = self._settings
        has_folder = settings.cache_directory is not None or settings.cache_store is not None
        made = workers.compile(_kind(wanted), wanted.text, cancel, is_whole=has_folder)
        if not made.content:  # no file can hold it
            return self._compile_here(CompileCache(0), wanted, cancel)
        if made.is_whole:
            return made.content
        return Constraint.from_bytes(made.content, self._vocabulary, with_vocabulary=False)

    def _compile_here(self, cache: CompileCache, wanted: Format, cancel: Event) -> Constraint:
        return compile_format(cache, _kind(wanted), wanted.text, self._vocabulary, self._settings.limits, cancel)


def _kind(wanted: Format) -> Kind:
    return grammar_kind(wanted.text) if wanted.kind == "grammar" else wanted.kind
