"""The model: all answers in one batch, by the continuous batching of transformers, each under its own constraint."""

from __future__ import annotations

import asyncio
import copy
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from inspect import signature
from itertools import count
from threading import Thread
from typing import Any, Literal

from transformers import ContinuousBatchingConfig

from pdacon.detokenizer import Vocabulary, vocabulary_of
from pdacon.front.constraint import Constraint
from pdacon.integrations.huggingface import PDAContinuousProcessor, constrain
from pdacon.integrations.huggingface.internals import add_processor, forget_handler, forget_outputs, is_scheduled
from pdacon.matching import Budget
from pdacon.serving.accounts import Record, current
from pdacon.serving.failures import RequestError, stopping
from pdacon.serving.metrics import Metrics
from pdacon.serving.settings import ServerSettings
from pdacon.serving.token_choice import ChosenToken, Sampler, Sampling

Ending = Literal["stop", "length"]
_PAGE_TOKENS = 64  # of the key-value cache
# Earlier versions of transformers call a page a block.
_PAGE_SIZE: dict[str, Any] = {
    "page_size" if "page_size" in signature(ContinuousBatchingConfig).parameters else "block_size": _PAGE_TOKENS
}
_CPU_TOKENS = 64 << 10  # room in the cache, where the settings do not say it and memory is the CPU's
_LOOK_SECONDS = 1.0  # between two looks at whether the model's thread is alive
_STOP_SECONDS = 10.0  # that it has to end
_FREE = "free"  # the name under which answers without a constraint go
_UNBOUNDED = 1 << 30


@dataclass(slots=True)
class NewTokens:
    """What is new of an answer."""

    tokens: list[int]  # the new ones, without the end token
    choices: list[ChosenToken]  # what the sampler noted of each of them, and of the end token
    ending: Ending | None  # why the answer ends here


@dataclass(slots=True)
class _Running:
    """An answer that is being written, or waits for that."""

    record: Record  # of its request
    # What transformers has written, until it is finished, or why nothing more will come.
    outputs: asyncio.Queue[Any] = field(default_factory=asyncio.Queue)
    seen: int = 0  # how many of its tokens are in steps already
    last_token: float | None = None  # when it came


