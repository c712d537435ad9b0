"""Masks of JSON Schemas with members in the schema's order, and in any: the same texts in one run.

Run as ``python tests/benchmarks/two_orders.py FILE...`` (``--sample N``: so many schemas); a file has a line of JSON
for each case, as ``first_millisecond.py`` takes it. Of each schema the valid instances that both orders take are
replayed, first in one order and then in the other, which of them first by turns. CPU time of an accept and a mask, of
the first mask with what is compiled for it, a vocabulary of 131,072 tokens; the last columns are how many times as long
any order takes.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import json
import random
import sys
import warnings
from pathlib import Path
from time import thread_time
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from support.real_vocabularies import Coded, coded

import pdacon
from pdacon import Grammar, Spelling

ORDERS = ("schema", "any")
POINTS = (50, 90, 99, 99.9)
WARM_UP = 50


def cases_of(paths: list[Path], sample: int) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = []
    for path in paths:
        with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
            cases += [case for case in map(json.loads, lines) if case["tests"]]
    random.Random(1).shuffle(cases)
    return cases[:sample] if sample else cases


def replayed(schema: Any, order: Any, texts: list[list[int]], words: Coded) -> tuple[float, list[list[float]]]:
    """Seconds until the first mask, and for each text those of its masks; empty where it is refused."""
    begun = thread_time()
    constraint = pdacon.compile(Grammar.from_json_schema(schema, Spelling(order=order)), words.vocabulary)
    bitmask = constraint.new_bitmask()
    constraint.matcher().fill_bitmask(bitmask)
    first = thread_time() - begun
    times = []
    for tokens in texts:
        matcher, own = constraint.matcher(), list[float]()
        for token in tokens:
            begun = thread_time()
            accepted = matcher.accept_token(token)
            if accepted:
                matcher.fill_bitmask(bitmask)
            own.append(thread_time() - begun)
            if not accepted:
                break
        times.append(own if accepted and matcher.is_accepting() else [])
    return first, times


def percentiles(times: list[float]) -> str:
    return " | ".join(f"{value * 1e6:,.1f}" for value in np.percentile(times, POINTS))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--sample", type=int, default=0)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    words = coded("tekken")
    cases = cases_of(arguments.files, arguments.sample)
    gc.freeze()  # the cases are many objects, and a full collection would fall into somebody's mask
    firsts: dict[str, list[float]] = {order: [] for order in ORDERS}
    masks: dict[str, list[float]] = {order: [] for order in ORDERS}
    refused = 0
    for number, case in enumerate(cases):
        valid = [test["data"] for test in case["tests"] if test["valid"]]
        texts = [words.encode(json.dumps(value, ensure_ascii=False)) for value in valid]
        found = {}
        try:
            for order in ORDERS if number % 2 else reversed(ORDERS):
                found[order] = replayed(case["schema"], order, [text for text in texts if text], words)
        except pdacon.PdaconError:
            refused += 1
            continue
        if number < WARM_UP:
            continue
        taken = [all(both) for both in zip(*[found[order][1] for order in ORDERS], strict=True)]
        for order in ORDERS:
            first, times = found[order]
            firsts[order].append(first)
            for is_taken, own in zip(taken, times, strict=True):
                masks[order] += own if is_taken else []
    print(f"{len(firsts['any'])} schemas ({refused} refused), {len(masks['any']):,} masks; us at {POINTS}")
    for name, times in (("first mask", firsts), ("next mask", masks)):
        for order in ORDERS:
            print(f"| {name}, order={order} | {percentiles(times[order])} |")
        one, other = (np.percentile(times[order], POINTS) for order in ORDERS)
        print(f"| times as long | {' | '.join(f'{ratio:.2f}' for ratio in other / one)} |")


if __name__ == "__main__":
    main()
