"""How many tokens of 100 records need no model, with canonical filtering and without.

A model is not needed where one token is all that is allowed. The experiment is that of appendix C of Cognetta et al.
2025, "Pitfalls, subtleties, and techniques in automata-based subword-level constrained generation": entries of a fixed
schema. What is allowed is drawn here, not chosen by a model.

    python examples/canonical_records.py
"""

from __future__ import annotations

import random

import pdacon
from pdacon.integrations.huggingface import load_tiny

RECORDS = r"""
start: "{\"name\": \"" NAME "\", \"occupation\": \"" JOB "\", " where_and_when "}"
where_and_when: "\"city\": \"" CITY "\", \"year_of_birth\": " YEAR ", \"is_member\": " BOOL
NAME: /[A-Z][a-z]{2,8} [A-Z][a-z]{2,8}/
JOB: "engineer" | "teacher" | "physician" | "carpenter" | "astronomer"
CITY: "Cologne" | "Berlin" | "Munich" | "Hamburg"
YEAR: /19[0-9]{2}/
BOOL: "true" | "false"
"""


def records(constraint: pdacon.Constraint, count: int) -> tuple[int, int]:
    """Tokens, and those of them that were the only ones allowed."""
    rng = random.Random(1)
    ends = set(constraint.vocabulary.eos_ids)
    tokens = forced = 0
    for _ in range(count):
        matcher = constraint.matcher()
        while not matcher.is_terminated():
            allowed = matcher.allowed_tokens()
            token = rng.choice(allowed)
            matcher.accept_token(token)
            if token not in ends:
                tokens += 1
                forced += len(allowed) == 1
    return tokens, forced


def main() -> None:
    """Prints a line for each of the two."""
    model, tokenizer = load_tiny()
    for canonical in (False, True):
        constraint = pdacon.compile(RECORDS, tokenizer=tokenizer, model=model, canonical=canonical)
        tokens, forced = records(constraint, 100)
        name = "canonical" if canonical else "plain"
        print(
            f"{name}: {tokens:,} tokens, {tokens - forced:,} calls of the model, {100 * forced / tokens:.1f} % skipped"
        )


if __name__ == "__main__":
    main()
