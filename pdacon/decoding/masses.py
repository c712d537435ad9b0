"""`Mass`: how probable all texts together are that a constraint allows, and how well that is known."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Literal, get_args

import torch

from pdacon.base.arguments import require_number
from pdacon.decoding.particles import Particle, draw, effective_size, log_mean
from pdacon.decoding.states import States
from pdacon.decoding.tries import evaluate, lay_out
from pdacon.decoding.ways_on import Borders
from pdacon.detokenizer import Vocabulary
from pdacon.integrations.huggingface.beginnings import Begun
from pdacon.integrations.huggingface.results import spelled
from pdacon.matching import Matcher

Method = Literal["auto", "exact", "sampling"]


@dataclass(frozen=True, slots=True)
class Mass:
    """The probability that a model, without the constraint, writes a text that the constraint allows.

    Attributes
    ----------
    log_mass : float
        Its natural logarithm, or that of an unbiased estimate of it.
    exact : bool
        Whether all allowed sequences of tokens were summed up; if not, it is an estimate.
    relative_error : float
        The standard error of the estimate, divided by it; 0 if it is exact.
    samples : int
        How many sequences of tokens were drawn; 0 if it is exact.
    effective_sample_size : float
        Of how many equally good samples the estimate is worth as much: ``(sum of weights)² / sum of their squares``.
        Where it is far below `samples`, few samples decide, and the standard error is too small.
    log_lower_bound : float
        Of all different sequences that were seen: the mass cannot be less.
    evaluated : int
        For how many texts the model was asked what comes next.
    texts : mapping of str to float
        The texts with the logarithms of their probabilities, each over all of its sequences of tokens, the most
        probable first. If the mass is no exact one: of the sequences that were drawn, so some may be missing.
    """

    log_mass: float
    exact: bool
    relative_error: float
    samples: int
    effective_sample_size: float
    log_lower_bound: float
    evaluated: int
    texts: Mapping[str, float] = field(repr=False)

    @property
    def mass(self) -> float:
        """The probability, from 0 to 1; an estimate may be above."""
        return math.exp(self.log_mass)

    @property
    def standard_error(self) -> float:
        """Of `mass`; 0 if it is exact, and infinite if no sample was a sentence."""
        return math.inf if math.isinf(self.relative_error) else self.relative_error * self.mass

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Bounds between which the probability lies: both are it, if it is exact.

        By the normal approximation, which holds if the effective sample size is some dozens; never below what the
        sequences that were seen have together.

        Parameters
        ----------
        confidence : float
            How often such bounds are right, between 0 and 1.

        Raises
        ------
        ValueError
        """
        require_number("interval", "confidence", confidence, "a number between 0 and 1")
        if not 0 < confidence < 1:
            raise ValueError(f"confidence is {confidence}; it is between 0 and 1")
        if self.exact:
            return self.mass, self.mass
        around = NormalDist().inv_cdf((1 + confidence) / 2) * self.standard_error
        least = math.exp(self.log_lower_bound)
        return max(self.mass - around, least), min(max(self.mass + around, least), 1.0)

    def __float__(self) -> float:
        return self.mass


def mass_of(
    behind: Callable[[], States],
    matcher: Matcher,
    borders: Borders,
    vocabulary: Vocabulary,
    before: Begun,
    *,
    max_tokens: int,
    method: Method,
    most_prefixes: int,
    samples: int,
    seed: int | None,
    batch_size: int,
    device: torch.device,
) -> Mass:
    """Return the probability of all that a matcher allows.

    Parameters
    ----------
    behind : callable
        Makes the state after the prompt.
    matcher : Matcher
        Stands where the texts begin.
    borders : Borders
    vocabulary : Vocabulary
        What the ids spell.
    before : Begun
        What all texts begin with.
    max_tokens, method, most_prefixes, samples, seed, batch_size
        See `Pipeline.compute_probability_mass`.
    device : torch.device
        Where the scores are.

    Raises
    ------
    ValueError
    """
    if method not in get_args(Method):
        raise ValueError(f"method is one of {', '.join(map(repr, get_args(Method)))}, not {method!r:.40}")
    for name, number in (("most_prefixes", most_prefixes), ("samples", samples), ("batch_size", batch_size)):
        if number < 1:
            raise ValueError(f"{name} is {number}; it must be at least 1")
    if method != "sampling":
        root = lay_out(matcher, borders, max_tokens, most_prefixes)
        if root is not None:
            sentences, evaluated = evaluate(root, behind(), borders, batch_size)
            sequences = {node.token_ids(): log_prob for node, log_prob in sentences}
            total = _log_sum(list(sequences.values()))
            return Mass(total, True, 0.0, 0, 0.0, total, evaluated, _texts(sequences, vocabulary, before))
        if method == "exact":
            raise ValueError(
                f"there are more than {most_prefixes} beginnings of allowed sequences of tokens; give more "
                "most_prefixes, a smaller max_tokens, or method='sampling'"
            )
    generator = None if seed is None else torch.Generator(device).manual_seed(seed)
    states, evaluated = behind(), 0
    particles: list[Particle] = []
    while len(particles) < samples:
        some = min(batch_size, samples - len(particles))
        drawn = draw(states, matcher, borders, some, max_tokens, generator)
        particles += drawn.particles
        evaluated += drawn.evaluated
    sequences = {tuple(one.token_ids): one.log_prob for one in particles if one.done}
    log_weights = [one.log_weight for one in particles]
    return Mass(
        log_mean(log_weights),
        False,
        _relative_error(log_weights),
        samples,
        effective_size(log_weights),
        _log_sum(list(sequences.values())),
        evaluated,
        _texts(sequences, vocabulary, before),
    )


def _relative_error(log_weights: Sequence[float]) -> float:
    """The standard error of the mean of weights, divided by it; infinite where it is not known."""
    mean = log_mean(log_weights)
    if mean == -math.inf or len(log_weights) < 2:
        return math.inf
    squares = math.fsum((math.exp(one - mean) - 1) ** 2 for one in log_weights)
    return math.sqrt(squares / (len(log_weights) - 1) / len(log_weights))


def _log_sum(logarithms: Sequence[float]) -> float:
    return log_mean(logarithms) + math.log(len(logarithms)) if logarithms else -math.inf


def _texts(sequences: Mapping[tuple[int, ...], float], vocabulary: Vocabulary, before: Begun) -> dict[str, float]:
    """The texts that sequences of tokens spell, the most probable first."""
    of_text: dict[str, list[float]] = {}
    for ids, log_prob in sequences.items():
        text = before.text + spelled(vocabulary, ids, first=before.nothing)
        of_text.setdefault(text.decode("utf-8", "backslashreplace"), []).append(log_prob)
    sums = {text: _log_sum(logarithms) for text, logarithms in of_text.items()}
    return dict(sorted(sums.items(), key=lambda item: -item[1]))
