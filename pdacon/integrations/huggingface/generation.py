"""From a prompt to constrained text in one call: what the command line's ``pdacon generate`` does."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from transformers.generation.streamers import BaseStreamer

from pdacon.constraint import Constraint
from pdacon.detokenizer import Vocabulary
from pdacon.integrations.huggingface.processor import PDALogitsProcessor


@dataclass(frozen=True, slots=True)
class Generation:
    """One generated text.

    Attributes
    ----------
    text : str
        What the token ids spell; a character that the last token leaves unfinished is dropped.
    token_ids : tuple of int
        The generated ids, the end token included if there is one.
    complete : bool
        Whether the text is a sentence of the grammar. False: `max_tokens` cut it, and it is the beginning of one.
    """

    text: str
    token_ids: tuple[int, ...]
    complete: bool


def vocabulary(model: Any, tokenizer: Any) -> Vocabulary:
    """Return the vocabulary to compile a constraint for: as wide as the model's logits, ended as ``generate`` ends.

    Parameters
    ----------
    model : transformers.PreTrainedModel
    tokenizer : transformers.PreTrainedTokenizerFast
        Byte-level BPE; see `pdacon.Vocabulary.from_huggingface`.

    Raises
    ------
    VocabularyError
        See `pdacon.Vocabulary.from_huggingface`.
    """
    width = model.config.get_text_config(decoder=True).vocab_size
    return Vocabulary.from_huggingface(tokenizer, size=width, eos_ids=model.generation_config.eos_token_id)


def generate(
    model: Any,
    tokenizer: Any,
    prompt: str,
    *,
    constraint: Constraint,
    max_tokens: int = 256,
    seed: int | None = None,
    temperature: float = 1.0,
    num_return_sequences: int = 1,
    on_text: Callable[[str], None] | None = None,
) -> list[Generation]:
    """Continue a prompt with text that the constraint allows.

    Parameters
    ----------
    model : transformers.PreTrainedModel
        A causal language model.
    tokenizer : transformers.PreTrainedTokenizerFast
        Its tokenizer.
    prompt : str
        What comes before; it is not constrained and not returned. Empty: the text starts at the model's begin token.
    constraint : Constraint
        Compiled for `vocabulary(model, tokenizer)`.
    max_tokens : int
        The most tokens to generate, the end token included.
    seed : int, optional
        Makes sampling repeatable; the global random state is as before afterwards. Default: that state is used.
    temperature : float
        0: always the most probable token; 1: sample from the model's own distribution.
    num_return_sequences : int
        How many texts to sample.
    on_text : callable, optional
        Is given the text piece by piece, in whole characters, while it is generated. For one sequence only.

    Returns
    -------
    list of Generation
        `num_return_sequences` of them.

    Raises
    ------
    ValueError
        A number is out of range, or several texts were asked for with `on_text` or with temperature 0.
    MatcherError
        See `PDALogitsProcessor`.
    """
    _require_sensible(max_tokens, temperature, num_return_sequences, on_text)
    input_ids, attention_mask = _encode(model, tokenizer, prompt)
    ends = list(constraint.vocabulary.eos_ids)
    pad = _pad_id(model, tokenizer, ends)
    options: dict[str, Any] = {"do_sample": temperature > 0}
    if temperature > 0:
        options["temperature"] = float(temperature)
    with _random_state(seed, model.device), torch.inference_mode():
        rows = model.generate(
            input_ids,
            attention_mask=attention_mask,
            max_new_tokens=max_tokens,
            num_beams=1,
            num_return_sequences=num_return_sequences,
            eos_token_id=ends,
            pad_token_id=pad,
            logits_processor=[PDALogitsProcessor(constraint, pad_token_id=pad)],
            streamer=None if on_text is None else _Streamer(constraint.vocabulary, on_text),
            **options,
        )
    return [_generation(constraint, row) for row in rows[:, input_ids.shape[1] :].tolist()]


class _Streamer(BaseStreamer):
    """Hands the text of one row on, character by whole character."""

    def __init__(self, vocab: Vocabulary, on_text: Callable[[str], None]) -> None:
        self._vocab, self._on_text = vocab, on_text
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._prompt_seen = False

    def put(self, value: torch.Tensor) -> None:
        if not self._prompt_seen:
            self._prompt_seen = True
            return
        text = self._decoder.decode(self._vocab.decode(value.tolist()))
        if text:
            self._on_text(text)

    def end(self) -> None:
        """What is left is the beginning of a character: not text."""


def _require_sensible(
    max_tokens: int, temperature: float, num_return_sequences: int, on_text: Callable[[str], None] | None
) -> None:
    if max_tokens < 1:
        raise ValueError(f"max_tokens is {max_tokens}; at least 1 token must be generated")
    if not temperature >= 0:
        raise ValueError(f"temperature is {temperature}; it must be 0 (greedy) or more")
    if num_return_sequences < 1:
        raise ValueError(f"num_return_sequences is {num_return_sequences}; it must be at least 1")
    if num_return_sequences > 1 and temperature == 0:
        raise ValueError("temperature 0 generates one text only; give num_return_sequences=1 or a temperature above 0")
    if num_return_sequences > 1 and on_text is not None:
        raise ValueError("on_text follows one text only; give num_return_sequences=1")


def _encode(model: Any, tokenizer: Any, prompt: str) -> tuple[torch.Tensor, torch.Tensor]:
    ids = tokenizer(prompt)["input_ids"]
    if not ids:
        begin = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
        if begin is None:
            raise ValueError("the prompt is empty and the tokenizer has no begin token; give a prompt")
        ids = [begin]
    input_ids = torch.tensor([ids], device=model.device)
    return input_ids, torch.ones_like(input_ids)


def _pad_id(model: Any, tokenizer: Any, ends: list[int]) -> int | None:
    known = (model.generation_config.pad_token_id, tokenizer.pad_token_id, *ends)
    return next((i for i in known if i is not None), None)


@contextmanager
def _random_state(seed: int | None, device: torch.device) -> Iterator[None]:
    """Draw from a state of its own if a seed is given, and from the global one if not."""
    if seed is None:
        yield
    elif device.type == "cpu":
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            yield
    else:
        with torch.random.fork_rng(device_type=device.type):
            torch.manual_seed(seed)
            yield


def _generation(constraint: Constraint, ids: list[int]) -> Generation:
    matcher = constraint.matcher()
    length = 0
    while length < len(ids) and not matcher.is_terminated() and matcher.accept_token(ids[length]):
        length += 1
    text = constraint.vocabulary.decode(ids[:length]).decode("utf-8", "ignore")
    return Generation(text, tuple(ids[:length]), matcher.is_terminated() or matcher.is_accepting())
