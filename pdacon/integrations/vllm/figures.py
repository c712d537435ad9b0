"""What pdacon counts in vLLM's front end, for ``/metrics``: beside vLLM's own, under the names of `pdacon serve`."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from threading import Lock
from weakref import WeakKeyDictionary

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Histogram

from pdacon.front.caching import CACHE_ANSWERS, CompileCache
from pdacon.integrations.vllm.requests import RefusedRequest

_SECONDS = (0.0001, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class Figures:
    """Counts the formats of requests; safe to use from any thread.

    They are counters, and no reading of the cache when somebody looks, so that they add up over the processes that
    vLLM may have its interface in.
    """

    def __init__(self, registry: CollectorRegistry = REGISTRY) -> None:
        self._seconds = Histogram(
            "pdacon_compile_seconds", "From a format to its constraint.", buckets=_SECONDS, registry=registry
        )
        self._refusals = Counter("pdacon_refused_grammars", "Formats that cannot be compiled.", registry=registry)
        self._answers = Counter("pdacon_cache_answers", "How constraints were come by.", ["how"], registry=registry)
        for how in CACHE_ANSWERS:
            self._answers.labels(how)
        self._lock = Lock()
        self._counted: WeakKeyDictionary[CompileCache, Mapping[str, int]] = WeakKeyDictionary()

    @contextmanager
    def counting(self, cache: CompileCache) -> Iterator[None]:
        """Count one request, whose format is compiled in the block."""
        began = time.perf_counter()
        try:
            yield
        except RefusedRequest:
            self._refusals.inc()
            raise
        finally:
            self._seconds.observe(time.perf_counter() - began)
            self._count(cache)

    def _count(self, cache: CompileCache) -> None:
        with self._lock:
            now = cache.statistics()
            before = self._counted.get(cache, {})
            self._counted[cache] = now
            for how in CACHE_ANSWERS:
                self._answers.labels(how).inc(max(0, now[how] - before.get(how, 0)))


@cache
def figures() -> Figures:
    """Those of this process."""
    return Figures()
