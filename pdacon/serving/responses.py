"""OpenAI's ``/v1/responses``: its requests as those of chats, and answers as its clients read them.

Nothing is kept of a response: a request has all that was said before.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field, StrictBool, field_validator

from pdacon.serving.answers import Answer, Job, encoded
from pdacon.serving.blocks import Block, Blocks, BlockStep, block_steps
from pdacon.serving.failures import malformed, only
from pdacon.serving.protocol import (
    Bias,
    Budget,
    ChatRequest,
    Count,
    Part,
    Penalty,
    Seed,
    Share,
    Stops,
    Strict,
    Temperature,
    TopK,
)

_TEXTS = ("input_text", "output_text", "text")
_TOOL = '{"type": "function", "name": ..., "parameters": {...}} or {"type": "custom", "name": ..., "format": {...}}'
_ROLES = {"developer": "system", "system": "system", "user": "user", "assistant": "assistant"}

NAMES = (
    (r"tools\.(\d+)\.custom\.format\.grammar", r"tools.\1.format"),
    (r"tools\.(\d+)\.(?:custom|function)", r"tools.\1"),
    (r"response_format(?:\.json_schema)?", "text.format"),
    (r"reasoning_effort", "reasoning.effort"),
    (r"max_tokens", "max_output_tokens"),
)
"""How parts of a request are called that chats have other names for (see `failures.renamed`)."""


class ResponsesRequest(Strict):
    """``POST /v1/responses``."""

    model: str | None = None
    input: str | Annotated[list[dict[str, Any]], Field(min_length=1, fail_fast=True)]
    instructions: str | None = None
    max_output_tokens: Count | None = None
    temperature: Temperature | None = None
    top_p: Share | None = None
    tools: Annotated[list[dict[str, Any]], Field(fail_fast=True)] | None = None
    tool_choice: str | dict[str, Any] | None = None
    parallel_tool_calls: StrictBool | None = None
    text: dict[str, Any] | None = None
    reasoning: dict[str, Any] | None = None
    stream: StrictBool = False
    # What servers like this one take besides.
    seed: Seed | None = None
    stop: Stops = ()
    top_k: TopK | None = None
    min_p: Part | None = None
    presence_penalty: Penalty | None = None
    frequency_penalty: Penalty | None = None
    logit_bias: Bias | None = None
    thinking_token_budget: Budget | None = None
    chat_template_kwargs: dict[str, Any] | None = None
    # These say nothing about the answer.
    metadata: dict[str, Any] | None = None
    include: list[str] | None = None
    store: StrictBool | None = None
    user: str | None = None
    service_tier: str | None = None
    safety_identifier: str | None = None
    prompt_cache_key: str | None = None
    stream_options: dict[str, Any] | None = None
    max_tool_calls: Count | None = None  # of OpenAI's own tools
    prompt_cache_retention: str | None = None
    # These have to say that there is nothing.
    previous_response_id: None = None
    conversation: None = None
    prompt: None = None
    background: StrictBool | None = None
    truncation: str | None = None

    @field_validator("background", "truncation")
    @classmethod
    def _says_nothing(cls, value: Any) -> Any:
        if value not in (None, False, "disabled"):
            raise ValueError("this server does not support it; leave it out")
        return value


def chat_of(request: ResponsesRequest) -> ChatRequest:
    """The same request as that of a chat.

    Raises RequestError: a part of it is malformed, or not supported.
    """
    messages = [{"role": "system", "content": request.instructions}] if request.instructions else []
    messages += [{"role": "user", "content": request.input}] if isinstance(request.input, str) else _messages(request)
    fields: dict[str, Any] = {"messages": messages, "max_tokens": request.max_output_tokens, "stop": list(request.stop)}
    same = ("model", "temperature", "top_p", "stream", "seed", "top_k", "min_p", "presence_penalty")
    for name in (*same, "frequency_penalty", "logit_bias", "thinking_token_budget", "chat_template_kwargs"):
        if (value := getattr(request, name)) is not None:
            fields[name] = value
    if request.tools:
        fields["tools"] = [_tool(tool, f"tools.{index}") for index, tool in enumerate(request.tools)]
    if request.tool_choice is not None:
        fields["tool_choice"] = _choice(request.tool_choice)
    if request.parallel_tool_calls is not None:
        fields["parallel_tool_calls"] = request.parallel_tool_calls
    if request.text is not None:
        only(request.text, ("format", "verbosity"), "text")
        fields["response_format"] = _format(request.text.get("format"))
    if request.reasoning is not None:
        only(request.reasoning, ("effort", "summary", "generate_summary"), "reasoning")
        fields["reasoning_effort"] = request.reasoning.get("effort")
    return ChatRequest.model_validate(fields)


def _format(given: Any) -> Any:
    """``text.format``: flat, where chats have an object of its own."""
    if not isinstance(given, Mapping) or given.get("type") != "json_schema":
        return given
    only(given, ("type", "name", "schema", "strict", "description"), "text.format")
    if "schema" not in given:
        raise malformed("text.format", '{"type": "json_schema", "name": ..., "schema": {...}}')
    return {"type": "json_schema", "json_schema": {key: value for key, value in given.items() if key != "type"}}


def _tool(tool: Mapping[str, Any], place: str) -> dict[str, Any]:
    kind = tool.get("type")
    if kind == "function":
        only(tool, ("type", "name", "description", "parameters", "strict"), place)
    elif kind == "custom":
        only(tool, ("type", "name", "description", "format"), place)
    else:
        raise malformed(place, f"{_TOOL}: this server has no tools of its own")
    inner = {key: value for key, value in tool.items() if key != "type"}
    if kind == "custom" and isinstance(given := inner.get("format"), Mapping) and given.get("type") == "grammar":
        only(given, ("type", "syntax", "definition"), f"{place}.format")
        grammar = {key: value for key, value in given.items() if key != "type"}
        inner["format"] = {"type": "grammar", "grammar": grammar}
    return {"type": kind, kind: inner}


def _choice(given: str | Mapping[str, Any]) -> Any:
    if isinstance(given, str):
        return given
    kind = given.get("type")
    if kind == "allowed_tools":
        only(given, ("type", "mode", "tools"), "tool_choice")
        listed = given.get("tools")
        if isinstance(listed, list):
            listed = [_choice(one) if isinstance(one, Mapping) else one for one in listed]
        return {"type": kind, "allowed_tools": {"mode": given.get("mode"), "tools": listed}}
    return {"type": kind, kind: {"name": given.get("name")}} if isinstance(kind, str) else given


def _messages(request: ResponsesRequest) -> list[dict[str, Any]]:
    """Items as messages: what follows one another of an assistant is one message."""
    messages: list[dict[str, Any]] = []
    assert not isinstance(request.input, str)
    for index, item in enumerate(request.input):
        place, kind = f"input.{index}", item.get("type", "message")
        if kind in ("function_call_output", "custom_tool_call_output"):
            output = _text(item.get("output"), f"{place}.output")
            messages.append({"role": "tool", "tool_call_id": item.get("call_id"), "content": output})
            continue
        if kind == "message" and item.get("role") != "assistant":
            if item.get("role") not in tuple(_ROLES):
                raise malformed(f"{place}.role", f"one of {', '.join(_ROLES)}")
            content = _text(item.get("content"), f"{place}.content")
            messages.append({"role": _ROLES[item["role"]], "content": content})
            continue
        if not messages or messages[-1]["role"] != "assistant":
            messages.append({"role": "assistant", "content": ""})
        said = messages[-1]
        if kind == "message":
            said["content"] += _text(item.get("content"), f"{place}.content")
        elif kind == "reasoning":
            given: Any = item.get("content")
            parts: list[Any] = given if isinstance(given, list) else []
            said.setdefault("reasoning_content", "")
            said["reasoning_content"] += "".join(
                str(part.get("text", "")) for part in parts if isinstance(part, Mapping)
            )
        elif kind in ("function_call", "custom_tool_call"):
            said.setdefault("tool_calls", []).append(_past_call(item, kind, place))
        else:
            raise malformed(
                f"{place}.type", "'message', 'reasoning', 'function_call', 'custom_tool_call' or one's output"
            )
    return messages


def _past_call(item: Mapping[str, Any], kind: str, place: str) -> dict[str, Any]:
    told = "arguments" if kind == "function_call" else "input"
    name, given = item.get("name"), item.get(told)
    if not isinstance(name, str) or not isinstance(given, str):
        raise malformed(place, f'{{"type": "{kind}", "call_id": ..., "name": ..., "{told}": ...}}')
    form = "function" if kind == "function_call" else "custom"
    return {"id": item.get("call_id"), "type": form, form: {"name": name, told: given}}


def _text(content: Any, place: str) -> str:
    """The text of a content, which may be a list of parts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise malformed(place, "a text or a list of parts")
    for index, part in enumerate(content):
        kind = part.get("type") if isinstance(part, Mapping) else None
        if kind not in _TEXTS or not isinstance(part.get("text"), str):
            raise malformed(f"{place}.{index}", '{"type": "input_text", "text": ...}')
    return "".join(part["text"] for part in content)


