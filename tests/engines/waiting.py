"""How long `/health` of `pdacon serve` takes while heavy requests run, by what is heavy of them.

A process of its own asks, and asks a bare HTTP server in the same way: the times of that are what the machine and its
other work take, so what `/health` takes beyond them is ours. Several clients ask for the same heavy thing at a time.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import json
import multiprocessing
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
from load import Server, serve_bare

sys.path.append(str(Path(__file__).parents[1]))
from serving.heavy import heavy_requests

PAUSE = 0.01  # seconds between two looks


def main() -> int:
    """Print a line for each kind of request."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8765, help="and the next one, for the bare server")
    parser.add_argument("--seconds", type=float, default=10.0, help="for each kind")
    parser.add_argument("--clients", type=int, default=3)
    parser.add_argument("--compile-in", choices=("processes", "threads"), default="processes")
    parser.add_argument("kinds", nargs="*", help="words of the kinds to try; default: all")
    told = parser.parse_args()
    spawn = multiprocessing.get_context("spawn")
    bare = spawn.Process(target=serve_bare, args=(told.port + 1,))
    bare.start()
    ours: list[float] = []
    bares: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        options = ("--compile-in", told.compile_in)
        server = Server(Path(folder) / "cache", Path(folder) / "log", told.port, options)
        try:
            for kind, (path, body) in heavy_requests().items():
                if told.kinds and not any(word in kind for word in told.kinds):
                    continue
                here, there = spawn.Pipe()
                looking = spawn.Process(target=look, args=((told.port, told.port + 1), there))
                looking.start()
                here.recv()  # it is there
                statuses = ask(server.address + path, body, told.seconds, told.clients)
                here.send("stop")
                seen, others = here.recv()
                looking.join()
                ours += seen
                bares += others
                print(f"{kind:32} {statuses}; /health: {figures(seen)}; bare: {figures(others)}", flush=True)
        finally:
            server.stop()
            bare.kill()
    print(f"all: /health: {figures(ours)}; bare: {figures(bares)}")
    return 0


def ask(address: str, body: bytes, seconds: float, clients: int) -> dict[int, int]:
    """Ask for the same from several clients for some time; how many answers had which status."""
    statuses: list[int] = []
    until = time.monotonic() + seconds
    numbers = itertools.count()

    def asking() -> None:
        while time.monotonic() < until:
            statuses.append(httpx.post(address, content=another(body, next(numbers)), timeout=300).status_code)

    threads = [threading.Thread(target=asking) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {status: statuses.count(status) for status in sorted({*statuses})}


def another(body: bytes, number: int) -> bytes:
    """The same request with a format that the cache has not seen, if it has one."""
    if b"structured_outputs" not in body:
        return body
    content = json.loads(body)
    ((kind, value),) = content["structured_outputs"].items()
    if kind == "choice":
        value = [*value, f"choice {number}"]
    elif kind == "json" and isinstance(value, dict):
        value["properties"] = value.get("properties", {}) | {f"property {number}": {}}
    else:
        value += f"|{number}" if kind == "regex" else " " * number
    content["structured_outputs"] = {kind: value}
    return json.dumps(content).encode()


def look(ports: Sequence[int], pipe: Any) -> None:
    """Ask each port for `/health` until all is done, and note how long each answer takes."""
    clients = [http.client.HTTPConnection("127.0.0.1", port, timeout=300) for port in ports]
    looks: list[list[float]] = [[] for _ in ports]
    pipe.send("begun")
    while not pipe.poll(PAUSE):
        for client, seconds in zip(clients, looks, strict=True):
            began = time.perf_counter()
            client.request("GET", "/health")
            answer = client.getresponse()
            answer.read()
            assert answer.status == 200
            seconds.append(time.perf_counter() - began)
    pipe.send(looks)


def figures(looks: list[float]) -> str:
    """How many times, and half, 99 % and all of them in ms."""
    if not looks:
        return "none"
    ordered = [1000 * seconds for seconds in sorted(looks)]
    late, latest = (ordered[int(len(ordered) * part)] for part in (0.99, 0.999))
    half, last = statistics.median(ordered), ordered[-1]
    return f"{len(looks)} looks: half {half:.1f}, 99 % {late:.1f}, 99.9 % {latest:.1f}, all {last:.0f} ms"


if __name__ == "__main__":
    raise SystemExit(main())
