"""Names of fields that requests have for other servers: what they are called here, and which cannot be honoured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NoReturn

from pydantic_core import PydanticCustomError

from pdacon.base.quoting import did_you_mean

REFUSED = "refused_field"
"""The kind of error that a field is which is not taken."""

_FIELDS = "the fields themselves"

# What is said here in another field.
_ELSEWHERE: Mapping[str, str] = MappingProxyType({
    **{name: f'structured_outputs: {{"{member}": ...}}' for name, member in (
        ("guided_json", "json"), ("guided_regex", "regex"), ("guided_choice", "choice"), ("guided_grammar", "grammar"),
        ("json_schema", "json"), ("schema", "json"), ("regex", "regex"), ("grammar", "grammar"), ("ebnf", "grammar"),
        ("structural_tag", "structural_tag"),
    )},
    **dict.fromkeys(("max_new_tokens", "max_completion_tokens", "max_output_tokens", "n_predict"), "max_tokens"),
    **dict.fromkeys(("parameters", "sampling_params"), f"{_FIELDS}, beside the prompt"),
    "format": "response_format",
    "functions": "tools",
    "function_call": "tool_choice",
    "stop_sequences": "stop",
    "random_seed": "seed",
    "n_probs": "logprobs",
    "extra_body": f"{_FIELDS}; extra_body is for OpenAI's client, which sends what is in it",
})  # fmt: skip

# What is the prompt of another path.
_PATHS = MappingProxyType(
    {"messages": "/v1/chat/completions", "prompt": "/v1/completions", "input": "/v1/chat/completions"}
    | {"inputs": "/generate"}
)

# What the server cannot honour, with the values beside null that say nothing, and are taken.
_NEUTRAL: Mapping[str, tuple[Any, ...]] = MappingProxyType({
    **dict.fromkeys(("no_repeat_ngram_size", "top_a"), (0,)),
    **dict.fromkeys(("min_tokens", "priority"), (0,)),
    **dict.fromkeys(("repeat_penalty", "length_penalty", "typical_p"), (1,)),
    **dict.fromkeys(("best_of", "num_beams"), (1,)),
    **dict.fromkeys(("echo", "ignore_eos", "use_beam_search", "include_stop_str_in_output"), (False,)),
    **dict.fromkeys(("decoder_input_details", "watermark", "continue_final_message"), (False,)),
    **dict.fromkeys(("skip_special_tokens", "spaces_between_special_tokens", "add_generation_prompt"), (True,)),
    **dict.fromkeys(("bad_words", "logits_processors", "documents"), ([],)),
    "suffix": ("",),
    "verbosity": ("medium",),
    "modalities": (["text"],),
    **dict.fromkeys(("truncate", "truncate_prompt_tokens", "prompt_logprobs", "add_special_tokens"), ()),
    **dict.fromkeys(("reasoning_effort", "reasoning", "audio", "prediction", "web_search_options"), ()),
    **dict.fromkeys(("lora_path", "guided_decoding_backend", "guided_whitespace_pattern", "chat_template"), ()),
})  # fmt: skip


def honoured(given: Mapping[str, Any], fields: Iterable[str]) -> dict[str, Any]:
    """A part of a request without the fields that are not honoured here and say nothing.

    Raises PydanticCustomError: a field is none of these, or is not honoured and says something.
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

    Raises PydanticCustomError.
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
