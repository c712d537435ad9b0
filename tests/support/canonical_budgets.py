"""What budgets are under a canonical filter, by the tokenizations of all texts of a finite language.

A token keeps within a budget if some text goes on from it within what is left, in the tokenizer's own tokens. What is
allowed is among these; that some are missing is counted, since plans are no more than upper bounds.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache

from pdacon import Budget, Constraint, Matcher

Followers = dict[tuple[int, ...], set[int]]


@dataclass
class Compared:
    """How near the bounds are to what is true.

    Attributes
    ----------
    places, beyond : int
        Beginnings of texts, and those whose least number of tokens or bytes is known too high.
    allowed, missing : int
        Tokens that keep within budgets, in random texts, and those that are not allowed all the same.
    """

    places: int = 0
    beyond: int = 0
    allowed: int = 0
    missing: int = 0


def least_of(matcher: Matcher, unit: str) -> int:
    return matcher.least_tokens() if unit == "tokens" else matcher.least_bytes()


def compare_budgets(
    constraint: Constraint,
    followers: Followers,
    unit: str,
    found: Compared,
    *,
    texts: int = 30,
    strip_leading_space: bool = False,
) -> None:
    """Compare each beginning, and random texts under budgets from the least one on, which must end within them."""
    vocabulary = constraint.vocabulary
    end, rng = vocabulary.eos_ids[0], random.Random(3)

    def cost(before: tuple[int, ...], token: int) -> int:
        text = vocabulary.tokens[token] or b""
        return 1 if unit == "tokens" else len(text) - (strip_leading_space and not before and text.startswith(b" "))

    @cache
    def least(before: tuple[int, ...]) -> int:
        return min(0 if token == end else cost(before, token) + least((*before, token)) for token in followers[before])

    for before in followers:
        matcher = constraint.matcher(strip_leading_space=strip_leading_space)
        assert all(map(matcher.accept_token, before))
        known = least_of(matcher, unit)
        assert known >= least(before), (before, matcher.text)
        found.places += 1
        found.beyond += known > least(before)
    start = least_of(constraint.matcher(strip_leading_space=strip_leading_space), unit)
    most = max(sum(cost(before[:at], token) for at, token in enumerate(before)) for before in followers)
    for _ in range(texts):
        budget, soft = rng.randint(start, max(start, most + 1)), rng.choice([None, None, 0, 2])
        limit = Budget(**{unit: budget}, soft=soft)
        matcher = constraint.matcher(strip_leading_space=strip_leading_space, budget=limit)
        before, left = (), budget
        while not matcher.is_terminated():
            within = {
                token
                for token in followers[before]
                if token == end or cost(before, token) + least((*before, token)) <= left
            }
            allowed = matcher.allowed_tokens()
            assert allowed
            assert within.issuperset(allowed), (before, left)
            assert allowed == [token for token in range(vocabulary.size) if matcher.is_allowed(token)]
            assert least_of(matcher, unit) <= left
            if soft is None:
                found.allowed += len(within)
                found.missing += len(within) - len(allowed)
            token = rng.choice(allowed)
            assert matcher.accept_token(token)
            left -= 0 if token == end else cost(before, token)
            assert (matcher.tokens_left if unit == "tokens" else matcher.bytes_left) == left
            before = (*before, token)
