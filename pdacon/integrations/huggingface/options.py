"""The options of a call that generates text: one record for `generate`, `generate_batch`, `Generator` and `Pipeline`.

What arguments do not say, a configuration that is given says, then the model's own, then a default. That is the order
of transformers, so that ``generation_config=`` and ``model.generation_config`` mean what they mean there. A
configuration says what differs from an empty `GenerationConfig`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from transformers import GenerationConfig

from pdacon.base.arguments import (
    belongs_elsewhere,
    require,
    require_bool,
    require_count,
    require_instance,
    require_number,
    require_seeds,
    what_was_given,
)
from pdacon.base.quoting import did_you_mean
from pdacon.integrations.huggingface.drafts import Draft
from pdacon.integrations.huggingface.internals import OF_FORWARD
from pdacon.integrations.huggingface.progress import Progress
from pdacon.integrations.huggingface.results import Generation
from pdacon.matching import Budget

MOST_TOKENS = 256
"""So many tokens are generated for a text unless something says otherwise."""
_NOT_OF_TEXTS = frozenset({"transformers_version", "_from_model_config"})
_OF_THE_MODEL = frozenset({"bos_token_id", "decoder_start_token_id", "eos_token_id", "pad_token_id", "max_length"})
_OF_CHANCE = ("top_k", "top_p", "min_p", "typical_p", "epsilon_cutoff", "eta_cutoff", "top_h")
_EMPTY: Any = GenerationConfig()  # type: ignore[no-untyped-call]
OWN = frozenset(
    {
        *("grammar", "start", "prefix", "seed", "batch_size", "draft", "skip_forced"),
        *("on_text", "progress", "chat_options", "diagnostics"),
    }
)
"""Options that are pdacon's alone, and stand in the record as they are given."""
# Those whose meaning depends on each other, and on configurations.
_READ = (
    *("budget", "max_tokens", "max_new_tokens", "do_sample", "temperature", "num_beams", "num_return_sequences"),
    *("eos_token_id", "pad_token_id", "generation_config"),
)
_NAMES = frozenset({*OWN, *_READ})
_PLACES = frozenset({"model", "tokenizer", "prompt", "prompts", "options", "continuous_batching_config"})
# Names of one thing: a call's name for something replaces the other names of it.
_SAME = (("max_tokens", "max_new_tokens"), ("do_sample", "temperature"))
# Arguments of model.generate that `generate` sets itself, and what to use in their place.
_OURS = {
    "inputs": "the prompt",
    "input_ids": "the prompt",
    "attention_mask": "the prompt",
    "decoder_input_ids": "prefix",
    "max_length": "max_tokens",
}
_COUNTS = frozenset({"max_tokens", "max_new_tokens", "num_beams", "num_return_sequences", "batch_size"})
_SHARES = frozenset({"top_p", "min_p", "typical_p", "epsilon_cutoff", "eta_cutoff"})
_SWITCHES = frozenset({"do_sample", "skip_forced", "diagnostics"})
_KINDS: tuple[tuple[str, type | tuple[type, ...], str], ...] = (
    ("start", str, "the name of a start rule"),
    ("draft", Draft, "a Draft"),
    ("chat_options", Mapping, "a dict"),
)
_OF_COMPILE = frozenset({"limits", "eager", "cancel", "canonical", "filters"})


