"""Single calls from Python with all masks known, 131,072 tokens: that they depend on no length and no depth.

    pip install '.[test]' && pytest tests/benchmarks/test_calls.py --benchmark-enable --benchmark-columns=min,median -s

Without ``--benchmark-enable`` each runs once, over short texts, as a test that it works. Nothing here asserts a time.
`test_no_growth` prints the memory of the process along ten million tokens.
"""

from __future__ import annotations

import resource
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.benchmark_texts import RECORD
from support.real_vocabularies import Coded, coded

import pdacon

LENGTHS = [10, 1_000, 100_000, 1_000_000]


@pytest.fixture(scope="module")
def tekken() -> Coded:
    return coded("tekken")


@pytest.fixture(scope="module")
def constraint(tekken: Coded) -> pdacon.Constraint:
    return pdacon.compile(pdacon.Grammar.builtin("json"), tekken.vocabulary)


def accept_all(matcher: pdacon.Matcher, tokens: list[int], number: int) -> None:
    accept = matcher.accept_token
    for _ in range(number // len(tokens)):
        for token in tokens:
            accept(token)
    for token in tokens[: number % len(tokens)]:
        assert accept(token)


def calls(matcher: pdacon.Matcher, token: int) -> dict[str, Callable[[], Any]]:
    bitmask = np.zeros((1, 4096), np.int32)

    def there_and_back() -> None:
        matcher.accept_token(token)
        matcher.rollback(1)

    return {
        "fill_bitmask": lambda: matcher.fill_bitmask(bitmask),
        "mask_id": matcher.mask_id,
        "is_allowed": lambda: matcher.is_allowed(token),
        "accept_token and rollback": there_and_back,
    }


@pytest.mark.benchmark(group="a call after so many tokens")
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("call", ["fill_bitmask", "mask_id", "is_allowed", "accept_token and rollback"])
def test_length(benchmark: Any, constraint: pdacon.Constraint, tekken: Coded, call: str, length: int) -> None:
    matcher = constraint.matcher(max_rollback=1, keep_text=False)
    assert matcher.accept_bytes(b"[")
    tokens = tekken.encode(RECORD + ", ")
    accept_all(matcher, tokens, (length if benchmark.enabled else 10) // len(tokens) * len(tokens))
    benchmark(calls(matcher, tokens[0])[call])


@pytest.mark.benchmark(group="a call below so many brackets")
@pytest.mark.parametrize("depth", LENGTHS)
@pytest.mark.parametrize("call", ["fill_bitmask", "mask_id", "is_allowed", "accept_token and rollback"])
def test_depth(benchmark: Any, constraint: pdacon.Constraint, tekken: Coded, call: str, depth: int) -> None:
    matcher = constraint.matcher(max_rollback=1, keep_text=False)
    assert matcher.accept_bytes(b"[" * (depth if benchmark.enabled else 10))
    benchmark(calls(matcher, tekken.encode("[")[0])[call])


def test_no_growth(benchmark: Any, constraint: pdacon.Constraint, tekken: Coded) -> None:
    matcher = constraint.matcher(max_rollback=16, keep_text=False)
    assert matcher.accept_bytes(b"[")
    tokens = tekken.encode(RECORD + ", ")
    part = 1_000_000 if benchmark.enabled else 1_000

    def run() -> None:
        for tenth in range(11):
            if benchmark.enabled:
                most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
                own, nodes = matcher._memory()
                bytes_ = constraint.statistics()["bytes"]
                print(f"{tenth * part:>10,} tokens: the process at most {most:,} KB,", end=" ")
                print(f"the matcher {own} B and {nodes} LR states, the constraint {bytes_:,} B")
            for _ in range(part // len(tokens)):
                for token in tokens:
                    matcher.mask_id()
                    matcher.accept_token(token)

    benchmark.pedantic(run, rounds=1)