@dataclass(slots=True)
class _Response:
    """A response that is being written."""

    job: Job
    request: ResponsesRequest
    model: str
    id: str = field(default_factory=lambda: f"resp_{uuid.uuid4().hex}")
    created: int = field(default_factory=lambda: int(time.time()))
    one: Answer = field(default_factory=Answer)
    thought: int = 0  # tokens of thoughts
    blocks: Blocks = field(init=False)

    def __post_init__(self) -> None:
        self.blocks = Blocks(self.job.texts)

    async def steps(self) -> AsyncGenerator[list[BlockStep], None]:
        """What happens to blocks, piece by piece."""
        async with aclosing(block_steps(self.job, self.one, self.blocks)) as pieces:
            async for piece, steps in pieces:
                self.thought += len(piece.tokens) * any(event.kind == "reasoning" for event in piece.events)
                yield steps

    def told(self, status: str) -> dict[str, Any]:
        """What is said of it as a whole."""
        request, usage = self.request, None
        if status in ("completed", "incomplete"):
            usage = {
                "input_tokens": len(self.job.ids),
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": self.one.tokens,
                "output_tokens_details": {"reasoning_tokens": self.thought},
                "total_tokens": len(self.job.ids) + self.one.tokens,
            }
        items = [] if usage is None else [_item(block) for block in self.blocks.all]
        said = {
            "id": self.id,
            "object": "response",
            "created_at": self.created,
            "status": status,
            "error": None,
            "incomplete_details": {"reason": "max_output_tokens"} if status == "incomplete" else None,
            "model": self.model,
            "output": items,
            "parallel_tool_calls": request.parallel_tool_calls is not False,
            "previous_response_id": None,
            "store": False,
            "tool_choice": request.tool_choice or "auto",
            "tools": request.tools or [],
            "text": request.text or {"format": {"type": "text"}},
            "truncation": "disabled",
            "usage": usage,
        }
        same = ("instructions", "max_output_tokens", "metadata", "reasoning", "temperature", "top_p", "user")
        return said | {name: getattr(request, name) for name in same}

    @property
    def ending(self) -> str:
        """How it has ended."""
        return "incomplete" if self.one.ending == "length" else "completed"


