"""What a constraint costs `generate`: a small model on the CPU, and simulated logits of 131,072 tokens.

    pip install '.[test]' && pytest tests/benchmarks/test_generation.py --benchmark-enable

Each round is so many steps as the name says. Without ``--benchmark-enable`` each runs once, with fewer steps, as a test
that it works. Nothing here asserts a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from support.real_vocabularies import coded
from transformers import LogitsProcessorList

import pdacon
from pdacon.integrations.huggingface import PDALogitsProcessor, load_tiny, vocabulary
from pdacon.integrations.torch import DeviceMasks

STEPS = 64
# No text ends by itself, so that all have the same length.
ENDLESS = pdacon.Grammar.from_lark('start: ("[" | "{" | WORD)+ "." \nWORD: /[a-z]+/\n%ignore " "')


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Threads that wait for each other measure the machine's other work."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.benchmark(group=f"generate, tiny model, {STEPS} tokens a row")
@pytest.mark.parametrize("rows", [1, 32])
@pytest.mark.parametrize("constrained", [False, True], ids=["free", "constrained"])
def test_generate(benchmark: Any, constrained: bool, rows: int) -> None:
    model, tokenizer = load_tiny()
    constraint = pdacon.compile(ENDLESS, vocabulary(model, tokenizer))
    steps = STEPS if benchmark.enabled else 4
    inputs = tokenizer(["Write:"] * rows, return_tensors="pt")

    def run() -> None:
        processors = LogitsProcessorList([PDALogitsProcessor(constraint)] if constrained else [])
        torch.manual_seed(1)
        ids = model.generate(
            **inputs, min_new_tokens=steps, max_new_tokens=steps, do_sample=True, logits_processor=processors
        )
        assert ids.shape == (rows, inputs["input_ids"].shape[1] + steps)

    benchmark.pedantic(run, rounds=10 if benchmark.enabled else 1, warmup_rounds=1 if benchmark.enabled else 0)


@pytest.mark.benchmark(group=f"{STEPS} steps of 32 rows of 131,072 float32 logits")
@pytest.mark.parametrize("how", ["argmax alone", "PDALogitsProcessor", "apply_masks"])
def test_simulated(benchmark: Any, how: str) -> None:
    tekken = coded("tekken")
    constraint = pdacon.compile(pdacon.Grammar.builtin("json"), tekken.vocabulary, eager=True)
    rows, steps = 32, STEPS if benchmark.enabled else 2
    torch.manual_seed(2)
    logits = torch.randn(rows, tekken.vocabulary.size)
    masks = DeviceMasks(constraint, "cpu")

    def run() -> None:
        matchers = [constraint.matcher(max_rollback=0, keep_text=False) for _ in range(rows)]
        processor = PDALogitsProcessor(constraint, prompt_length=0)
        ids = torch.empty((rows, 0), dtype=torch.long)
        for step in range(steps):
            scores = logits.roll(step, dims=1)
            if how == "PDALogitsProcessor":
                scores = processor(ids, scores)
            elif how == "apply_masks":
                masks.apply(scores, matchers)
            chosen = scores.argmax(dim=1)
            if how == "apply_masks":
                for matcher, token in zip(matchers, chosen.tolist(), strict=True):
                    assert matcher.accept_token(token)
            ids = torch.cat([ids, chosen.unsqueeze(1)], dim=1)

    benchmark.pedantic(run, rounds=5 if benchmark.enabled else 1)
