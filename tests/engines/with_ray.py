"""Two replicas behind Ray Serve that share constraints: requests, one replica killed, bad requests.

By a folder, or with --store by a store (fsspec's file://) beside a folder of each.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path

import httpx
from asked import HOSTILE, Asked, requests
from servers import running
from with_vllm import ask, offend

EXAMPLE = Path(__file__).parents[2] / "examples" / "ray_serve.py"
ADDRESS = "http://127.0.0.1:8000"


def ask_again(asked: Asked) -> str:
    """What came of a request; one whose replica has died is asked again, as clients do."""
    for _ in range(20):
        try:
            answer = ask(ADDRESS, asked)
        except httpx.HTTPError:
            answer = "its replica has died"
        if not answer.startswith(("its replica", "status 5", "ended by None")):
            return answer
        time.sleep(1)
    return answer


def kill_one() -> None:
    """End one replica, as if its machine had gone."""
    import ray

    ray.init("auto", namespace="serve", log_to_driver=False)
    names = [one["name"] for one in ray.util.list_named_actors(all_namespaces=True) if "Server" in one["name"]]
    ray.kill(ray.get_actor(sorted(names)[0], namespace="serve"), no_restart=False)
    ray.shutdown()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--store", action="store_true")
    told = parser.parse_args()
    count: int = told.count
    print(f"ray {version('ray')}, pdacon {version('pdacon')}, Python {sys.version.split()[0]}")
    with tempfile.TemporaryDirectory() as folder:
        constraints = Path(folder) / "constraints"
        places = {"PDACON_FOLDER": "" if told.store else str(constraints)}
        if told.store:
            places["PDACON_STORE"] = constraints.as_uri()
        environment = {**places, "RAY_USAGE_STATS_ENABLED": "0",
                       "RAY_raylet_start_wait_time_s": "240"}  # fmt: skip
        command = [sys.executable, "-P", str(EXAMPLE)]
        with running(command, 8000, Path(folder) / "log", **environment), ThreadPoolExecutor(12) as pool:
            asked = requests(count, 1)
            first = Counter(pool.map(ask_again, asked[: count // 2]))
            made = len(list(constraints.glob("*.constraint")))
            jobs = [pool.submit(ask_again, one) for one in asked[count // 2 :]]
            kill_one()
            second = Counter(job.result() for job in jobs)
            refusals = Counter(pool.map(lambda bad: offend(ADDRESS, *bad), HOSTILE))
            again = len(list(constraints.glob("*.constraint")))
    formats = len({json.dumps(one.outputs, sort_keys=True) for one in asked})
    print(f"{count // 2} requests: {dict(first)}, {made} constraints in the {'store' if told.store else 'folder'}")
    print(f"{count - count // 2} while a replica was killed: {dict(second)}, {again} constraints, {formats} formats")
    print(f"{len(HOSTILE)} bad ones: {dict(refusals)}")
    good = set(first) | set(second) <= {"valid", "cut", "left"} and set(refusals) == {"refused"} and again <= formats
    print("all as it has to be" if good else "NOT as it has to be")
    return 0 if good else 1


if __name__ == "__main__":
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    sys.exit(main())
