"""What canonical masks must be: the tokenizer is asked.

Of a finite language every text is encoded, so the tokens that may follow a prefix are known; of an infinite one texts
are walked at random, and encoded again.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from itertools import product

from pdacon import Constraint


def followers(texts: Iterable[str], encode: Callable[[str], list[int]], end: int) -> dict[tuple[int, ...], set[int]]:
    """For each beginning of the tokens of a text, the tokens that come next in some of the texts."""
    found: dict[tuple[int, ...], set[int]] = {}
    for text in texts:
        ids = [*encode(text), end]
        for at, token in enumerate(ids):
            found.setdefault(tuple(ids[:at]), set()).add(token)
    return found


def require_equal_masks(
    constraint: Constraint, expected: dict[tuple[int, ...], set[int]], *, strip_leading_space: bool = False
) -> None:
    matcher = constraint.matcher(strip_leading_space=strip_leading_space)
    depth = 0
    for prefix in sorted(expected):
        matcher.rollback(depth)
        depth = len(prefix)
        assert all(map(matcher.accept_token, prefix)), prefix
        assert set(matcher.allowed_tokens()) == expected[prefix], (prefix, matcher.text)
        assert matcher.is_accepting() == (constraint.vocabulary.eos_ids[0] in expected[prefix])
    assert constraint.statistics()["canonical_searches_cut"] == 0


def spelled(letters: str, most: int) -> list[str]:
    return ["".join(text) for length in range(most + 1) for text in product(letters, repeat=length)]


BLANKS = 'start: ["the" | "a"] BLANK? BLANK? BLANK? ("quick" | "brown" | "x\\n")\nBLANK: " " | "\\n"'
"""A grammar that forces what follows a token, and its texts."""
BLANKS_TEXTS = [f"{a}{b}{c}" for a in ("the", "a", "") for b in spelled(" \n", 3) for c in ("quick", "brown", "x\n")]


def require_walks(
    constraint: Constraint,
    encode: Callable[[str], list[int]],
    count: int,
    seed: int = 5,
    *,
    strip_leading_space: bool = False,
) -> None:
    rng = random.Random(seed)
    for _ in range(count):
        matcher = constraint.matcher(strip_leading_space=strip_leading_space)
        ids: list[int] = []
        while len(ids) < 60:
            allowed = matcher.allowed_tokens()
            assert allowed, matcher.text
            token = rng.choice(allowed)
            assert matcher.accept_token(token)
            if matcher.is_terminated():
                text = constraint.vocabulary.decode(ids).decode()
                if strip_leading_space:
                    text = text.removeprefix(" ")
                assert constraint.accepts(text)
                assert encode(text) == ids
                break
            ids.append(token)


WORDS = {
    "companies": ["Amazon", "Alphabet"],
    "prefix": ["A", "Amazon"],
    "cities": ["Cologne", "Berlin", "Munich", "Köln"],
    "keywords": ["SELECT a", "SELECT 'a", "DON'T", "don't", "a'll", "a'llo", "FROM  FOO"],
    "spaces": ["a", "a ", "a  ", "a   b", "a \n b", " \n", "\n  ", "  \n  x", "aaa aaa"],
    "scripts": ["日本語", "日本", "Zoë", "naïve café", "한ABC", "한ABCd", "1234", "12a", "日1語"],
}

JSON_TEXTS = [
    '{"name": "Zoë", "tags": ["日本語", 12.5e3, true]}',
    '[\n  {"a": null},\n  "x  y"\n]',
    '"don\'t   stop"',
    "-0.1",
]