async def answer(job: Job, request: ResponsesRequest, model: str) -> str:
    """The whole answer; as JSON."""
    response = _Response(job, request, model)
    async with aclosing(response.steps()) as steps:
        async for _ in steps:
            pass
    return await encoded(lambda: response.told(response.ending), large=False)


async def stream(job: Job, request: ResponsesRequest, model: str) -> AsyncGenerator[dict[str, Any], None]:
    """The answer as events, which are numbered."""
    response = _Response(job, request, model)
    number = 0

    def numbered(events: Sequence[dict[str, Any]] | Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        nonlocal number
        for event in events:
            yield {**event, "sequence_number": number}
            number += 1

    begun = False
    async with aclosing(response.steps()) as pieces:
        async for steps in pieces:
            if not begun:
                head = response.told("in_progress")
                for event in numbered(
                    [{"type": f"response.{name}", "response": head} for name in ("created", "in_progress")]
                ):
                    yield event
                begun = True
            for step in steps:
                for event in numbered(_events(step)):
                    yield event
    ending = response.ending
    for event in numbered([{"type": f"response.{ending}", "response": response.told(ending)}]):
        yield event


def _events(step: BlockStep) -> Iterator[dict[str, Any]]:
    """What a step does to an item."""
    block = step.block
    place: dict[str, Any] = {"item_id": _id(block), "output_index": block.index}
    name, told = _NAMES["custom" if block.takes_text else block.kind]
    part = {**place, "content_index": 0}
    logprobs: dict[str, Any] = {"logprobs": []} if block.kind == "text" else {}
    if step.what == "begin":
        yield {"type": "response.output_item.added", "output_index": block.index, "item": _item(block, is_new=True)}
        if block.kind == "text":
            yield {"type": "response.content_part.added", **part, "part": _part(block, "")}
    elif step.what == "text":
        where = place if block.kind == "call" else part
        yield {"type": f"response.{name}.delta", **where, "delta": step.text, **logprobs}
    else:
        where = {**place, "name": block.name} if block.kind == "call" and not block.takes_text else place
        where = where if block.kind == "call" else part
        yield {"type": f"response.{name}.done", **where, told: block.text, **logprobs}
        if block.kind == "text":
            yield {"type": "response.content_part.done", **part, "part": _part(block, block.text)}
        yield {"type": "response.output_item.done", "output_index": block.index, "item": _item(block)}


_NAMES = {
    "text": ("output_text", "text"),
    "reasoning": ("reasoning_text", "text"),
    "call": ("function_call_arguments", "arguments"),
    "custom": ("custom_tool_call_input", "input"),
}
"""By kinds of blocks, what their events are called, and the member that has all of the text at the end."""


def _id(block: Block) -> str:
    kinds = {"text": "msg", "reasoning": "rs", "call": "fc"}
    return f"{'ctc' if block.takes_text else kinds[block.kind]}_{block.id}"


def _part(block: Block, text: str) -> dict[str, Any]:
    if block.kind == "reasoning":
        return {"type": "reasoning_text", "text": text}
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _item(block: Block, *, is_new: bool = False) -> dict[str, Any]:
    """A block as an item, as it begins or as it is."""
    status = "in_progress" if is_new else "completed" if block.is_whole else "incomplete"
    item: dict[str, Any] = {"id": _id(block), "status": status}
    text = "" if is_new else block.text
    if block.kind == "call":
        kind, told = ("custom_tool_call", "input") if block.takes_text else ("function_call", "arguments")
        return {**item, "type": kind, "call_id": f"call_{block.id}", "name": block.name, told: text}
    content = [] if is_new else [_part(block, text)]
    if block.kind == "reasoning":
        return {**item, "type": "reasoning", "summary": [], "content": content}
    return {**item, "type": "message", "role": "assistant", "content": content}
