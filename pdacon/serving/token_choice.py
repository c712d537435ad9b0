"""The choice of each next token, for all rows of a batch, by what the request of each row says.

Continuous batching has one temperature, one seed and no probabilities of other tokens for a whole batch. So this
processor, the last one, draws the tokens itself, and leaves to the host one token in each row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from transformers.generation.continuous_batching.cb_logits_processors import ContinuousBatchingLogitsProcessor

_NOBODY = -1


@dataclass(frozen=True, slots=True)
class ChosenToken:
    """A chosen token with its log-probability under the constraint, and the likeliest others.

    Probabilities are the model's own at temperature 1, spread over the tokens that are allowed.
    """

    token: int
    logprob: float
    others: tuple[tuple[int, float], ...]


@dataclass(slots=True)
class Sampling:
    """How the tokens of one answer are chosen, and what is written down of it."""

    temperature: float = 1.0  # 0: the likeliest one
    top_k: int = 0  # of so many likeliest ones; below 1: of all
    top_p: float = 1.0  # of the likeliest ones that have this probability together
    seed: int | None = None  # makes the choices repeatable
    # For how many tokens the probabilities are written down at each step; None: none, not even of the chosen one.
    others: int | None = None
    choices: list[ChosenToken] = field(default_factory=list)
    _random: np.random.Generator | None = None

    def draw(self) -> float:
        """The next number in [0, 1) of this answer."""
        if self._random is None:
            self._random = np.random.default_rng(None if self.seed is None else self.seed % 2**64)
        return float(self._random.random())


class Sampler(ContinuousBatchingLogitsProcessor):
    """Chooses a token in each row; `samplings` has how, by request."""

    supported_kwargs: dict[str, type] = {}  # noqa: RUF012 (the host's declaration)
    ignored_kwargs: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.samplings: dict[str, Sampling] = {}
        self._rows: list[Sampling] = []

    def fill_defaults(self, int32_tensor: torch.Tensor) -> None:
        """Rows that only pad belong to nobody."""
        int32_tensor.fill_(_NOBODY)

    def prepare_tensor_args(self, requests_with_new_token: Sequence[Any]) -> torch.Tensor:
        """Note whose rows they are: int32[requests]."""
        self._rows = [self.samplings.get(one.state.request_id) or Sampling(0.0) for one in requests_with_new_token]
        return torch.arange(len(self._rows), dtype=torch.int32)

    def __call__(self, scores: torch.Tensor, tensor_arg: torch.Tensor) -> torch.Tensor:
        """Scores of shape (tokens, columns) with one token in each row that is somebody's."""
        rows = self._rows[: scores.shape[0]]
        if not rows:
            return scores
        masked = scores[: len(rows)].float()
        tokens = chosen(masked, rows)
        _write_down(masked, tokens, rows)
        answer = scores.clone()
        answer[: len(rows)] = -torch.inf
        answer[torch.arange(len(rows), device=scores.device), tokens] = 0
        return answer


def chosen(scores: torch.Tensor, rows: Sequence[Sampling]) -> torch.Tensor:
    """One token for each row: int64[rows].

    The number that a row draws is held against the cumulated probabilities of its tokens, the likeliest first
    (inversion), so that it depends on nothing but the row, whatever else is in the batch.
    """
    likeliest = scores.argmax(dim=-1)
    drawn = [index for index, row in enumerate(rows) if row.temperature > 0]
    if not drawn:
        return likeliest
    place = torch.tensor(drawn, device=scores.device)
    asked = [rows[index] for index in drawn]

    def column(values: list[float]) -> torch.Tensor:
        return torch.tensor(values, dtype=torch.float64, device=scores.device).unsqueeze(1)

    temperature = column([max(row.temperature, 1e-4) for row in asked])
    ordered, tokens = (scores[place].double() / temperature).sort(dim=-1, descending=True, stable=True)
    probability = ordered.softmax(dim=-1)
    before = probability.cumsum(dim=-1) - probability
    rank = torch.arange(scores.shape[1], device=scores.device)
    most = column([row.top_k if row.top_k > 0 else scores.shape[1] for row in asked])
    kept = (rank < most) & (before < column([row.top_p for row in asked])) & (ordered > -torch.inf)
    kept[:, 0] = True
    cumulated = (probability * kept).cumsum(dim=-1)
    target = column([row.draw() for row in asked]) * cumulated[:, -1:]
    index = torch.minimum((cumulated <= target).sum(dim=-1), kept.sum(dim=-1) - 1)
    likeliest[place] = tokens.gather(1, index.unsqueeze(1)).squeeze(1)
    return likeliest


def _write_down(scores: torch.Tensor, tokens: torch.Tensor, rows: Sequence[Sampling]) -> None:
    for index, row in enumerate(rows):
        if row.others is None:
            continue
        probabilities = scores[index].log_softmax(dim=-1)
        token = int(tokens[index])
        best = probabilities.topk(min(row.others, len(probabilities)))
        others = tuple(
            (int(other), float(value))
            for other, value in zip(best.indices, best.values, strict=True)
            if value > -torch.inf
        )
        row.choices.append(ChosenToken(token, float(probabilities[token]), others))
