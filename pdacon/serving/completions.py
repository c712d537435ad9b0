"""Completions: what follows a prompt, as OpenAI's clients read it."""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from pdacon.serving.answers import Answer, Job, encoded, write, written
from pdacon.serving.protocol import CompletionRequest
from pdacon.serving.token_choice import ChosenToken


async def answer(jobs: list[Job], request: CompletionRequest, model: str) -> str:
    """The whole answer to a request: the choices of the first prompt first; as JSON."""
    answers = [await written(job, request.n) for job in jobs]
    return await encoded(lambda: _told(jobs, answers, request, model), large=request.logprobs is not None)


def _told(jobs: list[Job], written: list[list[Answer]], request: CompletionRequest, model: str) -> dict[str, Any]:
    choices: list[dict[str, Any]] = []
    usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    for job, answers in zip(jobs, written, strict=True):
        for one in answers:
            text = _echoed(job, request) + one.text
            logprobs = _logprobs(job, one.choices, 0) if request.logprobs is not None else None
            choices.append({"index": len(choices), "text": text, "finish_reason": one.ending, "logprobs": logprobs})
        usage = {key: usage[key] + value for key, value in job.usage(answers).items()}
    return {**_head(model), "choices": choices, "usage": usage}


async def stream(jobs: list[Job], request: CompletionRequest, model: str) -> AsyncGenerator[dict[str, Any], None]:
    """The answer in pieces; prompts one after the other."""
    head = _head(model)
    asked = request.stream_options is not None and request.stream_options.include_usage
    extra: dict[str, Any] = {"usage": None} if asked else {}
    usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    for number, job in enumerate(jobs):
        answers = [Answer() for _ in range(request.n)]
        begun: set[int] = set()
        async with aclosing(write(job, request.n)) as pieces:
            async for piece in pieces:
                answers[piece.index].add(piece)
                text = piece.text if piece.index in begun else _echoed(job, request) + piece.text
                begun.add(piece.index)
                choice = {"index": number * request.n + piece.index, "text": text, "finish_reason": piece.ending}
                choice["logprobs"] = (
                    _logprobs(job, piece.choices, len(answers[piece.index].text) - len(piece.text))
                    if request.logprobs is not None and piece.choices
                    else None
                )
                yield {**head, "choices": [choice], **extra}
        usage = {key: usage[key] + value for key, value in job.usage(answers).items()}
    if asked:
        yield {**head, "choices": [], "usage": usage}


def _echoed(job: Job, request: CompletionRequest) -> str:
    return str(job.engine.tokenizer.decode(job.ids, skip_special_tokens=True)) if request.echo else ""


def _logprobs(job: Job, choices: list[ChosenToken], offset: int) -> dict[str, Any]:
    tokens = [job.spelled(one.token).decode("utf-8", "replace") for one in choices]
    offsets = []
    for token in tokens:
        offsets.append(offset)
        offset += len(token)
    return {
        "tokens": tokens,
        "token_logprobs": [one.logprob for one in choices],
        "top_logprobs": [
            {job.spelled(token).decode("utf-8", "replace"): value for token, value in one.others} for one in choices
        ],
        "text_offset": offsets,
    }


def _head(model: str) -> dict[str, Any]:
    return {"id": f"cmpl-{uuid.uuid4().hex}", "object": "text_completion", "created": int(time.time()), "model": model}
