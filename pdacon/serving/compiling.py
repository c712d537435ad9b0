"""Constraints for requests: each is compiled once, in threads of their own, so that running answers go on meanwhile."""

from __future__ import annotations

import asyncio
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from threading import Event

from pdacon.caching import CompileCache
from pdacon.cautions import held
from pdacon.constraint import Constraint
from pdacon.detokenizer import Vocabulary
from pdacon.errors import CancelledError, PdaconError
from pdacon.formats import compile_format, grammar_kind
from pdacon.serving.accounts import Line
from pdacon.serving.failures import RequestError, of_grammar
from pdacon.serving.formats import Format
from pdacon.serving.metrics import Metrics
from pdacon.serving.settings import Settings

log = logging.getLogger("pdacon.serving")


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
    A constraint that is in memory is looked up in the threads of compilations, too, since even that writes a schema out
    once; it costs some 0.1 ms. What is no schema is looked up by its text.
    """

    def __init__(self, vocabulary: Vocabulary, settings: Settings, metrics: Metrics) -> None:
        self._vocabulary = vocabulary
        self._settings = settings
        self._metrics = metrics
        self._pool = ThreadPoolExecutor(settings.compile_workers, thread_name_prefix="pdacon-compile")
        self.cache = CompileCache(settings.cache_bytes, settings.cache_directory, settings.cache_store)
        metrics.follow_cache(self.cache.statistics)
        self._waiting = 0

    async def constraint(self, wanted: Format) -> Constraint:
        """The constraint that holds an answer to a format.

        Raises
        ------
        RequestError
            400: it cannot be compiled, with the place and the reason. 503: too many compilations wait.
        asyncio.CancelledError
            The client has left; the compilation ends soon.
        """
        size, most = len(wanted.text.encode()), self._settings.max_grammar_bytes
        if size > most:
            raise RequestError(
                400,
                f"{wanted.param} has {size:,} bytes; at most {most:,} are taken",
                param=wanted.param,
                code="grammar_too_large",
            )
        if self._waiting >= self._settings.max_compiles:
            raise RequestError(503, "too many grammars are being compiled; try again soon", code="busy")
        self._waiting += 1
        self._metrics.compiles_waiting.inc()
        cancel = Event()
        began = time.perf_counter()
        future = self._pool.submit(copy_context().run, self._compiled, wanted, cancel)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            cancel.set()
            raise
        except PdaconError as error:
            self._metrics.refusals.inc()
            raise of_grammar(error, wanted.param) from error
        finally:
            self._waiting -= 1
            if future.cancel():  # it has not begun, and will not
                self._metrics.compiles_waiting.dec()
            self._metrics.compile_seconds.observe(time.perf_counter() - began)

    def close(self) -> None:
        """Let no compilation begin any more."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _compiled(self, wanted: Format, cancel: Event) -> Constraint:
        """The constraint; what there is to warn of is in the log."""
        self._metrics.compiles_waiting.dec()
        with self._metrics.compiles_running.track_inprogress(), held() as cautions:
            constraint = self._compile(wanted, cancel)
        for message, kind in cautions:
            log.warning(Line(param=wanted.param, kind=kind.__name__, warning=message))
        return constraint

    def _compile(self, wanted: Format, cancel: Event) -> Constraint:
        if cancel.is_set():
            raise CancelledError("the compilation was cancelled")
        kind = grammar_kind(wanted.text) if wanted.kind == "grammar" else wanted.kind
        return compile_format(self.cache, kind, wanted.text, self._vocabulary, self._settings.limits, cancel)
