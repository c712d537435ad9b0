"""Random texts under budgets in a tokenizer's own tokens: none is cut off, and how near the bounds are.

Run as ``PYTHONPATH=tests python tests/filters/canonical_endings.py 200 json sql``: so many texts of each grammar with
tekken and with Mistral's SentencePiece file, budgets from the least to 60 more. Prints a line for each: the least n;
texts and tokens; at how many of the places the bound is that without the filter, so that it is what is true (0 % where
that is a bound, too); what a
mask takes the first time, on average, and once all are known, beside the same without a budget. An assertion fails
where a text is cut off, or is not what the tokenizer makes of it.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Iterator
from importlib.resources import files
from statistics import mean, median
from typing import Any

import numpy as np
import sentencepiece
from mistral_common.tokens.tokenizers.tekken import Tekkenizer
from support.real_vocabularies import Coded, coded

import pdacon


def tokenizers() -> Iterator[tuple[str, Any, Coded]]:
    data = files("mistral_common") / "data"
    yield "tekken", Tekkenizer.from_file(str(data / "tekken_240911.json")), coded("tekken")
    path = str(data / "mistral_instruct_tokenizer_240323.model.v3")
    yield "SentencePiece", sentencepiece.SentencePieceProcessor(model_file=path), coded("SentencePiece")


def microseconds(work: Callable[[], object]) -> float:
    since = time.process_time_ns()
    work()
    return (time.process_time_ns() - since) / 1e3


def main() -> None:
    count = int(sys.argv[1])
    for name, tokenizer, known in tokenizers():
        end = known.vocabulary.eos_ids[0]
        for grammar in sys.argv[2:]:
            constraint = pdacon.compile(grammar, known.vocabulary, canonical=tokenizer)
            free = pdacon.compile(grammar, known.vocabulary)
            rng, row = random.Random(grammar), constraint.new_bitmask()
            least = constraint.matcher().least_tokens()
            first: list[float] = []
            warm: list[float] = []
            plain: list[float] = []
            places = exact = 0
            for _ in range(count):
                budget = rng.randint(least, least + 60)
                matcher, ids = constraint.matcher(budget=pdacon.Budget(tokens=budget)), list[int]()
                while True:
                    first.append(microseconds(lambda: matcher.fill_bitmask(row)))  # noqa: B023
                    allowed = np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little"))
                    allowed = allowed[allowed != end]
                    if not len(allowed):
                        break
                    ids.append(int(rng.choice(allowed)))
                    assert matcher.accept_token(ids[-1])
                assert matcher.is_accepting()
                assert len(ids) <= budget
                assert known.encode_inside(matcher.text) == ids
                again = constraint.matcher(budget=pdacon.Budget(tokens=budget))
                without, bare = constraint.matcher(), free.matcher()
                for token in ids:
                    warm.append(microseconds(lambda: again.fill_bitmask(row)))  # noqa: B023
                    without.fill_bitmask(row)
                    plain.append(microseconds(lambda: without.fill_bitmask(row)))  # noqa: B023
                    places += 1
                    if bare.has_exact_budgets:
                        exact += again.least_tokens() == bare.least_tokens()
                    assert again.accept_token(token)
                    assert without.accept_token(token)
                    assert bare.accept_token(token)
            print(
                f"| {name} | {grammar} | {least} | {count:,} | {places:,} | {exact / places:.1%} | "
                f"{mean(first):.0f} µs | {median(warm):.1f} µs | {median(plain):.1f} µs |",
                flush=True,
            )


if __name__ == "__main__":
    main()
