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


def measure(backend: str, repeats: int) -> dict[str, list[tuple[float, float]]]:
    """CPU seconds and seconds of each repeat, without a constraint and in each format."""
    os.environ["PDACON_VLLM"] = str(int(backend == "pdacon"))
    os.environ |= {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_ENABLE_V1_MULTIPROCESSING": "0", "VLLM_LOGGING_LEVEL": "ERROR"}
    # One thread: others would spin while they wait, which counts as CPU time and depends on what else runs.
    os.environ |= {"OMP_NUM_THREADS": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind"}
    from vllm import LLM, SamplingParams
    from vllm.sampling_params import StructuredOutputsParams

    import pdacon

    model = str(Path(pdacon.__file__).parent / "models" / "tiny")
    options: dict[str, Any] = {} if backend == "pdacon" else {"structured_outputs_config": {"backend": backend}}
    engine = LLM(model, dtype="float32", enforce_eager=True, distributed_executor_backend="uni", max_model_len=512,
                 max_num_seqs=BATCH, enable_prefix_caching=False, **options)  # fmt: skip
    took: dict[str, list[tuple[float, float]]] = {}
    for repeat in range(repeats + 1):  # the first one compiles
        for name, said in {"none": None, **FORMATS}.items():
            outputs = None if said is None else StructuredOutputsParams(**said)
            params = [
                SamplingParams(temperature=1.0, seed=seed, max_tokens=TOKENS, ignore_eos=said is None,
                               structured_outputs=outputs)
                for seed in range(BATCH)
            ]  # fmt: skip
            cpu, clock = time.process_time(), time.perf_counter()
            answers = engine.generate(["Describe a person as JSON:"] * BATCH, params, use_tqdm=False)
            cost = time.process_time() - cpu, time.perf_counter() - clock
            written = [len(answer.outputs[0].token_ids) for answer in answers]
            if written != [TOKENS] * BATCH:
                raise SystemExit(f"{backend}, {name}: the answers have {written} tokens, and not all {TOKENS}")
            if repeat:
                took.setdefault(name, []).append(cost)
    return took


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
    print("| back end | format | CPU ms per token | tokens/s | tokens/s without, same process |\n|---|---|---|---|---|")
    for backend in BACKENDS:
        command = [sys.executable, "-P", __file__, "--backend", backend, "--repeats", str(told.repeats)]
        shown = subprocess.run(command, capture_output=True, check=True, text=True).stdout
        took = json.loads(shown.splitlines()[-1])
        count = BATCH * TOKENS
        medians = {
            name: [statistics.median(one[kind] for one in costs) for kind in (0, 1)] for name, costs in took.items()
        }
        bare = medians.pop("none")
        for name, (cpu, clock) in medians.items():
            print(f"| {backend} | {name} | {1000 * (cpu - bare[0]) / count:+.3f} on {1000 * bare[0] / count:.3f} "
                  f"| {count / clock:.0f} | {count / bare[1]:.0f} |", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
