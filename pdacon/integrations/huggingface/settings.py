"""How to draw texts: what arguments say, then a configuration that is given, then the model's own, then defaults.

That is the order of transformers, so that ``generation_config=`` and ``model.generation_config`` mean what they mean
there. A configuration says what differs from an empty `GenerationConfig`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from transformers import GenerationConfig

from pdacon.base.arguments import require
from pdacon.matching import Budget

MOST_TOKENS = 256
"""So many tokens are generated for a text unless something says otherwise."""
_NOT_OF_TEXTS = frozenset({"transformers_version", "_from_model_config"})
_OF_THE_MODEL = frozenset({"bos_token_id", "decoder_start_token_id", "eos_token_id", "pad_token_id", "max_length"})
_OF_CHANCE = ("top_k", "top_p", "min_p", "typical_p", "epsilon_cutoff", "eta_cutoff", "top_h")
_Configuration: Any = GenerationConfig
_EMPTY = _Configuration()
_READ = ("budget", "max_tokens", "max_new_tokens", "do_sample", "temperature", "num_beams", "num_return_sequences")


@dataclass(frozen=True)
class Settings:
    """What a call of `generate` or `generate_batch` asks for.

    Attributes
    ----------
    max_tokens : int
        The most tokens of a text.
    budget : Budget or None
        Within how much each is to be a sentence.
    temperature : float
        0: no sampling.
    num_beams, num_return_sequences : int
    ends : tuple of int or None
        The ids that are to end a text; None: those of the vocabulary.
    pad : int or None
        The id that pads rows; None: as the model or the tokenizer says.
    others : dict
        More options of ``model.generate``, those of the configuration that was given among them.
    """

    max_tokens: int
    budget: Budget | None
    temperature: float
    num_beams: int
    num_return_sequences: int
    ends: tuple[int, ...] | None
    pad: int | None
    others: dict[str, Any]


def configured(caller: str, model: Any, config: Any) -> dict[str, Any]:
    """What a configuration says that was given to a call, by the names of options.

    Raises
    ------
    TypeError
        It is no configuration, or says something that `caller` does not do.
    """
    if config is None:
        return {}
    if not isinstance(config, GenerationConfig):
        raise TypeError(
            f"{caller}: generation_config must be a transformers.GenerationConfig, not {type(config).__name__}"
        )
    empty = _EMPTY
    known = set(empty.to_dict())
    said = {}
    for name, value in vars(config).items():
        same = value == getattr(model.generation_config, name, None)
        if name in _NOT_OF_TEXTS or value is None or value == getattr(empty, name, None):
            continue
        if same and (name in _OF_THE_MODEL or name == "forced_eos_token_id" or name not in known):
            continue  # a copy of the model's own has them, too, and they mean what they mean there
        if name == "max_length":
            if config.max_new_tokens is None:
                raise TypeError(
                    f"{caller}: generation_config.max_length counts the prompt, too; set max_new_tokens in its place"
                )
        elif name not in known:
            raise TypeError(f"{caller}: generation_config.{name} is nothing that transformers' GenerationConfig has")
        else:
            said[name] = value
    return said


def settings_of(caller: str, model: Any, given: Mapping[str, Any]) -> Settings:
    """Read the options of a call.

    Parameters
    ----------
    caller : str
    model : transformers.PreTrainedModel
    given : mapping
        Options by their names, pdacon's or transformers'; None says nothing.

    Raises
    ------
    TypeError
        Two are names of one thing; or see `configured`.
    ValueError
        A number is out of range, two contradict each other, or several texts are asked for where there is only one.
    """
    others = {name: value for name, value in given.items() if name not in _READ}
    config = configured(caller, model, others.pop("generation_config", None))
    own = model.generation_config
    budget = given.get("budget")
    numbers = [name for name in ("max_tokens", "max_new_tokens") if given.get(name) is not None]
    if len(numbers) > 1:
        raise TypeError("max_tokens and max_new_tokens are two names of one number; give one of them")
    if budget is not None:
        require(caller, "budget", budget, Budget)
        if numbers:
            raise TypeError(f"{caller}: budget says how long a text may get; leave {numbers[0]} out")
    opening = _first(given.get("forced_bos_token_id"), config.get("forced_bos_token_id"), own.forced_bos_token_id)
    max_tokens = _first(
        None if budget is None else _tokens_within(budget) + (opening is not None),
        given.get("max_tokens"),
        given.get("max_new_tokens"),
        config.get("max_new_tokens"),
        own.max_new_tokens,
        MOST_TOKENS,
    )
    num_beams = _first(given.get("num_beams"), config.get("num_beams"), own.num_beams, 1)
    several = _first(given.get("num_return_sequences"), config.get("num_return_sequences"), 1)
    temperature = _temperature(given, config, own, num_beams)
    _require_sensible(max_tokens, temperature, num_beams, several)
    ends = _first(others.pop("eos_token_id", None), config.get("eos_token_id"))
    pad = _first(others.pop("pad_token_id", None), config.get("pad_token_id"))
    read = {*_READ, "eos_token_id", "pad_token_id", *(_OF_CHANCE if temperature == 0 else ())}
    return Settings(
        max_tokens,
        budget,
        float(temperature),
        num_beams,
        several,
        None if ends is None else _ids(caller, "eos_token_id", ends),
        None if pad is None else _ids(caller, "pad_token_id", pad)[0],
        {**{name: value for name, value in config.items() if name not in read}, **others},
    )


def _tokens_within(budget: Budget) -> int:
    """So many tokens are enough for a budget: each has a byte or more, but for a leading space that is no text.

    One more is an end token, if nothing else has to be generated.
    """
    return max(budget.most, 1) if budget.unit == "tokens" else budget.most + 1


def _temperature(given: Mapping[str, Any], config: Mapping[str, Any], own: Any, num_beams: int) -> float:
    """What to sample at; 0: not at all.

    With beams ``do_sample`` of the model's own configuration says nothing: it is about texts that are drawn one by one.
    """
    temperature, do_sample = given.get("temperature"), given.get("do_sample")
    if do_sample is not None and temperature is not None and bool(do_sample) != (temperature > 0):
        raise ValueError(f"do_sample={do_sample} contradicts temperature={temperature}; give one of them")
    if temperature is not None:
        return float(temperature)
    chosen = _first(do_sample, config.get("do_sample"))
    if chosen is None:
        chosen = num_beams == 1 if own.do_sample is None or num_beams > 1 else own.do_sample
    if not chosen:
        return 0.0
    return float(_first(config.get("temperature"), own.temperature, 1.0))


def _require_sensible(max_tokens: int, temperature: float, num_beams: int, num_return_sequences: int) -> None:
    if max_tokens < 1:
        raise ValueError(f"max_tokens is {max_tokens}; at least 1 token must be generated")
    if not temperature >= 0:
        raise ValueError(f"temperature is {temperature}; it must be 0 (no sampling) or more")
    if num_beams < 1:
        raise ValueError(f"num_beams is {num_beams}; it must be at least 1")
    if num_return_sequences < 1:
        raise ValueError(f"num_return_sequences is {num_return_sequences}; it must be at least 1")
    if num_beams == 1 and num_return_sequences > 1 and temperature == 0:
        raise ValueError(
            "temperature 0 generates one text only; give num_return_sequences=1, a temperature above 0, or num_beams"
        )
    if num_beams > 1 and num_return_sequences > num_beams:
        raise ValueError(f"{num_beams} beams cannot give {num_return_sequences} texts; give more num_beams")


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def _ids(caller: str, name: str, given: Any) -> tuple[int, ...]:
    ids = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (given,)
    if not ids or not all(isinstance(one, int) or hasattr(one, "__index__") for one in ids):
        raise TypeError(f"{caller}: {name} must be an id or a list of ids, not {given!r:.40}")
    return tuple(int(one) for one in ids)
