"""LoRAX's own interface: ``/generate`` and ``/generate_stream``."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from pdacon.serving.advice import shown
from pdacon.serving.answers import Answer, Job, encoded, write, written
from pdacon.serving.engine import Engine
from pdacon.serving.failures import RequestError
from pdacon.serving.protocol import NativeParameters, NativeRequest
from pdacon.serving.response_formats import Wanted, response_format
from pdacon.serving.token_choice import ChosenToken, Sampling

_ENDINGS = {"stop": "eos_token", "length": "length"}


def requested_format(request: NativeRequest) -> Wanted | None:
    """What the answer must be; a ``schema`` beside ``json_object`` is LoRAX's way to give one."""
    return response_format(request.parameters.response_format, "parameters.response_format")


def sampling_of(parameters: NativeParameters) -> Sampling:
    """How tokens are chosen: greedily, unless a request says something of sampling."""
    sampled = parameters.do_sample or parameters.temperature is not None
    return Sampling(
        temperature=(1.0 if parameters.temperature is None else parameters.temperature) if sampled else 0.0,
        top_k=parameters.top_k or 0,
        top_p=1.0 if parameters.top_p is None else parameters.top_p,
        seed=parameters.seed,
        others=parameters.return_k_alternatives or 0,
    )


def require_adapter(engine: Engine, parameters: NativeParameters) -> None:
    """Refuse an adapter that the model does not have: its answer would be another model's.

    Raises RequestError.
    """
    wanted = parameters.adapter_id
    if wanted in (None, "", "__base_model__"):
        return
    known = list(getattr(engine.model, "peft_config", None) or ())
    active = engine.model.active_adapters() if known else []
    if wanted not in active:
        there = f"the active ones are {active}" if active else "this server has none"
        raise RequestError(400, f"there is no adapter {shown(wanted)}: {there}", param="parameters.adapter_id")


async def answer(job: Job, request: NativeRequest) -> str:
    """The whole answer; as JSON."""
    (one,) = await written(job, 1)
    return await encoded(lambda: _told(job, one, request), large=request.parameters.details)


def _told(job: Job, one: Answer, request: NativeRequest) -> dict[str, Any]:
    told: dict[str, Any] = {
        "generated_text": request.inputs + one.text if request.parameters.return_full_text else one.text
    }
    if request.parameters.details:
        tokens = [_token(job, choice, request.parameters) for choice in one.choices]
        told["details"] = {**_details(job, one, request.parameters), "prefill": [], "tokens": tokens}
    return told


async def stream(job: Job, request: NativeRequest) -> AsyncGenerator[dict[str, Any], None]:
    """The answer token by token; the last one has the text."""
    one = Answer()
    async with aclosing(write(job, 1)) as pieces:
        async for piece in pieces:
            one.add(piece)
            for place, choice in enumerate(piece.choices):
                last = place == len(piece.choices) - 1 and piece.ending is not None
                text = request.inputs + one.text if request.parameters.return_full_text else one.text
                yield {
                    "token": _token(job, choice, request.parameters),
                    "generated_text": text if last else None,
                    "details": _details(job, one, request.parameters) if last and request.parameters.details else None,
                }


def _token(job: Job, choice: ChosenToken, parameters: NativeParameters) -> dict[str, Any]:
    def named(token: int, logprob: float) -> dict[str, Any]:
        return {"id": token, "text": job.spelled(token).decode("utf-8", "replace"), "logprob": logprob}

    token = {**named(choice.token, choice.logprob), "special": job.engine.vocabulary.tokens[choice.token] is None}
    if parameters.return_k_alternatives:
        token["alternative_tokens"] = [named(*other) for other in choice.others]
    return token


def _details(job: Job, one: Answer, parameters: NativeParameters) -> dict[str, Any]:
    return {
        "finish_reason": _ENDINGS[one.ending],
        "prompt_tokens": len(job.ids),
        "generated_tokens": one.tokens,
        "seed": parameters.seed,
    }
