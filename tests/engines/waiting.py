"""How long `/health` of `pdacon serve` takes while one heavy request after the other runs, by what is heavy of them.

On a machine with other work these times are the machine's, too.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

import httpx
from load import Server

sys.path.append(str(Path(__file__).parents[1]))
from serving.heavy import heavy_requests


def main() -> int:
    """Print a line for each kind of request."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8765)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("kinds", nargs="*", help="words of the kinds to try; default: all")
    told = parser.parse_args()
    all_looks: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder) / "cache", Path(folder) / "log", told.port)
        try:
            for kind, (path, body) in heavy_requests().items():
                if told.kinds and not any(word in kind for word in told.kinds):
                    continue
                looks: list[float] = []
                statuses = set()
                done = threading.Event()
                looking = threading.Thread(target=look, args=(server.address, looks, done))
                looking.start()
                began = time.monotonic()
                for _ in range(told.repeats):
                    statuses.add(httpx.post(server.address + path, content=body, timeout=300).status_code)
                seconds = (time.monotonic() - began) / told.repeats
                done.set()
                looking.join()
                all_looks += looks
                print(
                    f"{kind:32} {sorted(statuses)} in {seconds:6.2f} s; /health: {len(looks):5} looks, "
                    f"{figures(looks)}",
                    flush=True,
                )
        finally:
            server.stop()
    print(f"all: {len(all_looks)} looks, {figures(all_looks)}")
    return 0


def look(address: str, looks: list[float], done: threading.Event) -> None:
    """Ask for `/health` until all is done, and note how long each answer takes."""
    with httpx.Client(base_url=address, timeout=300) as client:
        client.get("/health").raise_for_status()
        while not done.is_set():
            began = time.perf_counter()
            client.get("/health").raise_for_status()
            looks.append(time.perf_counter() - began)


def figures(looks: list[float]) -> str:
    """Half, 99 % and all of the times, in ms."""
    if not looks:
        return "none"
    ordered = sorted(looks)
    late = ordered[int(len(ordered) * 0.99)]
    half = statistics.median(ordered)
    return (
        f"half within {1000 * half:.1f} ms, 99 % within {1000 * late:.1f} ms, the slowest {1000 * ordered[-1]:.0f} ms"
    )


if __name__ == "__main__":
    raise SystemExit(main())
