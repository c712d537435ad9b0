"""`pdacon serve` under load: many clients, schemas of a long tail, hostile requests, a kill, a stop.

Four in five requests ask for a schema that was asked for before, as far as a Zipf distribution says; the others for one
of their own. Some requests are hostile. Each whole answer is validated, each refusal is an error of OpenAI's shape, and
each line of the log is JSON. The server is killed halfway and started again over the same cache; at the end it is told
to stop while all clients ask. A process of its own asks for `/health`. Memory is sampled; figures are the server's own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
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
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import httpx
import jsonschema
from hostile import ask, complaint
from prometheus_client.parser import text_string_to_metric_families

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

    def __init__(self, folder: Path, log: Path, port: int, options: Sequence[str] = ()) -> None:
        self.address = f"http://127.0.0.1:{port}"
        self._log = log
        command = [sys.executable, "-P", "-m", "pdacon", "serve", "--port", str(port), "--cache", str(folder)]
        command += options
        with log.open("wb") as file:
            self.process = subprocess.Popen(command, stdout=file, stderr=file)
        began = time.monotonic()
        while not self._is_healthy():
            if self.process.poll() is not None or time.monotonic() - began > 300:
                raise SystemExit(log.read_text()[-3000:])
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

    def figures(self) -> Figures:
        return Figures(httpx.get(f"{self.address}/metrics", timeout=30).text)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        """Tell it to stop; its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)

    def other_lines(self) -> list[str]:
        """Lines of the log that are no JSON object; without what follows the last whole one, since a kill cuts it."""
        text = self._log.read_text()
        return [line for line in text[: text.rfind("\n") + 1].splitlines() if not _is_object(line)]


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


