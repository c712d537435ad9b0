"""The end of a server: nothing that somebody waits for is lost without an error, whatever it waits for."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from serving.conftest import Running

from pdacon.integrations.huggingface import load_tiny
from pdacon.serving import ServerSettings, engine

LONG = {"response_format": {"type": "regex", "regex": "a{900}"}}
ASKED: Any = {"model": "tiny", "prompt": "x", "max_tokens": 900, **LONG}
SHORT: Any = {"model": "tiny", "prompt": "x", "max_tokens": 2}


@contextmanager
def served(model: Any = None, **settings: Any) -> Iterator[Running]:
    running = Running(ServerSettings(model_name="tiny", **settings), model)
    try:
        yield running
    finally:
        running.stop()


def patient_model() -> Any:
    """The tiny model with time between its steps, so that 900 tokens take longer than any stop that is waited for."""
    model, _ = load_tiny()
    forward = model.forward

    def step(*args: Any, **options: Any) -> Any:
        time.sleep(0.02)
        return forward(*args, **options)

    model.forward = step
    return model


def ask(server: Running, asked: Any = ASKED) -> httpx.Response:
    return httpx.post(f"{server.address}/v1/completions", json=asked, timeout=60)


def events(server: Running) -> tuple[int, list[Any]]:
    """The status of a stream, and what its events said."""
    with httpx.stream("POST", f"{server.address}/v1/completions", json={**ASKED, "stream": True}, timeout=60) as answer:
        if answer.status_code != 200:
            answer.read()
            return answer.status_code, [answer.json()]
        lines = [line.removeprefix("data: ") for line in answer.iter_lines() if line]
    return 200, [line if line == "[DONE]" else json.loads(line) for line in lines]


def wait_until(what: Callable[[], bool]) -> None:
    until = time.monotonic() + 30
    while not what():
        assert time.monotonic() < until, "it does not come"
        time.sleep(0.02)


def shows(server: Running, **counts: int) -> Callable[[], bool]:
    return lambda: all(server.figures()[f"pdacon_answers_{name}"] == count for name, count in counts.items())


def require_stopping(status: int, body: Any) -> None:
    assert (status, body["error"]["code"], body["error"]["type"]) == (503, "stopping", "server_error")


def test_all_that_a_stop_finds_ends_with_an_answer_or_an_error() -> None:
    with served(patient_model(), batch_size=2, shutdown_seconds=3.0) as server, ThreadPoolExecutor(4) as pool:
        running = pool.submit(events, server), pool.submit(ask, server)
        wait_until(shows(server, running=2))
        waiting = pool.submit(events, server), pool.submit(ask, server)
        wait_until(shows(server, running=2, waiting=2))
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as half:
            half.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{")
            wait_until(lambda: httpx.get(f"{server.address}/ready").json() == {"status": "ready"})
            server.signal()
            status, (said,) = waiting[0].result()
            require_stopping(status, said)
            require_stopping(waiting[1].result().status_code, waiting[1].result().json())
            answer = half.recv(10_000).decode()
            assert answer.startswith("HTTP/1.1 503")
            assert '"stopping"' in answer
        assert not any(one.done() for one in running), "what is being written may end"
        late = ask(server, SHORT)
        require_stopping(late.status_code, late.json())
        assert (late.headers["retry-after"], late.headers["connection"]) == ("1", "close")
        assert httpx.get(f"{server.address}/ready").status_code == 503
        assert httpx.get(f"{server.address}/health").status_code == 200
        status, said = running[0].result()
        assert status == 200
        assert {choice["text"] for one in said[:-1] for choice in one["choices"]} == {"a"}
        require_stopping(503, said[-1])
        require_stopping(running[1].result().status_code, running[1].result().json())


def test_answers_that_are_being_written_end_whole() -> None:
    short = {**ASKED, "response_format": {"type": "regex", "regex": "a{60}"}}
    with served(shutdown_seconds=60.0) as server, ThreadPoolExecutor(1) as pool:
        running = pool.submit(ask, server, short)
        wait_until(shows(server, running=1))
        server.signal()
        assert running.result().json()["choices"][0]["text"] == "a" * 60


def test_a_second_signal_ends_what_is_being_written() -> None:
    with served(patient_model(), shutdown_seconds=1000.0) as server, ThreadPoolExecutor(1) as pool:
        running = pool.submit(events, server)
        wait_until(shows(server, running=1))
        server.signal()
        wait_until(lambda: httpx.get(f"{server.address}/ready").status_code == 503)
        server.signal()
        require_stopping(503, running.result()[1][-1])


def test_a_server_that_says_not_ready_answers_for_a_while() -> None:
    with served(shutdown_delay_seconds=1000.0, shutdown_seconds=1000.0) as server:
        server.signal()
        wait_until(lambda: httpx.get(f"{server.address}/ready").status_code == 503)
        assert ask(server, SHORT).status_code == 200
        server.signal()


def test_whoever_runs_the_application_may_cancel_what_is_late() -> None:
    """As uvicorn itself does after its own time: without `Server`, nothing drains before."""
    with served(patient_model(), shutdown_seconds=0.0) as server, ThreadPoolExecutor(2) as pool:
        running = pool.submit(events, server), pool.submit(ask, server)
        wait_until(shows(server, running=2))
        for task in server.tasks:
            server.loop.call_soon_threadsafe(task.cancel)
        require_stopping(503, running[0].result()[1][-1])
        require_stopping(running[1].result().status_code, running[1].result().json())


def test_a_model_that_hangs_holds_up_neither_its_clients_nor_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_STOP_SECONDS", 0.2)
    model, _ = load_tiny()
    going_on = threading.Event()
    forward = model.forward
    with served(model, hang_seconds=0.5) as server:
        monkeypatch.setattr(model, "forward", lambda *args, **options: going_on.wait() and forward(*args, **options))
        answer = ask(server)
        assert (answer.status_code, answer.json()["error"]["code"]) == (500, "failed")
        assert "hangs" in answer.json()["error"]["message"]
        assert httpx.get(f"{server.address}/health").json() == {"status": "the model hangs"}
        assert httpx.get(f"{server.address}/ready").status_code == 503
        refused = ask(server, SHORT)
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "failed")
        going_on.set()
        wait_until(lambda: httpx.get(f"{server.address}/health").status_code == 200)
        assert ask(server, SHORT).status_code == 200
        going_on.clear()
        assert ask(server).status_code == 500
    going_on.set()


def test_a_model_that_dies_fails_its_answers_and_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    model, _ = load_tiny()

    def fail(*args: Any, **options: Any) -> Any:
        raise RuntimeError("no more")

    with served(model) as server:
        with monkeypatch.context() as broken:
            broken.setattr(model, "forward", fail)
            answer = ask(server)
            assert (answer.status_code, answer.json()["error"]["code"]) == (500, "failed")
            wait_until(lambda: httpx.get(f"{server.address}/health").status_code == 503)
        assert ask(server, SHORT).status_code == 200
        assert httpx.get(f"{server.address}/health").status_code == 200
        assert server.figures()["pdacon_answers_total failed"] == 1


@pytest.mark.slow
def test_the_log_of_a_process_is_json_from_its_start_to_its_end(tmp_path: Path) -> None:
    """Clients that leave, nonsense on the port, warnings of grammars, refusals, a stop that cuts a stream."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-P", "-m", "pdacon", "serve", "--port", str(port), "--drain-seconds", "0.01"]
    address = f"http://127.0.0.1:{port}"
    log = tmp_path / "log"
    with log.open("wb") as file:
        process = subprocess.Popen(command, stdout=file, stderr=file)

    def is_ready() -> bool:
        try:
            return httpx.get(f"{address}/ready").status_code == 200
        except httpx.HTTPError:
            assert process.poll() is None, log.read_text()
            return False

    try:
        until = time.monotonic() + 120
        while not is_ready():
            assert time.monotonic() < until
            time.sleep(0.1)
        with socket.create_connection(("127.0.0.1", port)) as nonsense:
            nonsense.sendall(b"\x16\x03\x01 nonsense\r\n\r\n")
            nonsense.recv(1000)
        text = 'start: "a" COLOUR | ANY\nANY.2: /[a-z]+/\nCOLOUR: /red|blue/\n'
        warned = {**SHORT, "response_format": {"type": "grammar", "grammar": text}}
        assert httpx.post(f"{address}/v1/completions", json=warned, timeout=60).status_code == 200
        assert httpx.post(f"{address}/v1/completions", content=b"{", headers={"X-Request-Id": "w-1"}).status_code == 400
        stream = {**ASKED, "stream": True}
        for _ in range(3):
            with httpx.stream("POST", f"{address}/v1/completions", json=stream, timeout=60) as left:
                next(left.iter_lines())
        with httpx.stream("POST", f"{address}/v1/completions", json=stream, timeout=60) as cut:
            lines = cut.iter_lines()
            next(lines)
            process.send_signal(signal.SIGTERM)
            assert '"stopping"' in [line for line in lines if line][-1]
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    requests = [line for line in lines if line.get("path") == "/v1/completions"]
    assert [line["status"] for line in requests] == [200, 400, 499, 499, 499, 503]
    assert (requests[1]["request_id"], requests[1]["code"]) == ("w-1", "bad_request")
    assert requests[5]["endings"] == {"failed": 1}
    assert [line["kind"] for line in lines if "kind" in line] == ["GrammarWarning"]
    assert not [line for line in lines if "asyncio" in line["logger"]]
    assert lines[-1]["message"] == "stopped"
