"""What a server says of its requests, in figures and in its log: what has happened, once it has."""

from __future__ import annotations

import asyncio
import gc
import itertools
import json
import logging
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from serving.conftest import Running

from pdacon.integrations.huggingface import load_tiny
from pdacon.serving import ServerSettings
from pdacon.serving.accounts import Accounts, current
from pdacon.serving.application import told_at
from pdacon.serving.metrics import Metrics

COMPLETIONS = "/v1/completions"


@pytest.fixture(scope="module")
def model() -> Any:
    return load_tiny()[0]


@pytest.fixture(scope="module")
def server(model: Any) -> Iterator[Running]:
    running = Running(ServerSettings(model_name="tiny", batch_size=1), model)
    yield running
    running.stop()


@pytest.fixture
def going_on(model: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """The model stops after its second step until this is set, so that an answer has begun and has not ended."""
    event, steps, forward = threading.Event(), itertools.count(), model.forward

    def step(*args: Any, **options: Any) -> Any:
        if next(steps) >= 2:
            event.wait(60)
        return forward(*args, **options)

    monkeypatch.setattr(model, "forward", step)
    yield event
    event.set()


def asked(count: int, **more: Any) -> Any:
    """A request for so many times the letter a; a token each."""
    format = {"type": "regex", "regex": f"a{{{count}}}"}
    return {"model": "tiny", "prompt": "x", "max_tokens": 900, "response_format": format, **more}


def eventually(what: Callable[[], bool]) -> bool:
    until = time.monotonic() + 30
    while not what() and time.monotonic() < until:
        time.sleep(0.02)
    return what()


class Since:
    """How figures have changed."""

    def __init__(self, server: Running) -> None:
        self._server = server
        self._before = server.figures()

    def __getitem__(self, name: str) -> float:
        return self._server.figures()[name] - self._before.get(name, 0)


def test_a_stream_is_counted_when_it_ends(server: Running, going_on: threading.Event) -> None:
    since = Since(server)
    body = asked(20, stream=True)
    began = time.perf_counter()
    with httpx.stream("POST", f"{server.address}{COMPLETIONS}", json=body, timeout=60) as response:
        lines = response.iter_lines()
        next(lines)
        assert since["pdacon_first_token_seconds_count"] == 1
        assert not since._server.figures().get(f"pdacon_requests_total {COMPLETIONS} 200")
        going_on.set()
        assert [line for line in lines if line][-1] == "data: [DONE]"
    assert eventually(lambda: since[f"pdacon_requests_total {COMPLETIONS} 200"] == 1)
    seconds = time.perf_counter() - began
    assert since[f"pdacon_request_seconds_count {COMPLETIONS}"] == 1
    assert 0 < since["pdacon_first_token_seconds_sum"] < since[f"pdacon_request_seconds_sum {COMPLETIONS}"] < seconds
    assert since["pdacon_generated_tokens_total"] == 20
    assert since["pdacon_token_seconds_count"] == 20, "of each token but the first, and of the end token"
    assert since["pdacon_first_token_seconds_count"] == 1


def test_answers_are_counted_by_their_end(server: Running) -> None:
    since = Since(server)
    address = f"{server.address}{COMPLETIONS}"
    for body in (asked(2, n=2), asked(2, stop="a"), asked(3, max_tokens=2)):
        assert httpx.post(address, json=body, timeout=60).status_code == 200
    with httpx.stream("POST", address, json=asked(900, stream=True), timeout=60) as response:
        next(response.iter_lines())
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(address, json=asked(900, n=2), timeout=0.3)
    assert eventually(lambda: since["pdacon_answers_total left"] == 3)
    assert [since[f"pdacon_answers_total {ending}"] for ending in ("stop", "length", "failed")] == [3, 1, 0]
    assert eventually(lambda: since[f"pdacon_requests_total {COMPLETIONS} 499"] == 2)


def test_figures_are_what_their_names_say(server: Running) -> None:
    """By the strict reader of OpenMetrics, in which a counter is a counter."""
    httpx.post(f"{server.address}{COMPLETIONS}", json=asked(1), timeout=60)
    answer = httpx.get(f"{server.address}/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"})
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    families = {family.name: family for family in text_string_to_metric_families(answer.text)}
    kinds = {name: family.type for name, family in families.items()}
    counters = ("requests", "answers", "generated_tokens", "prompt_tokens", "cache_answers", "cache_evictions")
    gauges = ("answers_running", "answers_waiting", "compiles_running", "compiles_waiting", "cache_entries")
    for kind, names in (("counter", counters), ("gauge", gauges)):
        assert {kinds[f"pdacon_{name}"] for name in names} == {kind}
    assert families["process_resident_memory_bytes"].samples[0].value > 1 << 20
    own = [sample for name, family in families.items() if name.startswith("pdacon_") for sample in family.samples]
    assert {sample.labels["model"] for sample in own} == {"tiny"}
    plain = httpx.get(f"{server.address}/metrics")
    assert plain.headers["content-type"].startswith("text/plain")
    assert "# TYPE pdacon_cache_answers_total counter" in plain.text


def lines_of(caplog: pytest.LogCaptureFixture, path: str = COMPLETIONS) -> list[Any]:
    """What the log says of requests."""
    said = [json.loads(record.getMessage()) for record in caplog.records if record.name == "pdacon.serving"]
    return [line for line in said if line.get("path") == path]


