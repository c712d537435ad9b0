"""`pdacon serve` under load: many clients, schemas of a long tail, killed and started again over the same cache.

Four in five requests ask for a schema that was asked for before, as far as a Zipf distribution says; the others for one
of their own. Each whole answer is validated. Memory is sampled; figures are the server's own (`/metrics`).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import httpx
import jsonschema

KNOWN = 200  # schemas that are asked for again and again


def schema_of(number: int) -> Any:
    """A schema of its own for each number."""
    random = Random(number)
    kinds: list[Any] = [
        {"type": "integer", "minimum": -random.randrange(100), "maximum": random.randrange(1000)},
        {"type": "string", "maxLength": random.randrange(1, 9)},
        {"enum": [f"v{random.randrange(100)}" for _ in range(3)]},
        {"type": "array", "items": {"type": "boolean"}, "maxItems": random.randrange(1, 5)},
        {"type": "string", "pattern": f"^[a-z]{{{random.randrange(1, 6)}}}-[0-9]+$"},
    ]
    members = {f"m{number}_{i}": random.choice(kinds) for i in range(random.randrange(1, 4))}
    return {"type": "object", "properties": members, "required": [*members], "additionalProperties": False}


class Server:
    """A server in a process of its own, over a folder."""

    def __init__(self, folder: Path, port: int, options: Sequence[str] = ()) -> None:
        self.address = f"http://127.0.0.1:{port}"
        command = [sys.executable, "-P", "-m", "pdacon", "serve", "--port", str(port), "--cache", str(folder)]
        command += options
        with (folder.parent / "log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        began = time.monotonic()
        while not self._is_healthy():
            if self.process.poll() is not None or time.monotonic() - began > 300:
                raise SystemExit((folder.parent / "log").read_text()[-3000:])
            time.sleep(0.2)
        self.start_seconds = time.monotonic() - began

    def _is_healthy(self) -> bool:
        try:
            return httpx.get(f"{self.address}/health", timeout=5).status_code == 200
        except httpx.HTTPError:
            return False

    def mebibytes(self) -> float:
        """What the process has in memory."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)

    def figures(self) -> str:
        return httpx.get(f"{self.address}/metrics", timeout=30).text

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)


def figure(text: str, name: str) -> float:
    return float(re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)[1])  # type: ignore[index]


def percentile(text: str, name: str, part: float) -> str:
    """The bound of a histogram below which a part of its values are."""
    bounds = re.findall(rf'^{name}_bucket\{{le="([^"]+)"\}} (\S+)$', text, re.MULTILINE)
    whole = float(bounds[-1][1])
    return next(bound for bound, count in bounds if float(count) >= part * whole)


class Clients:
    """Threads that ask until they are told to stop."""

    def __init__(self, address: str, count: int, seed: int) -> None:
        self.results: Counter[str] = Counter()
        self.seconds: list[float] = []
        self.stopping = threading.Event()
        self.fresh = iter(range(1_000_000 * (seed + 1), 2_000_000 * (seed + 1)))
        self._lock = threading.Lock()
        self._address = address
        self._threads = [threading.Thread(target=self._run, args=(1000 * seed + i,)) for i in range(count)]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self.stopping.set()
        for thread in self._threads:
            thread.join()

    def _run(self, seed: int) -> None:
        random = Random(seed)
        with httpx.Client(timeout=300) as client:
            while not self.stopping.is_set():
                known = random.random() < 0.8
                number = min(int(random.paretovariate(0.7)) - 1, KNOWN - 1) if known else next(self.fresh)
                began = time.monotonic()
                result = self._ask(client, schema_of(number), random.randrange(1 << 30))
                with self._lock:
                    self.results[result] += 1
                    self.seconds.append(time.monotonic() - began)
                if result == "busy":
                    time.sleep(1)

    def _ask(self, client: httpx.Client, schema: Any, seed: int) -> str:
        named = {"type": "json_schema", "json_schema": {"name": "it", "schema": schema}}
        body = {"model": "tiny", "prompt": "Describe a person as JSON:", "max_tokens": 100, "seed": seed}
        body["response_format"] = named
        try:
            answer = client.post(f"{self._address}/v1/completions", json=body)
        except httpx.HTTPError as error:
            return "left alone" if self.stopping.is_set() else f"{type(error).__name__}"
        if answer.status_code == 503:
            return "busy"
        if answer.status_code != 200:
            return f"status {answer.status_code}: {answer.text[:100]}"
        choice = answer.json()["choices"][0]
        if choice["finish_reason"] == "length":
            return "cut"
        try:
            jsonschema.validate(json.loads(choice["text"]), schema)
        except Exception as error:
            return f"wrong: {choice['text']}: {error}"[:200]
        return "valid"


def phase(server: Server, clients: int, seconds: float, seed: int, killed: bool) -> bool:
    """Load for some seconds, then a kill or a stop; whether all is well."""
    asking = Clients(server.address, clients, seed)
    memory = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(min(5.0, seconds / 10))
        memory.append(server.mebibytes())
    text = server.figures()
    asking.stopping.set()
    if killed:
        server.kill()
    asking.stop()
    latencies = sorted(asking.seconds)
    answers = {how: int(figure(text, f'pdacon_cache_answers{{how="{how}"}}')) for how in ("hits", "misses", "loads")}
    speed = figure(text, "pdacon_generated_tokens_total") / seconds
    median, most = statistics.median(latencies), latencies[int(0.99 * len(latencies))]
    print(f"{clients} clients, {seconds:.0f} s: {dict(asking.results)}; {speed:.0f} tokens/s")
    print(
        f"  half of the answers within {median:.1f} s, 99 % within {most:.1f} s; {server.start_seconds:.0f} s to start"
    )
    for name, what in (
        ("pdacon_constraint_step_seconds", "the constraints' work in a batch's step"),
        ("pdacon_constraint_step_cpu_seconds", "the same in CPU time"),
        ("pdacon_compile_seconds", "from a format to its constraint"),
    ):
        low, high = (percentile(text, name, part) for part in (0.5, 0.99))
        print(f"  {what}: half within {low} s, 99 % within {high} s")
    third = memory[len(memory) // 3]
    print(f"  cache: {answers}; memory: {third:.0f} MiB after a third, {memory[-1]:.0f} at the end")
    good = set(asking.results) <= {"valid", "cut", "busy", "left alone"} and asking.results["valid"] > 0
    return good and (seed == 0 or answers["loads"] > 0)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--cache-mib", type=int, default=1024)
    told = parser.parse_args()
    options = ["--cache-mib", str(told.cache_mib)]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder) / "cache"
        cache.mkdir()
        server = Server(cache, port, options)
        good = phase(server, told.clients, told.seconds / 2, 0, killed=True)
        server = Server(cache, port, options)
        good &= phase(server, told.clients, told.seconds / 2, 1, killed=False)
        server.stop()
    print("all as it has to be" if good else "NOT as it has to be")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
