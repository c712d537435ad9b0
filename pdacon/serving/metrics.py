"""What a server counts, as Prometheus reads it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from pdacon.front.caching import CACHE_ANSWERS

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)
_MICRO = (
    *(1e-6, 2.5e-6, 5e-6, 1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4),
    *(7.5e-4, 1e-3, 1.5e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, 5e-2, 1e-1),
)
_FAILED = "Compiling processes that ended, or did not keep to their time."
_OF_CACHES: tuple[tuple[Any, str, str, str], ...] = (
    (CounterMetricFamily, "pdacon_cache_evictions", "What it has forgotten for want of room.", "evictions"),
    (GaugeMetricFamily, "pdacon_cache_entries", "Constraints and refusals in memory.", "entries"),
    (GaugeMetricFamily, "pdacon_cache_bytes", "What they need.", "bytes"),
    (CounterMetricFamily, "pdacon_compile_processes_failed", _FAILED, "failed"),
)

Statistics = Callable[[], dict[str, int]]
K = TypeVar("K", Counter, Gauge, Histogram)


class Metrics:
    """The figures of one application; each has the model as a label, those of the process excepted.

    ``model``: what requests call it.
    """

    def __init__(self, model: str) -> None:
        self.model = model
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.requests = self._of_each(
            Counter,
            "pdacon_requests",
            "Requests by path and status, counted when the answer has ended.",
            "path",
            "status",
        )
        self.seconds = self._of_each(
            Histogram, "pdacon_request_seconds", "From a request to the end of its answer, streams too.", "path",
            buckets=_SECONDS,
        )  # fmt: skip
        self.first_token_seconds = self._figure(
            Histogram, "pdacon_first_token_seconds", "From a request to its first token.", buckets=_SECONDS
        )
        self.token_seconds = self._figure(
            Histogram, "pdacon_token_seconds", "From one token of an answer to the next.", buckets=_SECONDS
        )
        self.answers = self._of_each(
            Counter,
            "pdacon_answers",
            "Answers by how they ended: stop, length, left (by the client), failed.",
            "ending",
        )
        for ending in ("stop", "length", "left", "failed"):
            self.answers.labels(model, ending)
        self.running = self._figure(Gauge, "pdacon_answers_running", "Answers that the model is writing.")
        self.waiting = self._figure(Gauge, "pdacon_answers_waiting", "Answers that wait for room beside those.")
        self.tokens = self._figure(Counter, "pdacon_generated_tokens", "Tokens generated.")
        self.prompt_tokens = self._figure(Counter, "pdacon_prompt_tokens", "Tokens of prompts.")
        self.compiles_running = self._figure(Gauge, "pdacon_compiles_running", "Compilations that run.")
        self.compiles_waiting = self._figure(Gauge, "pdacon_compiles_waiting", "Compilations that wait for room.")
        self.compile_seconds = self._figure(
            Histogram, "pdacon_compile_seconds", "From a format to its constraint, waiting included.", buckets=_SECONDS
        )
        self.refusals = self._figure(Counter, "pdacon_refused_grammars", "Formats that cannot be compiled.")
        self.constraint_seconds = self._figure(
            Histogram,
            "pdacon_constraint_step_seconds",
            "The constraint's own work for one batch: accepting tokens and finding masks.",
            buckets=_MICRO,
        )
        self.constraint_cpu_seconds = self._figure(
            Histogram,
            "pdacon_constraint_step_cpu_seconds",
            "The same in CPU time of the model's thread: without waiting for processors and Python's lock.",
            buckets=_MICRO,
        )

    def observe_step(self, seconds: float, cpu_seconds: float) -> None:
        """Count what the constraints of a batch took at one step."""
        self.constraint_seconds.observe(seconds)
        self.constraint_cpu_seconds.observe(cpu_seconds)

    def count_request(self, path: str, status: int, seconds: float) -> None:
        """Count a request whose answer has ended."""
        self.requests.labels(self.model, path, str(status)).inc()
        self.seconds.labels(self.model, path).observe(seconds)

    def count_answers(self, ending: str, count: int = 1) -> None:
        """Count answers that have ended in one of the four ways."""
        self.answers.labels(self.model, ending).inc(count)

    def follow_cache(self, statistics: Statistics) -> None:
        """Show the figures of a cache, which counts by itself: they are read whenever Prometheus asks."""
        self.registry.register(_Cache(self.model, statistics))

    def text(self, accepted: str) -> tuple[bytes, str]:
        """All figures in the format of Prometheus that an Accept header prefers, and its content type."""
        encode, content_type = choose_encoder(accepted)
        return encode(self.registry), content_type

    def _figure(self, kind: type[K], name: str, text: str, **options: Any) -> K:
        return self._of_each(kind, name, text, **options).labels(self.model)

    def _of_each(self, kind: type[K], name: str, text: str, *labels: str, **options: Any) -> K:
        return kind(name, text, ("model", *labels), registry=self.registry, **options)


class _Cache(Collector):
    """The figures of a cache of constraints."""

    def __init__(self, model: str, statistics: Statistics) -> None:
        self._model = model
        self._statistics = statistics

    def collect(self) -> Iterator[Metric]:
        counted = self._statistics()
        answers = CounterMetricFamily("pdacon_cache_answers", "What the cache answered.", labels=("model", "how"))
        for how in CACHE_ANSWERS:
            answers.add_metric((self._model, how), counted[how])
        yield answers
        for kind, name, text, key in _OF_CACHES:
            figure = kind(name, text, labels=("model",))
            figure.add_metric((self._model,), counted[key])
            yield figure
