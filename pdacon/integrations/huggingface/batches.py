"""From prompts to constrained texts by continuous batching."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from transformers import ContinuousBatchingConfig

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
from pdacon.integrations.huggingface.beginnings import begin
from pdacon.integrations.huggingface.continuous import constrain
from pdacon.integrations.huggingface.memory import with_room
from pdacon.integrations.huggingface.prompts import Prompt, prompt_ids, require_embedded, split
from pdacon.integrations.huggingface.results import Generation, read, read_free, warn_of_cuts
from pdacon.integrations.huggingface.settings import Settings, settings_of
from pdacon.matching import Budget

SECONDS_BETWEEN_LOOKS = 1.0


def generate_batch(
    model: Any,
    tokenizer: Any,
    prompts: Sequence[Prompt],
    *,
    grammar: GrammarSource | Sequence[GrammarSource | None] | None = None,
    constraint: Constraint | Sequence[Constraint | None] | None = None,
    prefix: str | Generation | Sequence[str | Generation] = "",
    max_tokens: int | None = None,
    budget: Budget | None = None,
    temperature: float | None = None,
    num_return_sequences: int | None = None,
    eos_token_id: int | Sequence[int] | None = None,
    pad_token_id: int | None = None,
    generation_config: Any = None,
    chat_options: Mapping[str, Any] | None = None,
    continuous_batching_config: ContinuousBatchingConfig | None = None,
    **options: Any,
) -> list[Generation]:
    """Answer many prompts with text that grammars allow: rows that are finished make room for others.

    Parameters
    ----------
    model : transformers.PreTrainedModel
        A causal language model that continuous batching supports.
    tokenizer : transformers.PreTrainedTokenizerFast
        Its tokenizer.
    prompts : list of str or lists of messages
        See `generate`.
    grammar, constraint
        See `generate`.
    prefix, max_tokens, budget, temperature, num_return_sequences, eos_token_id, pad_token_id
        See `generate`.
    generation_config, chat_options
        See `generate`.
    continuous_batching_config : transformers.ContinuousBatchingConfig, optional
        How much memory to take, its ``seed``, ... A copy of it is switched to synchronous batches. What it leaves open
        is on the CPU what these prompts need, 32 of them at a time; else transformers takes what the device has.
    **options
        More of ``GenerationConfig``: ``top_p``, ``top_k``, ...

    Returns
    -------
    list of Generation
        Those of the first prompt first.

    Raises
    ------
    TypeError, ValueError, VocabularyError
        See `generate`. There are no beams.
    MatcherError
        A request failed.
    """
    own: dict[str, Any] = {
        "max_tokens": max_tokens,
        "budget": budget,
        "temperature": temperature,
        "num_return_sequences": num_return_sequences,
    }
    own |= {"eos_token_id": eos_token_id, "pad_token_id": pad_token_id, "generation_config": generation_config}
    if (options.get("num_beams") or getattr(generation_config, "num_beams", None) or 1) != 1:
        raise ValueError("continuous batching has no beams; for num_beams use generate")
    chosen = settings_of("generate_batch", model, {**options, **own, "num_beams": 1})
    asked = split(prompts)
    constraints = choose_constraints(
        "generate_batch", model, tokenizer, grammar, constraint, None, len(asked), chosen.ends
    )
    if not asked:
        return []
    vocabularies = vocabularies_of(model, tokenizer, constraints, chosen.ends)
    before = read_prefixes(vocabularies, prefix)
    for one, begun in zip(constraints, before, strict=True):
        if one is not None:
            begin(one, begun, budget=budget)  # what is refused here costs no model step
    rows = [prompt_ids(tokenizer, *pair, chat_options or {}) for pair in zip(asked, before, strict=True)]
    require_embedded(model, tokenizer, rows)
    ends = end_ids(vocabularies)
    pad = pad_id(model, tokenizer, ends) if chosen.pad is None else chosen.pad
    config = _configuration(model, ends, pad, chosen)
    batching = with_room(continuous_batching_config, model.device.type, [len(ids) for ids in rows], chosen.max_tokens)
    manager = model.init_continuous_batching(config, batching)
    names = {str(number): one for number, one in enumerate(constraints)}
    processor = constrain(manager, names, tokenizer=tokenizer if is_readable(model, tokenizer) else None)
    if budget is not None:
        processor.budgets = dict.fromkeys(names, budget)
    numbers: dict[str, int] = {}
    manager.warmup()
    manager.start()
    try:
        for number, (ids, begun) in enumerate(zip(rows, before, strict=True)):
            numbers[manager.add_request(ids, constraint=str(number), prefix=begun)] = number
        outputs = _collect(manager, chosen.num_return_sequences * len(asked))
    finally:
        manager.stop(block=True)
        manager.destroy()
    texts = []
    for output in outputs:
        number = numbers[output.request_id.partition("__child#")[0]]
        if output.error is not None:
            raise MatcherError(f"prompt {number}: {output.error}")
        ids, constraint_there = output.generated_tokens, constraints[number]
        if constraint_there is None:
            texts.append(read_free(vocabularies[number], before[number], ids, ends, pad, number))
        else:
            matcher = begin(constraint_there, before[number])
            texts.append(read(constraint_there, matcher, before[number], ids, pad, number))
    warn_of_cuts(texts, chosen.max_tokens)
    return sorted(texts, key=lambda text: text.prompt)


def _configuration(model: Any, ends: Sequence[int], pad: int | None, chosen: Settings) -> Any:
    config: Any = copy.deepcopy(model.generation_config)
    unused = config.update(
        eos_token_id=list(ends),
        pad_token_id=pad,
        max_new_tokens=chosen.max_tokens,
        num_return_sequences=chosen.num_return_sequences,
        do_sample=chosen.temperature > 0,
        temperature=chosen.temperature if chosen.temperature > 0 else None,
        **chosen.others,
    )
    if unused:
        raise TypeError(f"generate_batch has no option {', '.join(unused)}, and neither has GenerationConfig")
    return config


def _collect(manager: Any, number: int) -> list[Any]:
    """Return the outputs of all requests; they come in no order.

    Raises
    ------
    MatcherError
        The manager stopped before.
    """
    outputs: list[Any] = []
    while len(outputs) < number:
        output = manager.get_result(timeout=SECONDS_BETWEEN_LOOKS)
        if output is not None:
            outputs.append(output)
        elif not manager.is_running():
            fatal = manager.background_thread_status.fatal_error
            raise MatcherError("continuous batching stopped before all texts were there; see its log") from fatal
    return outputs