def test_the_log_has_a_line_for_each_request_at_its_end(
    server: Running, going_on: threading.Event, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "pdacon.serving")
    address = f"{server.address}{COMPLETIONS}"
    with httpx.stream(
        "POST", address, json=asked(30, stream=True), headers={"X-Request-Id": "mine 1"}, timeout=60
    ) as response:
        lines = response.iter_lines()
        next(lines)
        assert not lines_of(caplog), "it has not ended"
        going_on.set()
        assert list(lines)
    given = response.headers["x-request-id"]
    assert given != "mine 1", "an id with a space would be two"
    whole = httpx.post(address, json=asked(3, n=2), headers={"X-Request-Id": "mine-2"}, timeout=60)
    bad = httpx.post(address, json={"prompt": "x", "respond": 1}, headers={"X-Request-Id": "x" * 200}, timeout=60)
    assert eventually(lambda: len(lines_of(caplog)) == 3)
    stream, answer, refusal = lines_of(caplog)
    assert stream["request_id"] == given
    assert whole.headers["x-request-id"] == answer["request_id"] == "mine-2"
    assert bad.headers["x-request-id"] == refusal["request_id"] != "x" * 200
    assert (stream["status"], stream["stream"], stream["tokens"], stream["endings"]) == (200, True, 30, {"stop": 1})
    assert (answer["status"], answer["model"], answer["tokens"], answer["endings"]) == (200, "tiny", 6, {"stop": 2})
    assert "stream" not in answer
    assert 0 < stream["first_token_seconds"] < stream["seconds"]
    assert (refusal["status"], refusal["code"]) == (400, "bad_request")
    assert refusal["reason"] == bad.json()["error"]["message"]
    httpx.get(f"{server.address}/nowhere/at/all")
    assert eventually(lambda: len(lines_of(caplog, "other")) == 1)


def test_clients_that_leave_leave_nothing_behind(server: Running, caplog: pytest.LogCaptureFixture) -> None:
    """Neither tasks that are destroyed while they wait, which asyncio logs, nor tokens that nobody takes."""
    caplog.set_level(logging.INFO)
    since = Since(server)
    address = f"{server.address}{COMPLETIONS}"
    for round in range(6):
        if round % 2:
            with httpx.stream("POST", address, json=asked(900, stream=True), timeout=60) as response:
                next(response.iter_lines())
        else:
            with pytest.raises(httpx.ReadTimeout):
                httpx.post(address, json=asked(900, n=2), timeout=0.2)
    assert eventually(lambda: since[f"pdacon_requests_total {COMPLETIONS} 499"] == 6)
    assert eventually(lambda: not server.tasks)
    gc.collect()
    assert not [record.getMessage() for record in caplog.records if record.name == "asyncio"]
    assert {line["reason"] for line in lines_of(caplog)} == {"the client has left"}


def test_outside_of_a_request_nothing_is_noted() -> None:
    current().endings["stop"] += 1
    assert current().endings["stop"] == 0


NOISE = """
import logging, sys, threading, warnings
theirs = logging.getLogger("theirs")
theirs.addHandler(logging.StreamHandler())
theirs.propagate = False
from pdacon.serving import write_json
write_json()
theirs.warning("several\\nlines, and half a pair: \\ud800")
theirs.warning("%d", "no number")
logging.getLogger("theirs").error({"a": {1, 2}, "message": "an object"})
warnings.warn("take care", UserWarning)
class Broken:
    def __del__(self):
        raise ValueError("in del")
Broken()
thread = threading.Thread(target=lambda: 1 / 0)
thread.start()
thread.join()
raise RuntimeError("the end")
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "shape"),
    [("/v1/messages", ("error", "api_error")), (COMPLETIONS, (None, "server_error"))],
)
def test_a_failure_has_the_shape_of_its_path(path: str, shape: tuple[str | None, str]) -> None:
    async def failing(scope: Any, receive: Any, send: Any) -> None:
        raise RuntimeError("nobody's fault")

    async def ask() -> httpx.Response:
        app = Accounts(Metrics("tiny"), told_at).around(failing)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://here") as client:
            return await client.post(path, json={})

    answer = asyncio.run(ask())
    said = answer.json()
    assert (answer.status_code, said.get("type"), said["error"]["type"]) == (500, *shape)
    assert said["error"]["message"] == "the server failed; its log says why"


def test_a_stream_that_fails_ends_with_an_event_of_its_path() -> None:
    async def failing(scope: Any, receive: Any, send: Any) -> None:
        current().is_stream = True
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise RuntimeError("nobody's fault")

    async def ask() -> str:
        app = Accounts(Metrics("tiny"), told_at).around(failing)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://here") as client:
            return (await client.post("/v1/messages", json={})).text

    text = asyncio.run(ask())
    assert text.startswith("event: error\ndata: ")
    assert json.loads(text.partition("data: ")[2])["error"]["type"] == "api_error"


def test_whoever_writes_a_line_writes_json() -> None:
    done = subprocess.run([sys.executable, "-P", "-c", NOISE], capture_output=True, text=True, timeout=120)
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert done.stdout == ""
    assert [line["level"] for line in lines] == ["WARNING"] * 2 + ["ERROR", "WARNING", "ERROR", "ERROR", "CRITICAL"]
    assert lines[0]["message"] == "several\nlines, and half a pair: \ud800"
    assert "could not be written" in lines[1]["reason"]
    assert lines[2]["message"] == "an object"
    assert "take care" in lines[3]["message"]
    for line, error in zip(lines[4:], ("in del", "ZeroDivisionError", "the end"), strict=True):
        assert error in line["traceback"]
    assert all(line["time"].endswith("+00:00") for line in lines)
