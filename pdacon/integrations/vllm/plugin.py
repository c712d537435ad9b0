"""The places of vLLM in which pdacon is put: there is no way to register a back end.

A manager of structured outputs begins with pdacon as its back end, and writes the masks of a batch without drafts in
one call, where it would hand parts of large ones to threads; sampling parameters are checked by pdacon; and the
asynchronous front end compiles in a thread before it does so, since its event loop would stand still meanwhile.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Iterable
from concurrent.futures import Future
from contextlib import nullcontext
from contextvars import ContextVar
from typing import Any

from pdacon.integrations.held import HeldAnswer
from pdacon.integrations.vllm.backend import Backend
from pdacon.integrations.vllm.figures import figures
from pdacon.integrations.vllm.requests import (
    RefusedRequest,
    check,
    compiler_for,
    require_own_backend,
    settings,
)
from pdacon.integrations.vllm.tracking import TrackedAnswer

_DONE = "_pdacon"  # on what has been put in
_NAME = "pdacon"  # of the back end
_is_counted: ContextVar[bool] = ContextVar("_is_counted", default=False)
"""Whether the request is checked for the second time."""


def install() -> None:
    """Put pdacon in; once in a process, however often it is called.

    Raises RuntimeError: vLLM has no such places.
    """
    settings()
    try:
        from vllm.sampling_params import SamplingParams
        from vllm.v1.engine.async_llm import AsyncLLM
        from vllm.v1.structured_output import StructuredOutputManager
        from vllm.v1.structured_output.backend_types import StructuredOutputBackend, StructuredOutputGrammar

        places = (
            (StructuredOutputManager, "__init__", _with_backend),
            (StructuredOutputManager, "_fill_bitmasks", _filled_at_once),
            (StructuredOutputManager, "_async_submit_fill_bitmask", _filled_at_once_and_here),
            (SamplingParams, "_validate_structured_outputs", _checked),
            (AsyncLLM, "add_request", _compiled_beforehand),
        )
        originals = [getattr(owner, name) for owner, name, _ in places]
    except (ImportError, AttributeError) as error:
        raise RuntimeError(
            f"pdacon does not fit this vLLM ({error}); it was written for 0.32 and 0.33. Without PDACON_VLLM vLLM uses "
            "its own back ends"
        ) from error
    StructuredOutputBackend.register(Backend)
    StructuredOutputGrammar.register(TrackedAnswer)
    for (owner, name, replaced), original in zip(places, originals, strict=True):
        if not hasattr(original, _DONE):
            new = functools.wraps(original)(replaced(original))
            setattr(new, _DONE, True)
            setattr(owner, name, new)


def _with_backend(original: Any) -> Any:
    def begin(self: Any, vllm_config: Any) -> None:
        original(self, vllm_config)
        require_own_backend(vllm_config.structured_outputs_config.backend)
        if not vllm_config.model_config.skip_tokenizer_init:
            self.backend = Backend(vllm_config, self.tokenizer)
            self.backend_name = _NAME  # from 0.33 on a request that names another one is refused
            self.fill_bitmask_parallel_threshold = 1  # batches of more come as a whole, if there are no drafts
            self.fill_bitmask_parallel_batch_size = vllm_config.scheduler_config.max_num_seqs

    return begin


def _filled_at_once(original: Any) -> Any:
    def fill(self: Any, batch: Iterable[tuple[Any, ...]]) -> None:
        rows = list(batch)  # (an answer, its row, whether that is masked by it, and from 0.33 on what is masked else)
        masked = [row for row in rows if row[2] and isinstance(row[0], TrackedAnswer)]
        if len(masked) > 1:
            HeldAnswer.fill_bitmasks([row[0] for row in masked], self._grammar_bitmask, [row[1] for row in masked])
            rows = [row for row in rows if not (row[2] and isinstance(row[0], TrackedAnswer))]
        original(self, rows)

    return fill


def _filled_at_once_and_here(original: Any) -> Any:
    def submit(self: Any, batch: list[tuple[Any, ...]]) -> Future[None]:
        done: Future[None] = Future()
        self._fill_bitmasks(batch)  # what is raised is raised where it would be waited for
        done.set_result(None)
        return done

    return submit


def _checked(original: Any) -> Any:
    def validate(params: Any, model_config: Any, structured_outputs_config: Any, tokenizer: Any) -> None:
        if params.structured_outputs is not None:
            _check(params, model_config, structured_outputs_config, tokenizer, is_new=not _is_counted.get())

    return validate


def _compiled_beforehand(original: Any) -> Any:
    async def add_request(self: Any, request_id: str, prompt: Any, params: Any, *args: Any, **options: Any) -> Any:
        if getattr(params, "structured_outputs", None) is not None:
            config = self.vllm_config
            tokenizer = self.input_processor.tokenizer
            await asyncio.to_thread(_check, params, config.model_config, config.structured_outputs_config, tokenizer)
        token = _is_counted.set(True)
        try:
            return await original(self, request_id, prompt, params, *args, **options)
        finally:
            _is_counted.reset(token)

    return add_request


def _check(params: Any, model_config: Any, structured_outputs_config: Any, tokenizer: Any, is_new: bool = True) -> None:
    """Refuse a request as vLLM does, with which its client is told 400 and the reason.

    ``is_new``: it was not counted yet.
    """
    from vllm.exceptions import VLLMValidationError
    from vllm.v1.structured_output.request import get_structured_output_key

    try:
        if tokenizer is None:
            raise RefusedRequest("structured outputs need a tokenizer, which skip_tokenizer_init leaves out")
        if getattr(model_config, "is_diffusion", False):
            raise RefusedRequest("structured outputs are not for a diffusion model: its tokens come in no order")
        if structured_outputs_config is not None:
            require_own_backend(structured_outputs_config.backend)
        kind, text = get_structured_output_key(params.structured_outputs)
        compiler = compiler_for(tokenizer, model_config)
        with figures().counting(compiler.cache) if is_new else nullcontext():
            check(params, kind.name, text, compiler)
    except RefusedRequest as error:
        raise VLLMValidationError(str(error)) from error
    params.structured_outputs._backend = _NAME
