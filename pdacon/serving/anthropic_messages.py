"""Anthropic's ``/v1/messages``: its requests as those of chats, and answers as its clients read them."""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Annotated, Any

from pydantic import Field, StrictBool, field_validator

from pdacon.serving.answers import Answer, Job, encoded
from pdacon.serving.blocks import Block, Blocks, block_steps
from pdacon.serving.failures import RequestError, malformed, only
from pdacon.serving.protocol import ChatRequest, Count, Seed, Share, Stops, Strict, Temperature, TopK

_ABOUT_THOUGHTS = "clear_thinking_"
_TOOL = '{"name": ..., "input_schema": {...}}'
_TOOL_FIELDS = (
    "name", "description", "input_schema", "type", "cache_control", "strict", "input_examples", "eager_input_streaming",
)  # fmt: skip
_CHOICE = '{"type": "auto"}, "any", "none", or {"type": "tool", "name": ...}'
_THINKING = '{"type": "enabled", "budget_tokens": ...}, "adaptive" or "disabled"'


def names_of(request: CountRequest) -> tuple[tuple[str, str], ...]:
    """How parts of the request are called that chats have other names for (see `failures.renamed`)."""
    format = "output_config.format" if request.output_format is None else "output_format"
    return (
        (r"tools\.(\d+)\.function\.parameters", r"tools.\1.input_schema"),
        (r"tools\.(\d+)\.function", r"tools.\1"),
        (r"response_format\.json_schema\.schema", f"{format}.schema"),
        (r"response_format", format),
        (r"reasoning_effort", "output_config.effort"),
        (r"thinking_token_budget", "thinking.budget_tokens"),
        (r"stop", "stop_sequences"),
    )


class CountRequest(Strict):
    """``POST /v1/messages/count_tokens``."""

    model: str | None = None
    messages: Annotated[list[dict[str, Any]], Field(min_length=1, fail_fast=True)]
    system: str | list[dict[str, Any]] | None = None
    tools: Annotated[list[dict[str, Any]], Field(fail_fast=True)] | None = None
    tool_choice: dict[str, Any] | None = None
    thinking: dict[str, Any] | None = None
    output_format: dict[str, Any] | None = None
    output_config: dict[str, Any] | None = None
    # These say nothing about the answer, or have to say that there is nothing.
    cache_control: dict[str, Any] | None = None
    context_management: dict[str, Any] | None = None
    mcp_servers: Annotated[list[dict[str, Any]], Field(max_length=0)] | None = None

    @field_validator("context_management")
    @classmethod
    def _edits_nothing(cls, given: dict[str, Any] | None) -> dict[str, Any] | None:
        """Past thoughts are for the chat template to show or leave out."""
        edits = (given or {}).get("edits") or []
        if not isinstance(edits, list) or not all(
            isinstance(edit, dict) and str(edit.get("type")).startswith(_ABOUT_THOUGHTS) for edit in edits
        ):
            raise ValueError("this server edits no messages; leave it out")
        return given


class MessagesRequest(CountRequest):
    """``POST /v1/messages``."""

    max_tokens: Count
    temperature: Temperature | None = None
    top_p: Share | None = None
    top_k: TopK | None = None
    stop_sequences: Stops = ()
    stream: StrictBool = False
    seed: Seed | None = None
    metadata: dict[str, Any] | None = None
    service_tier: str | None = None


def chat_of(request: CountRequest) -> ChatRequest:
    """The same request as that of a chat.

    Raises RequestError: a part of it is malformed, or not supported.
    """
    fields: dict[str, Any] = {"model": request.model, "messages": [*_system(request.system), *_messages(request)]}
    if request.tools:
        fields["tools"] = [_tool(tool, f"tools.{index}") for index, tool in enumerate(request.tools)]
    if request.tool_choice is not None:
        fields.update(_choice(request.tool_choice))
    if (format := _format(request)) is not None:
        fields["response_format"] = {"type": "json_schema", "json_schema": {"name": "it", "schema": format}}
    if (effort := (request.output_config or {}).get("effort")) is not None:
        fields["reasoning_effort"] = effort
    if request.thinking is not None:
        fields.update(_thinking(request.thinking, getattr(request, "max_tokens", None)))
    if isinstance(request, MessagesRequest):
        names = ("max_tokens", "temperature", "top_p", "top_k", "seed", "stream")
        fields |= {name: value for name in names if (value := getattr(request, name)) is not None}
        fields["stop"] = list(request.stop_sequences)
    return ChatRequest.model_validate(fields)


def _format(request: CountRequest) -> Any:
    """The schema of the answer, by either of the names of its format."""
    config = request.output_config or {}
    only(config, ("format", "effort"), "output_config")
    given, place = request.output_format, "output_format"
    if given is None:
        given, place = config.get("format"), "output_config.format"
    if given is None:
        return None
    if not isinstance(given, Mapping) or given.get("type") != "json_schema" or "schema" not in given:
        raise malformed(place, '{"type": "json_schema", "schema": {...}}')
    return given["schema"]


