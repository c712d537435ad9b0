"""SGLang's server with pdacon: hundreds of constrained requests, bad ones among them."""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import httpx
from asked import HOSTILE, Asked, requests, verdict
from servers import events, free_port, running

import pdacon

MODEL = Path(pdacon.__file__).parent / "models" / "tiny"
MAX_TOKENS = 120
# The formats that SGLang has, by vLLM's names of them; a choice is a regular expression.
NAMES = {"json": "json_schema", "regex": "regex", "grammar": "ebnf", "structural_tag": "structural_tag"}


@contextmanager
def server(*options: str) -> Iterator[str]:
    """SGLang's server; yields its address."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-P", "-m", "sglang.launch_server", "--model-path", str(MODEL),
                   "--port", str(port), "--host", "127.0.0.1", "--device", "cpu", "--dtype", "float32",
                   "--attention-backend", "torch_native", "--sampling-backend", "pytorch", "--context-length", "512",
                   "--max-running-requests", "16", "--mem-fraction-static", "0.05", "--skip-server-warmup",
                   "--log-level", "warning", "--grammar-backend", "pdacon", *options]  # fmt: skip
        with running(command, port, Path(folder) / "log", SGLANG_USE_CPU_ENGINE="1") as address:
            yield address


def parameters(outputs: dict[str, Any]) -> dict[str, Any]:
    """SGLang's sampling parameters for what vLLM calls structured outputs."""
    ((name, value),) = outputs.items()
    if name == "choice":
        return {"regex": "|".join(map(re.escape, value))}
    if name == "json_object":
        return {"json_schema": "$$ANY$$"}
    return {NAMES[name]: value if isinstance(value, str) else json.dumps(value)}


def ask(address: str, asked: Asked) -> str:
    """What came of a request: valid, cut (by the most tokens), left, or a complaint."""
    said = {"max_new_tokens": MAX_TOKENS, "temperature": asked.temperature, **parameters(asked.outputs)}
    body = {"text": "Describe a person as JSON:", "sampling_params": said, "stream": asked.way != "whole"}
    if asked.way == "whole":
        answer = httpx.post(f"{address}/generate", json=body, timeout=600)
        if answer.status_code != 200:
            return f"status {answer.status_code}: {answer.text[:200]}"
        whole = answer.json()
    else:
        whole = {}
        with httpx.stream("POST", f"{address}/generate", json=body, timeout=600) as response:
            if response.status_code != 200:
                return f"status {response.status_code}: {response.read().decode()[:200]}"
            for whole in events(response):
                if "text" not in whole:
                    return f"an event: {whole}"
                if asked.way == "cancel" and whole["text"]:
                    return "left"
    text, ending = whole["text"], (whole["meta_info"]["finish_reason"] or {}).get("type")
    return verdict(asked, text, ending)


def offend(address: str, name: str, said: dict[str, Any]) -> str:
    """What came of a bad request: refused, with a reason, or a complaint."""
    body = {"text": "x", "sampling_params": {"max_new_tokens": 5, **parameters(said["structured_outputs"])}}
    answer = httpx.post(f"{address}/generate", json=body, timeout=600)
    if answer.status_code != 400 or "Failed to compile" not in answer.text:
        return f"{name}: status {answer.status_code}: {answer.text[:200]}"
    return "refused"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=200)
    count = parser.parse_args().count
    print(f"sglang {version('sglang')}, pdacon {version('pdacon')}, Python {sys.version.split()[0]}")
    # What is said beside a format, or of two, is checked by SGLang itself; an empty choice is an empty expression here.
    bad = [(name, said) for name, said in HOSTILE if len(said) == 1 and len(said["structured_outputs"]) == 1]
    bad = [(name, said) for name, said in bad if said["structured_outputs"] != {"choice": []}]
    began = time.monotonic()
    with server() as address, ThreadPoolExecutor(12) as pool:
        started = time.monotonic()
        jobs = [pool.submit(ask, address, one) for one in requests(count, 1)]
        offences = [pool.submit(offend, address, name, said) for name, said in bad]
        results = Counter(job.result() for job in jobs)
        refusals = Counter(job.result() for job in offences)
        again = Counter(ask(address, one) for one in requests(10, 2) if one.way != "cancel")
        took = time.monotonic() - started
    print(f"{count} requests: {dict(results)}; {len(bad)} bad ones: {dict(refusals)}")
    print(f"  afterwards {dict(again)}; {started - began:.0f} s to start, {took:.0f} s for the requests")
    good = set(results) <= {"valid", "cut", "left"} and set(refusals) == {"refused"} and set(again) <= {"valid", "cut"}
    print("all as it has to be" if good else "NOT as it has to be")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
