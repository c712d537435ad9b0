"""What a budget costs for each step: accept a token and fill a bitmask, without one, in tokens, and in bytes.

Run as ``python tests/benchmarks/budgets.py json sql``; prints rows of the table in docs/benchmarks.md. Random
texts within a budget; each is walked once for mask misses, and then again, in turn without and with the budgets.
"""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from support.real_vocabularies import tekken_vocabulary

import pdacon

TEXTS, BUDGET, ROUNDS = 20, 60, 15
BUDGETS = [None, pdacon.Budget(tokens=BUDGET), pdacon.Budget(bytes=40 * BUDGET)]


def walk(constraint: pdacon.Constraint, text: list[int], budget: pdacon.Budget | None) -> float:
    """Microseconds of CPU time for each step."""
    bitmask = constraint.new_bitmask()
    matcher = constraint.matcher(max_rollback=0, keep_text=False, budget=budget)
    begin = time.process_time()
    for token in text:
        matcher.fill_bitmask(bitmask)
        matcher.accept_token(token)
    return (time.process_time() - begin) / len(text) * 1e6


def random_text(constraint: pdacon.Constraint, rng: random.Random) -> list[int]:
    matcher, text = constraint.matcher(budget=pdacon.Budget(tokens=BUDGET)), []
    while True:
        choice = [token for token in matcher.allowed_tokens() if token not in constraint.vocabulary.eos_ids]
        if not choice:
            assert matcher.is_accepting()
            return text
        text.append(rng.choice(choice))
        assert matcher.accept_token(text[-1])


def main() -> None:
    vocabulary = tekken_vocabulary()
    for name in sys.argv[1:]:
        other = pdacon.compile(name, vocabulary)
        texts = [text for seed in range(TEXTS) if (text := random_text(other, random.Random(seed)))]
        constraint = pdacon.compile(name, vocabulary)
        first = []
        for ask in (constraint.matcher().least_tokens, constraint.matcher().least_bytes):
            begin = time.process_time()
            ask()
            first.append((time.process_time() - begin) * 1e3)
        cold = [sum(walk(constraint, text, budget) for text in texts) / len(texts) for budget in BUDGETS]
        warm = [0.0] * len(BUDGETS)
        for _ in range(ROUNDS):
            for number, budget in enumerate(BUDGETS):
                warm[number] += sum(walk(constraint, text, budget) for text in texts) / len(texts) / ROUNDS
        cells = [f"{ms:.0f}" for ms in first] + [f"{us:.0f}" for us in cold] + [f"{us:.2f}" for us in warm]
        print("|", " | ".join([name, *cells]), "|")


if __name__ == "__main__":
    main()
