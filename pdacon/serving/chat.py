"""Chat completions: answers as OpenAI's clients read them."""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import aclosing
from typing import Any

from pdacon.frontends.tool_formats import AnswerEvent
from pdacon.serving.answers import Answer, Job, encoded, write, written
from pdacon.serving.blocks import InputText
from pdacon.serving.protocol import ChatRequest
from pdacon.serving.token_choice import ChosenToken


async def answer(job: Job, request: ChatRequest, model: str) -> str:
    """The whole answer to a request, all of its choices; as JSON."""
    answers = await written(job, request.n)
    return await encoded(lambda: _told(job, answers, request, model), large=bool(request.logprobs))


def _told(job: Job, answers: list[Answer], request: ChatRequest, model: str) -> dict[str, Any]:
    choices = []
    for index, one in enumerate(answers):
        choice: dict[str, Any] = {
            "index": index,
            "message": message_of(one, job.texts),
            "finish_reason": ending_of(one),
        }
        choice["logprobs"] = {"content": _logprobs(job, one.choices)} if request.logprobs else None
        choices.append(choice)
    return {**_head(model, "chat.completion"), "choices": choices, "usage": job.usage(answers)}


def message_of(one: Answer, texts: Collection[str] = ()) -> dict[str, Any]:
    """The message that an answer is: what the pieces of a stream add up to. ``texts``: tools that take a text."""
    message: dict[str, Any] = {"role": "assistant", "content": one.text, "refusal": None}
    if one.reasoning:
        message["reasoning_content"] = one.reasoning
    if one.calls:
        message["content"] = one.text or None
        message["tool_calls"] = [
            {
                "id": _call_id(),
                **(
                    _custom(call.name, InputText().feed(call.arguments))
                    if call.name in texts
                    else _function(call.name, call.arguments)
                ),
            }
            for call in one.calls
        ]
    return message


def ending_of(one: Answer) -> str:
    """Why an answer ended, in OpenAI's words."""
    return "tool_calls" if one.calls and one.ending == "stop" else one.ending


async def stream(job: Job, request: ChatRequest, model: str) -> AsyncGenerator[dict[str, Any], None]:
    """The answer in pieces, those of all choices as they come."""
    head = _head(model, "chat.completion.chunk")
    usage = request.stream_options is not None and request.stream_options.include_usage
    answers = [Answer() for _ in range(request.n)]
    deltas_of = [Deltas(job.texts) for _ in range(request.n)]
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
            deltas = deltas_of[piece.index].add(piece.events)
            if not deltas and logprobs:
                deltas = [{}]
            for delta in deltas:
                yield chunk(piece.index, delta, None, logprobs)
                logprobs = None
            if piece.ending is not None:
                yield chunk(piece.index, {}, ending_of(one))
    if usage:
        yield {**head, "choices": [], "usage": job.usage(answers)}


class Deltas:
    """What the events of one answer add to its message; ``texts``: tools that take a text."""

    def __init__(self, texts: Collection[str] = ()) -> None:
        self._texts = texts
        self._inputs: dict[int, InputText] = {}  # of calls of such tools

    def add(self, events: Sequence[AnswerEvent]) -> list[dict[str, Any]]:
        """A call begins with its name, and its arguments come in pieces."""
        deltas: list[dict[str, Any]] = []
        for event in events:
            if event.kind == "text":
                deltas.append({"content": event.text})
            elif event.kind == "reasoning":
                deltas.append({"reasoning_content": event.text})
            elif event.kind == "name":
                if is_custom := event.text in self._texts:
                    self._inputs[event.call] = InputText()
                call = (_custom if is_custom else _function)(event.text, "")
                deltas.append({"tool_calls": [{"index": event.call, "id": _call_id(), **call}]})
            elif event.kind == "arguments":
                deltas += self._arguments(event)
        return deltas

    def _arguments(self, event: AnswerEvent) -> list[dict[str, Any]]:
        reader = self._inputs.get(event.call)
        if reader is None:
            return [{"tool_calls": [{"index": event.call, "function": {"arguments": event.text}}]}]
        text = reader.feed(event.text)
        return [{"tool_calls": [{"index": event.call, "custom": {"input": text}}]}] if text else []


def _function(name: str, arguments: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "arguments": arguments}}


def _custom(name: str, text: str) -> dict[str, Any]:
    return {"type": "custom", "custom": {"name": name, "input": text}}


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
