"""What a server counts, as Prometheus reads it."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_MICRO = (1e-6, 2.5e-6, 5e-6, 1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 7.5e-4, 1e-3, 1.5e-3, 2.5e-3, 5e-3, 1e-2)


class Metrics:
    """The figures of one application."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        r = self.registry
        self.requests = Counter("pdacon_requests", "Requests by path and status.", ("path", "status"), registry=r)
        self.seconds = Histogram(
            "pdacon_request_seconds",
            "From a request to the end of its answer.",
            ("path",),
            registry=r,
            buckets=_SECONDS,
        )
        self.first_token_seconds = Histogram(
            "pdacon_first_token_seconds", "From a request to its first token.", registry=r, buckets=_SECONDS
        )
        self.running = Gauge("pdacon_answers_running", "Answers being written or waiting for room.", registry=r)
        self.tokens = Counter("pdacon_generated_tokens", "Tokens generated.", registry=r)
        self.prompt_tokens = Counter("pdacon_prompt_tokens", "Tokens of prompts.", registry=r)
        self.compiles_waiting = Gauge("pdacon_compiles_waiting", "Compilations that run or wait.", registry=r)
        self.compile_seconds = Histogram(
            "pdacon_compile_seconds", "From a format to its constraint, waiting included.", registry=r, buckets=_SECONDS
        )
        self.refusals = Counter("pdacon_refused_grammars", "Formats that cannot be compiled.", registry=r)
        self.constraint_seconds = Histogram(
            "pdacon_constraint_step_seconds",
            "The constraint's own work for one batch: accepting tokens and finding masks.",
            registry=r,
            buckets=_MICRO,
        )
        self.constraint_cpu_seconds = Histogram(
            "pdacon_constraint_step_cpu_seconds",
            "The same in CPU time of the model's thread: without waiting for processors and Python's lock.",
            registry=r,
            buckets=_MICRO,
        )
        self.cached = Gauge("pdacon_cache_entries", "Constraints and refusals in memory.", registry=r)
        self.cached_bytes = Gauge("pdacon_cache_bytes", "What they need.", registry=r)
        self.cache_answers = Gauge("pdacon_cache_answers", "What the cache has answered so far.", ("how",), registry=r)

    def observe_step(self, seconds: float, cpu_seconds: float) -> None:
        """Count what the constraints of a batch took at one step."""
        self.constraint_seconds.observe(seconds)
        self.constraint_cpu_seconds.observe(cpu_seconds)

    def text(self, cache: dict[str, int]) -> bytes:
        """All figures in Prometheus' format; the cache's own statistics are read now."""
        self.cached.set(cache["entries"])
        self.cached_bytes.set(cache["bytes"])
        for how in ("hits", "misses", "waits", "loads", "fetches", "refusals", "evictions"):
            self.cache_answers.labels(how).set(cache[how])
        return generate_latest(self.registry)
