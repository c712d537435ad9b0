"""The event loop never waits: what is heavy of a request is done elsewhere, and `/health` is answered meanwhile."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from serving.conftest import Running
from serving.heavy import TEMPLATE, heavy_requests

from pdacon.base.limits import Limits
from pdacon.serving import ServerSettings

HEAVY = heavy_requests()
_LONGEST = 0.05  # seconds of CPU time that one step of the event loop may take


@pytest.fixture(scope="module")
def patient() -> Iterator[Running]:
    """A server whose model has a chat template that its client can make loop."""
    settings = ServerSettings(model_name="tiny", limits=Limits(seconds=1.0), template_seconds=0.5)
    running = Running(settings, template=TEMPLATE)
    yield running
    running.stop()


@pytest.fixture
def steps(patient: Running, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The CPU time of each step of the server's event loop: of its own thread, whatever else the machine does."""
    spent: list[float] = []
    run = asyncio.events.Handle._run

    def timed(handle: Any) -> None:
        before = time.thread_time()
        run(handle)
        if threading.current_thread() is patient._thread:
            spent.append(time.thread_time() - before)

    monkeypatch.setattr(asyncio.events.Handle, "_run", timed)
    return spent


@pytest.mark.slow
@pytest.mark.parametrize("kind", HEAVY)
def test_no_step_of_the_event_loop_is_long(patient: Running, steps: list[float], kind: str) -> None:
    path, body = HEAVY[kind]
    answer = httpx.post(patient.address + path, content=body, timeout=300)
    assert answer.status_code in (200, 400, 413), answer.text[:1000]
    assert steps
    assert max(steps) < _LONGEST


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["a template that loops", "a large grammar", "all log-probabilities"])
def test_health_is_answered_while_a_heavy_request_runs(patient: Running, kind: str) -> None:
    path, body = HEAVY[kind]
    done = threading.Event()

    def ask() -> None:
        httpx.post(patient.address + path, content=body, timeout=300)
        done.set()

    asking = threading.Thread(target=ask)
    asking.start()
    answered = 0
    with httpx.Client(base_url=patient.address, timeout=300) as client:
        while True:
            status = client.get("/health").status_code
            if done.is_set():
                break
            assert status == 200
            answered += 1
    asking.join()
    assert answered > 2
