"""`Samples`: texts drawn without bias from what a model writes, given that it writes what a constraint allows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from pdacon.decoding.particles import Drawn, effective_size, log_mean, relative_weights
from pdacon.front.constraint import Constraint
from pdacon.integrations.huggingface.beginnings import Begun
from pdacon.integrations.huggingface.results import Generation, spelled


@dataclass(frozen=True, slots=True)
class Samples:
    """Texts with weights, which together stand for the posterior: the model's own distribution over the sentences.

    Attributes
    ----------
    texts : tuple of Generation
        Each a sentence; the same text may be there several times. Their ids have no end token.
    weights : tuple of float
        One for each text; their sum is 1.
    log_mass : float
        The logarithm of an unbiased estimate of the probability of all sentences (see `Mass`); -inf if no text became a
        sentence.
    effective_sample_size : float
        Of how many texts with equal weights these are worth as much.
    evaluated : int
        For how many texts the model was asked what comes next.
    checked : int
        How many tokens were checked one by one; 0 where masks were computed.
    """

    texts: tuple[Generation, ...]
    weights: tuple[float, ...]
    log_mass: float
    effective_sample_size: float
    evaluated: int
    checked: int

    def draw(self, count: int = 1, seed: int | None = None) -> list[Generation]:
        """Texts by their weights, with replacement.

        Parameters
        ----------
        count : int
        seed : int, optional
            Makes it repeatable.

        Raises
        ------
        ValueError
            No text became a sentence.
        """
        if not self.texts:
            raise ValueError("no text became a sentence within max_tokens; give more tokens, or more particles")
        return Random(seed).choices(self.texts, self.weights, k=count)

    def probabilities(self) -> dict[str, float]:
        """The estimated posterior: of each text that was drawn the sum of its weights, the most probable first."""
        sums: dict[str, float] = {}
        for one, weight in zip(self.texts, self.weights, strict=True):
            sums[one.text] = sums.get(one.text, 0.0) + weight
        return dict(sorted(sums.items(), key=lambda item: -item[1]))


def samples_of(drawn: Drawn, constraint: Constraint, before: Begun) -> Samples:
    """What was drawn, as texts."""
    done = [one for one in drawn.particles if one.done and one.log_weight > -math.inf]
    log_weights = [one.log_weight for one in drawn.particles if one.done] or [-math.inf]
    return Samples(
        tuple(
            Generation(
                _text(one.token_ids, constraint, before),
                tuple(one.token_ids),
                True,
                prefix=before.written,
                grammar=constraint.builtin_name,
                _constraint=constraint,
            )
            for one in done
        ),
        _normalised([one.log_weight for one in done]),
        # What was cut off has no weight, and is counted.
        log_mean([one.log_weight if one.done else -math.inf for one in drawn.particles]),
        effective_size(log_weights),
        drawn.evaluated,
        drawn.checked,
    )


def _text(ids: Sequence[int], constraint: Constraint, before: Begun) -> str:
    text = before.text + spelled(constraint.vocabulary, ids, first=before.nothing)
    return text.decode("utf-8", "ignore")


def _normalised(log_weights: Sequence[float]) -> tuple[float, ...]:
    weights = relative_weights(log_weights)
    total = math.fsum(weights)
    return tuple(weight / total for weight in weights)
