"""From prompts to constrained texts in one call."""

from __future__ import annotations

import codecs
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any, Literal, overload

import torch
from transformers.generation.streamers import BaseStreamer

from pdacon.base.arguments import require_bool
from pdacon.detokenizer import Vocabulary
from pdacon.errors import MatcherError
from pdacon.front.constraint import Constraint
from pdacon.front.grammar import GrammarSource
from pdacon.integrations.huggingface.arguments import (
    choose_constraints,
    end_ids,
    is_readable,
    pad_id,
    read_prefixes,
    vocabularies_of,
)
from pdacon.integrations.huggingface.beginnings import Beginnings, Begun, begin
from pdacon.integrations.huggingface.diagnostics import Measured, measure
from pdacon.integrations.huggingface.drafts import Draft, Forced, drafting
from pdacon.integrations.huggingface.options import require_options
from pdacon.integrations.huggingface.processor import PDALogitsProcessor
from pdacon.integrations.huggingface.prompts import Chat, Prompt, encode, is_one, split
from pdacon.integrations.huggingface.results import Generation, is_placeholder, read, read_free, spelled, warn_of_cuts
from pdacon.integrations.huggingface.seeds import Seeded
from pdacon.integrations.huggingface.settings import Settings, settings_of
from pdacon.integrations.huggingface.threads import few_threads
from pdacon.matching import Budget

_Grammars = GrammarSource | Sequence[GrammarSource | None] | None


@overload
def generate(
    model: Any,
    tokenizer: Any,
    prompt: str | Chat,
    grammar: _Grammars = None,
    *,
    num_return_sequences: Literal[1] | None = None,
    **options: Any,
) -> Generation: ...
@overload
def generate(
    model: Any, tokenizer: Any, prompt: Sequence[str] | Sequence[Chat], grammar: _Grammars = None, **options: Any
) -> list[Generation]: ...
@overload
def generate(
    model: Any, tokenizer: Any, prompt: Prompt | Sequence[Prompt], grammar: _Grammars = None, **options: Any
) -> Generation | list[Generation]: ...


