"""Random texts under budgets, as many as are asked for: none is cut, and none has to end before it needs to.

Run as ``python tests/matching/random_endings.py 1000 json sql``: so many texts of each grammar, in each unit, with
budgets from the least to 200. Prints a line for each grammar; an assertion fails where a text is cut off, or where a
token is forbidden after which what is left would do. Each token is drawn from those that are allowed, an end token
only where nothing else is allowed.
"""

from __future__ import annotations

import random
import sys
import time

import numpy as np
from numpy.typing import NDArray

import pdacon
from pdacon.integrations.huggingface import load_tiny

MOST = 200
_CHECKED = 20  # Of so many steps one is looked at for a token that the budget forbids.


def write(constraint: pdacon.Constraint, unit: str, budget: int, exact: bool, rng: random.Random) -> tuple[int, int]:
    """A text: its tokens, and how many forbidden ones were looked at; of a bound there is nothing to see."""
    ends = list(constraint.vocabulary.eos_ids)
    matcher = constraint.matcher(budget=pdacon.Budget(**{unit: budget}))
    tokens: list[int] = []
    looked = 0
    while True:
        mask = matcher.allowed_mask()
        mask[ends] = False
        allowed = np.flatnonzero(mask)
        if exact and rng.randrange(_CHECKED) == 0:
            looked += look(constraint, tokens, matcher, unit, mask, rng)
        if not len(allowed):
            break
        tokens.append(int(allowed[rng.randrange(len(allowed))]))
        assert matcher.accept_token(tokens[-1])
    assert matcher.is_accepting(), matcher.text
    assert (len(tokens) if unit == "tokens" else len(matcher.text.encode())) <= budget
    return len(tokens), looked


def look(
    constraint: pdacon.Constraint,
    tokens: list[int],
    matcher: pdacon.Matcher,
    unit: str,
    mask: NDArray[np.bool_],
    rng: random.Random,
) -> int:
    """Whether a token that only the budget forbids would really overrun."""
    free = constraint.matcher()
    assert free.validate_tokens(tokens) == len(tokens)
    for token in tokens:
        free.accept_token(token)
    plain = free.allowed_mask()
    plain[list(constraint.vocabulary.eos_ids)] = False
    forbidden = np.flatnonzero(plain & ~mask)
    if not len(forbidden):
        return 0
    token = int(forbidden[rng.randrange(len(forbidden))])
    assert free.accept_token(token)
    left = matcher.tokens_left if unit == "tokens" else matcher.bytes_left
    assert left is not None
    cost = 1 if unit == "tokens" else len(constraint.vocabulary.tokens[token] or b"")
    assert (free.least_tokens() if unit == "tokens" else free.least_bytes()) > left - cost
    return 1


def main() -> None:
    count = int(sys.argv[1])
    _, tokenizer = load_tiny()
    vocabulary = pdacon.Vocabulary.from_huggingface(tokenizer)
    for name in sys.argv[2:]:
        constraint = pdacon.compile(name, vocabulary)
        for unit in ("tokens", "bytes"):
            rng, begin = random.Random(name), time.process_time()
            plain = constraint.matcher()
            least = plain.least_tokens() if unit == "tokens" else plain.least_bytes()
            exact = plain.has_exact_budgets or (unit == "bytes" and constraint.grammar.data.options.postlex is None)
            texts = [write(constraint, unit, rng.randint(least, MOST), exact, rng) for _ in range(count)]
            steps, looked = sum(tokens for tokens, _ in texts), sum(looked for _, looked in texts)
            print(
                f"| {name} | {unit} | {least}{'' if exact else ' (a bound)'} | {count:,} | {steps:,} | {looked:,} | "
                f"{time.process_time() - begin:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