class Engine:
    """Writes answers; safe to use from one event loop.

    Parameters
    ----------
    model : transformers.PreTrainedModel
        A causal language model that continuous batching supports.
    tokenizer : transformers.PreTrainedTokenizerFast
    settings : ServerSettings
    metrics : Metrics

    Attributes
    ----------
    is_hung : bool
        The model should be writing, and has made no step for longer than the settings give it.
    """

    def __init__(self, model: Any, tokenizer: Any, settings: ServerSettings, metrics: Metrics) -> None:
        self.model = model
        self.tokenizer = tokenizer
        self.vocabulary: Vocabulary = vocabulary_of("serve", tokenizer=tokenizer, model=model)
        self._settings = settings
        self._metrics = metrics
        self._numbers = count()
        self._running: dict[str, _Running] = {}  # by the id of the request
        self._manager: Any = None  # of transformers' continuous batching
        self._masks: PDAContinuousProcessor | None = None
        self._sampler = Sampler()
        self._starting = asyncio.Lock()
        self._steps = 0  # that the model has made
        self._last_step = 0.0  # when it had made these, or was given something to do after a rest
        self.is_hung = False
        metrics.running.set_function(lambda: self._count(True))
        metrics.waiting.set_function(lambda: self._count(False))

    @property
    def context(self) -> int:
        """How many tokens a prompt and its answer may have together."""
        config = self.model.config.get_text_config(decoder=True)
        known = getattr(config, "max_position_embeddings", None)
        room = self._cache_tokens()
        return min(known if isinstance(known, int) and known > 0 else _UNBOUNDED, room or _UNBOUNDED)

    @property
    def is_running(self) -> bool:
        """Whether the model's thread is alive."""
        return self._manager is not None and self._manager.is_running()

    def start(self) -> None:
        """Start the model's thread; once more if it has ended by itself."""
        ends = list(self.vocabulary.eos_ids)
        generation = copy.deepcopy(self.model.generation_config)
        generation.update(
            do_sample=False,
            temperature=None,
            top_p=None,
            top_k=None,
            eos_token_id=ends,
            pad_token_id=ends[0],
            max_length=None,
        )
        room = self._cache_tokens()
        config = ContinuousBatchingConfig(
            **_PAGE_SIZE,
            num_blocks=None if room is None else -(-room // _PAGE_TOKENS),
            max_batch_tokens=None if room is None else max(512, self._settings.batch_size),
            max_requests_per_batch=self._settings.batch_size,
            use_cuda_graph=False,  # the sampler is Python
        )
        manager = self.model.init_continuous_batching(generation, config)
        self._masks = constrain(manager, {_FREE: None}, tokenizer=self.tokenizer)
        self._masks.on_step = self._metrics.observe_step
        self._sampler = Sampler()
        add_processor(manager, self._sampler, first=False)
        manager.warmup()
        # The model's thread is a daemon like the one that starts it: should it hang, the process can still end.
        starter = Thread(target=manager.start, daemon=True)
        starter.start()
        starter.join()
        self._manager = manager

    async def stop(self) -> None:
        """End the model's thread, and with it what is being written."""
        self.fail(stopping())
        if self._manager is None:
            return
        await asyncio.to_thread(self._manager.stop, block=True, timeout=_STOP_SECONDS, hard_stop=True)
        if not self._manager.is_running():
            self._manager.destroy()

    def fail(self, error: RequestError) -> None:
        """End all answers with an error."""
        for running in self._running.values():
            running.outputs.put_nowait(error)

    def count_ended(self, ending: str, count: int = 1) -> None:
        """Count answers to the request at hand that have ended: by ``stop``, ``length``, ``left`` or ``failed``."""
        current().endings[ending] += count
        self._metrics.count_answers(ending, count)

    def is_writing(self, record: Record) -> bool:
        """Whether the model has begun an answer to a request, and not only been given it."""
        return record.first_token_seconds is not None or any(
            running.record is record and self._is_active(name) for name, running in self._running.items()
        )

    async def watch(self) -> None:
        """Look after the model's thread as long as the server runs: if it dies or hangs, no answer waits for it."""
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            if self._manager is None:
                continue
            forget_outputs(self._manager)
            if self._manager.current_batch != self._steps:
                self._steps, self._last_step = self._manager.current_batch, time.monotonic()
                self.is_hung = False
            if self._running and not self.is_running:
                self.fail(RequestError(500, "the model has stopped; the next request starts it again", code="failed"))
            elif self._running and time.monotonic() - self._last_step > (seconds := self._settings.hang_seconds):
                self.is_hung = True
                self.fail(RequestError(500, f"the model hangs: it has made no step for {seconds:g} s", code="failed"))

    def require_room(self, answers: int) -> None:
        """Refuse a request while too many answers are being written.

        Raises RequestError.
        """
        if self.is_hung:
            raise RequestError(503, "the model hangs; the server has to be started again", code="failed")
        if len(self._running) + answers > self._settings.max_requests:
            raise RequestError(503, "too many answers are being written; try again soon", code="busy")

    async def write(
        self,
        ids: list[int],
        constraint: Constraint | None,
        sampling: Sampling,
        max_tokens: int,
        budget: Budget | None = None,
    ) -> AsyncGenerator[NewTokens, None]:
        """Write one answer, step by step.

        Closing the iterator cancels what is left of it.

        Raises RequestError (500): the model failed, or the constraint refused a token; what was written is not an
        answer.
        """
        self.require_room(1)
        await self._start_again()
        assert self._masks is not None
        name = f"a{next(self._numbers)}"
        manager, masks, sampler = self._manager, self._masks, self._sampler
        if not self._running:
            self._last_step = time.monotonic()
        running = self._running[name] = _Running(current())
        sampler.samplings[name] = sampling
        if constraint is not None:
            masks.add(name, constraint, budget)
        finished = False
        try:
            manager.register_result_handler(name, running.outputs.put_nowait)
            accepted = manager.add_request(
                ids,
                request_id=name,
                max_new_tokens=max_tokens,
                streaming=True,
                constraint=_FREE if constraint is None else name,
            )
            if accepted is None:
                raise RequestError(503, "the model takes no answers now; try again soon", code="busy")
            while not finished:
                output = await running.outputs.get()
                if isinstance(output, RequestError):
                    raise output
                if output.error is not None:
                    finished = True
                    raise RequestError(500, f"the answer could not be written: {output.error}", code="failed")
                step = self._step(running, output, sampling)
                finished = output.is_finished()
                yield step
        finally:
            if not finished:
                manager.cancel_request(name)
            forget_handler(manager, name)
            masks.remove(name)
            sampler.samplings.pop(name, None)
            del self._running[name]

    async def _start_again(self) -> None:
        """Start the model's thread if it has ended by itself."""
        async with self._starting:
            if self.is_running:
                return
            self.fail(RequestError(500, "the model has stopped", code="failed"))
            self.is_hung = False
            await asyncio.to_thread(self.start)

    def _count(self, active: bool) -> int:
        """How many answers the model is writing; or how many wait for that."""
        return sum(self._is_active(name) == active for name in list(self._running))

    def _is_active(self, name: str) -> bool:
        """Whether an answer is among those that the model is writing."""
        return self._manager is not None and is_scheduled(self._manager, name)

    def _step(self, running: _Running, output: Any, sampling: Sampling) -> NewTokens:
        new = output.generated_tokens[running.seen :]
        first, running.seen = running.seen, len(output.generated_tokens)
        self._observe(running, len(new))
        ends = self.vocabulary.eos_ids
        ended = bool(new) and new[-1] in ends
        ending: Ending | None = None
        if output.is_finished():
            ending = "stop" if ended else "length"
        tokens = new[:-1] if ended else new
        self._metrics.tokens.inc(len(tokens))
        running.record.tokens += len(tokens)
        return NewTokens(tokens, sampling.choices[first : running.seen], ending)

    def _observe(self, running: _Running, count: int) -> None:
        """Note how long new tokens of an answer have taken, its end token among them."""
        if not count:
            return
        now, record = time.perf_counter(), running.record
        if record.first_token_seconds is None:
            record.first_token_seconds = now - record.began
            self._metrics.first_token_seconds.observe(record.first_token_seconds)
        if running.last_token is not None:
            for _ in range(count):
                self._metrics.token_seconds.observe((now - running.last_token) / count)
        running.last_token = now

    def _cache_tokens(self) -> int | None:
        """How many tokens the key-value cache has room for; None: transformers decides, by the device's memory."""
        if self._settings.cache_tokens is not None or self.model.device.type != "cpu":
            return self._settings.cache_tokens
        return _CPU_TOKENS
