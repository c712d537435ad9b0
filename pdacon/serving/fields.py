"""Names of fields that requests have for other servers: what they are called here, and which cannot be honoured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NoReturn

from pydantic_core import PydanticCustomError

from pdacon.base.quoting import did_you_mean

REFUSED = "refused_field"
"""The kind of error that a field is which is not taken."""

_GUIDED = 'structured_outputs: {{"{}": ...}}'

# What is said here in another field.
_ELSEWHERE = MappingProxyType(
    {
        "guided_json": _GUIDED.format("json"),
        "guided_regex": _GUIDED.format("regex"),
        "guided_choice": _GUIDED.format("choice"),
        "guided_grammar": _GUIDED.format("grammar"),
        "json_schema": _GUIDED.format("json"),
        "schema": _GUIDED.format("json"),
        "regex": _GUIDED.format("regex"),
        "grammar": _GUIDED.format("grammar"),
        "ebnf": _GUIDED.format("grammar"),
        "structural_tag": _GUIDED.format("structural_tag"),
        "format": "response_format",
        "functions": "tools",
        "function_call": "tool_choice",
        "max_new_tokens": "max_tokens",
        "max_completion_tokens": "max_tokens",
        "max_output_tokens": "max_tokens",
        "n_predict": "max_tokens",
        "stop_sequences": "stop",
        "random_seed": "seed",
        "n_probs": "logprobs",
        "parameters": "the fields themselves, beside the prompt",
        "sampling_params": "the fields themselves, beside the prompt",
        "extra_body": "the fields themselves; extra_body is for OpenAI's client, which sends what is in it",
    }
)

# What is the prompt of another path.
_PATHS = MappingProxyType(
    {"messages": "/v1/chat/completions", "prompt": "/v1/completions", "input": "/v1/chat/completions"}
    | {"inputs": "/generate"}
)

# What the server cannot honour, with the values beside null that say nothing, and are taken.
_NEUTRAL: Mapping[str, tuple[Any, ...]] = MappingProxyType(
    {
        "frequency_penalty": (0,),
        "presence_penalty": (0,),
        "repetition_penalty": (1,),
        "repeat_penalty": (1,),
        "length_penalty": (1,),
        "no_repeat_ngram_size": (0,),
        "logit_bias": ({},),
        "min_p": (0,),
        "typical_p": (1,),
        "top_a": (0,),
        "min_tokens": (0,),
        "best_of": (1,),
        "suffix": ("",),
        "echo": (False,),
        "ignore_eos": (False,),
        "stop_token_ids": ([],),
        "bad_words": ([],),
        "logits_processors": ([],),
        "use_beam_search": (False,),
        "num_beams": (1,),
        "include_stop_str_in_output": (False,),
        "skip_special_tokens": (True,),
        "spaces_between_special_tokens": (True,),
        "truncate": (),
        "truncate_prompt_tokens": (),
        "prompt_logprobs": (),
        "decoder_input_details": (False,),
        "watermark": (False,),
        "add_generation_prompt": (True,),
        "continue_final_message": (False,),
        "add_special_tokens": (),
        "chat_template": (),
        "documents": ([],),
        "reasoning_effort": (),
        "reasoning": (),
        "verbosity": (),
        "modalities": (["text"],),
        "audio": (),
        "prediction": (),
        "web_search_options": (),
        "priority": (0,),
        "lora_path": (),
        "guided_decoding_backend": (),
        "guided_whitespace_pattern": (),
    }
)


def honoured(given: Mapping[str, Any], fields: Iterable[str]) -> dict[str, Any]:
    """A part of a request without the fields that are not honoured here and say nothing.

    Raises
    ------
    PydanticCustomError
        A field is none of these, or is not honoured and says something.
    """
    names = tuple(fields)
    taken = {}
    for name, value in given.items():
        if name in names:
            taken[name] = value
        elif name not in _NEUTRAL:
            refuse(name, _advice(name, names))
        elif value is not None and not any(value == one and type(value) in _alike(one) for one in _NEUTRAL[name]):
            neutral = f", or give {_shown(_NEUTRAL[name][0])}, which changes nothing" if _NEUTRAL[name] else ""
            refuse(name, f"this server does not support it; leave it out{neutral}")
    return taken


def refuse(field: str, reason: str) -> NoReturn:
    """Say what is wrong with a field of the part of a request that is being checked.

    Raises
    ------
    PydanticCustomError
    """
    # The message is no template: what it quotes may have braces.
    raise PydanticCustomError(REFUSED, "{reason}", {"field": field, "reason": reason})


def no_such(name: str, names: Iterable[str]) -> str:
    """What is said of a field that nobody knows: a misspelled constraint would be no constraint."""
    near = did_you_mean(name[:60], tuple(names)).strip().rstrip(";")
    return f"there is no such field; {near}" if near else "there is no such field"


def _advice(name: str, names: Iterable[str]) -> str:
    """The same where other servers have other names for fields."""
    if name in _PATHS:
        return f"it is a field of {_PATHS[name]}, and not of this path"
    instead = _ELSEWHERE.get(name)
    return no_such(name, names) if instead is None else f"there is no such field; give {instead}"


def _alike(value: Any) -> tuple[type, ...]:
    """Types whose values mean the same if they are equal; 0 is no False."""
    return (int, float) if type(value) is int else (type(value),)


def _shown(value: Any) -> str:
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else repr(value).replace("'", '"')
