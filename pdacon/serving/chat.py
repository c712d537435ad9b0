"""Chat completions: answers as OpenAI's clients read them."""

from __future__ import annotations

import asyncio
import json
import re
import time
import uuid
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import Any

from pdacon.serving.answers import Answer, Job, encoded, write, written
from pdacon.serving.protocol import ChatRequest
from pdacon.serving.response_formats import CONTENT, Reading
from pdacon.serving.token_choice import ChosenToken

# How answers that are a call or a text are written, as `formats.tools_format` has them.
_CALL, _ARGUMENTS = '{"name": ', ', "arguments": '
_TEXT = f'{{"{CONTENT}": '
_MARKS = re.compile(r'"(?:[^"\\]|\\.)*"|[{}]')


async def answer(job: Job, request: ChatRequest, model: str, reading: Reading) -> str:
    """The whole answer to a request, all of its choices; as JSON."""
    answers = await written(job, request.n)
    large = bool(request.logprobs) or reading != "text"
    return await encoded(lambda: _told(job, answers, request, model, reading), large=large)


def _told(job: Job, answers: list[Answer], request: ChatRequest, model: str, reading: Reading) -> dict[str, Any]:
    choices = []
    for index, one in enumerate(answers):
        message, ending = message_of(one, reading)
        choice = {"index": index, "message": message, "finish_reason": ending}
        choice["logprobs"] = {"content": _logprobs(job, one.choices)} if request.logprobs else None
        choices.append(choice)
    return {**_head(model, "chat.completion"), "choices": choices, "usage": job.usage(answers)}


def message_of(one: Answer, reading: Reading) -> tuple[dict[str, Any], str]:
    """The message that an answer is, and why it ended."""
    message: dict[str, Any] = {"role": "assistant", "content": one.text, "refusal": None}
    if reading == "text" or not one.whole:
        return message, one.ending
    if one.text.startswith(_TEXT):
        return {**message, "content": _string_at(one.text, len(_TEXT))[0]}, "stop"
    calls = [{"id": _call_id(), "type": "function", "function": _called(text)} for text in _objects(one.text)]
    return {**message, "content": None, "tool_calls": calls}, "tool_calls"


def _called(text: str) -> dict[str, str]:
    """The function of one call; its arguments as they are written: Python may read no number so large."""
    name, end = _string_at(text, len(_CALL))
    return {"name": name, "arguments": text[end + len(_ARGUMENTS) : -1]}


def _objects(text: str) -> Iterator[str]:
    """The texts of the outermost objects of an array of objects, or of one object."""
    depth = first = 0
    for mark in _MARKS.finditer(text):
        if mark[0] == "{":
            first = mark.start() if depth == 0 else first
            depth += 1
        elif mark[0] == "}":
            depth -= 1
            if depth == 0:
                yield text[first : mark.end()]


def _string_at(text: str, place: int) -> tuple[str, int]:
    """The JSON string that begins there, and where it ends."""
    value, end = json.JSONDecoder().raw_decode(text, place)
    return str(value), end


async def stream(job: Job, request: ChatRequest, model: str, reading: Reading) -> AsyncGenerator[dict[str, Any], None]:
    """The answer in pieces, those of all choices as they come; a call of a tool comes in one piece."""
    head = _head(model, "chat.completion.chunk")
    usage = request.stream_options is not None and request.stream_options.include_usage
    answers = [Answer() for _ in range(request.n)]
    extra: dict[str, Any] = {"usage": None} if usage else {}

    def chunk(index: int, delta: dict[str, Any], ending: str | None, logprobs: Any = None) -> dict[str, Any]:
        return {
            **head,
            "choices": [{"index": index, "delta": delta, "finish_reason": ending, "logprobs": logprobs}],
            **extra,
        }

    begun = False
    async with aclosing(write(job, request.n)) as pieces:
        async for piece in pieces:
            for index in range(0 if begun else request.n):
                yield chunk(index, {"role": "assistant", "content": ""}, None)
            begun = True
            one = answers[piece.index]
            one.add(piece)
            logprobs = {"content": _logprobs(job, piece.choices)} if request.logprobs and piece.choices else None
            if reading == "text" and (piece.text or logprobs):
                yield chunk(piece.index, {"content": piece.text}, None, logprobs)
            if piece.ending is not None:
                message, ending = await asyncio.to_thread(message_of, one, reading)
                if reading != "text":
                    yield chunk(piece.index, _as_delta(message), None)
                yield chunk(piece.index, {}, ending)
    if usage:
        yield {**head, "choices": [], "usage": job.usage(answers)}


def _as_delta(message: dict[str, Any]) -> dict[str, Any]:
    if message["content"] is not None:
        return {"content": message["content"]}
    return {"tool_calls": [{"index": index, **call} for index, call in enumerate(message["tool_calls"])]}


def _logprobs(job: Job, choices: list[ChosenToken]) -> list[dict[str, Any]]:
    def named(token: int, logprob: float) -> dict[str, Any]:
        spelled = job.spelled(token)
        return {"token": spelled.decode("utf-8", "replace"), "logprob": logprob, "bytes": list(spelled)}

    return [
        {**named(one.token, one.logprob), "top_logprobs": [named(*other) for other in one.others]} for one in choices
    ]


def _head(model: str, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{uuid.uuid4().hex}", "object": kind, "created": int(time.time()), "model": model}


def _call_id() -> str:
    return f"call_{uuid.uuid4().hex[:24]}"