@dataclass(frozen=True, kw_only=True)
class Options:
    """What a call asks for, but for its prompts; see `generate`."""

    caller: str  # what errors call the function that was called
    max_tokens: int  # the most tokens of a text
    budget: Budget | None
    temperature: float  # 0: no sampling
    num_beams: int
    num_return_sequences: int
    ends: tuple[int, ...] | None  # the ids that are to end a text; None: those of the vocabulary
    pad: int | None  # the id that pads rows; None: as the model or the tokenizer says
    others: dict[str, Any]  # more options of ``model.generate``, those of the configuration that was given among them
    grammar: Any = None
    start: str | None = None
    prefix: str | Generation | Sequence[str | Generation] = ""
    seed: int | Sequence[int] | None = None
    batch_size: int | None = None
    draft: Draft | None = None
    skip_forced: bool = False
    on_text: Callable[[str], None] | None = None
    progress: bool | Callable[[Progress], None] = False
    chat_options: Mapping[str, Any] = field(default_factory=dict)
    diagnostics: bool = False

    @classmethod
    def of(cls, caller: str, model: Any, given: Mapping[str, Any]) -> Options:
        """Read the options of a call.

        ``given``: arguments by their names, pdacon's or transformers'; None says nothing.
        Raises TypeError: two are names of one thing, or contradict each other; or see `configured`. ValueError: a
        number is out of range, two contradict each other, or several texts are asked for where there is only one.
        """
        own = {name: given[name] for name in OWN if given.get(name) is not None}
        others = {name: value for name, value in given.items() if name not in _NAMES | _PLACES}
        _require_kinds(caller, given)
        if "on_text" in own and others.get("streamer") is not None:
            raise TypeError("on_text is a streamer itself; give one of them")
        _require_one_draft(given)
        config = configured(caller, model, given.get("generation_config"))
        num_beams = _first(given.get("num_beams"), config.get("num_beams"), model.generation_config.num_beams, 1)
        several = _first(given.get("num_return_sequences"), config.get("num_return_sequences"), 1)
        temperature = _temperature(given, config, model.generation_config, num_beams)
        max_tokens = _max_tokens(caller, given, config, model.generation_config)
        ends = _first(given.get("eos_token_id"), config.get("eos_token_id"))
        pad = _first(given.get("pad_token_id"), config.get("pad_token_id"))
        read = {*_READ, *(_OF_CHANCE if temperature == 0 else ())}
        return cls(
            caller=caller,
            max_tokens=max_tokens,
            budget=given.get("budget"),
            temperature=float(temperature),
            num_beams=num_beams,
            num_return_sequences=several,
            ends=None if ends is None else _ids(caller, "eos_token_id", ends),
            pad=None if pad is None else _ids(caller, "pad_token_id", pad)[0],
            others={**{name: value for name, value in config.items() if name not in read}, **others},
            **own,
        )

    def __post_init__(self) -> None:
        if not self.temperature >= 0:
            raise ValueError(f"temperature is {self.temperature:g}; it must be 0 (no sampling) or more")
        for name in ("max_tokens", "num_beams", "num_return_sequences", "batch_size"):
            if (number := getattr(self, name)) is not None and number < 1:
                raise ValueError(f"{name} is {number}; it must be at least 1")
        beams, texts = self.num_beams, self.num_return_sequences
        if beams == 1 and texts > 1 and self.temperature == 0:
            raise ValueError(
                "temperature 0 generates one text only; give num_return_sequences=1, a temperature above 0, or "
                "num_beams"
            )
        if 1 < beams < texts:
            raise ValueError(f"{beams} beams cannot give {texts} texts; give more num_beams")

    def require_fit(self, prompts: int) -> None:
        """Refuse options that are not for so many prompts.

        Raises ValueError.
        """
        texts = prompts * self.num_return_sequences
        if self.on_text is not None and (texts > 1 or self.num_beams > 1):
            raise ValueError("on_text follows one text only; give one prompt, num_return_sequences=1 and num_beams=1")
        if isinstance(self.seed, Sequence) and (len(self.seed) != texts or self.num_beams > 1):
            raise ValueError(
                f"{len(self.seed)} seeds are given for {texts} texts, num_beams={self.num_beams}; give one for each "
                "text, without beams, or one number"
            )


