"""Prompts: what requests say -> ids of tokens, for which the model's context has room.

All of this takes as long as a request is, so that it is called in a thread, never on the event loop. What cannot fit
is refused by its length before it is tokenized, and a chat template, which is a program, has a time limit.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pdacon.frontends.tool_formats import INPUT
from pdacon.serving.advice import shown
from pdacon.serving.engine import Engine
from pdacon.serving.failures import RequestError
from pdacon.serving.preparing import TimeIsUp, within
from pdacon.serving.protocol import ChatRequest, CompletionRequest
from pdacon.serving.requested_tools import shown_tools

_FOR_TEMPLATES = "documents"  # a parameter of `apply_chat_template` that only goes to the template


class Prompts:
    """Makes prompts; safe to use from any thread.

    ``template_seconds``: how long a chat template may take.
    """

    def __init__(self, engine: Engine, template_seconds: float) -> None:
        self._engine = engine
        self._tokenizer = engine.tokenizer
        self._seconds = template_seconds
        self._width = int(engine.model.get_input_embeddings().weight.shape[0])
        added = [str(token).encode() for token in self._tokenizer.get_added_vocab()]
        self._longest = max(map(len, [*filter(None, engine.vocabulary.tokens), *added]), default=1)
        self.reserved = _reserved(self._tokenizer)
        self._tokenizer("")  # the first call changes the tokenizer, which later ones in two threads must not

    def of_text(self, text: str, param: str, *, special: bool = True) -> list[int]:
        """The ids of a text; `special`: with the special tokens that the tokenizer puts around one.

        Raises RequestError.
        """
        size, most = len(text.encode()), self._engine.context * self._longest
        if size > most:
            raise RequestError(
                400,
                f"the prompt has {size:,} bytes; at most {most:,} fit into the model's context of "
                f"{self._engine.context:,} tokens",
                param=param,
                code="context_length_exceeded",
            )
        return self.of_ids(list(self._tokenizer(text, add_special_tokens=special)["input_ids"]), param)

    def of_ids(self, ids: list[int], param: str) -> list[int]:
        """The same ids, or the token that a text begins with where there are none.

        Raises RequestError: they leave no room, or are no tokens of the model.
        """
        context = self._engine.context
        if len(ids) >= context:
            raise RequestError(
                400,
                f"the prompt has {len(ids):,} tokens, and the model's context is of {context:,}: nothing can follow",
                param=param,
                code="context_length_exceeded",
            )
        if not ids:
            beginning = self._tokenizer.bos_token_id
            if beginning is None:
                raise RequestError(400, "the prompt is empty", param=param)
            return [beginning]
        if not 0 <= min(ids) <= max(ids) < self._width:
            raise RequestError(400, f"the prompt has a token that is none of the model's {self._width:,}", param=param)
        return ids

    def of_completion(self, request: CompletionRequest, most: int) -> list[list[int]]:
        """The ids of each prompt of a request.

        Raises RequestError: there are more than `most`, or as in `of_text`.
        """
        given = request.prompt
        if isinstance(given, str):
            return [self.of_text(given, "prompt")]
        if isinstance(given[0], int):
            return [self.of_ids(given, "prompt")]
        if len(given) > most:
            raise RequestError(400, f"{len(given):,} prompts; at most {most:,}", param="prompt")
        return [self.of_text(one, "prompt") if isinstance(one, str) else self.of_ids(one, "prompt") for one in given]

    def of_chat(self, request: ChatRequest) -> list[int]:
        """The ids of a chat. Raises RequestError, as `rendered` and `of_text`."""
        return self.of_rendered(self.rendered(request))

    def of_rendered(self, text: str) -> list[int]:
        """The ids of what `rendered` gave. Raises RequestError, as `of_text`."""
        return self.of_text(text, "messages", special=not self._has_template)

    def rendered(self, request: ChatRequest) -> str:
        """A chat, written with the tokenizer's template; without one, the messages' texts, a line each.

        Raises RequestError: the template does not take the messages, or takes too long.
        """
        messages = [{**message, "content": _content(message)} for message in request.messages]
        options = dict(request.chat_template_kwargs or {})
        for name in options:
            if name in self.reserved:
                raise RequestError(
                    400,
                    f"chat_template_kwargs: {shown(name)} is not for the chat template to be told; "
                    f"the server sets {', '.join(sorted(self.reserved))}",
                    param=f"chat_template_kwargs.{name}",
                )
        if not self._has_template:
            return "\n".join(message["content"] for message in messages if message["content"])
        if request.tools and request.tool_choice != "none":
            options["tools"] = shown_tools(request.tools)
        told = {**_told_of_format(request), **options}
        read = [_with_arguments_read(message) for message in messages]
        if read == messages:
            return self._rendered(messages, told)
        try:  # most templates want the arguments of past calls as objects, some as texts
            return self._rendered(read, told)
        except RequestError:
            return self._rendered(messages, told)

    @property
    def _has_template(self) -> bool:
        return getattr(self._tokenizer, "chat_template", None) is not None

    def _rendered(self, messages: Sequence[Mapping[str, Any]], options: Mapping[str, Any]) -> str:
        def render() -> str:
            made = self._tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True, **options)
            return str(made)

        try:
            return within(self._seconds, render, _files_of_templates())
        except TimeIsUp as error:
            raise RequestError(
                400,
                f"the model's chat template takes more than {self._seconds:g} seconds for these messages",
                param="messages",
            ) from error
        except Exception as error:  # a template raises what it likes
            raise RequestError(
                400, f"the model's chat template does not take these messages: {error}", param="messages"
            ) from error


def _with_arguments_read(message: dict[str, Any]) -> dict[str, Any]:
    """A message with the arguments of its calls as objects, where they are texts of objects."""
    calls = message.get("tool_calls")
    if not calls:
        return message
    return {**message, "tool_calls": [_call_as_function(call) for call in calls]}


def _call_as_function(call: Mapping[str, Any]) -> Mapping[str, Any]:
    """A past call as templates know them: of a function, whose arguments are an object."""
    custom = call.get("custom")
    if isinstance(custom, Mapping):
        function = {"name": custom.get("name"), "arguments": {INPUT: custom.get("input")}}
        return {"id": call.get("id"), "type": "function", "function": function}
    arguments = call["function"].get("arguments")
    if not isinstance(arguments, str):
        return call
    try:
        read = json.loads(arguments)
    except ValueError:
        return call
    return {**call, "function": {**call["function"], "arguments": read}} if isinstance(read, dict) else call


def _told_of_format(request: ChatRequest) -> dict[str, Any]:
    """What a template may show of the answer that is asked for, so that the model knows of it, under the names by which
    templates ask for it."""
    given, effort = request.response_format, request.reasoning_effort
    told = {} if effort is None else {"reasoning_effort": effort}
    if given is None:
        return told
    named = given.get("json_schema")
    schema = named.get("schema") if isinstance(named, Mapping) else given.get("schema")
    return told | {"response_format": given} | ({} if schema is None else {"json_schema": schema})


def _reserved(tokenizer: Any) -> frozenset[str]:
    """What a client may not tell a template: how it is called, another template, and the special tokens."""
    parameters = inspect.signature(tokenizer.apply_chat_template).parameters.values()
    named = {one.name for one in parameters if one.kind is not one.VAR_KEYWORD} - {_FOR_TEMPLATES}
    return frozenset(named | {"self", "messages"} | set(tokenizer.special_tokens_map))


def _content(message: Mapping[str, Any]) -> str | None:
    """The text of a message, whose content may be a list of parts."""
    content = message.get("content")
    if content is None or isinstance(content, str):
        return content
    if isinstance(content, list):
        texts = [
            part.get("text") if isinstance(part, Mapping) and part.get("type") == "text" else None for part in content
        ]
        if all(isinstance(text, str) for text in texts):
            return "".join(texts)  # type: ignore[arg-type]
    raise RequestError(
        400, "the content of a message must be a text, or a list of parts of type 'text'", param="messages"
    )


@cache
def _files_of_templates() -> tuple[str, ...]:
    """Where the code of templates is: Jinja compiles each into a file of no name, and runs it with its own code."""
    jinja = find_spec("jinja2")
    return ("<template>", *([] if jinja is None or jinja.origin is None else [str(Path(jinja.origin).parent)]))
