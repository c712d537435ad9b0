"""Servers of engines on this machine, started for real and ended with all their processes."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx


def events(response: httpx.Response) -> Iterator[dict[str, Any]]:
    """The events of a stream that ends with ``[DONE]``."""
    for line in response.iter_lines():
        if line.startswith("data: ") and line != "data: [DONE]":
            yield json.loads(line.removeprefix("data: "))


def free_port() -> int:
    """A port that nobody has."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@contextmanager
def running(command: Sequence[str], port: int, log: Path, **environment: str) -> Iterator[str]:
    """A server that runs a command; yields its address once it is healthy. Raises SystemExit with its log."""
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, env={**os.environ, **environment}, stdout=out, stderr=out, start_new_session=True
        )
    try:
        address = f"http://127.0.0.1:{port}"
        until = time.monotonic() + 600
        while not _is_healthy(address):
            if process.poll() is not None or time.monotonic() > until:
                raise SystemExit(f"it does not start:\n{log.read_text()[-4000:]}")
            time.sleep(0.5)
        yield address
        if process.poll() is not None:
            raise SystemExit(f"it has ended:\n{log.read_text()[-4000:]}")
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _is_healthy(address: str) -> bool:
    try:
        return httpx.get(f"{address}/health", timeout=5).status_code == 200
    except httpx.HTTPError:
        return False
