"""How probable a given text is, by the model alone and under a constraint."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from pdacon.base.quoting import head
from pdacon.decoding.ways_on import Borders, ways_on
from pdacon.integrations.huggingface.diagnostics import MOST_SCORES, log_softmax, scores_behind
from pdacon.integrations.huggingface.padded_prompts import Inputs, context_length
from pdacon.matching import Matcher


@dataclass(frozen=True, slots=True)
class TextProbability:
    """The probability that a model answers a prompt with a text, in the tokens that the tokenizer makes of it.

    Attributes
    ----------
    text : str
    token_ids : tuple of int
        The text's tokens; the border after it is none of them.
    log_prob : float
        The natural logarithm of the probability by the model alone, the border included.
    constrained_log_prob : float
        The same by the model under the constraint: with this probability the text is generated at temperature 1. -inf
        where the constraint does not allow it; as `log_prob` where there is no constraint.
    log_probs : tuple of float
        Of each token by the model alone, and of the border.
    """

    text: str
    token_ids: tuple[int, ...]
    log_prob: float
    constrained_log_prob: float
    log_probs: tuple[float, ...]

    @property
    def probability(self) -> float:
        """By the model alone."""
        return math.exp(self.log_prob)

    @property
    def constrained_probability(self) -> float:
        """By the model under the constraint."""
        return math.exp(self.constrained_log_prob)

    def __float__(self) -> float:
        return self.probability


def of_texts(
    model: Any, inputs: Inputs, texts: Sequence[tuple[str, tuple[int, ...]]], matcher: Matcher | None, borders: Borders
) -> list[TextProbability]:
    """Return the probability of each text after one prompt.

    ``inputs``: the prompt: one row. ``texts``: each with its tokens. ``matcher``: stands where the texts begin; it
    stays there.
    Raises ValueError: a text does not fit into the model's context.
    """
    prompt = inputs.arguments["decoder_input_ids" if model.config.is_encoder_decoder else "input_ids"][0]
    longest, most = max(len(ids) for _, ids in texts), context_length(model)
    if most is not None and len(prompt) + longest > most:
        text = next(text for text, ids in texts if len(ids) == longest)
        raise ValueError(
            f"the text {head(text.encode())} has {longest:,} tokens, and its prompt {len(prompt):,}: more than the "
            f"{most:,} of the model's context"
        )
    output = torch.zeros((len(texts), len(prompt) + longest), dtype=torch.int64, device=prompt.device)
    output[:, : len(prompt)] = prompt
    for row, (_, ids) in enumerate(texts):
        output[row, len(prompt) : len(prompt) + len(ids)] = torch.tensor(ids, dtype=torch.int64)
    part = max(1, MOST_SCORES // ((longest + 1) * len(borders.mask)))
    found = []
    for first in range(0, len(texts), part):
        several = texts[first : first + part]
        scores = scores_behind(model, inputs, output, range(first, first + len(several)), len(prompt) - 1)
        for (text, ids), rows in zip(several, scores, strict=True):
            found.append(_of_text(text, ids, rows[: len(ids) + 1], matcher, borders))
    return found


def _of_text(
    text: str, ids: tuple[int, ...], scores: torch.Tensor, matcher: Matcher | None, borders: Borders
) -> TextProbability:
    """The probability of one text from the scores float[tokens + 1, columns] of its tokens and its border."""
    log_probs = log_softmax(scores)
    chosen = log_probs[range(len(ids)), list(ids)]
    border = log_probs[-1].masked_fill(~borders.mask, -torch.inf).logsumexp(dim=-1)
    own = (*chosen.tolist(), min(float(border), 0.0))
    log_prob = math.fsum(own)
    constrained = log_prob if matcher is None else _constrained(ids, log_probs, matcher, borders)
    return TextProbability(text, ids, log_prob, constrained, own)


def _constrained(ids: tuple[int, ...], log_probs: torch.Tensor, matcher: Matcher, borders: Borders) -> float:
    matchers = [matcher.fork()]
    for token in ids:
        behind = matchers[-1].fork()
        if token >= borders.size or not behind.accept_token(token):
            return -math.inf
        matchers.append(behind)
    ways = ways_on(log_probs, matchers, borders)
    kept = torch.cat([ways.tokens[range(len(ids)), list(ids)], ways.stop[-1:]])
    # As the sum without a constraint is rounded: where nothing was removed the two are equal.
    return min(math.fsum((kept - ways.mass.clamp(max=0)).tolist()), 0.0)
