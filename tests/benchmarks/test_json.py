"""JSON under grammars/json.lark with a vocabulary of 131,072 tokens: what a step costs, beside llguidance, and
beside xgrammar if it is installed, which gets its builtin grammar of JSON.

    pip install '.[test,bench]' xgrammar
    pytest tests/benchmarks/test_json.py --benchmark-enable --benchmark-columns=min,median

Without ``--benchmark-enable`` each runs once, as a test that it works. Nothing here asserts a time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.benchmark_texts import json_texts
from support.engines import ENGINES, Compiled, Work
from support.real_vocabularies import Coded, coded

import pdacon

JSON = Work.builtin("json")


@pytest.fixture(scope="module")
def vocabulary() -> Coded:
    return coded("tekken")


@pytest.fixture(scope="module")
def texts(vocabulary: Coded) -> list[list[int]]:
    return [vocabulary.encode(text) for text in json_texts(40)]


@pytest.fixture(scope="module", params=ENGINES.values(), ids=list(ENGINES))
def compiled(request: pytest.FixtureRequest, vocabulary: Coded) -> Callable[[], Compiled]:
    engine = request.param(vocabulary)
    return lambda: engine.compile(JSON)


def replay(compiled: Compiled, texts: list[list[int]]) -> int:
    steps = 0
    for tokens in texts:
        session = compiled.session()
        fill, accept = session.fill, session.accept
        for token in tokens:
            fill()
            assert accept(token)
            steps += 1
        fill()
    return steps


@pytest.mark.benchmark(group="compile and first mask")
def test_compile(benchmark: Any, compiled: Callable[[], Compiled]) -> None:
    def run() -> None:
        compiled().session().fill()

    benchmark(run)


@pytest.mark.benchmark(group="mask and accept, every step of 40 texts, warm")
def test_warm(benchmark: Any, compiled: Callable[[], Compiled], texts: list[list[int]]) -> None:
    known = compiled()
    benchmark.extra_info["steps"] = replay(known, texts)
    benchmark(replay, known, texts)


@pytest.mark.benchmark(group="accept, every step of 40 texts, warm")
def test_accept(benchmark: Any, compiled: Callable[[], Compiled], texts: list[list[int]]) -> None:
    known = compiled()
    replay(known, texts)

    def accept_all() -> None:
        for tokens in texts:
            accept = known.session().accept
            for token in tokens:
                accept(token)

    benchmark(accept_all)


@pytest.mark.benchmark(group="mask and accept, one text, fresh constraint")
def test_fresh(benchmark: Any, compiled: Callable[[], Compiled], texts: list[list[int]]) -> None:
    compiled()

    def fresh() -> tuple[tuple[Compiled, list[list[int]]], dict[str, Any]]:
        return (compiled(), texts[:1]), {}

    benchmark.pedantic(replay, setup=fresh, rounds=20)


@pytest.fixture
def deep(vocabulary: Coded) -> pdacon.Matcher:
    matcher = pdacon.compile(pdacon.Grammar.builtin("json"), vocabulary.vocabulary).matcher(max_rollback=0)
    assert matcher.accept_bytes(b"[" * 100_000)
    return matcher


@pytest.mark.benchmark(group="one mask below 100,000 open brackets")
def test_deep(benchmark: Any, deep: pdacon.Matcher) -> None:
    bitmask = np.zeros((1, 4096), np.int32)
    benchmark(deep.fill_bitmask, bitmask, 0)
