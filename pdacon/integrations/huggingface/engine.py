"""The engine behind `generate`, `generate_batch`, `Generator` and `Pipeline.generate`.

In: a model with its tokenizer, prompts, and `Options`. Out: a `Generation` for each text. A `Task` is what is alike
however the model is run: it chooses constraints, begins texts, and reads what was generated.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from transformers import StoppingCriteriaList
from transformers.generation.streamers import BaseStreamer

from pdacon.detokenizer import Vocabulary, vocabulary_of
from pdacon.front.constraint import Constraint
from pdacon.integrations.huggingface.arguments import choose_constraints, end_ids, is_readable, pad_id, read_prefixes
from pdacon.integrations.huggingface.beginnings import NOTHING_ENDS, Begun, begin
from pdacon.integrations.huggingface.diagnostics import Measured, measure
from pdacon.integrations.huggingface.drafts import Draft, Forced, drafting
from pdacon.integrations.huggingface.options import Options
from pdacon.integrations.huggingface.padded_prompts import Inputs, Prompt, encode, is_one, split
from pdacon.integrations.huggingface.processor import PDALogitsProcessor
from pdacon.integrations.huggingface.progress import Finished, Told, telling
from pdacon.integrations.huggingface.results import Generation, is_placeholder, read, read_free, spelled, warn_of_cuts
from pdacon.integrations.huggingface.seeds import Seeded
from pdacon.integrations.huggingface.threads import few_threads
from pdacon.matching import Matcher


@dataclass(frozen=True)
class Asked:
    """A prompt, what constrains its answer, and what that begins with."""

    number: int  # of the prompt, among all of the call
    prompt: Prompt
    constraint: Constraint | None
    vocabulary: Vocabulary  # what the ids of the answer mean
    before: Begun
    matcher: Matcher | None  # it stands where the answer begins, and knows of no budget


@dataclass(frozen=True)
class Task:
    """What the model is to answer; ``ends`` end a text, and ``pad`` pads rows."""

    model: Any
    tokenizer: Any
    options: Options
    asked: Sequence[Asked]
    ends: list[int]
    pad: int | None
    tell: Told | None = None  # how many of the texts are written

    @classmethod
    def of(cls, model: Any, tokenizer: Any, prompts: Sequence[Prompt], options: Options) -> Task:
        """What a call asks for; what is refused here costs no step of the model."""
        constraints = choose_constraints(model, tokenizer, options, len(prompts))
        options.require_fit(len(prompts))
        if options.budget is not None and prompts and not any(constraints):
            raise ValueError(f"{options.caller}: {NOTHING_ENDS}")
        free = partial(vocabulary_of, "vocabulary", None, tokenizer, model, options.ends)
        vocabularies = [free() if one is None else one.vocabulary for one in constraints]
        before = read_prefixes(vocabularies, options.prefix)
        matchers = [
            None if one is None else begin(one, begun, options.start)
            for one, begun in zip(constraints, before, strict=True)
        ]
        for matcher in matchers:
            if matcher is not None and options.budget is not None:
                matcher.fork().keep_within(options.budget)
        ends = end_ids(vocabularies) if vocabularies else []
        pad = pad_id(model, tokenizer, ends) if options.pad is None else options.pad
        columns = zip(range(len(prompts)), prompts, constraints, vocabularies, before, matchers, strict=True)
        return cls(model, tokenizer, options, [Asked(*row) for row in columns], ends, pad)

    def parts(self) -> Iterator[Task]:
        """The task in parts of so many prompts as the model is to read at a time."""
        size, each, seed = self.options.batch_size, self.options.num_return_sequences, self.options.seed
        if size is None:
            yield from [self] if self.asked else []
            return
        if isinstance(seed, int) and self.options.num_beams == 1:
            seed = range(seed, seed + len(self.asked) * each)
        for first in range(0, len(self.asked), size):
            seeds = seed[first * each : (first + size) * each] if isinstance(seed, Sequence) else seed
            yield replace(self, options=replace(self.options, seed=seeds), asked=self.asked[first : first + size])

    def read(self, asked: Asked, ids: Sequence[int]) -> Generation | None:
        """The text of a row of ids that answers a prompt; None: beam search has found none, and filled the row."""
        if asked.matcher is None or asked.constraint is None:
            return read_free(asked.vocabulary, asked.before, ids, self.ends, self.pad, asked.number)
        if self.options.num_beams > 1 and is_placeholder(asked.matcher, ids, self.ends, self.pad):
            return None
        return read(asked.constraint, asked.matcher.fork(), asked.before, ids, self.pad, asked.number)


def write(
    model: Any,
    tokenizer: Any,
    prompt: Prompt | Sequence[Prompt],
    options: Options,
    run: Callable[[Task], list[Generation]] | None = None,
) -> list[Generation]:
    """Return the texts that answer prompts, those of the first prompt first.

    ``run`` is how the model is run; without it, with ``model.generate``.
    """
    prompts = split(prompt)
    if is_one(prompt):
        options = replace(options, batch_size=None)
    task = Task.of(model, tokenizer, prompts, options)
    texts: list[Generation] = []
    with telling(options.progress, len(prompts) * options.num_return_sequences) as tell:
        done = 0
        for part in task.parts():
            texts += (run or generated)(replace(part, tell=None if tell is None else partial(_after, tell, done)))
            done += len(part.asked) * options.num_return_sequences
            if tell is not None:
                tell(done)
    warn_of_cuts(texts, options.max_tokens)
    return texts


def _after(tell: Told, before: int, done: int) -> None:
    tell(before + done)


def generated(task: Task) -> list[Generation]:
    """Run ``model.generate``: the rows of all prompts together."""
    model, options, pad = task.model, task.options, task.pad
    before = [asked.before for asked in task.asked]
    prompts = [asked.prompt for asked in task.asked]
    inputs = encode(model, task.tokenizer, prompts, before, pad, options.chat_options, options.others)
    arguments = {**options.others, "logits_processor": [*options.others.get("logits_processor", ())]}
    if any(asked.constraint for asked in task.asked):
        arguments["logits_processor"].append(_processor(task, inputs.columns))
    if options.on_text is not None:
        arguments["streamer"] = _Streamer(task.asked[0].vocabulary, before[0], options.on_text)
    if task.tell is not None and options.num_beams == 1:
        criteria = [*(arguments.get("stopping_criteria") or ()), Finished(task.ends, task.tell)]
        arguments["stopping_criteria"] = StoppingCriteriaList(criteria)
    drafts: Draft | Forced | None = Forced() if options.skip_forced else options.draft
    if drafts is not None:
        arguments = drafting(drafts, _drafted(task), task.tokenizer, arguments)
    if arguments.get("stop_strings") or model.generation_config.stop_strings:
        arguments["tokenizer"] = task.tokenizer
    arguments.setdefault("forced_eos_token_id", None)  # it would make what max_tokens cuts look like a sentence
    with (
        nullcontext() if options.seed is None else Seeded(options.seed),
        _no_forced_end(arguments.get("assistant_model")),
        few_threads(model),
        torch.inference_mode(),
    ):
        output = model.generate(
            **inputs.arguments,
            max_new_tokens=options.max_tokens,
            num_beams=options.num_beams,
            num_return_sequences=options.num_return_sequences,
            eos_token_id=task.ends,
            pad_token_id=pad,
            **_sampling(options.temperature, arguments),
        )
    rows = output if isinstance(output, torch.Tensor) else output.sequences
    texts = _texts(task, inputs, rows)
    if isinstance(drafts, Forced):
        return [replace(text, skipped=drafts.accepted, passes=drafts.passes) for text in texts]
    return texts


def _texts(task: Task, inputs: Inputs, rows: torch.Tensor) -> list[Generation]:
    """The texts of rows of ids, each once, with their probabilities if these are asked for."""
    options = task.options
    texts: list[Generation] = []
    measured: list[Measured] = []
    for index, ids in enumerate(rows[:, inputs.columns :].tolist()):
        one = task.asked[index // options.num_return_sequences]
        text = task.read(one, ids)
        if text is None or (options.num_beams > 1 and text in texts):  # the same beam may begin several times
            continue
        texts.append(text)
        measured.append(
            Measured(index, one.before, text.token_ids, one.vocabulary, one.constraint, options.start, options.budget)
        )
    if not options.diagnostics:
        return texts
    found = measure(task.model, inputs, rows, measured)
    return [replace(text, _diagnostics=each) for text, each in zip(texts, found, strict=True)]


def _processor(task: Task, columns: int) -> PDALogitsProcessor:
    """What constrains the rows."""
    options, model, tokenizer = task.options, task.model, task.tokenizer
    return PDALogitsProcessor(
        [asked.constraint for asked in task.asked],
        prefix=[asked.before for asked in task.asked],
        prompt_length=columns,
        num_beams=max(1, options.num_beams // options.others.get("num_beam_groups", 1)),
        pad_token_id=task.pad,
        start=options.start,
        budget=options.budget,
        **({"model": model, "tokenizer": tokenizer} if is_readable(model, tokenizer) else {}),
    )


def _drafted(task: Task) -> Matcher:
    """The matcher that a draft follows, of the only text."""
    options, asked = task.options, task.asked[0]
    several = len(task.asked) > 1 or options.num_return_sequences > 1 or options.num_beams > 1
    if several or asked.constraint is None:
        what = "skip_forced" if options.skip_forced else "draft"
        raise ValueError(f"{what} is for one text under a constraint; give one prompt and num_beams=1")
    return begin(asked.constraint, asked.before, options.start, budget=options.budget)


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
