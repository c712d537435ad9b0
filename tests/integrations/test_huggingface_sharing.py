"""One processor in the hands of several generations: what it cannot follow it refuses, in whatever order they step."""

from __future__ import annotations

import itertools
import random
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest
import torch
from support.finite_languages import SentenceConstraint
from transformers import LogitsProcessor

import pdacon
from pdacon import Generator
from pdacon.detokenizer import Vocabulary
from pdacon.errors import MatcherError
from pdacon.integrations.huggingface import PDALogitsProcessor

LETTERS = SentenceConstraint(
    Vocabulary.from_tokens([b"a", b"b", b"ab", b"ba", None, None, None], eos_ids=[5, 6]),
    ["", "ab", "aba", "abab", "bb", "bbabba"],
)


def _allowed(processor: PDALogitsProcessor, ids: list[int]) -> list[int]:
    masked: torch.Tensor = processor(torch.LongTensor([ids]), torch.zeros(1, 7))
    return torch.isfinite(masked[0]).nonzero().flatten().tolist()


class _Turns:
    """Threads take steps in the order of a list; those who have left it, or are not in it any more, are passed over."""

    def __init__(self, order: Sequence[str]) -> None:
        self._order = list(order)
        self._changed = threading.Condition()
        self._gone: set[str] = set()

    def wait(self, name: str) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: self._next() in (name, None), timeout=60)

    def pass_on(self, name: str) -> None:
        with self._changed:
            if self._next() == name:
                del self._order[0]
            self._changed.notify_all()

    def leave(self, name: str) -> None:
        with self._changed:
            self._gone.add(name)
            self._changed.notify_all()

    def _next(self) -> str | None:
        while self._order and self._order[0] in self._gone:
            del self._order[0]
        return self._order[0] if self._order else None


class _Turn(LogitsProcessor):
    """What one thread takes its steps with: the processor that it shares, when it is its turn."""

    def __init__(self, name: str, turns: _Turns, shared: PDALogitsProcessor) -> None:
        self._name, self._turns, self._shared = name, turns, shared

    def __call__(self, input_ids: torch.LongTensor, scores: torch.Tensor) -> torch.Tensor:
        self._turns.wait(self._name)
        try:
            return self._shared(input_ids, scores)
        finally:
            self._turns.pass_on(self._name)


