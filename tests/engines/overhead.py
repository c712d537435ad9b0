"""What a constraint costs in vLLM: tokens per second without one, and with each back end, one after the other.

Every answer is cut at the same number of tokens, so that all have the same work but for the constraint. The model is
tiny, so a step is mostly vLLM's own; with a larger one the same milliseconds are a smaller part. Both are measured in
one process: CPU time, which other work on the machine does not change, and time on the clock.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
        "tags": {"type": "array", "items": {"enum": ["red", "green", "blue"]}, "maxItems": 3},
    },
    "required": ["name", "age", "tags"],
    "additionalProperties": False,
}
FORMATS: dict[str, dict[str, Any]] = {
    "JSON Schema": {"json": {"type": "array", "items": PERSON, "minItems": 100}},
    "regular expression": {"regex": r"([A-Z][a-z]{1,8} [0-9]{1,5}, ){100,200}"},
}
BACKENDS = ("pdacon", "guidance", "xgrammar")
BATCH, TOKENS = 16, 128


def measure(backend: str, repeats: int) -> dict[str, list[Any]]:
    """What `write` says without a constraint and with one, for each repeat in each format."""
    os.environ["PDACON_VLLM"] = str(int(backend == "pdacon"))
    os.environ |= {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_ENABLE_V1_MULTIPROCESSING": "0", "VLLM_LOGGING_LEVEL": "ERROR"}
    # One thread: others would spin while they wait, which counts as CPU time and depends on what else runs.
    os.environ |= {"OMP_NUM_THREADS": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind"}
    from vllm import LLM

    import pdacon

    model = str(Path(pdacon.__file__).parent / "models" / "tiny")
    options: dict[str, Any] = {} if backend == "pdacon" else {"structured_outputs_config": {"backend": backend}}
    engine = LLM(model, dtype="float32", enforce_eager=True, distributed_executor_backend="uni", max_model_len=512,
                 max_num_seqs=BATCH, enable_prefix_caching=False, **options)  # fmt: skip
    took: dict[str, list[Any]] = {name: [] for name in FORMATS}
    for repeat in range(repeats + 1):  # the first one compiles
        for name, said in FORMATS.items():
            # Each right after the same without a constraint: what else runs on the machine changes meanwhile.
            bare, held = (write(engine, one) for one in (None, said))
            if repeat:
                took[name].append((bare, held))
    return took


def write(engine: Any, outputs: dict[str, Any] | None) -> tuple[float, float]:
    """CPU seconds, and seconds on the clock, of a batch."""
    from vllm import SamplingParams
    from vllm.sampling_params import StructuredOutputsParams

    held = None if outputs is None else StructuredOutputsParams(**outputs)
    params = [
        SamplingParams(
            temperature=1.0, seed=seed, max_tokens=TOKENS, ignore_eos=outputs is None, structured_outputs=held
        )
        for seed in range(BATCH)
    ]
    cpu, clock = time.process_time(), time.perf_counter()
    answers = engine.generate(["Describe a person as JSON:"] * BATCH, params, use_tqdm=False)
    cost = time.process_time() - cpu, time.perf_counter() - clock
    written = [len(answer.outputs[0].token_ids) for answer in answers]
    if written != [TOKENS] * BATCH:
        raise SystemExit(f"the answers have {written} tokens, and not all {TOKENS}")
    return cost


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--backend", choices=BACKENDS)
    told = parser.parse_args()
    if told.backend is not None:
        print(json.dumps(measure(told.backend, told.repeats)))
        return
    names = "vllm-cpu", "pdacon", "llguidance", "xgrammar"
    print(", ".join(f"{name} {version(name)}" for name in names), f"batches of {BATCH}", sep="; ")
    print("| back end | format | CPU ms per token without | more with it | tokens/s without | with it |")
    print("|---|---|---|---|---|---|")
    for backend in BACKENDS:
        command = [sys.executable, "-P", __file__, "--backend", backend, "--repeats", str(told.repeats)]
        shown = subprocess.run(command, capture_output=True, check=True, text=True).stdout
        count = BATCH * TOKENS
        for name, pairs in json.loads(shown.splitlines()[-1]).items():
            bare, more = (1000 * statistics.median(one) / count for one in (
                [bare[0] for bare, _ in pairs], [held[0] - bare[0] for bare, held in pairs]))  # fmt: skip
            without, speed = (count / statistics.median(pair[i][1] for pair in pairs) for i in (0, 1))
            print(f"| {backend} | {name} | {bare:.3f} | {more:+.3f} | {without:.0f} | {speed:.0f} |", flush=True)


if __name__ == "__main__":
    main()
