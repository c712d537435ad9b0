"""The choice of each next token, for all rows of a batch, by what the request of each row says.

Continuous batching has one temperature, one seed and no probabilities of other tokens for a whole batch. So this
processor, the last one, draws the tokens itself, and leaves to the host one token in each row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from transformers.generation.continuous_batching.cb_logits_processors import ContinuousBatchingLogitsProcessor

from pdacon.frontends.tool_formats import AnswerReader

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
class Scoring:
    """What is added to the model's scores of tokens, by what was written so far.

    As OpenAI has them: ``presence`` is taken from the score of each token that was written, and ``frequency`` for each
    time that it was. As CTRL (Keskar et al. 2019) has it: ``repetition`` divides the scores of tokens of prompt and
    answer, or multiplies those below 0. ``bias``: what is added, by token. ``prompt``: its tokens.
    """

    presence: float = 0.0
    frequency: float = 0.0
    repetition: float = 1.0
    bias: Mapping[int, float] = field(default_factory=dict)
    prompt: frozenset[int] = frozenset()
    written: Counter[int] = field(default_factory=Counter)

    def add_to(self, scores: torch.Tensor) -> None:
        """Change the scores of a row, float[columns], in place; what is not allowed stays so."""
        if self.bias:
            scores[list(self.bias)] += torch.tensor(list(self.bias.values()), device=scores.device)
        seen = sorted(self.prompt.union(self.written))
        if self.repetition != 1.0 and seen:
            own = scores[seen]
            scores[seen] = torch.where(own > 0, own / self.repetition, own * self.repetition)
        if self.written and (self.presence or self.frequency):
            counts = torch.tensor(list(self.written.values()), dtype=scores.dtype, device=scores.device)
            scores[list(self.written)] -= self.presence + self.frequency * counts


class ThoughtBudget:
    """Ends a thought after so many tokens.

    ``most``: tokens of thoughts. ``end``: the tokens of the mark that ends one. ``reader``: of the answer. ``begun``:
    whether the prompt has begun a thought.
    """

    def __init__(self, most: int, end: Sequence[int], reader: AnswerReader, begun: bool) -> None:
        self._left = most
        self._end = tuple(end)
        self._reader = reader
        self._next: list[int] = list(end) if begun and not most else []

    def required(self, scores: torch.Tensor) -> int | None:
        """The token that has to come, if it may, by the scores of a row; None: any may."""
        if self._next and scores[self._next[0]] > -torch.inf:
            return self._next[0]
        self._next = []
        return None

    def note(self, token: int) -> None:
        """Go on with a token that was chosen."""
        self._reader.feed(token)
        if self._next:
            del self._next[0]
        elif self._reader.is_in_thought:
            self._left -= 1
            if self._left <= 0:
                self._next = list(self._end)


@dataclass(slots=True)
class Sampling:
    """How the tokens of one answer are chosen, and what is written down of it."""

    temperature: float = 1.0  # 0: the likeliest one
    top_k: int = 0  # of so many likeliest ones; below 1: of all
    top_p: float = 1.0  # of the likeliest ones that have this probability together
    min_p: float = 0.0  # of those that have this part of the likeliest one's probability
    seed: int | None = None  # makes the choices repeatable
    scoring: Scoring | None = None  # what is added to the model's scores
    thinking: ThoughtBudget | None = None  # how long the model may think
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
        tokens = chosen(_scored(masked, rows), rows)
        for index, row in enumerate(rows):
            _look_after(row, masked[index], tokens, index)
        _write_down(masked, tokens, rows)
        answer = scores.clone()
        answer[: len(rows)] = -torch.inf
        answer[torch.arange(len(rows), device=scores.device), tokens] = 0
        return answer


def _scored(scores: torch.Tensor, rows: Sequence[Sampling]) -> torch.Tensor:
    """The scores with what the rows add to them; the model's own are kept, for their probabilities."""
    if all(row.scoring is None for row in rows):
        return scores
    scored = scores.clone()
    for index, row in enumerate(rows):
        if row.scoring is not None:
            row.scoring.add_to(scored[index])
    return scored


def _look_after(row: Sampling, scores: torch.Tensor, tokens: torch.Tensor, index: int) -> None:
    """Put the token that has to come in the place of the one that was chosen, and note which it is."""
    if row.thinking is not None:
        required = row.thinking.required(scores)
        if required is not None:
            tokens[index] = required
        row.thinking.note(int(tokens[index]))
    if row.scoring is not None:
        row.scoring.written[int(tokens[index])] += 1


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
    kept &= probability >= probability[:, :1] * column([row.min_p for row in asked])
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
