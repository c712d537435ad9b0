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
from pdacon.integrations.huggingface.padded_prompts import context_length


@dataclass(frozen=True, slots=True)
class _Call:
    """How a model's `forward` takes one more token of each row; read off its signature once."""

    model: Any
    ids_parameter: str  # the name of what the ids are given as
    cache_parameter: str  # ``past_key_values``; in older models ``cache``
    extra_arguments: dict[str, int]  # ``logits_to_keep=1`` where the model has it
    context_length: int | None  # the most tokens of a text, its prompt included

    @classmethod
    def for_model(cls, model: Any) -> _Call:
        """How this model is called."""
        parameters = inspect.signature(model.forward).parameters
        return cls(
            model,
            "decoder_input_ids" if model.config.is_encoder_decoder else "input_ids",
            "cache" if "cache" in parameters else "past_key_values",  # the older name
            {"logits_to_keep": 1} if "logits_to_keep" in parameters else {},
            context_length(model),
        )

    def run(self, ids: torch.Tensor, length: int, encoded: torch.Tensor | None, cache: Any = None) -> States:
        """The states after a call with ids: int64[rows, n].

        ``length`` is how many tokens a row has then, ``encoded`` what the encoder gave, ``cache`` what was read before.
        """
        if self.context_length is not None and length > self.context_length:
            raise ValueError(
                f"with its prompt a text has more than {self.context_length:,} tokens, which is all that the model's "
                "context holds; give a smaller max_tokens, or a shorter prompt"
            )
        arguments: dict[str, Any] = {self.ids_parameter: ids, **self.extra_arguments}
        if cache is not None:
            arguments[self.cache_parameter] = cache
        if encoded is not None:
            arguments["encoder_outputs"] = BaseModelOutput(last_hidden_state=encoded)
        with torch.inference_mode():
            output = self.model(**arguments, use_cache=True)
            log_probs = log_softmax(output.logits[:, -1])
        new_cache = output.get(self.cache_parameter)
        if not isinstance(new_cache, Cache):
            raise TypeError(
                f"{type(self.model).__name__} gives no cache of keys and values that can be copied; take another model"
            )
        return States(self, log_probs, new_cache, encoded, length)


class States:
    """Next-token log-probabilities and the key-value cache of a batch of texts of equal length.

    Use `after_prompt` for the first one; then `rows` chooses and copies, and `step` goes on by a token.

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
    def after_prompt(cls, model: Any, arguments: dict[str, torch.Tensor]) -> States:
        """The state after one prompt.

        ``arguments``: the prompt, as ``Inputs.arguments`` has it: one row, so that there is no padding.
        Raises TypeError: the model keeps no cache that could be copied.
        """
        call, encoded = _Call.for_model(model), None
        if model.config.is_encoder_decoder:
            with torch.inference_mode():
                encoded = model.get_encoder()(
                    input_ids=arguments["input_ids"], attention_mask=arguments["attention_mask"]
                ).last_hidden_state
        ids = arguments[call.ids_parameter]
        return call.run(ids, ids.shape[1], encoded)

    def rows(self, indices: Sequence[int]) -> States:
        """A batch of these rows, in this order; a row may come several times. This object stays usable.

        Cost: a copy of their caches.
        """
        index = torch.tensor(indices, dtype=torch.int64, device=self.log_probs.device)
        with torch.inference_mode():
            cache = _select_rows(self._cache, index)
        encoded = None if self._encoded is None else self._encoded[index]
        return States(self._call, self.log_probs[index], cache, encoded, self._length)

    def step(self, tokens: Sequence[int]) -> States:
        """Feed one token to each row. Afterwards this object cannot be used: its cache was handed over.

        Raises ValueError: the model's context is full.
        """
        ids = torch.tensor(tokens, dtype=torch.int64, device=self.log_probs.device).unsqueeze(1)
        cache, self._cache = self._cache, None
        return self._call.run(ids, self._length + 1, self._encoded, cache)


def _select_rows(cache: Any, rows: torch.Tensor) -> Any:
    """A cache of these rows that shares nothing which a step changes."""
    selected = copy.copy(cache)
    if isinstance(cache, EncoderDecoderCache):
        selected.self_attention_cache = _select_rows(cache.self_attention_cache, rows)
        selected.cross_attention_cache = _select_rows(cache.cross_attention_cache, rows)
        selected.is_updated = dict(cache.is_updated)
        return selected
    # Keys and values are replaced by what is selected of them; what else a layer has may be changed in its place.
    selected.layers = [
        copy.copy(layer) if isinstance(layer, DynamicLayer) else copy.deepcopy(layer) for layer in cache.layers
    ]
    selected.reorder_cache(rows)
    return selected
