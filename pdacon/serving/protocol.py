"""What requests may contain. A field that is not listed here is refused: a misspelled constraint is no constraint.

Fields that change what is generated and that the server cannot honour are taken only with the value that changes
nothing (`fields`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, field_validator, model_validator
from pydantic_core import PydanticKnownError

from pdacon.serving.fields import honoured, refuse
from pdacon.serving.messages import checked

_MOST_STOPS, _LONGEST_STOP = 64, 512  # each is looked for in what each token adds
_MOST_BIASED = 1024
_CHOICES = ("none", "auto", "required")


def _number(error: Literal["int_type", "float_type"], given: Any) -> Any:
    """A number as JSON writes it, and no text of one, nor true: OpenAI takes neither."""
    if isinstance(given, str | bool):
        raise PydanticKnownError(error)
    return given


_WHOLE = BeforeValidator(partial(_number, "int_type"))  # 2.0 is a whole number, as in JSON Schema
_REAL = BeforeValidator(partial(_number, "float_type"))
Temperature = Annotated[float, Field(ge=0, le=100), _REAL]
Share = Annotated[float, Field(gt=0, le=1), _REAL]
Count = Annotated[int, Field(ge=1), _WHOLE]
TopK = Annotated[int, Field(ge=-1, lt=2**31), _WHOLE]
Seed = Annotated[int, Field(ge=-(2**63), lt=2**64), _WHOLE]
Top = Annotated[int, Field(ge=0, le=20), _WHOLE]
Penalty = Annotated[float, Field(ge=-2, le=2), _REAL]
Factor = Annotated[float, Field(gt=0, le=100), _REAL]
Part = Annotated[float, Field(ge=0, le=1), _REAL]
Budget = Annotated[int, Field(ge=0, lt=2**31), _WHOLE]
Soft = Annotated[int, Field(ge=0, lt=2**31), _WHOLE]


def _stops(given: Any) -> tuple[str, ...]:
    """The texts that end an answer, of a text, a list of texts or null."""
    texts = [given] if isinstance(given, str) else [] if given is None else given
    if not isinstance(texts, list | tuple) or not {*map(type, texts)} <= {str}:
        raise ValueError("give a text or a list of texts")
    if len(texts) > _MOST_STOPS or any(len(text) > _LONGEST_STOP for text in texts):
        raise ValueError(f"give at most {_MOST_STOPS} texts of at most {_LONGEST_STOP} characters")
    return tuple(dict.fromkeys(filter(None, texts)))


Stops = Annotated[tuple[str, ...], BeforeValidator(_stops)]


def _bias(given: Any) -> dict[int, float]:
    """What is added to the scores of tokens, by their ids, which JSON has as texts."""
    if not isinstance(given, Mapping) or len(given) > _MOST_BIASED:
        raise ValueError(f"give an object with at most {_MOST_BIASED} ids of tokens and a number for each")
    for name, value in given.items():
        if not re.fullmatch("[0-9]{1,9}", str(name)) or isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError("give ids of tokens, and a number for each")
        if not -100 <= value <= 100:
            raise ValueError("give numbers from -100 to 100")
    return {int(name): float(value) for name, value in given.items()}


def _ids(given: Any) -> tuple[int, ...]:
    if not isinstance(given, list) or len(given) > _MOST_STOPS or not {*map(type, given)} <= {int}:
        raise ValueError(f"give a list of at most {_MOST_STOPS} ids of tokens")
    return tuple(given)


Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]  # OpenAI's and Anthropic's
Bias = Annotated[dict[int, float], BeforeValidator(_bias)]
Ids = Annotated[tuple[int, ...], BeforeValidator(_ids)]


class Strict(BaseModel):
    """A part of a request without fields that nobody knows."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _honoured(cls, given: Any) -> Any:
        return honoured(given, cls.model_fields) if isinstance(given, Mapping) else given


class StreamOptions(Strict):
    """What a stream says beside the answer."""

    include_usage: StrictBool = False


