"""Grammars of many strings.

    pip install '.[test,bench]' && pytest tests/benchmarks/test_choices.py --benchmark-enable

prints a table: from the list to the grammar, from that to the constraint (tekken), then the masks along 300 of the
strings, token by token, with what was compiled (*cold*) and once more (*warm*). On a machine that does other work add
``--benchmark-timer=time.process_time``. Without ``--benchmark-enable`` a short list is tried. Nothing asserts a time.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
from support.real_vocabularies import coded
from support.replaying import Clock

import pdacon


def names(random: Random, count: int) -> list[str]:
    """Names of three parts, as those of places, people or products are: most parts come again and again."""
    first = [random.choice("bcdfglmnprstvw") + random.choice(["a", "an", "er", "i", "ol", "un"]) for _ in range(300)]
    ends = ["berg", "ville", "ton", "dorf", "ham", "stadt", "field", "mouth"]
    found: dict[str, None] = {}
    while len(found) < count:
        parts = [random.choice(first) for _ in range(random.randrange(1, 4))]
        found["".join(parts).title() + random.choice(ends) + random.choice(["", f" {random.randrange(100)}"])] = None
    return list(found)


LISTS = {
    "names of places": names,
    "numbers of articles": lambda _, count: [f"SKU-{number:06d}" for number in range(0, 7 * count, 7)],
    "random words of 8 letters": lambda random, count: list(
        dict.fromkeys("".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=8)) for _ in range(count))
    ),
}


def test_choices(measured: bool, clock: Clock, show: Any) -> None:
    known = coded("tekken" if measured else "SentencePiece")
    pdacon.compile(pdacon.Grammar.from_choices(["warm-up"]), known.vocabulary)
    rows: list[list[str]] = []
    for name, make in LISTS.items():
        strings = make(Random(1), 100_000 if measured else 100)
        Random(2).shuffle(strings)
        started = clock()
        grammar = pdacon.Grammar.from_choices(strings)
        made = clock()
        constraint = pdacon.compile(grammar, known.vocabulary, limits=pdacon.Limits(states=1_000_000))
        compiled = clock()
        states = constraint.statistics()["lexer_states"]
        row = [name, f"{1e3 * (made - started):.0f}", f"{1e3 * (compiled - made):.0f}", f"{states:,}"]
        texts = [known.encode_inside(string) for string in strings[:300]]
        for _ in ("cold", "warm"):
            times = masks_along(constraint, texts, clock)
            row += [f"{1e6 * value:.2f}" for value in np.percentile(times, [50, 99])]
        rows.append(row)
    show(
        ["100,000 strings", "list → grammar (ms)", "compile", "states", "cold p50 (µs)", "p99", "warm p50", "p99"], rows
    )


def masks_along(constraint: pdacon.Constraint, texts: list[list[int]], clock: Clock) -> list[float]:
    """How long each mask takes along some texts, that at their ends included."""
    times = []
    bitmask = constraint.new_bitmask()
    for tokens in texts:
        matcher = constraint.matcher()
        for token in [*tokens, None]:
            started = clock()
            matcher.fill_bitmask(bitmask)
            times.append(clock() - started)
            if token is not None:
                assert matcher.accept_token(token)
        assert matcher.is_accepting()
    return times
