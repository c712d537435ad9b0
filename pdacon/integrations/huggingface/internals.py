"""What pdacon needs of transformers that transformers does not promise: here, and nowhere else in pdacon.

tests/integrations/test_transformers_internals.py asks for each of them by name, so that a transformers that changes one
fails there and not at a user's.
"""

from __future__ import annotations

from contextlib import suppress
from queue import Empty
from typing import Any

import torch
from transformers.utils.generic import TransformersKwargs

OF_FORWARD: frozenset[str] = frozenset(TransformersKwargs.__optional_keys__)
"""Options that ``model.generate`` hands on to the forward pass of any model."""


class _WithCandidates:
    """A model for assisted decoding that is asked for its candidates here; all else is the model's."""

    def __init__(self, model: Any, candidates: Any) -> None:
        self._model, self._candidates = model, candidates

    def _get_candidate_generator(self, **_: Any) -> Any:
        return self._candidates

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._model(*args, **kwargs)


def decode_with(candidates: Any, model: Any, input_ids: torch.LongTensor, **arguments: Any) -> Any:
    """Assisted decoding, with candidates of one's own."""
    return type(model)._assisted_decoding(_WithCandidates(model, candidates), input_ids, **arguments)


def add_processor(manager: Any, processor: Any, *, first: bool) -> None:
    """Put a processor before or after those of a manager of continuous batching, which has not started yet."""
    processors = manager.logit_processor
    processors.logits_processor.insert(0 if first else len(processors.logits_processor), processor)
    processors.tensors_required += 1
    processors.supported_keys.update(processor.supported_kwargs)
    processors.do_processing = True


def ends_of(request: Any) -> tuple[int, ...]:
    """The ids that end a request of continuous batching."""
    return tuple(request._eos_token_ids)


def written_before(request: Any) -> list[int]:
    """What a request that was interrupted had generated: it begins again with that as a part of its prompt."""
    length: int = request._true_initial_tokens
    ids: list[int] = request.initial_tokens[length:] if length else []
    return ids


def forget_handler(manager: Any, name: str) -> None:
    """Take back what ``manager.register_result_handler`` was given for a request."""
    router = manager.output_router
    with router._lock:
        router.result_handlers.pop(name, None)


def forget_outputs(manager: Any) -> None:
    """Throw away what was written for requests that have no handler any more: the manager would keep it for ever."""
    with suppress(Empty):
        while True:
            manager.output_router.output_queue.get_nowait()


def is_scheduled(manager: Any, name: str) -> bool:
    """Whether a request is among those that the model is writing."""
    processor = manager.batch_processor
    return processor is not None and name in processor.scheduler.active_requests
