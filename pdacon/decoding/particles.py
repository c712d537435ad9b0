"""Weighted samples of what a model writes under a constraint: importance sampling and sequential Monte Carlo.

A model under a constraint (the *proposal*) writes sentences with other probabilities than the model alone gives them,
after all that are no sentences are left out (the *posterior*). At each step the proposal takes what is allowed and
divides it by its sum; the product of these sums is what a sample has too much, and its weight makes good for it: the
mean of weights is the probability of the whole language, and weighted samples are of the posterior.

With many steps few samples have nearly all the weight. Sequential Monte Carlo (Doucet, de Freitas and Gordon 2001; with
language models Lew et al. 2023, Loula et al. 2025) therefore draws from the samples by their weights, while they are
written, so that those go on that are worth it. The mean of weights stays unbiased.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import torch

from pdacon.decoding.rejection import draw_by_rejection
from pdacon.decoding.states import States
from pdacon.decoding.ways_on import Borders, ways_on
from pdacon.matching import Matcher


@dataclass(slots=True)
class Particle:
    """A text under way, or a whole one."""

    matcher: Matcher  # stands after it
    token_ids: list[int] = field(default_factory=list)  # without the border after it
    log_weight: float = 0.0  # -inf for what was cut off
    log_prob: float = 0.0  # by the model alone, the border included once it is done
    done: bool = False  # whether it is a sentence, and a border follows it

    def copy(self, log_weight: float) -> Particle:
        """The same once more, with another weight."""
        return replace(self, matcher=self.matcher.fork(), token_ids=[*self.token_ids], log_weight=log_weight)


@dataclass(frozen=True, slots=True)
class Drawn:
    """What was drawn."""

    # Their weights are such that their mean is an unbiased estimate of the language's probability.
    particles: list[Particle]
    evaluated: int  # how many rows the model was asked for
    checked: int  # how many single tokens were checked


def draw(
    states: States,
    matcher: Matcher,
    borders: Borders,
    count: int,
    max_tokens: int,
    generator: torch.Generator | None,
    *,
    resample_below: float = 0.0,
    checks: int = 0,
) -> Drawn:
    """Draw texts under a constraint, all at once.

    Parameters
    ----------
    states : States
        The one after the prompt: one row.
    matcher : Matcher
        Stands where the texts begin; it stays there.
    borders : Borders
    count : int
        How many.
    max_tokens : int
        The most tokens; what is no sentence then has no weight.
    generator : torch.Generator or None
        Where chance is from; None: torch's global state.
    resample_below : float
        Draw the texts anew, by their weights, when the effective sample size is below this part of `count`. 0: never,
        which is importance sampling.
    checks : int
        0: the mask says what is allowed. More: tokens are drawn from the model's own distribution and checked one by
        one, and so many more after the first that is allowed (see `draw_by_rejection`).
    """
    choose = partial(_choose_by_rejection, checks) if checks else _choose_by_mask
    particles = [Particle(matcher.fork()) for _ in range(count)]
    row_of = {index: index for index in range(count)}  # of those that are under way
    here = states.rows([0] * count)
    evaluated = checked = 0
    for number in range(max_tokens + 1):
        under_way = [particles[index] for index in row_of]
        checked += choose(here.log_probs, under_way, borders, number == max_tokens, generator)
        parents = list(range(count))
        if resample_below and _effective_size(particles) < resample_below * count:
            parents = _resampled(particles, generator)
            log_weight = log_mean([particle.log_weight for particle in particles])
            particles = [particles[parent].copy(log_weight) for parent in parents]
        going_on = [k for k, one in enumerate(particles) if not one.done and one.log_weight > -math.inf]
        if not going_on:
            break
        here = here.rows([row_of[parents[k]] for k in going_on]).step([particles[k].token_ids[-1] for k in going_on])
        row_of = {k: row for row, k in enumerate(going_on)}
        evaluated += len(going_on)
    return Drawn(particles, evaluated, checked)


def relative_weights(log_weights: Sequence[float]) -> list[float]:
    """Weights divided by the highest, so that none is too large or too small for a float; 0 if all of them are 0."""
    highest = max(log_weights, default=-math.inf)
    return [0.0 if highest == -math.inf else math.exp(one - highest) for one in log_weights]


def log_mean(log_weights: Sequence[float]) -> float:
    """The logarithm of the mean of weights."""
    highest = max(log_weights)
    if highest == -math.inf:
        return highest
    return highest + math.log(math.fsum(relative_weights(log_weights)) / len(log_weights))


def effective_size(log_weights: Sequence[float]) -> float:
    """Of how many equally good samples weighted ones are worth as much (Kong 1992); 0 if all weights are."""
    weights = relative_weights(log_weights)
    return math.fsum(weights) ** 2 / math.fsum(weight * weight for weight in weights) if any(weights) else 0.0


def _effective_size(particles: Sequence[Particle]) -> float:
    return effective_size([particle.log_weight for particle in particles])


def _resampled(particles: Sequence[Particle], generator: torch.Generator | None) -> list[int]:
    """As many particles, each about as often as its weight says: systematic resampling (Carpenter et al. 1999)."""
    weights = relative_weights([particle.log_weight for particle in particles])
    if not any(weights):
        return list(range(len(particles)))
    step = math.fsum(weights) / len(weights)
    point = float(torch.rand((), generator=generator, device=_device_of(generator), dtype=torch.float64)) * step
    chosen, index, passed = [], 0, weights[0]
    for _ in weights:
        while passed < point and index < len(weights) - 1:
            index += 1
            passed += weights[index]
        chosen.append(index)
        point += step
    return chosen


def _device_of(generator: torch.Generator | None) -> torch.device:
    return torch.device("cpu") if generator is None else generator.device


def _choose_by_mask(
    log_probs: torch.Tensor,
    particles: Sequence[Particle],
    borders: Borders,
    last: bool,
    generator: torch.Generator | None,
) -> int:
    """Each particle goes on or stops, as the model says of what is allowed; returns that no token was checked alone."""
    ways = ways_on(log_probs, [particle.matcher for particle in particles], borders)
    tokens = torch.full_like(ways.tokens, -torch.inf) if last else ways.tokens
    of_all = torch.cat([tokens, ways.stop.unsqueeze(1)], dim=1)
    mass = of_all.logsumexp(dim=-1, keepdim=True)
    chances = (of_all - mass).exp()
    chances[mass.flatten() == -torch.inf, :] = 1.0  # nothing is left: whatever is drawn has no weight
    choices = torch.multinomial(chances, 1, generator=generator)
    chosen = of_all.gather(1, choices).flatten().tolist()
    for particle, choice, left, log_prob in zip(
        particles, choices.flatten().tolist(), mass.flatten().tolist(), chosen, strict=True
    ):
        _go_on(particle, None if choice == tokens.shape[1] else choice, left, log_prob)
    return 0


def _choose_by_rejection(
    checks: int,
    log_probs: torch.Tensor,
    particles: Sequence[Particle],
    borders: Borders,
    last: bool,
    generator: torch.Generator | None,
) -> int:
    """Each particle goes on or stops, by tokens that are checked one by one; returns how many were."""
    draws = torch.empty_like(log_probs).exponential_(generator=generator)
    # The tokens in the order in which they would be drawn without replacement (Gumbel keys: Yellott 1977).
    keys = (log_probs - draws.log()).cpu().numpy()
    checked = 0
    for particle, row, own in zip(particles, log_probs.cpu().numpy(), keys, strict=True):
        matcher = particle.matcher
        ends = borders.ids if matcher.is_accepting() else frozenset()
        token, log_mass, number = draw_by_rejection(
            row, own, partial(_is_allowed, matcher, ends, borders.size, last), checks
        )
        checked += number
        _go_on(particle, None if token in ends else token, log_mass, -math.inf if token < 0 else float(row[token]))
    return checked


def _is_allowed(matcher: Matcher, ends: frozenset[int], size: int, last: bool, token: int) -> bool:
    """Whether a text may stop with a token, or go on with it."""
    return token in ends or (not last and token < size and matcher.is_allowed(token))


def _go_on(particle: Particle, token: int | None, log_mass: float, log_prob: float) -> None:
    """One step of a particle; None: it stops."""
    particle.log_weight += log_mass
    particle.log_prob += log_prob
    if particle.log_weight == -math.inf:
        return
    if token is None:
        particle.done = True
    else:
        particle.matcher.accept_token(token)
        particle.token_ids.append(token)