def generate(
    model: Any,
    tokenizer: Any,
    prompt: Prompt | Sequence[Prompt],
    grammar: _Grammars = None,
    *,
    constraint: Constraint | Sequence[Constraint | None] | None = None,
    start: str | None = None,
    prefix: str | Generation | Sequence[str | Generation] = "",
    max_tokens: int | None = None,
    budget: Budget | None = None,
    draft: Draft | None = None,
    skip_forced: bool = False,
    seed: int | Sequence[int] | None = None,
    temperature: float | None = None,
    num_beams: int | None = None,
    num_return_sequences: int | None = None,
    eos_token_id: int | Sequence[int] | None = None,
    pad_token_id: int | None = None,
    generation_config: Any = None,
    on_text: Callable[[str], None] | None = None,
    chat_options: Mapping[str, Any] | None = None,
    diagnostics: bool = False,
    **options: Any,
) -> Generation | list[Generation]:
    """Answer prompts with text that a grammar allows.

    Parameters
    ----------
    model : transformers.PreTrainedModel
        A causal language model or an encoder-decoder.
    tokenizer : transformers.PreTrainedTokenizerFast
        Its tokenizer.
    prompt : str, list of messages, or list of either
        What comes before; it is not constrained and not returned. A text is taken as it is, a list of messages (such as
        ``{"role": "user", "content": "..."}``) is written with the tokenizer's chat template. An empty
        text: the answer starts at the model's begin token.
    grammar : Grammar, str or pathlib.Path, or list with one for each prompt
        The grammar: a `Grammar`, a built-in one's name (``"json"``), the text of one in Lark's notation, or the path of
        a file. It is compiled in this call; `Generator`, or `constraint`, is for several calls. In a list None stands
        for no grammar.
    constraint : Constraint, or list with one for each prompt
        Compiled for ``tokenizer=`` and ``model=``; in place of `grammar`. In a list None constrains nothing.
    start : str, optional
        Which of the grammar's start rules; the first if it is not given.
    prefix : str or Generation, or list with one for each prompt
        The beginning of the answer, to be continued: a text, or a generation that was cut off.
    max_tokens : int, optional
        The most tokens to generate for a text, the end token included; ``max_new_tokens``, transformers' name, is the
        same. Default: what `generation_config` or the model's says, or 256.
    budget : Budget, optional
        Within how much, after `prefix`, every text is to be a sentence, so that none is cut off. It says how many
        tokens are generated as well, in place of `max_tokens`.
    draft : Draft, optional
        Drafts tokens that the grammar forces, or that texts have shown, for the model to verify several in one pass.
        For one text at a time, without beams.
    skip_forced : bool
        Append tokens that are the only ones allowed without asking the model for each: a run of them is read in the
        pass that writes the token after it. Texts stay the same, and `Generation.skip_rate` says how many tokens that
        were. With a constraint that is ``canonical`` most of what a grammar forces is such tokens; without, a text can
        often be cut in other ways. For one text at a time, without beams.
    seed : int, or list with one for each text, optional
        Makes sampling repeatable, in any number of threads: this call draws from random numbers of its own. With a list
        each text is drawn as it would be alone with its seed, whatever else is in the batch; without beams. Default:
        torch's global state is used, which all threads share.
    temperature : float, optional
        0: no sampling; 1: sample from the model's own distribution. Default: what `generation_config` or the model's
        says, or 1; 0 with beams, unless `generation_config` samples. ``do_sample=False`` is 0, too.
    num_beams : int, optional
        More than 1: beam search. Default: what `generation_config` or the model's says, or 1.
    num_return_sequences : int, optional
        How many texts for each prompt. Beam search returns fewer where it finds fewer; two of them may be the same
        text in different tokens. Default: what `generation_config` says, or 1.
    eos_token_id : int or sequence of int, optional
        Exactly the ids that end a text; they stand for no text then. Default: the model's. A `constraint` was compiled
        for its own.
    pad_token_id : int, optional
        What pads rows. Default: what the model or the tokenizer says, or an end token.
    generation_config : transformers.GenerationConfig, optional
        What it says goes before what the model's says, and after the arguments of this call. It has no seed: that is
        `seed`.
    on_text : callable, optional
        Is given what is generated piece by piece, in whole characters, meanwhile. For one text only.
    chat_options : mapping, optional
        More arguments of ``tokenizer.apply_chat_template``, such as ``tools``.
    diagnostics : bool
        Whether each text is to have the probabilities of its tokens, with the constraint and without:
        `Generation.diagnostics`. They take one more pass of the model over prompt and text.
    **options
        More arguments of ``model.generate``: ``assistant_model``, ``prompt_lookup_num_tokens``, ``top_p``,
        ``cache_implementation``, ``streamer``, ``stopping_criteria``, ``stop_strings``, ... A ``logits_processor``
        comes before the constraint.

    Returns
    -------
    Generation
        For one prompt.
    list of Generation
        For a list of prompts, or more than one text: those of the first prompt first, the best first. None for none.

    Raises
    ------
    TypeError
        The prompt is none, neither or both of `grammar` and `constraint` are given, an option is one that this function
        sets itself, or two are names of one thing.
    ValueError
        A number is out of range, several texts were asked for where there is only one, or a prefix is not the
        beginning of a sentence. A name is no built-in grammar's. No sentence is within `budget`.
    VocabularyError
        The constraint was compiled for another vocabulary, or see `vocabulary`.
    MatcherError
        See `PDALogitsProcessor`; or beam search found no text.
    PdaconError
        A grammar cannot be compiled: see `compile`.

    Warns
    -----
    IncompleteWarning
        The most tokens were too few for a text.
    """
    chosen = require_values(
        "generate",
        model,
        max_tokens=max_tokens,
        budget=budget,
        temperature=temperature,
        num_beams=num_beams,
        num_return_sequences=num_return_sequences,
        eos_token_id=eos_token_id,
        pad_token_id=pad_token_id,
        generation_config=generation_config,
        on_text=on_text,
        **options,
    )
    max_tokens, num_beams, num_return_sequences = chosen.max_tokens, chosen.num_beams, chosen.num_return_sequences
    options = chosen.others
    prompts = split(prompt)
    if on_text is not None and (len(prompts) > 1 or num_return_sequences > 1 or num_beams > 1):
        raise ValueError("on_text follows one text only; give one prompt, num_return_sequences=1 and num_beams=1")
    constraints = choose_constraints(
        "generate", model, tokenizer, grammar, constraint, start, len(prompts), chosen.ends
    )
    if isinstance(seed, Sequence) and (len(seed) != len(prompts) * num_return_sequences or num_beams > 1):
        raise ValueError(
            f"{len(seed)} seeds are given for {len(prompts) * num_return_sequences} texts, num_beams={num_beams}; "
            "give one for each text, without beams, or one number"
        )
    if not prompts:
        return []
    vocabularies = vocabularies_of(model, tokenizer, constraints, chosen.ends)
    before = read_prefixes(vocabularies, prefix)
    pairs = zip(constraints, before, strict=True)
    beginnings = Beginnings([None if one is None else begin(one, begun, start) for one, begun in pairs])
    ends = end_ids(vocabularies)
    pad = pad_id(model, tokenizer, ends) if chosen.pad is None else chosen.pad
    inputs = encode(model, tokenizer, prompts, before, pad, chat_options or {}, options)
    processors = [*options.get("logits_processor", ())]
    if any(constraints):
        processors.append(
            PDALogitsProcessor(
                constraints,
                prefix=before,
                prompt_length=inputs.columns,
                num_beams=max(1, num_beams // options.get("num_beam_groups", 1)),
                pad_token_id=pad,
                start=start,
                budget=budget,
                **({"model": model, "tokenizer": tokenizer} if is_readable(model, tokenizer) else {}),
            )
        )
    if on_text is not None:
        options["streamer"] = _Streamer(vocabularies[0], before[0], on_text)
    options["logits_processor"] = processors
    require_bool("generate", "skip_forced", skip_forced)
    drafts: Draft | Forced | None = Forced() if skip_forced else draft
    if drafts is not None:
        _require_one_draft(draft, skip_forced, options)
        if len(prompts) > 1 or num_return_sequences > 1 or num_beams > 1 or constraints[0] is None:
            what = "skip_forced" if skip_forced else "draft"
            raise ValueError(f"{what} is for one text under a constraint; give one prompt and num_beams=1")
        options = drafting(drafts, begin(constraints[0], before[0], start, budget=budget), tokenizer, options)
    if options.get("stop_strings") or model.generation_config.stop_strings:
        options["tokenizer"] = tokenizer
    options.setdefault("forced_eos_token_id", None)  # it would make what max_tokens cuts look like a sentence
    with (
        nullcontext() if seed is None else Seeded(seed),
        _no_forced_end(options.get("assistant_model")),
        few_threads(model),
        torch.inference_mode(),
    ):
        output = model.generate(
            **inputs.arguments,
            max_new_tokens=max_tokens,
            num_beams=num_beams,
            num_return_sequences=num_return_sequences,
            eos_token_id=ends,
            pad_token_id=pad,
            **_sampling(chosen.temperature, options),
        )
    rows = output if isinstance(output, torch.Tensor) else output.sequences
    texts: list[Generation] = []
    measured: list[Measured] = []
    for index, ids in enumerate(rows[:, inputs.columns :].tolist()):
        number = index // num_return_sequences
        matcher, one = beginnings.matcher(index, len(rows)), constraints[number]
        if matcher is None or one is None:
            text = read_free(vocabularies[number], before[number], ids, ends, pad, number)
        elif num_beams > 1 and is_placeholder(matcher, ids, ends, pad):
            continue
        else:
            text = read(one, matcher, before[number], ids, pad, number)
            if num_beams > 1 and text in texts:  # beam search begins with the same beam several times
                continue
        texts.append(text)
        measured.append(Measured(index, before[number], text.token_ids, one, start, budget))
    if diagnostics:
        found = measure(model, inputs, rows, measured, [vocabularies[text.prompt] for text in texts])
        texts = [replace(text, _diagnostics=each) for text, each in zip(texts, found, strict=True)]
    if isinstance(drafts, Forced):
        texts = [replace(text, skipped=drafts.accepted, passes=drafts.passes) for text in texts]
    warn_of_cuts(texts, max_tokens)
    if num_return_sequences > 1 or not is_one(prompt):
        return texts
    if not texts:
        raise MatcherError("beam search has found no text; give more num_beams")
    return texts[0]


def _require_one_draft(draft: Draft | None, skip_forced: bool, options: Mapping[str, Any]) -> None:
    """Raises if more than one thing is to write drafts."""
    names = {"draft": draft, "skip_forced": skip_forced}
    names |= {name: options.get(name) for name in ("assistant_model", "prompt_lookup_num_tokens", "custom_generate")}
    given = [name for name, value in names.items() if value is not None and value is not False]
    if len(given) > 1:
        raise TypeError(f"{given[0]} and {given[1]} both say how texts are drafted; give one of them")


def require_values(caller: str, model: Any, *, on_text: object = None, **options: Any) -> Settings:
    """Refuse options of `generate` that make no sense; return what they mean.

    Raises
    ------
    TypeError, ValueError
    """
    require_options(caller, model, _PARAMETERS, options)
    if on_text is not None and options.get("streamer") is not None:
        raise TypeError("on_text is a streamer itself; give one of them")
    return settings_of(caller, model, {name: value for name, value in options.items() if name not in _NOT_SETTINGS})


_PARAMETERS = frozenset(inspect.signature(generate).parameters) - {"options"}
_OWN = (
    "grammar",
    "constraint",
    "start",
    "prefix",
    "draft",
    "skip_forced",
    "seed",
    "chat_options",
    "diagnostics",
)
_NOT_SETTINGS = frozenset({*_OWN, "prompt", "model", "tokenizer"})


class _Streamer(BaseStreamer):
    """Hands the text of one row on, character by whole character."""

    def __init__(self, vocabulary: Vocabulary, before: Begun, on_text: Callable[[str], None]) -> None:
        self._vocabulary, self._on_text = vocabulary, on_text
        self._decoder = codecs.getincrementaldecoder("utf-8")("ignore")  # a grammar of bytes may write what is no text
        self._decoder.decode(before.text)
        self._begins = before.nothing
        self._prompt_seen = False

    def put(self, value: torch.Tensor) -> None:
        if not self._prompt_seen:
            self._prompt_seen = True
            return
        ids = value.flatten().tolist()
        text = self._decoder.decode(spelled(self._vocabulary, ids, first=self._begins))
        self._begins = self._begins and not self._vocabulary.decode(ids)
        if text:
            self._on_text(text)

    def end(self) -> None:
        """What is left is the beginning of a character: not text."""


def _sampling(temperature: float, options: Mapping[str, Any]) -> dict[str, Any]:
    if temperature > 0:
        return {"do_sample": True, "temperature": float(temperature), **options}
    # What the model's generation_config says of sampling would be reported as without effect.
    return {"do_sample": False, "temperature": None, "top_p": None, "top_k": None, **options}


@contextmanager
def _no_forced_end(assistant: Any) -> Iterator[None]:
    """Candidates of an assistant end as its own configuration says, whatever the arguments of the call are."""
    config = None if assistant is None else assistant.generation_config
    forced = None if config is None else config.forced_eos_token_id
    if config is None or forced is None:  # nothing is set and put back, so threads cannot disturb each other here
        yield
        return
    config.forced_eos_token_id = None
    try:
        yield
    finally:
        config.forced_eos_token_id = forced