def _thinking(given: Mapping[str, Any], most: int | None) -> dict[str, Any]:
    """What is said of thoughts; ``most``: the tokens of the whole answer. Any number of tokens may be a budget."""
    only(given, ("type", "budget_tokens", "display"), "thinking")
    kind, budget = given.get("type"), given.get("budget_tokens")
    if kind not in ("enabled", "adaptive", "disabled"):
        raise malformed("thinking", _THINKING)
    if budget is not None and (isinstance(budget, bool) or not isinstance(budget, int) or budget < 0):
        raise malformed("thinking.budget_tokens", "a number of tokens")
    if kind != "enabled" and budget is not None:
        raise malformed("thinking", f"{_THINKING}; only the first has a budget")
    if kind == "enabled" and budget is None:
        raise malformed("thinking.budget_tokens", "a number of tokens; or give the type 'adaptive'")
    if budget is not None and most is not None and budget >= most:
        raise malformed("thinking.budget_tokens", f"less than max_tokens, which is {most}")
    fields: dict[str, Any] = {"chat_template_kwargs": {"enable_thinking": kind != "disabled"}}
    return fields if budget is None else fields | {"thinking_token_budget": budget}


def _system(given: str | Sequence[Mapping[str, Any]] | None) -> list[dict[str, Any]]:
    text = given if isinstance(given, str) else "".join(_texts(given or (), "system"))
    return [{"role": "system", "content": text}] if text else []


def _texts(blocks: Any, place: str) -> list[str]:
    """The texts of blocks that have nothing else."""
    if not isinstance(blocks, list | tuple):
        raise malformed(place, "a text or a list of blocks")
    return [_text(block, f"{place}.{index}") for index, block in enumerate(blocks)]


def _text(block: Any, place: str) -> str:
    if not isinstance(block, Mapping) or block.get("type") != "text" or not isinstance(block.get("text"), str):
        raise malformed(place, '{"type": "text", "text": ...}')
    return str(block["text"])


def _messages(request: CountRequest) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    for index, message in enumerate(request.messages):
        place = f"messages.{index}"
        only(message, ("role", "content"), place)
        role, content = message.get("role"), message.get("content")
        if role not in ("user", "assistant", "system"):
            raise malformed(f"{place}.role", "'user' or 'assistant'")
        if isinstance(content, str):
            messages.append({"role": role, "content": content})
        elif not isinstance(content, list):
            raise malformed(f"{place}.content", "a text or a list of blocks")
        elif role == "assistant":
            messages.append(_said(content, f"{place}.content"))
        else:
            messages += _heard(content, role, f"{place}.content")
    return messages


def _said(blocks: Sequence[Any], place: str) -> dict[str, Any]:
    """A past answer: its thought, text and calls."""
    message: dict[str, Any] = {"role": "assistant", "content": "", "tool_calls": []}
    for index, block in enumerate(blocks):
        kind = block.get("type") if isinstance(block, Mapping) else None
        where = f"{place}.{index}"
        if kind == "tool_use":
            if not isinstance(block.get("name"), str) or not isinstance(block.get("input"), dict):
                raise malformed(where, '{"type": "tool_use", "id": ..., "name": ..., "input": {...}}')
            function = {"name": block["name"], "arguments": json.dumps(block["input"], ensure_ascii=False)}
            message["tool_calls"].append({"id": block.get("id"), "type": "function", "function": function})
        elif kind == "thinking":
            message["reasoning_content"] = message.get("reasoning_content", "") + str(block.get("thinking") or "")
        elif kind != "redacted_thinking":
            message["content"] += _text(block, where)
    if not message["tool_calls"]:
        del message["tool_calls"]
    return message


def _heard(blocks: Sequence[Any], role: str, place: str) -> list[dict[str, Any]]:
    """What tools have given, and what the user says besides."""
    messages, texts = [], []
    for index, block in enumerate(blocks):
        if not isinstance(block, Mapping) or block.get("type") != "tool_result":
            if not isinstance(block, Mapping) or block.get("type") != "text":
                raise malformed(f"{place}.{index}", "a block of type 'text' or 'tool_result'")
            texts.append(_text(block, f"{place}.{index}"))
            continue
        content = block.get("content")
        text = content if isinstance(content, str) else "".join(_texts(content or (), f"{place}.{index}.content"))
        messages.append({"role": "tool", "tool_call_id": block.get("tool_use_id"), "content": text})
    return [*messages, *([{"role": role, "content": "".join(texts)}] if texts or not messages else [])]