class Common(Strict):
    """What chat completions and completions have in common."""

    model: str | None = None
    max_tokens: Count | None = None
    temperature: Temperature = 1.0
    top_p: Share = 1.0
    top_k: TopK = 0
    n: Count = 1
    seed: Seed | None = None
    stop: Stops = ()
    stop_token_ids: Ids = ()
    min_p: Part = 0.0
    presence_penalty: Penalty = 0.0
    frequency_penalty: Penalty = 0.0
    repetition_penalty: Factor = 1.0
    logit_bias: Bias = {}
    stream: StrictBool = False
    stream_options: StreamOptions | None = None
    response_format: dict[str, Any] | None = None
    structured_outputs: dict[str, Any] | None = None
    complete: StrictBool = False  # the answer ends within max_tokens as its format wants
    soft: Soft | None = None  # after how many tokens of it nothing is begun any more
    # These say nothing about the answer.
    user: str | None = None
    metadata: dict[str, Any] | None = None
    store: StrictBool | None = None
    service_tier: str | None = None
    safety_identifier: str | None = None
    prompt_cache_key: str | None = None

    @field_validator(
        "temperature", "top_p", "top_k", "n", "stream", "complete", "stop_token_ids", "min_p", "presence_penalty",
        "frequency_penalty", "repetition_penalty", "logit_bias", mode="before",
    )  # fmt: skip
    @classmethod
    def _null_is_absent(cls, value: Any, info: Any) -> Any:
        return cls.model_fields[info.field_name].default if value is None else value

    @model_validator(mode="after")
    def _complete(self) -> Common:
        if self.soft is not None and not self.complete:
            refuse("soft", "soft needs complete: true")
        return self


class ChatRequest(Common):
    """``POST /v1/chat/completions``."""

    messages: Annotated[list[dict[str, Any]], Field(min_length=1, fail_fast=True)]
    max_completion_tokens: Count | None = None
    tools: Annotated[list[dict[str, Any]], Field(fail_fast=True)] | None = None
    tool_choice: Literal["none", "auto", "required"] | dict[str, Any] | None = None
    parallel_tool_calls: StrictBool | None = True  # False: an answer has one call at most
    logprobs: StrictBool | None = False
    top_logprobs: Top | None = None
    chat_template_kwargs: dict[str, Any] | None = None
    thinking_token_budget: Budget | None = None
    reasoning_effort: Effort | None = None

    @field_validator("tool_choice", mode="before")
    @classmethod
    def _is_choice(cls, given: Any) -> Any:
        if isinstance(given, str) and given not in _CHOICES:
            named = f'{{"type": "function", "function": {{"name": {json.dumps(given[:60])}}}}}'
            raise ValueError(f"give 'none', 'auto' or 'required'; or of a tool {named}")
        return given

    @field_validator("messages")
    @classmethod
    def _checked(cls, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        checked(messages)
        return messages

    @model_validator(mode="after")
    def _consistent(self) -> ChatRequest:
        if self.top_logprobs and not self.logprobs:
            refuse("top_logprobs", "top_logprobs needs logprobs: true")
        return self

    @property
    def most_tokens(self) -> int | None:
        """The most tokens of an answer, by either of its names."""
        return self.max_tokens if self.max_completion_tokens is None else self.max_completion_tokens


class CompletionRequest(Common):
    """``POST /v1/completions``."""

    prompt: Any
    echo: StrictBool | None = False
    logprobs: Top | None = None

    @field_validator("prompt")
    @classmethod
    def _is_prompt(cls, value: Any) -> Any:
        """Tried in turn, as pydantic tries unions, each item of a long list would be an error for each other kind."""
        if isinstance(value, str):
            return value
        if isinstance(value, list) and value:
            if {*map(type, value)} in ({str}, {int}):
                return value
            if {*map(type, value)} == {list} and all({*map(type, ids)} <= {int} for ids in value):
                return value
        raise ValueError("give a text, a list of texts, ids of tokens, or a list of those")


class NativeParameters(Strict):
    """``parameters`` of LoRAX's ``/generate``."""

    max_new_tokens: Count | None = None
    temperature: Temperature | None = None
    top_k: TopK | None = None
    top_p: Share | None = None
    do_sample: StrictBool = False
    seed: Seed | None = None
    stop: Stops = ()
    details: StrictBool = False
    return_full_text: StrictBool | None = False
    return_k_alternatives: Top | None = None
    response_format: dict[str, Any] | None = None
    adapter_id: str | None = None
    adapter_source: str | None = None
    api_token: str | None = None


class NativeRequest(Strict):
    """LoRAX's ``POST /generate`` and ``/generate_stream``."""

    inputs: str
    parameters: NativeParameters = NativeParameters()
    stream: StrictBool = False


class TokenizeRequest(Strict):
    """``POST /tokenize``: of a text, or of a chat."""

    model: str | None = None
    prompt: str | None = None
    messages: Annotated[list[dict[str, Any]], Field(min_length=1, fail_fast=True)] | None = None
    tools: Annotated[list[dict[str, Any]], Field(fail_fast=True)] | None = None
    chat_template_kwargs: dict[str, Any] | None = None
    add_special_tokens: StrictBool = True
    return_token_strs: StrictBool = False

    @model_validator(mode="after")
    def _one(self) -> TokenizeRequest:
        if (self.prompt is None) == (self.messages is None):
            refuse("prompt", "give a prompt or messages")
        return self


class DetokenizeRequest(Strict):
    """``POST /detokenize``."""

    model: str | None = None
    tokens: Annotated[list[Annotated[int, _WHOLE]], Field(fail_fast=True)]
