"""How cost grows with the vocabulary: JSON over 32,768, 131,072 and 262,144 tokens.

    pip install '.[test]' && pytest tests/benchmarks/test_vocabulary.py --benchmark-enable -s -q

The smaller vocabulary is the beginning of the one of 131,072 (its first merges), the larger one has pairs of its tokens
besides. Prints CPU times, the least of some runs, for each size. Without ``--benchmark-enable`` the smallest runs once,
as a test that it works. Nothing here asserts a time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
from support.real_vocabularies import coded

import pdacon

TEXT = '{"id": 17, "tags": ["a", "b\\\\n"], "ratio": -1.5e3, "inner": {"ok": true, "none": null, "list": [[], {}]}}'
SIZES = [1 << 15, 1 << 17, 1 << 18]


def vocabulary_of(size: int) -> pdacon.Vocabulary:
    texts = [text for text in coded("tekken").vocabulary.tokens if text]
    random = Random(size)
    known = dict.fromkeys(texts[: size - 1])
    while len(known) < size - 1:
        known[random.choice(texts) + random.choice(texts)] = None
    return pdacon.Vocabulary.from_tokens([*known, None], eos_ids=[size - 1])


def greedy(vocabulary: pdacon.Vocabulary, text: bytes) -> list[int]:
    ids = {token: at for at, token in enumerate(vocabulary.tokens) if token}
    found = []
    while text:
        length = next(n for n in range(len(text), 0, -1) if text[:n] in ids)
        found.append(ids[text[:length]])
        text = text[length:]
    return found


def spent(work: Callable[[], Any]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def steps(constraint: pdacon.Constraint, tokens: list[int]) -> list[float]:
    """Microseconds of each mask."""
    row = np.zeros((1, -(-constraint.vocabulary.size // 32)), np.int32)
    matcher = constraint.matcher(max_rollback=0)
    found = []
    for token in tokens:
        begin = time.thread_time_ns()
        matcher.fill_bitmask(row)
        found.append((time.thread_time_ns() - begin) / 1e3)
        assert matcher.accept_token(token)
    return found


def test_sizes(benchmark: Any) -> None:
    rounds = 9 if benchmark.enabled else 1
    rows = [row_of(size, rounds) for size in SIZES[: 3 if benchmark.enabled else 1]]
    benchmark.pedantic(clock, rounds=1)
    if benchmark.enabled:
        print("\n| tokens | first compile | compile | eager (ms) | first sights: max | all (us) | warm | masks | MB |")
        print(*rows, sep="\n")


def row_of(size: int, rounds: int) -> str:
    grammar = pdacon.Grammar.builtin("json")
    vocabulary = vocabulary_of(size)
    tokens = greedy(vocabulary, TEXT.encode())
    begun = spent(lambda: pdacon.compile(grammar, vocabulary))
    lazily = min(spent(lambda: pdacon.compile(grammar, vocabulary)) for _ in range(rounds))
    eagerly = min(spent(lambda: pdacon.compile(grammar, vocabulary, eager=True)) for _ in range(rounds))
    first = [steps(pdacon.compile(grammar, vocabulary), tokens) for _ in range(rounds)]
    constraint = pdacon.compile(grammar, vocabulary, eager=True)
    warm = np.median([steps(constraint, tokens) for _ in range(rounds)]) - clock()
    sights = [min(at) for at in zip(*first, strict=True)]
    masks, table = constraint.statistics()["distinct_masks"], constraint.mask_table().nbytes / 1e6
    return (
        f"| {size:,} | {begun * 1e3:.0f} | {lazily * 1e3:.1f} | {eagerly * 1e3:.0f} | {max(sights):.0f} | "
        f"{sum(sights):.0f} | {warm:.2f} | {masks} | {table:.1f} |"
    )


def clock() -> float:
    """Microseconds between two looks at the clock."""
    begin = time.thread_time_ns()
    for _ in range(1000):
        time.thread_time_ns()
    return (time.thread_time_ns() - begin) / 1e6