def _tool(tool: Mapping[str, Any], place: str) -> dict[str, Any]:
    if tool.get("type") not in (None, "custom"):
        raise malformed(place, f"{_TOOL}: this server has no tools of its own")
    only(tool, _TOOL_FIELDS, place)
    if not isinstance(tool.get("name"), str):
        raise malformed(place, _TOOL)
    if tool.get("input_schema") is None:
        raise malformed(f"{place}.input_schema", 'a JSON Schema, such as {"type": "object", "properties": {...}}')
    function = {"name": tool["name"], "parameters": tool["input_schema"], "strict": tool.get("strict")}
    return {"type": "function", "function": function | {"description": tool.get("description") or ""}}


def _choice(given: Mapping[str, Any]) -> dict[str, Any]:
    only(given, ("type", "name", "disable_parallel_tool_use"), "tool_choice")
    kind, parallel = given.get("type"), given.get("disable_parallel_tool_use") is not True
    if kind == "tool" and isinstance(given.get("name"), str):
        chosen: Any = {"type": "function", "function": {"name": given["name"]}}
    elif kind in ("auto", "any", "none"):
        chosen = "required" if kind == "any" else kind
    else:
        raise malformed("tool_choice", _CHOICE)
    return {"tool_choice": chosen, "parallel_tool_calls": parallel}


async def answer(job: Job, model: str) -> str:
    """The whole answer; as JSON."""
    blocks, one = Blocks(job.texts), Answer()
    async with aclosing(block_steps(job, one, blocks)) as pieces:
        async for _ in pieces:
            pass
    inputs = {f"@{block.id}": block.text for block in blocks.all if block.kind == "call"}
    content = [_content(block, block.text) for block in blocks.all if block.kind != "call" or block.is_whole]
    message = {**_head(job, model), "content": content, **_ending(one), "usage": _usage(job, one)}
    text = await encoded(lambda: message, large=False)
    for placeholder, written in inputs.items():  # numbers stay as they are written, which Python may not be able to
        text = text.replace(f'"{placeholder}"', written)
    return text


async def stream(job: Job, model: str) -> AsyncGenerator[dict[str, Any], None]:
    """The answer as events."""
    blocks, one, begun = Blocks(job.texts), Answer(), False
    start: dict[str, Any] = {"content": [], "stop_reason": None, "stop_sequence": None, "usage": _usage(job, one)}
    async with aclosing(block_steps(job, one, blocks)) as pieces:
        async for _, steps in pieces:
            if not begun:
                yield {"type": "message_start", "message": {**_head(job, model), **start}}
                begun = True
            for what, block, text in steps:
                if what == "begin":
                    yield {"type": "content_block_start", "index": block.index, "content_block": _content(block, "")}
                elif what == "text":
                    yield {"type": "content_block_delta", "index": block.index, "delta": _delta(block, text)}
                else:
                    yield {"type": "content_block_stop", "index": block.index}
    yield {"type": "message_delta", "delta": _ending(one), "usage": _usage(job, one)}
    yield {"type": "message_stop"}


def _content(block: Block, text: str) -> dict[str, Any]:
    """A block as it begins, or as it is; a placeholder stands for the arguments of a call that is whole."""
    if block.kind == "text":
        return {"type": "text", "text": text}
    if block.kind == "reasoning":
        return {"type": "thinking", "thinking": text, "signature": ""}
    arguments: Any = f"@{block.id}" if text else {}
    return {"type": "tool_use", "id": f"toolu_{block.id}", "name": block.name, "input": arguments}


def _delta(block: Block, text: str) -> dict[str, Any]:
    if block.kind == "text":
        return {"type": "text_delta", "text": text}
    if block.kind == "reasoning":
        return {"type": "thinking_delta", "thinking": text}
    return {"type": "input_json_delta", "partial_json": text}


def _ending(one: Answer) -> dict[str, Any]:
    reason = "stop_sequence" if one.stop_text else "tool_use" if one.calls else "end_turn"
    reason = "max_tokens" if one.ending == "length" else reason
    return {"stop_reason": reason, "stop_sequence": one.stop_text}


def _usage(job: Job, one: Answer) -> dict[str, int]:
    return {"input_tokens": len(job.ids), "output_tokens": one.tokens}


def _head(job: Job, model: str) -> dict[str, Any]:
    return {"id": f"msg_{uuid.uuid4().hex[:24]}", "type": "message", "role": "assistant", "model": model}


def error_of(error: RequestError) -> dict[str, Any]:
    """An error in Anthropic's shape; OpenAI's members are there, too."""
    said = error.body()["error"]
    kinds = {401: "authentication_error", 404: "not_found_error", 413: "request_too_large", 503: "overloaded_error"}
    kind = kinds.get(error.status, "invalid_request_error" if error.status < 500 else "api_error")
    return {"type": "error", "error": {**said, "type": kind}}
