"""Adaptive weighted rejection sampling of one token: a few checks in place of a mask.

Tokens are drawn from the model's own distribution, without putting back, and checked one by one. The first that is
allowed is drawn as the model's distribution among the allowed tokens draws it. How much that distribution is of the
whole is not known without a mask, but can be estimated without bias by some more checks (Lipkin et al. 2025, "Fast
controlled generation from language models with adaptive weighted rejection sampling").

The estimate here is the one of Des Raj (1956) for draws without putting back: what is known to be allowed by now, and,
if the next token drawn is allowed, all that is not known yet. Given the draws up to the first allowed token, each later
draw's estimate has the true mass as its expectation, and so has their mean. It is never 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

_FIRST = 64  # tokens of which the order is sought at first


def draw_by_rejection(
    log_probs: NDArray[np.floating], keys: NDArray[np.floating], is_allowed: Callable[[int], bool], checks: int
) -> tuple[int, float, int]:
    """Draw an allowed token.

    Parameters
    ----------
    log_probs : float[V]
        Of the model, normalised.
    keys : float[V]
        Tokens are drawn in descending order of these: log-probabilities and Gumbel noise.
    is_allowed : callable
        Checks a token.
    checks : int
        How many tokens more are checked, at least 1. More make the estimate better.

    Returns
    -------
    token : int
        -1 if none is allowed.
    log_mass : float
        The logarithm of an unbiased estimate of the probability of all that is allowed; -inf if none is.
    checked : int
        How many tokens were checked.
    """
    token, known, unknown, checked = -1, 0.0, 1.0, 0
    estimates: list[float] = []
    for candidate in _in_order(keys):
        chance = math.exp(log_probs[candidate])
        if chance == 0 or len(estimates) == checks:
            break
        allowed = is_allowed(candidate)
        checked += 1
        if token >= 0:
            estimates.append(known + unknown if allowed else known)
        elif allowed:
            token = candidate
        known += chance if allowed else 0.0
        unknown = max(unknown - chance, 0.0)
    if token < 0:
        return token, -math.inf, checked
    estimates += [known] * (checks - len(estimates))  # all are known
    return token, math.log(math.fsum(estimates) / checks), checked


def _in_order(keys: NDArray[np.floating]) -> Iterator[int]:
    """The tokens by descending key; all of them are sorted only if many are asked for."""
    if len(keys) > _FIRST:
        first = np.argpartition(keys, -_FIRST)[-_FIRST:]
        first = first[np.argsort(-keys[first])]
        yield from first.tolist()
        yield from np.argsort(-keys)[_FIRST:].tolist()
    else:
        yield from np.argsort(-keys).tolist()