def _in_turns(order: str, shared: PDALogitsProcessor, work: dict[str, Callable[[LogitsProcessor], Any]]) -> Any:
    """Run a function for each name in a thread of its own. Returns what came out, or the error."""
    turns, results = _Turns(order), {}

    def run(name: str) -> None:
        try:
            results[name] = work[name](_Turn(name, turns, shared))
        except Exception as error:
            results[name] = error
        finally:
            turns.leave(name)

    threads = [threading.Thread(target=run, args=(name,)) for name in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    return results


@pytest.mark.parametrize("prompts", [("Hello", "The quick brown fox"), ("Hello", "Hello")])
@pytest.mark.parametrize("order", ["AB" * 20, "AAAB" + "AB" * 20, "AAAABBBBB" + "A" * 20])
@pytest.mark.parametrize("options", [{"do_sample": False}, {"num_beams": 3}, {"prompt_lookup_num_tokens": 2}])
def test_two_generations_at_once_are_refused(
    model: Any, tokenizer: Any, prompts: tuple[str, str], order: str, options: dict[str, Any]
) -> None:
    constraint = pdacon.compile("json", tokenizer=tokenizer, model=model)
    shared = PDALogitsProcessor(constraint)

    def answer(prompt: str) -> Callable[[LogitsProcessor], list[int]]:
        batch = tokenizer(prompt, return_tensors="pt")

        def ids(turn: LogitsProcessor) -> list[int]:
            rows = model.generate(
                **batch, logits_processor=[turn], max_new_tokens=15, pad_token_id=tokenizer.pad_token_id, **options
            )
            answer: list[int] = rows[0, batch["input_ids"].shape[1] :].tolist()
            return answer

        return ids

    results = _in_turns(order, shared, {"A": answer(prompts[0]), "B": answer(prompts[1])})
    refused = [one for one in results.values() if isinstance(one, Exception)]
    assert refused
    for one in refused:
        assert isinstance(one, MatcherError)
        assert "one PDALogitsProcessor for each" in str(one)
    for one in results.values():
        if not isinstance(one, Exception):
            assert constraint.matcher().validate_tokens(one) == len(one)


class _Walks:
    """Random walks that take the steps of two generations in an order, each compared with the definition."""

    def __init__(self, rng: random.Random, order: str, prompts: dict[str, list[int]]) -> None:
        self._rng, self._order, self._prompts = rng, order, prompts
        self._ids = {name: list(ids) for name, ids in prompts.items()}

    def step(self, name: str, processor: Any) -> None:
        ids = self._ids[name]
        allowed = _allowed(processor, ids)
        assert allowed == sorted(LETTERS.allowed(tuple(ids[len(self._prompts[name]) :]))), (self._order, self._ids)
        ids.append(self._rng.choice(allowed))

    def in_threads(self, shared: PDALogitsProcessor) -> list[Any]:
        work = {name: partial(self._steps, name) for name in "AB"}
        return list(_in_turns(self._order, shared, work).values())

    def _steps(self, name: str, turn: LogitsProcessor) -> None:
        for _ in range(self._order.count(name)):
            self.step(name, turn)

    def in_one_loop(self, shared: PDALogitsProcessor) -> list[Any]:
        try:
            for name in self._order:
                self.step(name, shared)
        except MatcherError as error:
            return [error]
        return []


@pytest.mark.slow
@pytest.mark.parametrize("threads", [True, False])
def test_whatever_the_order_of_steps_nothing_passes_that_is_not_allowed(threads: bool) -> None:
    rng = random.Random(1)
    refused = 0
    for _ in range(200):
        # In one thread, a prompt that goes on with the last text is its continuation, as documented.
        others = [[9], [8], [9, 0], [9, 9]] if threads else [[9], [8]]
        order = "".join(rng.choice("AB") for _ in range(12))
        walks = _Walks(rng, order, {"A": [9], "B": rng.choice(others)})
        shared = PDALogitsProcessor(LETTERS)
        for one in walks.in_threads(shared) if threads else walks.in_one_loop(shared):
            assert one is None or isinstance(one, MatcherError), repr(one)
            refused += one is not None
    assert refused > 100


def test_one_thread_after_the_other_is_no_reason_to_refuse(model: Any, tokenizer: Any) -> None:
    constraint = pdacon.compile("json", tokenizer=tokenizer, model=model)
    shared = PDALogitsProcessor(constraint)
    batch = tokenizer("Hello", return_tensors="pt")
    alone = model.generate(
        **batch, logits_processor=[PDALogitsProcessor(constraint)], max_new_tokens=9, do_sample=False
    )
    found = []

    def run() -> None:
        rows = model.generate(**batch, logits_processor=[shared], max_new_tokens=9, do_sample=False)
        found.append(torch.equal(rows, alone))

    for _ in range(3):
        thread = threading.Thread(target=run)
        thread.start()
        thread.join(60)
    run()
    assert found == [True] * 4


def test_a_text_that_another_one_has_displaced_is_not_begun_anew_in_its_middle() -> None:
    """Which is what `reset` is for, and `prompt_length` says that there is nothing to doubt."""
    shared, told = PDALogitsProcessor(LETTERS), PDALogitsProcessor(LETTERS, prompt_length=1)
    for ids in ([9], [9, 2], [8]):
        for processor in (shared, told):
            _allowed(processor, ids)
    for _ in range(2):
        with pytest.raises(MatcherError, match=r"reset\(\)"):
            _allowed(shared, [9, 2, 0])
    assert _allowed(told, [9, 2, 0]) == sorted(LETTERS.allowed((2, 0)))
    shared.reset()
    assert _allowed(shared, [9, 2, 0]) == sorted(LETTERS.allowed(()))


def test_a_reset_by_another_thread_interrupts_a_text() -> None:
    shared = PDALogitsProcessor(LETTERS)
    _allowed(shared, [9])
    _allowed(shared, [9, 2])
    thread = threading.Thread(target=shared.reset)
    thread.start()
    thread.join(60)
    with pytest.raises(MatcherError, match="one PDALogitsProcessor for each"):
        _allowed(shared, [9, 2, 0])


def test_a_text_of_another_thread_is_continued_only_where_it_is_said_to_begin() -> None:
    shared, told = PDALogitsProcessor(LETTERS), PDALogitsProcessor(LETTERS, prompt_length=1)
    for processor in (shared, told):
        thread = threading.Thread(target=_allowed, args=(processor, [9]))
        thread.start()
        thread.join(60)
    with pytest.raises(MatcherError, match="prompt_length= says"):
        _allowed(shared, [9, 2])
    assert _allowed(told, [9, 2]) == sorted(LETTERS.allowed((2,)))


@pytest.mark.filterwarnings("ignore::pdacon.IncompleteWarning")
def test_a_generator_can_be_shared(model: Any, tokenizer: Any) -> None:
    write = Generator(model, tokenizer, "json", temperature=0, max_new_tokens=8)
    prompts = ["Hello", "The quick brown fox", "1, 2,", "Hi"]
    alone = [write(prompt) for prompt in prompts]
    together: list[Any] = [None] * 12
    barrier = threading.Barrier(4)

    def run(which: int) -> None:
        for index in itertools.islice(itertools.cycle(range(4)), which, which + 3):
            barrier.wait(60)
            together[3 * which + (index - which) % 4] = (index, write(prompts[index]))

    threads = [threading.Thread(target=run, args=(which,)) for which in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert all(answer == alone[index] for index, answer in together)
