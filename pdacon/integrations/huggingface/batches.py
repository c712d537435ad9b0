"""From prompts to constrained texts by continuous batching."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from transformers import ContinuousBatchingConfig

from pdacon.errors import MatcherError
from pdacon.integrations.huggingface.arguments import Grammars, is_readable
from pdacon.integrations.huggingface.continuous import constrain
from pdacon.integrations.huggingface.engine import Asked, Task, write
from pdacon.integrations.huggingface.memory import with_room
from pdacon.integrations.huggingface.options import OWN, Options
from pdacon.integrations.huggingface.padded_prompts import Prompt, prompt_ids, require_embedded
from pdacon.integrations.huggingface.results import Generation
from pdacon.matching import Budget

SECONDS_BETWEEN_LOOKS = 1.0


def generate_batch(
    model: Any,
    tokenizer: Any,
    prompts: Sequence[Prompt],
    *,
    grammar: Grammars | None = None,
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
    grammar, prefix, max_tokens, budget, temperature, num_return_sequences, eos_token_id, pad_token_id
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
    given = dict(locals())  # all arguments by their names
    if (options.get("num_beams") or getattr(generation_config, "num_beams", None) or 1) != 1:
        raise ValueError("continuous batching has no beams; for num_beams use generate")
    if others := sorted(options.keys() & {*OWN, "prompt"}):
        raise TypeError(f"generate_batch has no option {others[0]}, which generate has")
    asked = Options.of("generate_batch", model, given | options | {"num_beams": 1})
    return write(model, tokenizer, prompts, asked, lambda task: _batched(task, continuous_batching_config))


def _batched(task: Task, config: ContinuousBatchingConfig | None) -> list[Generation]:
    """Run continuous batching: a request for each prompt."""
    model, tokenizer, options = task.model, task.tokenizer, task.options
    rows = [prompt_ids(tokenizer, asked.prompt, asked.before, options.chat_options) for asked in task.asked]
    require_embedded(model, tokenizer, rows)
    batching = with_room(config, model.device.type, [len(ids) for ids in rows], options.max_tokens)
    manager = model.init_continuous_batching(_configuration(task), batching)
    names = {str(asked.number): asked.constraint for asked in task.asked}
    compared = tokenizer if is_readable(model, tokenizer) else None
    constrain(manager, names, tokenizer=compared, budget=options.budget)
    answered: dict[str, Asked] = {}
    manager.warmup()
    manager.start()
    try:
        for ids, asked in zip(rows, task.asked, strict=True):
            answered[manager.add_request(ids, constraint=str(asked.number), prefix=asked.before)] = asked
        outputs = _collect(manager, options.num_return_sequences * len(rows))
    finally:
        manager.stop(block=True)
        manager.destroy()
    texts = []
    for output in outputs:
        asked = answered[output.request_id.partition("__child#")[0]]
        if output.error is not None:
            raise MatcherError(f"prompt {asked.number}: {output.error}")
        texts.append(task.read(asked, output.generated_tokens))
    return sorted(filter(None, texts), key=lambda text: text.prompt)


def _configuration(task: Task) -> Any:
    options = task.options
    config: Any = copy.deepcopy(task.model.generation_config)
    unused = config.update(
        eos_token_id=task.ends,
        pad_token_id=task.pad,
        max_new_tokens=options.max_tokens,
        num_return_sequences=options.num_return_sequences,
        do_sample=options.temperature > 0,
        temperature=options.temperature if options.temperature > 0 else None,
        **options.others,
    )
    if unused:
        raise TypeError(f"generate_batch has no option {', '.join(unused)}, and neither has GenerationConfig")
    return config


def _collect(manager: Any, number: int) -> list[Any]:
    """Return the outputs of all requests; they come in no order.

    Raises MatcherError: the manager stopped before.
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
