"""The model: all answers in one batch, by the continuous batching of transformers, each under its own constraint."""

from __future__ import annotations

import asyncio
import copy
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from inspect import signature
from itertools import count
from typing import Any, Literal

from transformers import ContinuousBatchingConfig

from pdacon.constraint import Constraint
from pdacon.detokenizer import Vocabulary, vocabulary_of
from pdacon.integrations.huggingface import PDAContinuousProcessor, constrain
from pdacon.matching.budgets import Budget
from pdacon.serving.failures import RequestError
from pdacon.serving.metrics import Metrics
from pdacon.serving.sampling import Choice, Sampler, Sampling
from pdacon.serving.settings import Settings

Ending = Literal["stop", "length"]
_PAGE_TOKENS = 64  # of the key-value cache
# Earlier versions of transformers call a page a block.
_PAGE_SIZE: dict[str, Any] = {
    "page_size" if "page_size" in signature(ContinuousBatchingConfig).parameters else "block_size": _PAGE_TOKENS
}
_CPU_TOKENS = 64 << 10  # room in the cache, where the settings do not say it and memory is the CPU's
_LOOK_SECONDS = 1.0  # between two looks at whether the model's thread is alive
_FREE = "free"  # the name under which answers without a constraint go
_UNBOUNDED = 1 << 30


@dataclass(slots=True)
class Step:
    """What is new of an answer.

    Attributes
    ----------
    tokens : list of int
        The new ones, without the end token.
    choices : list of Choice
        What the sampler noted of each of them, and of the end token.
    ending : str or None
        Why the answer ends here.
    """

    tokens: list[int]
    choices: list[Choice]
    ending: Ending | None


@dataclass(slots=True)
class _Running:
    """An answer that is being written."""

    outputs: asyncio.Queue[Any] = field(default_factory=asyncio.Queue)  # of transformers, until it is finished
    seen: int = 0  # how many of its tokens are in steps already


class Engine:
    """Writes answers; safe to use from one event loop.

    Parameters
    ----------
    model : transformers.PreTrainedModel
        A causal language model that continuous batching supports.
    tokenizer : transformers.PreTrainedTokenizerFast
    settings : Settings
    metrics : Metrics
    """

    def __init__(self, model: Any, tokenizer: Any, settings: Settings, metrics: Metrics) -> None:
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
        self._stopped = False

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
        processors = manager.logit_processor
        processors.logits_processor.append(self._sampler)
        processors.tensors_required += 1
        manager.warmup()
        manager.start()
        self._manager = manager

    async def stop(self) -> None:
        """Let the answers that are being written end, within the time that the settings give them."""
        self._stopped = True
        until = time.monotonic() + self._settings.shutdown_seconds
        while self._running and time.monotonic() < until:
            await asyncio.sleep(0.05)
        if self._manager is not None:
            await asyncio.to_thread(self._manager.stop, block=True, timeout=10.0, hard_stop=True)
            self._manager.destroy()

    def require_room(self, answers: int) -> None:
        """Refuse a request while too many answers are being written.

        Raises
        ------
        RequestError
        """
        if self._stopped:
            raise RequestError(503, "the server is stopping", code="stopping")
        if len(self._running) + answers > self._settings.max_requests:
            raise RequestError(503, "too many answers are being written; try again soon", code="busy")

    async def write(
        self,
        ids: list[int],
        constraint: Constraint | None,
        sampling: Sampling,
        max_tokens: int,
        budget: Budget | None = None,
    ) -> AsyncGenerator[Step, None]:
        """Write one answer, step by step.

        Closing the iterator cancels what is left of it.

        Raises
        ------
        RequestError
            500: the model failed, or the constraint refused a token; what was written is not an answer.
        """
        self.require_room(1)
        if not self.is_running:
            self.start()
        assert self._masks is not None
        name = f"a{next(self._numbers)}"
        running = self._running[name] = _Running()
        self._metrics.running.set(len(self._running))
        manager, masks, sampler = self._manager, self._masks, self._sampler
        sampler.samplings[name] = sampling
        if constraint is not None:
            masks.add(name, constraint, budget)
        finished = False
        try:
            manager.register_result_handler(name, running.outputs.put_nowait)
            manager.add_request(
                ids,
                request_id=name,
                max_new_tokens=max_tokens,
                streaming=True,
                constraint=_FREE if constraint is None else name,
            )
            while not finished:
                output = await self._next(running, manager)
                if output.error is not None:
                    finished = True
                    raise RequestError(500, f"the answer could not be written: {output.error}", code="failed")
                step = self._step(running, output, sampling)
                finished = output.is_finished()
                self._metrics.tokens.inc(len(step.tokens))
                yield step
        finally:
            if not finished:
                manager.cancel_request(name)
            with manager.output_router._lock:
                manager.output_router.result_handlers.pop(name, None)
            masks.remove(name)
            sampler.samplings.pop(name, None)
            del self._running[name]
            self._metrics.running.set(len(self._running))

    async def _next(self, running: _Running, manager: Any) -> Any:
        """The next output of an answer.

        Raises
        ------
        RequestError
            The model's thread is dead and can send none.
        """
        while running.outputs.empty():
            await asyncio.wait({waiting := asyncio.ensure_future(running.outputs.get())}, timeout=_LOOK_SECONDS)
            if waiting.done():
                return waiting.result()
            waiting.cancel()
            if not manager.is_running() and running.outputs.empty():
                raise RequestError(500, "the model has stopped; the next request starts it again", code="failed")
        return running.outputs.get_nowait()

    def _step(self, running: _Running, output: Any, sampling: Sampling) -> Step:
        new = output.generated_tokens[running.seen :]
        first, running.seen = running.seen, len(output.generated_tokens)
        ends = self.vocabulary.eos_ids
        ended = bool(new) and new[-1] in ends
        ending: Ending | None = None
        if output.is_finished():
            ending = "stop" if ended else "length"
        return Step(new[:-1] if ended else new, sampling.choices[first : running.seen], ending)

    def _cache_tokens(self) -> int | None:
        """How many tokens the key-value cache has room for; None: transformers decides, by the device's memory."""
        if self._settings.cache_tokens is not None or self.model.device.type != "cpu":
            return self._settings.cache_tokens
        return _CPU_TOKENS
