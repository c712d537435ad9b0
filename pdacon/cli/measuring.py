"""``pdacon bench``: how long the masks of a grammar take, and what it takes of memory.

In: a grammar, a vocabulary, and perhaps texts. Out: times of the first mask, of masks while texts are read for the
first time and again, and of tokens; how many masks were computed. The texts are samples of the grammar, cut as the
tokenizer cuts them, or walks over allowed tokens if it cannot be asked.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice

import numpy as np
from rich.text import Text

from pdacon import Constraint, compile
from pdacon.cli.display import show
from pdacon.cli.failures import BadInput
from pdacon.cli.vocabularies import Tokens
from pdacon.front.grammar import Grammar
from pdacon.front.sampling import sample_different, sample_tokens


@dataclass(frozen=True, slots=True)
class Times:
    """Microseconds: the median, what one in a hundred exceeds, and the most."""

    p50: float
    p99: float
    max: float

    @classmethod
    def of(cls, spent: Sequence[int]) -> Times:
        p50, p99, most = (float(value) / 1000 for value in np.percentile(spent, [50, 99, 100]))
        return cls(round(p50, 2), round(p99, 2), round(most, 2))

    def __str__(self) -> str:
        return f"{self.p50:,.2f} / {self.p99:,.2f} / {self.max:,.2f} us"


@dataclass(frozen=True, slots=True)
class Figures:
    """What was measured; times are those of the clock on this machine as it is."""

    texts: int
    tokens: int
    compile_ms: float
    first_mask_ms: float
    fresh_mask: Times
    known_mask: Times
    accept: Times
    computed: int
    distinct: int
    bytes: int


def measured(grammar: Grammar, tokens: Tokens, texts: Sequence[str], count: int) -> Figures:
    """Compile the grammar and read the texts twice: the first time masks are computed, the second time known."""
    vocabulary = tokens.vocabulary
    began = time.perf_counter_ns()
    constraint = compile(grammar, vocabulary)
    compiled = time.perf_counter_ns()
    row = np.zeros((1, (vocabulary.size + 31) // 32), np.int32)
    constraint.matcher().fill_bitmask(row)
    first = time.perf_counter_ns()
    walks = [*islice(_walks(constraint, tokens, texts), count)]
    if not walks:
        raise BadInput("there is no text to measure with: none is a sequence of tokens that the grammar allows")
    read = compile(grammar, vocabulary)
    fresh, accepts = _read(read, walks, row)
    known, _ = _read(read, walks, row)
    statistics = read.statistics()
    return Figures(
        texts=len(walks),
        tokens=sum(map(len, walks)),
        compile_ms=round((compiled - began) / 1e6, 2),
        first_mask_ms=round((first - began) / 1e6, 2),
        fresh_mask=Times.of(fresh),
        known_mask=Times.of(known),
        accept=Times.of(accepts),
        computed=statistics["masks_computed"],
        distinct=statistics["distinct_masks"],
        bytes=statistics["bytes"],
    )


def show_figures(figures: Figures, tokens: Tokens, *, json_format: bool) -> int:
    """Print them."""
    if json_format:
        print(json.dumps(asdict(figures)))  # noqa: T201
        return 0
    lines = {
        "vocabulary": f"{tokens.vocabulary.size:,} tokens, {tokens.source}",
        "texts": f"{figures.texts:,}, of {figures.tokens:,} tokens",
        "compile": f"{figures.compile_ms:,.2f} ms; with the first mask {figures.first_mask_ms:,.2f} ms",
        "mask, first time": str(figures.fresh_mask),
        "mask, again": str(figures.known_mask),
        "accept a token": str(figures.accept),
        "masks": f"{figures.computed:,} computed for these texts, {figures.distinct:,} different ones",
        "memory": f"{figures.bytes / 1e6:,.2f} MB",
    }
    text = Text()
    for what, value in lines.items():
        text.append(f"{what + ':':<18}", "bold")
        text.append(f"{value}\n")
    text.append("Times are p50 / p99 / max, by the clock, on this machine as it is.")
    show(text)
    return 0


def _walks(constraint: Constraint, tokens: Tokens, texts: Sequence[str]) -> Iterator[Sequence[int]]:
    """Token ids of sentences, without those that the grammar does not allow as they are cut."""
    if tokens.encode is None and not texts:
        yield from sample_tokens(constraint, 1)
        return
    given = texts or sample_different(constraint, 1)
    matcher = constraint.matcher(strip_leading_space=constraint.vocabulary.strip_leading_space)
    for text in given:
        ids = tokens.split(text)
        if ids and matcher.validate_tokens(ids) == len(ids):
            yield ids


def _read(constraint: Constraint, walks: Sequence[Sequence[int]], row: np.ndarray) -> tuple[list[int], list[int]]:
    """Nanoseconds of each mask and of each token."""
    masks, accepts = [], []
    clock = time.perf_counter_ns
    for ids in walks:
        matcher = constraint.matcher(strip_leading_space=constraint.vocabulary.strip_leading_space)
        for token in ids:
            began = clock()
            matcher.fill_bitmask(row)
            filled = clock()
            matcher.accept_token(token)
            accepts.append(clock() - filled)
            masks.append(filled - began)
    return masks, accepts
