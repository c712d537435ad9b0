"""Options of `generate` by their names: those that there are, whose they are, and what was meant by others."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping
from typing import Any

from transformers import GenerationConfig

from pdacon.base.arguments import belongs_elsewhere
from pdacon.base.quoting import did_you_mean
from pdacon.front.compiling import compile
from pdacon.integrations.huggingface.internals import OF_FORWARD

# Arguments of model.generate that `generate` sets itself, and what to use in their place.
_OURS = {
    "inputs": "the prompt",
    "input_ids": "the prompt",
    "attention_mask": "the prompt",
    "decoder_input_ids": "prefix",
    "max_length": "max_tokens",
}
_OF_COMPILE = (
    frozenset({"limits", "eager", "cancel", "canonical", "filters"}) & inspect.signature(compile).parameters.keys()
)


def require_options(caller: str, model: Any, own: Collection[str], options: Mapping[str, Any]) -> None:
    """Refuse options that neither the caller nor ``model.generate`` has.

    Parameters
    ----------
    caller : str
    model : transformers.PreTrainedModel
    own : collection of str
        The caller's own parameters.
    options : mapping
        What it was given besides.

    Raises
    ------
    TypeError
    """
    if not hasattr(model, "generation_config"):
        raise TypeError(f"{caller}: the model comes first, then its tokenizer; {type(model).__name__} is no model")
    for name in options:
        if name in _OURS:
            raise TypeError(f"{caller} sets {name} itself; give {_OURS[name]}")
        if name in own or name == "max_new_tokens" or options[name] is None:
            continue
        if advice := belongs_elsewhere(name):
            raise TypeError(f"{caller} has no option {name}{advice}")
        if name in _OF_COMPILE:
            raise TypeError(
                f"{caller} has no option {name}, which is one of compile; give what pdacon.compile(grammar, "
                f"tokenizer=tokenizer, model=model, {name}=...) returns"
            )
    others = [name for name, value in options.items() if name not in own and value is not None]
    if not others or options.get("custom_generate") is not None:  # which may have options of its own
        return
    known = {*own, *_of_generate(model)}
    for name in others:
        if name not in known:
            meant = did_you_mean(name, sorted(known))
            raise TypeError(f"neither {caller} nor model.generate has an option {name}; {meant}".rstrip("; "))


def _of_generate(model: Any) -> set[str]:
    """What ``model.generate`` takes: its parameters, its configuration's, and those of the model's forward pass."""
    configuration: Any = GenerationConfig
    known = {*configuration().to_dict(), *vars(model.generation_config), *OF_FORWARD}
    known |= {"tokenizer", "assistant_tokenizer", "mm_encoder_outputs"}
    takers = [model.generate, model.prepare_inputs_for_generation, model.forward]
    if model.config.is_encoder_decoder:
        takers.append(model.get_encoder().forward)
        known |= {f"decoder_{name}" for name in inspect.signature(model.get_decoder().forward).parameters}
    return known.union(*(inspect.signature(taker).parameters for taker in takers)) - {"self", "kwargs", "model_kwargs"}
