"""What a constraint costs a step of generation, rows in a batch of 1 and of 32.

    pip install '.[test]' && pytest tests/benchmarks/test_generation.py --benchmark-enable

prints the time of a step without and with it, and the difference a token. The two take turns, with one thread; the
figures are medians over rounds, and the last column is the middle half of the rounds' own differences. With
``--benchmark-timer=time.process_time`` it is CPU time, for a machine that does other work.

`generate` runs the embedded model on the CPU. The steps of simulated logits choose the greatest of 131,072 float32 in
each row, with nothing before it: a real model takes far longer. Without ``--benchmark-enable`` each runs once, with
fewer steps, as a test that it works. Nothing here asserts a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from support.real_vocabularies import coded
from transformers import LogitsProcessorList

import pdacon
from pdacon.integrations.huggingface import PDALogitsProcessor, load_tiny, vocabulary
from pdacon.integrations.torch import DeviceMasks

Clock = Callable[[], float]
ROWS = [1, 32]
STEPS = 64
# No text ends by itself, so that all have the same length.
ENDLESS = pdacon.Grammar.from_lark('start: ("[" | "{" | WORD)+ "." \nWORD: /[a-z]+/\n%ignore " "')
COLUMNS = ["rows", "what", "a step without (ms)", "with (ms)", "a token (us)", "middle half"]


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Threads that wait for each other measure the machine's other work."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def compared(
    clock: Clock, free: Callable[[int], None], constrained: Callable[[int], None], steps: int, rounds: int
) -> np.ndarray:
    """Seconds a step, without and with the constraint, of each round; a short one goes before."""
    free(2)
    constrained(2)
    spent = []
    for _ in range(rounds):
        begin = clock()
        free(steps)
        middle = clock()
        constrained(steps)
        spent.append((middle - begin, clock() - middle))
    return np.asarray(spent) / steps


def row_of(rows: int, what: str, spent: np.ndarray) -> list[str]:
    without, with_it = np.median(spent, axis=0) * 1e3
    low, middle, high = np.percentile((spent[:, 1] - spent[:, 0]) / rows * 1e6, [25, 50, 75])
    return [str(rows), what, f"{without:.2f}", f"{with_it:.2f}", f"{middle:.0f}", f"{low:.0f} to {high:.0f}"]


def test_generate(measured: bool, clock: Clock, show: Any) -> None:
    model, tokenizer = load_tiny()
    constraint = pdacon.compile(ENDLESS, vocabulary(model, tokenizer))
    table = []

    def run(constrained: bool, inputs: Any, steps: int) -> None:
        processors = LogitsProcessorList([PDALogitsProcessor(constraint)] if constrained else [])
        torch.manual_seed(1)
        ids = model.generate(
            **inputs, min_new_tokens=steps, max_new_tokens=steps, do_sample=True, logits_processor=processors
        )
        assert ids.shape == (len(inputs["input_ids"]), inputs["input_ids"].shape[1] + steps)

    for rows in ROWS if measured else [2]:
        inputs = tokenizer(["Write:"] * rows, return_tensors="pt")
        both = (partial(run, constrained, inputs) for constrained in (False, True))
        spent = compared(clock, *both, STEPS if measured else 3, 15 if measured else 1)
        table.append(row_of(rows, "`generate`, embedded model, `PDALogitsProcessor`", spent))
    show(COLUMNS, table)


@pytest.mark.parametrize("how", ["PDALogitsProcessor", "DeviceMasks"])
def test_simulated(how: str, measured: bool, clock: Clock, show: Any) -> None:
    """All masks are known; the matchers read what is chosen."""
    known = coded("tekken" if measured else "SentencePiece").vocabulary
    constraint = pdacon.compile(pdacon.Grammar.builtin("json"), known, eager=True)
    table = []
    for rows in ROWS if measured else [2]:
        torch.manual_seed(2)
        logits = torch.randn(rows, known.size)
        constrained = partial({"PDALogitsProcessor": processed, "DeviceMasks": masked}[how], constraint, logits)
        rounds = 15 if measured else 1
        spent = compared(clock, partial(chosen, logits), constrained, STEPS if measured else 2, rounds)
        table.append(row_of(rows, f"{known.size:,} logits, `{how}`", spent))
    show(COLUMNS, table)


def chosen(logits: torch.Tensor, steps: int) -> None:
    ids = torch.empty((len(logits), 0), dtype=torch.long)
    for step in range(steps):
        ids = torch.cat([ids, logits.roll(step, dims=1).argmax(dim=1, keepdim=True)], dim=1)


def processed(constraint: pdacon.Constraint, logits: torch.Tensor, steps: int) -> None:
    processor = PDALogitsProcessor(constraint, prompt_length=0)
    ids = torch.empty((len(logits), 0), dtype=torch.long)
    for step in range(steps):
        scores = processor(ids, logits.roll(step, dims=1))
        ids = torch.cat([ids, scores.argmax(dim=1, keepdim=True)], dim=1)


def masked(constraint: pdacon.Constraint, logits: torch.Tensor, steps: int) -> None:
    matchers = [constraint.matcher(max_rollback=0, keep_text=False) for _ in logits]
    masks = DeviceMasks(constraint.vocabulary, logits.device)
    ids = torch.empty((len(logits), 0), dtype=torch.long)
    for step in range(steps):
        scores = logits.roll(step, dims=1)
        masks.apply(scores, matchers, ids[:, -1].tolist() if step else None)
        ids = torch.cat([ids, scores.argmax(dim=1, keepdim=True)], dim=1)
