"""What a step of a batch costs the host: to take the tokens, find the masks, and number their rows.

    pip install '.[test]' && pytest tests/benchmarks/test_host_share.py --benchmark-enable -s

It needs no GPU: the device's part, to mask the logits, is left out. CPU time of one thread, of steps whose masks were
seen before: JSON, and schemas that are read on demand, 131,072 tokens. Nothing asserts a time.
"""

from __future__ import annotations

import json
import random
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from support.benchmark_texts import beginnings_of_arrays
from support.real_vocabularies import Coded, coded

import pdacon
from pdacon.integrations.huggingface import PDALogitsProcessor
from pdacon.integrations.huggingface.masks import ScoreMasks
from pdacon.integrations.torch import DeviceMasks

Row = list[object]


@pytest.fixture(scope="module")
def tekken() -> Coded:
    return coded("tekken")


def tokens_of(tekken: Coded, rows: int, steps: int) -> Any:
    """The tokens of each step: int64[steps, rows], beginnings of different arrays."""
    return np.array(beginnings_of_arrays(tekken.encode, rows, steps), dtype=np.int64).T.copy()


def schema_of(number: int) -> str:
    """Arrays of orders, with a name of its own for each number. Such a schema is read on demand."""
    properties = {
        f"order_{number}": {"type": "integer"},
        "customer": {"type": "string"},
        "state": {"enum": ["open", "paid", "sent"]},
        "size": {"type": "array", "items": {"type": "number"}},
    }
    item = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return json.dumps({"type": "array", "items": item})


def orders(number: int, rng: random.Random) -> str:
    """A text of that schema, of 100 tokens and more."""
    return json.dumps(
        [
            {
                f"order_{number}": rng.randrange(100_000),
                "customer": " ".join(rng.choices(["Ada", "Ben", "Cem", "Dora", "Eva", "Finn", "Greta", "Hans"], k=3)),
                "state": rng.choice(["open", "paid", "sent"]),
                "size": [rng.randrange(800) / 8 for _ in range(rng.randrange(4))],
            }
            for _ in range(8)
        ]
    )


def tokens_of_schemas(tekken: Coded, rows: int, number: int, steps: int) -> Any:
    """The tokens of each step, where rows have the schemas of so many numbers in turn: int64[steps, rows]."""
    rng = random.Random(1)
    texts = [tekken.encode(orders(row % number, rng))[:steps] for row in range(rows)]
    return np.array(texts, dtype=np.int64).T.copy()


def row_of(name: str, rows: int, constraints: int, spent: list[int]) -> Row:
    tenths = statistics.quantiles(spent, n=10)
    return [name, rows, constraints, *(f"{time / 1e3:.1f}" for time in (min(spent), tenths[4], tenths[8]))]


def cpu_time_of(call: Callable[[], object]) -> int:
    """In nanoseconds."""
    began = time.process_time_ns()
    call()
    return time.process_time_ns() - began


@pytest.mark.parametrize("are_schemas", [False, True])
def test_rows_of_matchers(tekken: Coded, measured: bool, show: Any, are_schemas: bool) -> None:
    table: list[Row] = []
    for count, number in [(32, 1), (512, 1), (512, 64)] if measured else [(4, 2)]:
        length = 100 if measured else 3
        if are_schemas:
            texts = tokens_of_schemas(tekken, count, number, length)
            grammars = [pdacon.Grammar.from_json_schema(schema_of(of)) for of in range(number)]
        else:
            texts = tokens_of(tekken, count, length)
            grammars = [pdacon.Grammar.builtin("json")] * number
        constraints = [pdacon.compile(grammar, tekken.vocabulary) for grammar in grammars]
        masks = DeviceMasks(tekken.vocabulary, "cpu")
        steps: list[int] = []
        again: list[int] = []
        for _ in range(6 if measured else 2):
            steps.clear()
            again.clear()
            matchers = [constraints[row % number].matcher(max_rollback=0, keep_text=False) for row in range(count)]
            masks.ids(matchers)
            for tokens in texts:
                steps.append(cpu_time_of(partial(masks.ids, matchers, tokens)))
                again.append(cpu_time_of(partial(masks.ids, matchers)))
        table.append(row_of("`DeviceMasks.ids`, with tokens", count, number, steps))
        table.append(row_of("the same, asked again", count, number, again))
    show(["what", "rows", "constraints", "least (us)", "p50 (us)", "p90 (us)"], table)


def test_processor(tekken: Coded, measured: bool, show: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of a step of `PDALogitsProcessor` but the masking of scores, which a device does."""
    constraint = pdacon.compile(pdacon.Grammar.builtin("json"), tekken.vocabulary)
    table: list[Row] = []
    for count in [1, 32, 128] if measured else [2]:
        texts = torch.from_numpy(tokens_of(tekken, count, 100 if measured else 3).T.copy())
        scores = torch.zeros(1, tekken.vocabulary.size).expand(count, -1)
        done = scores, torch.zeros(count)
        monkeypatch.setattr(ScoreMasks, "apply", lambda *_, done=done: done)
        spent: list[int] = []
        for _ in range(6 if measured else 2):
            spent.clear()
            processor = PDALogitsProcessor(constraint, prompt_length=0, num_beams=1)
            for length in range(texts.shape[1]):
                ids = texts[:, :length].contiguous()
                spent.append(cpu_time_of(partial(processor, ids, scores)))
        table.append(row_of("`PDALogitsProcessor`", count, 1, spent))
    show(["what", "rows", "constraints", "least (us)", "p50 (us)", "p90 (us)"], table)