class Health:
    """A process that asks for `/health` again and again, and what it saw: seconds, and answers that are not 200.

    It asks a bare server in the same way: the seconds of that are the machine's.
    """

    def __init__(self, address: str) -> None:
        spawn = multiprocessing.get_context("spawn")
        self._ours, theirs = multiprocessing.Pipe()
        bare = free_port()
        self._bare = spawn.Process(target=serve_bare, args=(bare,))
        self._bare.start()
        addresses = (address, f"http://127.0.0.1:{bare}")
        self._process = spawn.Process(target=ask_for_health, args=(*addresses, theirs))
        self._process.start()
        self._ours.recv()  # it is there

    def stop(self) -> tuple[list[float], list[str], list[float]]:
        self._ours.send("stop")
        seen: tuple[list[float], list[str], list[float]] = self._ours.recv()
        self._process.join()
        self._bare.kill()
        return seen


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def serve_bare(port: int) -> None:
    """A server that does nothing but answer."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                await reader.readuntil(b"\r\n\r\n")
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def serve() -> None:
        await (await asyncio.start_server(answer, "127.0.0.1", port)).serve_forever()

    asyncio.run(serve())


def ask_for_health(address: str, bare: str, pipe: Any) -> None:
    seconds: list[float] = []
    others: list[float] = []
    wrong: list[str] = []
    with httpx.Client(timeout=60) as client:
        pipe.send("begun")
        while not pipe.poll(0.05):
            began = time.monotonic()
            with suppress(httpx.ConnectError):  # it starts more slowly
                client.get(f"{bare}/health")
                others.append(time.monotonic() - began)
            began = time.monotonic()
            try:
                status = str(client.get(f"{address}/health").status_code)
            except httpx.HTTPError as error:
                status = type(error).__name__
            seconds.append(time.monotonic() - began)
            if status != "200":
                wrong.append(status)
    pipe.send((sorted(seconds), wrong, sorted(others)))


class Figures:
    """What a server has counted."""

    def __init__(self, text: str) -> None:
        families = text_string_to_metric_families(text)
        self._samples = [sample for family in families for sample in family.samples]

    def __call__(self, name: str, **labels: str) -> float:
        return sum(one.value for one in self._samples if one.name == name and labels.items() <= one.labels.items())

    def percentile(self, name: str, part: float, **labels: str) -> str:
        """The bound of a histogram below which a part of its values are."""
        those = [one for one in self._samples if one.name == f"{name}_bucket" and labels.items() <= one.labels.items()]
        bounds = [(one.labels["le"], one.value) for one in those]
        return next(bound for bound, count in bounds if count >= part * bounds[-1][1])


class Clients:
    """Threads that ask until they are told to stop."""

    def __init__(self, address: str, count: int, seed: int, hostile: float) -> None:
        self.results: Counter[str] = Counter()
        self.seconds: list[float] = []
        self.stopping = threading.Event()
        self.fresh = iter(range(1_000_000 * (seed + 1), 2_000_000 * (seed + 1)))
        self._lock = threading.Lock()
        self._address = address
        self._hostile = hostile
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
                if random.random() < self._hostile:
                    self._note(self._ask_hostile(random), None)
                    continue
                known = random.random() < 0.8
                number = min(int(random.paretovariate(0.7)) - 1, KNOWN - 1) if known else next(self.fresh)
                began = time.monotonic()
                result = self._ask(client, schema_of(number), random.randrange(1 << 30))
                self._note(result, time.monotonic() - began)
                if result == "busy":
                    time.sleep(1)

    def _note(self, result: str, seconds: float | None) -> None:
        with self._lock:
            self.results[result] += 1
            if seconds is not None:
                self.seconds.append(seconds)

    def _ask_hostile(self, random: Random) -> str:
        try:
            return f"hostile: {ask(self._address, random)}"
        except (httpx.HTTPError, OSError) as error:
            return "left alone" if self.stopping.is_set() else f"hostile: {error!r}"

    def _ask(self, client: httpx.Client, schema: Any, seed: int) -> str:
        named = {"type": "json_schema", "json_schema": {"name": "it", "schema": schema}}
        body = {"model": "tiny", "prompt": "Describe a person as JSON:", "max_tokens": 100, "seed": seed}
        body["response_format"] = named
        try:
            answer = client.post(f"{self._address}/v1/completions", json=body)
        except httpx.HTTPError as error:
            return "left alone" if self.stopping.is_set() else f"{type(error).__name__}"
        if answer.status_code == 503 and complaint(answer) is None:
            return "stopping" if answer.json()["error"]["code"] == "stopping" and self.stopping.is_set() else "busy"
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


GOOD = {
    "valid",
    "cut",
    "stopping",
    "left alone",
    *(f"hostile: {what}" for what in ("refused", "left", "answered", "stopping")),
}
MOST_HEALTH_SECONDS = 0.05


def phase(server: Server, told: argparse.Namespace, seed: int, killed: bool) -> bool:
    """Load for half of the time, then a kill or a stop; whether all is well."""
    seconds = told.seconds / 2
    health = Health(server.address)
    asking = Clients(server.address, told.clients, seed, told.hostile)
    memory = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(min(5.0, seconds / 10))
        memory.append(server.mebibytes())
    figures = server.figures()
    looks, unhealthy, bare = health.stop()
    asking.stopping.set()
    status = 0
    if killed:
        server.kill()
    else:
        status = server.stop()
    asking.stop()
    print(f"{told.clients} clients, {seconds:.0f} s: {dict(asking.results)}")
    report(figures, asking, memory, seconds)
    print(f"  {server.start_seconds:.0f} s to start, exit status {status}")
    late = looks[int(0.99 * len(looks))]
    print(
        f"  /health: {len(looks)} looks, half within {1000 * statistics.median(looks):.1f} ms, 99 % within "
        f"{1000 * late:.1f} ms, the slowest {1000 * looks[-1]:.0f} ms; not 200: {unhealthy}; by its own "
        f"figures 99 % within {figures.percentile('pdacon_request_seconds', 0.99, path='/health')} s"
    )
    print(f"  a bare server beside it: 99 % within {1000 * bare[int(0.99 * len(bare))]:.1f} ms, {1000 * bare[-1]:.0f}")
    others = server.other_lines()
    print("\n    ".join([f"  lines of the log that are no JSON: {len(others)}", *others[:5]]))
    failures = sum(figures("pdacon_requests_total", status=str(code)) for code in range(500, 600))
    good = set(asking.results) <= GOOD and asking.results["valid"] > 0 and not failures and not others
    good &= late <= MOST_HEALTH_SECONDS and not unhealthy and status == 0
    return good and (seed == 0 or figures("pdacon_cache_answers_total", how="loads") > 0)


def report(figures: Figures, asking: Clients, memory: Sequence[float], seconds: float) -> None:
    """Print what a server did, by its own figures."""
    latencies = sorted(asking.seconds)
    answers = {how: int(figures("pdacon_cache_answers_total", how=how)) for how in ("hits", "misses", "loads")}
    endings = {how: int(figures("pdacon_answers_total", ending=how)) for how in ("stop", "length", "left", "failed")}
    codes = {str(code): int(figures("pdacon_requests_total", status=str(code))) for code in range(200, 600)}
    speed = figures("pdacon_generated_tokens_total") / seconds
    median, most = statistics.median(latencies), latencies[int(0.99 * len(latencies))]
    print(f"  requests by status: { {code: count for code, count in codes.items() if count} }; answers: {endings}")
    print(f"  half of the answers within {median:.1f} s, 99 % within {most:.1f} s; {speed:.0f} tokens/s")
    for name, what in (
        ("pdacon_first_token_seconds", "to the first token"),
        ("pdacon_token_seconds", "from a token to the next"),
        ("pdacon_constraint_step_seconds", "the constraints' work in a batch's step"),
        ("pdacon_constraint_step_cpu_seconds", "the same in CPU time"),
        ("pdacon_compile_seconds", "from a format to its constraint"),
    ):
        low, high = (figures.percentile(name, part) for part in (0.5, 0.99))
        print(f"  {what}: half within {low} s, 99 % within {high} s")
    third = memory[len(memory) // 3]
    print(f"  cache: {answers}; memory: {third:.0f} MiB after a third, {memory[-1]:.0f} at the end")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--cache-mib", type=int, default=1024)
    parser.add_argument("--hostile", type=float, default=0.05, help="how many of the requests are")
    told = parser.parse_args()
    options = ["--cache-mib", str(told.cache_mib)]
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder) / "cache"
        cache.mkdir()
        log = Path(folder) / "log"
        good = phase(Server(cache, log, port, options), told, 0, killed=True)
        good &= phase(Server(cache, log, port, options), told, 1, killed=False)
    print("all as it has to be" if good else "NOT as it has to be")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
