"""Prompts as ``model.generate`` wants them: padded ids, with what the constrained text begins with after them."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from pdacon.errors import VocabularyError
from pdacon.integrations.huggingface.beginnings import Begun

Chat = Sequence[Mapping[str, Any]]
Prompt = str | Chat


@dataclass(frozen=True, slots=True)
class Inputs:
    """What ``model.generate`` is called with."""

    arguments: dict[str, torch.Tensor]  # tensors by the names of its parameters
    columns: int  # how many columns of its result are prompt


def split(prompt: Prompt | Sequence[Prompt]) -> list[Prompt]:
    """Return the prompts that an argument means: one text, one chat (a list of messages), or a list of either.

    Raises TypeError: it is none of them.
    """
    if isinstance(prompt, str):
        return [prompt]
    if isinstance(prompt, Mapping) or not _is_list(prompt):
        raise TypeError(_no_prompt(prompt))
    prompts: list[Any] = list(prompt)
    if is_one(prompts):
        return [prompts]
    for one in prompts:
        if not isinstance(one, str) and not (
            isinstance(one, Sequence) and one and all(isinstance(message, Mapping) for message in one)
        ):
            raise TypeError(_no_prompt(one))
    return prompts


def is_one(prompt: Prompt | Sequence[Prompt]) -> bool:
    """Whether an argument means one prompt, not a list of them."""
    return isinstance(prompt, str) or (len(prompt) > 0 and all(isinstance(message, Mapping) for message in prompt))


def _is_list(value: object) -> bool:
    """Whether it has an order and a length: lists and tuples, and columns of data frames, but no sets or iterators."""
    return hasattr(value, "__len__") and hasattr(value, "__getitem__") and not isinstance(value, bytes | bytearray)


def _no_prompt(value: object) -> str:
    """What is said of what is no prompt, with the way out."""
    if isinstance(value, Mapping) and "input_ids" in value:
        return (
            "a prompt is a text, not the tokenizer's output; give the text, or call model.generate(**inputs, "
            "logits_processor=[PDALogitsProcessor(constraint)]) with it"
        )
    if isinstance(value, Mapping) and "role" in value:
        return "a chat is a list of messages, and this is one message; give [message]"
    if isinstance(value, bytes | bytearray):
        return "a prompt is a str, not bytes; give prompt.decode()"
    if isinstance(value, Iterable) and not _is_list(value):
        return f"prompts have an order and a number, and a {type(value).__name__} has not both; give list(prompts)"
    shown = reprlib.repr(value)
    return f"a prompt is a text or a list of messages like {{'role': 'user', 'content': '...'}}, not {shown}"


def encode(
    model: Any,
    tokenizer: Any,
    prompts: Sequence[Prompt],
    before: Sequence[Begun],
    pad_id: int | None,
    chat_options: Mapping[str, Any],
    options: Mapping[str, Any],
) -> Inputs:
    """Return the ids of prompts and of the text that stands after them.

    Parameters
    ----------
    model, tokenizer
    prompts : sequence of str or chat
        A chat is written with the tokenizer's chat template, up to where the answer begins.
    before : sequence of Begun
        What every answer begins with.
    pad_id : int or None
        Pads the rows on the left (an encoder's on the right); it is masked.
    chat_options : mapping
        More arguments of ``tokenizer.apply_chat_template``.
    options : mapping
        What the call says of the ids that a decoder begins with; what it does not say the model's configuration does.

    Raises
    ------
    ValueError
        A prompt is empty and there is no begin token, or answers of an encoder-decoder begin at different lengths.
    VocabularyError
        The tokenizer gives an id that the model has no embedding for.
    """
    pad = 0 if pad_id is None else pad_id
    if model.config.is_encoder_decoder:
        rows = [prompt_ids(tokenizer, prompt, Begun(), chat_options) for prompt in prompts]
        require_embedded(model, tokenizer, rows)
        input_ids, attention_mask = _padded(rows, pad, model.device, left=False)
        decoder_ids = _decoder_ids(model, tokenizer, before, options)
        arguments = {"input_ids": input_ids, "attention_mask": attention_mask, "decoder_input_ids": decoder_ids}
        return Inputs(arguments, decoder_ids.shape[1])
    rows = [prompt_ids(tokenizer, *pair, chat_options) for pair in zip(prompts, before, strict=True)]
    require_embedded(model, tokenizer, rows)
    _require_room(model, rows)
    input_ids, attention_mask = _padded(rows, pad, model.device, left=True)
    return Inputs({"input_ids": input_ids, "attention_mask": attention_mask}, input_ids.shape[1])


def require_embedded(model: Any, tokenizer: Any, rows: Sequence[Sequence[int]]) -> None:
    """Refuse ids beyond the model's embeddings: an IndexError on the CPU, and on CUDA the end of the process.

    Raises VocabularyError.
    """
    known = model.get_input_embeddings().weight.shape[0]
    stranger = next((token for row in rows for token in row if token >= known), None)
    if stranger is not None:
        text = tokenizer.convert_ids_to_tokens(stranger)
        raise VocabularyError(
            f"the prompt has token {stranger} ({text!r}), and the model knows {known} tokens only: the tokenizer has "
            "more; use the model's own, or model.resize_token_embeddings(len(tokenizer))"
        )


def context_length(model: Any) -> int | None:
    """The most tokens that a model reads in a row, its answer included; None: nothing says, or it can be stretched.

    After its context a model with learnt positions fails, on CUDA with the end of the process; others write nonsense.
    """
    config = model.config.get_text_config(decoder=True)
    most = getattr(config, "max_position_embeddings", None)
    rope = getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None) or {}
    return most if isinstance(most, int) and most > 0 and "dynamic" not in str(rope) else None


def _require_room(model: Any, rows: Sequence[Sequence[int]]) -> None:
    """Refuse a prompt that leaves no room in the model's context.

    Raises ValueError.
    """
    most = context_length(model)
    longest = max(range(len(rows)), key=lambda row: len(rows[row]))
    if most is not None and most <= len(rows[longest]):
        which = f"prompt {longest}" if len(rows) > 1 else "the prompt"
        raise ValueError(
            f"{which} has {len(rows[longest]):,} tokens, and the model's context is of {most:,}: nothing can follow; "
            "shorten it, for example tokenizer.decode(ids[-n:])"
        )


def prompt_ids(tokenizer: Any, prompt: Prompt, before: Begun, chat_options: Mapping[str, Any]) -> list[int]:
    """Return the ids of one prompt and what stands after it; see `encode`."""
    ids: list[int]
    if isinstance(prompt, str):
        ids = tokenizer(prompt + before.written)["input_ids"]
    else:
        options = {"add_generation_prompt": True, **chat_options}
        text = tokenizer.apply_chat_template(list(prompt), tokenize=False, **options)
        ids = tokenizer(text + before.written, add_special_tokens=False)["input_ids"]
    ids = [*ids, *before.token_ids]
    if not ids:
        begin = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
        if begin is None:
            raise ValueError("the prompt is empty and the tokenizer has no begin token; give a prompt")
        ids = [begin]
    return ids


def _decoder_ids(model: Any, tokenizer: Any, before: Sequence[Begun], options: Mapping[str, Any]) -> torch.Tensor:
    def said(name: str) -> int | None:
        given = options.get(name)
        known: int | None = getattr(model.generation_config, name) if given is None else given
        return known

    start, first = said("decoder_start_token_id"), said("forced_bos_token_id")
    start = said("bos_token_id") if start is None else start
    if start is None:
        raise ValueError("the model's generation_config has neither decoder_start_token_id nor bos_token_id; set one")
    rows = []
    for one in before:
        row = [start]
        if one.written:
            forced = [] if first is None else [first]
            row += forced + tokenizer(one.written, add_special_tokens=False)["input_ids"]
        row += one.token_ids
        rows.append(row)
    require_embedded(model, tokenizer, rows)
    if len({len(row) for row in rows}) > 1:
        raise ValueError(
            "the prefixes have different numbers of tokens, which the decoder of an encoder-decoder cannot pad; "
            "continue them one prompt at a time"
        )
    return torch.tensor(rows, device=model.device)


def _padded(
    rows: Sequence[list[int]], pad_id: int, device: torch.device, *, left: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the rows as int64[rows, longest], and which of them is not padding."""
    width = max(map(len, rows))
    ids = torch.full((len(rows), width), pad_id, dtype=torch.int64)
    mask = torch.zeros_like(ids)
    for index, row in enumerate(rows):
        place = slice(width - len(row), width) if left else slice(len(row))
        ids[index, place] = torch.tensor(row)
        mask[index, place] = 1
    return ids.to(device), mask.to(device)
