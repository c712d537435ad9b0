"""Masks of a batch in one call, with a vocabulary of 131,072 tokens, and what they cost to apply.

    pip install '.[test]' && pytest tests/benchmarks/test_batches.py --benchmark-enable --benchmark-columns=min,median

Without ``--benchmark-enable`` each runs once, as a test that it works. Nothing here asserts a time.
"""

from __future__ import annotations

import json
import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch
from support.real_vocabularies import Coded, coded

import pdacon
from pdacon.integrations.torch import DeviceMasks, apply_bitmask, apply_masks

SIZES = [1, 8, 32, 256]


@pytest.fixture(scope="module")
def tekken() -> Coded:
    return coded("tekken")


def matchers_at(constraint: pdacon.Constraint, tekken: Coded, number: int) -> list[pdacon.Matcher]:
    """Matchers at random places of random JSON."""
    rng = random.Random(number)
    found = []
    for _ in range(number):
        value = [{"name": f"n{rng.random()}", "tags": ["a\n", rng.randint(0, 99)], "inner": {"ok": None}}] * 2
        tokens = tekken.encode(json.dumps(value))
        matcher = constraint.matcher(max_rollback=0, keep_text=False)
        for token in tokens[: rng.randrange(len(tokens))]:
            assert matcher.accept_token(token)
        found.append(matcher)
    return found


def compiled(tekken: Coded) -> pdacon.Constraint:
    return pdacon.compile(pdacon.Grammar.builtin("json"), tekken.vocabulary)


@pytest.mark.slow
@pytest.mark.benchmark(group="masks of a batch, all known")
@pytest.mark.parametrize("number", SIZES)
@pytest.mark.parametrize("how", ["one by one", "in one call", "in two threads", "ids"])
def test_known(benchmark: Any, tekken: Coded, how: str, number: int) -> None:
    matchers = matchers_at(compiled(tekken), tekken, number)
    bitmask = np.zeros((number, 4096), np.int32)
    pdacon.fill_bitmasks(matchers, bitmask)
    half = (number + 1) // 2
    with ThreadPoolExecutor(1) as other:

        def one_by_one() -> None:
            for row, matcher in enumerate(matchers):
                matcher.fill_bitmask(bitmask, row)

        def in_two_threads() -> None:
            rest = other.submit(pdacon.fill_bitmasks, matchers[half:], bitmask[half:])
            pdacon.fill_bitmasks(matchers[:half], bitmask[:half])
            rest.result()

        calls = {
            "one by one": one_by_one,
            "in one call": lambda: pdacon.fill_bitmasks(matchers, bitmask),
            "in two threads": in_two_threads,
            "ids": lambda: pdacon.matching.mask_ids(matchers),
        }
        benchmark(calls[how])


@pytest.mark.slow
@pytest.mark.benchmark(group="masks of a batch, none known")
@pytest.mark.parametrize("number", SIZES)
@pytest.mark.parametrize("constraints", [1, 2], ids=["one constraint", "two constraints, two threads"])
def test_unknown(benchmark: Any, tekken: Coded, constraints: int, number: int) -> None:
    bitmask = np.zeros((number, 4096), np.int32)
    with ThreadPoolExecutor(2) as pool:

        def fresh() -> tuple[tuple[list[list[pdacon.Matcher]]], dict[str, Any]]:
            shares = [len(part) for part in np.array_split(bitmask, constraints)]
            return ([matchers_at(compiled(tekken), tekken, share) for share in shares],), {}

        def fill(batches: list[list[pdacon.Matcher]]) -> None:
            if len(batches) == 1:
                pdacon.fill_bitmasks(batches[0], bitmask)
                return
            waiting = [
                pool.submit(pdacon.fill_bitmasks, batch, np.zeros((len(batch), 4096), np.int32)) for batch in batches
            ]
            for done in waiting:
                done.result()

        benchmark.pedantic(fill, setup=fresh, rounds=10 if benchmark.enabled else 1)


@pytest.mark.slow
@pytest.mark.benchmark(group="masks of a batch onto float32 logits on the CPU")
@pytest.mark.parametrize("number", [1, 32])
@pytest.mark.parametrize("how", ["by ids", "by bitmask"])
def test_applied(benchmark: Any, tekken: Coded, how: str, number: int) -> None:
    constraint = compiled(tekken)
    matchers = matchers_at(constraint, tekken, number)
    bitmask = torch.zeros((number, 4096), dtype=torch.int32)
    masks = DeviceMasks(tekken.vocabulary, "cpu")
    logits = torch.randn(number, tekken.vocabulary.size)

    def by_ids() -> None:
        ids = masks.ids(matchers)
        apply_masks(logits, masks.table, ids)

    def by_bitmask() -> None:
        pdacon.fill_bitmasks(matchers, bitmask)
        apply_bitmask(logits, bitmask)

    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # others wait for each other on a busy machine
    try:
        benchmark({"by ids": by_ids, "by bitmask": by_bitmask}[how])
    finally:
        torch.set_num_threads(threads)
