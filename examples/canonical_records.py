"""How many tokens of 100 records need no model, with canonical filtering and without, and what that saves.

A model is not needed where one token is all that is allowed. The experiment is that of appendix C of Cognetta et al.
2025, "Pitfalls, subtleties, and techniques in automata-based subword-level constrained generation": entries of a fixed
schema, here drawn by the embedded model.

    python examples/canonical_records.py [how many records]
"""

from __future__ import annotations

import sys
import time

import pdacon
from pdacon.integrations.huggingface import generate, load_tiny

RECORDS = r"""
start: "{\"name\": \"" NAME "\", \"occupation\": \"" JOB "\", " where_and_when "}"
where_and_when: "\"city\": \"" CITY "\", \"year_of_birth\": " YEAR ", \"is_member\": " BOOL
NAME: /[A-Z][a-z]{2,8} [A-Z][a-z]{2,8}/
JOB: "engineer" | "teacher" | "physician" | "carpenter" | "astronomer"
CITY: "Cologne" | "Berlin" | "Munich" | "Hamburg"
YEAR: /19[0-9]{2}/
BOOL: "true" | "false"
"""


def main(count: int) -> None:
    """Prints a line for each of the two."""
    model, tokenizer = load_tiny()
    for canonical in (False, True):
        constraint = pdacon.compile(RECORDS, tokenizer=tokenizer, model=model, canonical=canonical)
        tokens = passes = 0
        seconds = []
        for skip_forced in (False, True):
            began = time.process_time()
            for seed in range(count):
                record = generate(model, tokenizer, "A record:", grammar=constraint, seed=seed, skip_forced=skip_forced)
                tokens += len(record.token_ids) if skip_forced else 0
                passes += record.passes or 0
            seconds.append(time.process_time() - began)
        print(
            f"{'canonical' if canonical else 'plain'}: {tokens:,} tokens, {passes:,} calls of the model, "
            f"{100 * (1 - passes / tokens):.1f} % skipped; {seconds[0]:.1f} s of CPU time, {seconds[1]:.1f} s with "
            "skip_forced"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
