"""A model after several texts that share a prompt: what may come next, and how each of them goes on.

The prompt is read once. What is known of a text is its row in the model's key-value cache; rows can be copied, so texts
with a common beginning share the work for it.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers.cache_utils import Cache, DynamicLayer, EncoderDecoderCache
from transformers.modeling_outputs import BaseModelOutput

from pdacon.integrations.huggingface.diagnostics import log_softmax
from pdacon.integrations.huggingface.prompts import context_length


@dataclass(frozen=True, slots=True)
class _Call:
    """How a model is called for one more token of each row, found out once.

    Attributes
    ----------
    model : transformers.PreTrainedModel
    ids, cache : str
        The names of what it takes, and of the cache, which has two.
    others : dict
    most : int or None
        The tokens of its context: the prompt and what follows.
    """

    model: Any
    ids: str
    cache: str
    others: dict[str, int]
    most: int | None

    @classmethod
    def of(cls, model: Any) -> _Call:
        parameters = inspect.signature(model.forward).parameters
        return cls(
            model,
            "decoder_input_ids" if model.config.is_encoder_decoder else "input_ids",
            "cache" if "cache" in parameters else "past_key_values",  # the older name
            {"logits_to_keep": 1} if "logits_to_keep" in parameters else {},
            context_length(model),
        )

    def states(self, ids: torch.Tensor, length: int, encoded: torch.Tensor | None, cache: Any = None) -> States:
        """The states after rows of ids, with which there are so many tokens in a row."""
        if self.most is not None and length > self.most:
            raise ValueError(
                f"with its prompt a text has more than {self.most:,} tokens, which is all that the model's context "
                "holds; give a smaller max_tokens, or a shorter prompt"
            )
        arguments: dict[str, Any] = {self.ids: ids, **self.others}
        if cache is not None:
            arguments[self.cache] = cache
        if encoded is not None:
            arguments["encoder_outputs"] = BaseModelOutput(last_hidden_state=encoded)
        with torch.inference_mode():
            output = self.model(**arguments, use_cache=True)
            log_probs = log_softmax(output.logits[:, -1])
        kept = output.get(self.cache)
        if not isinstance(kept, Cache):
            raise TypeError(
                f"{type(self.model).__name__} gives no cache of keys and values that can be copied, which beams need, "
                "too: take another model"
            )
        return States(self, log_probs, kept, encoded, length)


class States:
    """One state of a model for each of several texts, all of the same number of tokens.

    Use `behind` for the first one; then `rows` chooses and copies, and `step` goes on by a token.

    Attributes
    ----------
    log_probs : float[rows, columns]
        The logarithms of the model's probabilities of the next token, after each text. In float64 where the device
        has it.
    """

    def __init__(
        self, call: _Call, log_probs: torch.Tensor, cache: Any, encoded: torch.Tensor | None, length: int
    ) -> None:
        self._call = call
        self.log_probs = log_probs
        self._cache = cache
        self._encoded = encoded
        self._length = length  # of a row, the prompt included

    @classmethod
    def behind(cls, model: Any, arguments: dict[str, torch.Tensor]) -> States:
        """The state after one prompt.

        Parameters
        ----------
        model : transformers.PreTrainedModel
        arguments : dict
            The prompt, as ``Inputs.arguments`` has it: one row, so that there is no padding.

        Raises
        ------
        TypeError
            The model keeps no cache that could be copied.
        """
        call, encoded = _Call.of(model), None
        if model.config.is_encoder_decoder:
            with torch.inference_mode():
                encoded = model.get_encoder()(
                    input_ids=arguments["input_ids"], attention_mask=arguments["attention_mask"]
                ).last_hidden_state
        ids = arguments[call.ids]
        return call.states(ids, ids.shape[1], encoded)

    def rows(self, indices: Sequence[int]) -> States:
        """The states of these rows, each as often as it is named; those that there are stay as they are.

        Cost: a copy of what the cache has of them.
        """
        chosen = torch.tensor(indices, dtype=torch.int64, device=self.log_probs.device)
        with torch.inference_mode():
            cache = _selected(self._cache, chosen)
        encoded = None if self._encoded is None else self._encoded[chosen]
        return States(self._call, self.log_probs[chosen], cache, encoded, self._length)

    def step(self, tokens: Sequence[int]) -> States:
        """The states after one more token for each row. This object is used up: its cache goes over.

        Raises
        ------
        ValueError
            The model's context is full.
        """
        ids = torch.tensor(tokens, dtype=torch.int64, device=self.log_probs.device).unsqueeze(1)
        cache, self._cache = self._cache, None
        return self._call.states(ids, self._length + 1, self._encoded, cache)


def _selected(cache: Any, rows: torch.Tensor) -> Any:
    """A cache of these rows that shares nothing which a step changes."""
    chosen = copy.copy(cache)
    if isinstance(cache, EncoderDecoderCache):
        chosen.self_attention_cache = _selected(cache.self_attention_cache, rows)
        chosen.cross_attention_cache = _selected(cache.cross_attention_cache, rows)
        chosen.is_updated = dict(cache.is_updated)
        return chosen
    # Keys and values are replaced by what is selected of them; what else a layer has may be changed in its place.
    chosen.layers = [
        copy.copy(layer) if isinstance(layer, DynamicLayer) else copy.deepcopy(layer) for layer in cache.layers
    ]
    chosen.reorder_cache(rows)
    return chosen
