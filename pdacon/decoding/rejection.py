"""Adaptive weighted rejection sampling of one token: a few checks in place of a mask.

Tokens are drawn from the model's own distribution, without replacement, and checked one by one. The first that is
allowed is drawn as the model's distribution among the allowed tokens draws it. How much that distribution is of the
whole is not known without a mask, but can be estimated without bias by some more checks (Lipkin et al. 2025, "Fast
controlled generation from language models with adaptive weighted rejection sampling").

The estimate here is the one of Des Raj (1956) for draws without replacement: what is known to be allowed by now, and,
if the next token drawn is allowed, all that is not known yet. Given the draws up to the first allowed token, each later
draw's estimate has the true mass as its expectation, and so has their mean. It is never 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

_PARTIAL_SORT = 64  # tokens of which the order is sought at first


def draw_by_rejection(
    log_probs: NDArray[np.floating], keys: NDArray[np.floating], is_allowed: Callable[[int], bool], checks: int
) -> tuple[int, float, int]:
    """Draw an allowed token.

    ``log_probs``, float[V]: of the model, normalised. ``keys``, float[V]: tokens are drawn in descending order of
    these: log-probabilities and Gumbel noise. ``is_allowed``: checks a token. ``checks``: how many tokens more are
    checked, at least 1. More make the estimate better.
    Returns: ``token``: -1 if none is allowed. ``log_mass``: the logarithm of an unbiased estimate of the probability of
    all that is allowed; -inf if none is. ``checked``: how many tokens were checked.
    """
    token, allowed_mass, unseen_mass, checked = -1, 0.0, 1.0, 0
    estimates: list[float] = []
    for drawn in _by_descending_key(keys):
        probability = math.exp(log_probs[drawn])
        if probability == 0 or len(estimates) == checks:
            break
        allowed = is_allowed(drawn)
        checked += 1
        if token >= 0:
            estimates.append(allowed_mass + unseen_mass if allowed else allowed_mass)
        elif allowed:
            token = drawn
        allowed_mass += probability if allowed else 0.0
        unseen_mass = max(unseen_mass - probability, 0.0)
    if token < 0:
        return token, -math.inf, checked
    estimates += [allowed_mass] * (checks - len(estimates))  # no token is left: the allowed mass is exact
    return token, math.log(math.fsum(estimates) / checks), checked


def _by_descending_key(keys: NDArray[np.floating]) -> Iterator[int]:
    """Each token once, by descending key; all of them are sorted only if many are asked for."""
    if len(keys) <= _PARTIAL_SORT:
        yield from np.argsort(-keys).tolist()
        return
    parts = np.argpartition(keys, -_PARTIAL_SORT)
    for part in (parts[-_PARTIAL_SORT:], parts[:-_PARTIAL_SORT]):  # keys that are equal stay on their side
        yield from part[np.argsort(-keys[part])].tolist()
