"""Where a request with a JSON Schema of its own spends its time until the first mask, and then for its text.

Run as ``python tests/benchmarks/first_millisecond.py FILE...``; a file has a line of JSON for each case, with
``schema`` and ``tests``, each with ``data`` and ``valid``, as those of MaskBench (guidance-ai/jsonschemabench); it may
be compressed with gzip. CPU time, a vocabulary of 131,072 tokens. The columns are of the requests around the median
and around the 99th percentile of the time until the first mask: means of each stage over a tenth of all requests, and
over a hundredth. Schemas that are not read on demand are counted, and left out.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from statistics import mean
from time import thread_time
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
from support.real_vocabularies import Coded, coded

import pdacon
from pdacon.front.stages import compiled_on_demand

SAMPLE, WARM_UP = 1_000, 50
STAGES = (
    "the schema is read (`Grammar.from_json_schema`)",
    "its questions are numbered",
    "`compile`, in the core",
    "`compile`, what the core asks of the schema",
    "first mask, in the core",
    "first mask, what the core asks of the schema",
    "until the first mask",
    "the text: accepts and known masks",
    "the text: new masks, in the core",
    "the text: new masks and accepts, what the core asks of the schema",
)


class Asked:
    """What the core asks, and how long answers take."""

    def __init__(self, answers: Any) -> None:
        self._answers, self.seconds, self._is_asked = answers, 0.0, False

    def __getattr__(self, name: str) -> Any:
        answer = getattr(self._answers, name)
        if not callable(answer) or self._is_asked:
            return answer

        def timed(*arguments: Any) -> Any:
            self._is_asked, begin = True, thread_time()
            try:
                return answer(*arguments)
            finally:
                self.seconds += thread_time() - begin
                self._is_asked = False

        return timed


def cases(paths: list[str]) -> Iterator[tuple[Any, str]]:
    """Schemas, each with a text that is valid."""
    for path in paths:
        with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                case = json.loads(line)
                if valid := [test["data"] for test in case["tests"] if test["valid"]]:
                    yield case["schema"], json.dumps(valid[0])


def spent(schema: Any, tokens: list[int], vocabulary: pdacon.Vocabulary) -> list[float] | None:
    """Milliseconds of each stage; None: the schema is not read on demand."""
    clocks: list[Asked] = []

    def asked(make: Callable[[], Any]) -> Any:
        clocks.append(Asked(make()))
        return clocks[0]

    at = [thread_time()]
    given = pdacon.Grammar.from_json_schema(schema)._on_demand
    at.append(thread_time())
    if given is None:
        return None
    explorer = asked(given.explorer)
    at.append(thread_time())
    compiled = compiled_on_demand(replace(given, explorer=lambda: explorer), vocabulary)
    if compiled is None:
        return None
    at.append(thread_time())
    in_compile = explorer.seconds
    matcher, row = compiled.matcher(), compiled.new_bitmask(1)
    matcher.fill_bitmask(row)
    at.append(thread_time())
    in_first = explorer.seconds - in_compile
    known = new = 0.0
    before = compiled.statistics()["masks_computed"]
    for token in tokens:
        asked_before, begin = explorer.seconds, thread_time()
        if not matcher.accept_token(token):
            return None
        accepted, in_accept = thread_time(), explorer.seconds - asked_before
        matcher.fill_bitmask(row)
        filled, in_mask = thread_time(), explorer.seconds - asked_before - in_accept
        known += accepted - begin - in_accept
        now = compiled.statistics()["masks_computed"]
        if now == before:
            known += filled - accepted
        else:
            new += filled - accepted - in_mask
        before = now
    first = at[-1] - at[0]
    stages = (
        *(at[1] - at[0], at[2] - at[1], at[3] - at[2] - in_compile, in_compile, at[4] - at[3] - in_first, in_first),
        *(first, known, new, explorer.seconds - in_compile - in_first),
    )
    return [1e3 * seconds for seconds in stages]


def main(paths: list[str], known: Coded) -> None:
    """Print the table."""
    chosen = list(cases(paths))
    random.Random(1).shuffle(chosen)
    times, left_out = [], 0
    for number, (schema, text) in enumerate(chosen[: SAMPLE + WARM_UP]):
        try:
            found = spent(schema, known.encode_inside(text), known.vocabulary)
        except pdacon.PdaconError:
            found = None
        if number < WARM_UP:
            continue
        if found is None:
            left_out += 1
        else:
            times.append(found)
    times.sort(key=lambda stages: stages[STAGES.index("until the first mask")])

    def around(share: float, half: float) -> list[list[float]]:
        return times[int(len(times) * (share - half)) : int(len(times) * (share + half)) + 1]

    columns = [around(0.5, 0.05), around(0.99, 0.005)]
    print(f"{len(times)} requests, {left_out} left out\n\n| ms of CPU time | p50 | p99 |\n|---|---|---|")
    for stage, name in enumerate(STAGES):
        print(f"| {name} | {' | '.join(f'{mean(row[stage] for row in rows):.2f}' for rows in columns)} |")


if __name__ == "__main__":
    warnings.simplefilter("ignore", pdacon.GrammarWarning)
    main(sys.argv[1:], coded("tekken"))