def merged(model: Any, kept: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Options of a call after those that are kept for all calls, where the call says nothing else."""
    gone = set(configured("Generator", model, given.get("generation_config"))) | given.keys()
    for names in _SAME:
        if gone.intersection(names):
            gone.update(names)
    if given.get("budget") is not None:  # which says how many tokens, too
        gone.update(_SAME[0])
    return {**{name: value for name, value in kept.items() if name not in gone}, **given}


def require_names(caller: str, model: Any, options: Mapping[str, Any]) -> None:
    """Refuse options that neither the caller nor ``model.generate`` has.

    Raises TypeError.
    """
    if not hasattr(model, "generation_config"):
        raise TypeError(f"{caller}: the model comes first, then its tokenizer; {type(model).__name__} is no model")
    for name in options:
        if name in _OURS:
            raise TypeError(f"{caller} sets {name} itself; give {_OURS[name]}")
        if name in _NAMES or options[name] is None:
            continue
        if name == "constraint":
            raise TypeError(f"{caller} has no option constraint; give it as grammar")
        if advice := belongs_elsewhere(name):
            raise TypeError(f"{caller} has no option {name}{advice}")
        if name in _OF_COMPILE:
            raise TypeError(
                f"{caller} has no option {name}, which is one of compile; give what pdacon.compile(grammar, "
                f"tokenizer=tokenizer, model=model, {name}=...) returns"
            )
    others = [name for name, value in options.items() if name not in _NAMES and value is not None]
    if not others or options.get("custom_generate") is not None:  # which may have options of its own
        return
    known = {*_NAMES, *_of_generate(model)}
    for name in others:
        if name not in known:
            meant = did_you_mean(name, sorted(known))
            raise TypeError(f"neither {caller} nor model.generate has an option {name}; {meant}".rstrip("; "))


def _of_generate(model: Any) -> set[str]:
    """What ``model.generate`` takes: its parameters, its configuration's, and those of the model's forward pass."""
    known = {*_EMPTY.to_dict(), *vars(model.generation_config), *OF_FORWARD}
    known |= {"tokenizer", "assistant_tokenizer", "mm_encoder_outputs"}
    takers = [model.generate, model.prepare_inputs_for_generation, model.forward]
    if model.config.is_encoder_decoder:
        takers.append(model.get_encoder().forward)
        known |= {f"decoder_{name}" for name in inspect.signature(model.get_decoder().forward).parameters}
    return known.union(*(inspect.signature(taker).parameters for taker in takers)) - {"self", "kwargs", "model_kwargs"}


def configured(caller: str, model: Any, config: Any) -> dict[str, Any]:
    """What a configuration says that was given to a call, by the names of options.

    Raises TypeError: it is no configuration, or says something that `caller` does not do.
    """
    if config is None:
        return {}
    if not isinstance(config, GenerationConfig):
        raise TypeError(
            f"{caller}: generation_config must be a transformers.GenerationConfig, not {type(config).__name__}"
        )
    known = set(_EMPTY.to_dict())
    said = {}
    for name, value in vars(config).items():
        same = value == getattr(model.generation_config, name, None)
        if name in _NOT_OF_TEXTS or value is None or value == getattr(_EMPTY, name, None):
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


def _require_kinds(caller: str, given: Mapping[str, Any]) -> None:
    """Raise TypeError for an option of a wrong kind; None says nothing."""
    said = {name: value for name, value in given.items() if value is not None}
    for name in _COUNTS & said.keys():
        if require_count(caller, name, said[name]) < 1:
            raise ValueError(f"{name} is {said[name]}; it must be at least 1")
    if "top_k" in said:
        require_count(caller, "top_k", said["top_k"])
    for name in _SHARES & said.keys():
        if not 0 <= require_number(caller, name, said[name], "a number from 0 to 1") <= 1:
            raise ValueError(f"{caller}: {name} is {said[name]}; it must be a number from 0 to 1")
    strings = said.get("stop_strings", "")
    for one in strings if isinstance(strings, list | tuple) else [strings]:
        require_instance(caller, "stop_strings", one, str, "a str or a list of them")
    for name in _SWITCHES & said.keys():
        require_bool(caller, name, said[name])
    if "temperature" in said:
        require_number(caller, "temperature", said["temperature"], "a number, 0 (no sampling) or more")
    if "seed" in said:
        require_seeds(caller, said["seed"])
    if not callable(said.get("progress", print)):
        require_bool(caller, "progress", said["progress"])
    for name, kinds, what in _KINDS:
        if name in said:
            require_instance(caller, name, said[name], kinds, what)
    prefix = said.get("prefix", "")
    for one in prefix if isinstance(prefix, list | tuple) else [prefix]:
        require_instance(caller, "prefix", one, (str, Generation), "a str, a Generation, or a list of them")
    if not callable(said.get("on_text", print)):
        raise TypeError(f"{caller}: on_text must be a function, not {what_was_given(said['on_text'])}")


def _require_one_draft(given: Mapping[str, Any]) -> None:
    """Raises if more than one thing is to write drafts."""
    names = ("draft", "skip_forced", "assistant_model", "prompt_lookup_num_tokens", "custom_generate")
    said = [name for name in names if given.get(name) is not None and given[name] is not False]
    if len(said) > 1 and {"draft", "skip_forced"}.intersection(said):
        raise TypeError(f"{said[0]} and {said[1]} both say how texts are drafted; give one of them")


def _max_tokens(caller: str, given: Mapping[str, Any], config: Mapping[str, Any], own: Any) -> int:
    """The most tokens of a text: those of the budget if there is one, which no other number may contradict."""
    budget: Budget | None = given.get("budget")
    numbers = [name for name in _SAME[0] if given.get(name) is not None]
    if len(numbers) > 1:
        raise TypeError("max_tokens and max_new_tokens are two names of one number; give one of them")
    if budget is None:
        most: int = _first(*map(given.get, numbers), config.get("max_new_tokens"), own.max_new_tokens, MOST_TOKENS)
        return most
    require(caller, "budget", budget, Budget)
    if numbers:
        raise TypeError(f"{caller}: budget says how long a text may get; leave {numbers[0]} out")
    opening = _first(given.get("forced_bos_token_id"), config.get("forced_bos_token_id"), own.forced_bos_token_id)
    # Each token has a byte or more, but for a leading space that is no text; what is forced before it has none.
    return max(budget.most + (budget.unit == "bytes"), 1) + (opening is not None)


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


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def _ids(caller: str, name: str, given: Any) -> tuple[int, ...]:
    ids = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str | bytes) else (given,)
    if not ids or not all(hasattr(type(one), "__index__") and not isinstance(one, bool) for one in ids):
        raise TypeError(f"{caller}: {name} must be an id or a list of ids, not {given!r:.40}")
    if (least := min(int(one) for one in ids)) < 0:
        raise ValueError(f"{caller}: {name} is {least}, and ids begin at 0")
    return tuple(int(one) for one in ids)
