"""The grammars of data, token by token with two real vocabularies: real texts, and walks that reference parsers read.

``--oracle-scale=1000`` takes all instances of MaskBench and all queries of Spider that lie beside the checkout.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from support.builtin import over_tokens
from support.json_references import REFERENCES
from support.real_vocabularies import NAMES, coded, replay
from support.sqlite import syntax_error

GRAMMARS = Path(__file__).parents[2] / "grammars"
DATA = Path(__file__).parents[3] / "shared" / "data"
STEPS = 200

LAYOUTS: dict[str, dict[str, Any]] = {
    "json": {},
    "json_compact": {"separators": (",", ":")},
    "json_dumps": {},
    "json_pretty": {"indent": 2},
    "json_pretty4": {"indent": 4},
    "json5": {"indent": 1},
    "jsonl": {},
}
READERS = {**REFERENCES, "sql": lambda text: syntax_error(text) is None}


def lines(path: Path) -> Iterator[Any]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


@cache
def instances() -> list[Any]:
    """What MaskBench has for its schemas, valid or not: all of it is JSON."""
    found = [
        test["data"] for path in sorted((DATA / "maskbench").glob("*.gz")) for it in lines(path) for test in it["tests"]
    ]
    return Random(1).sample(found, len(found))


def texts(grammar: str, scaled: Callable[[int], int]) -> list[str]:
    """Samples of a grammar and real texts, none of them long by default."""
    samples = [path.read_bytes().decode() for path in sorted((GRAMMARS / grammar / "accept").iterdir())]
    real: list[str] = []
    if DATA.exists() and grammar == "sql":
        real = [case["sql"] for case in lines(DATA / "sql" / "spider_dev_gold.jsonl.gz")]
    elif DATA.exists():
        for number, value in enumerate(instances()[: scaled(40)]):
            text = json.dumps(value, ensure_ascii=number % 2 == 0, **LAYOUTS[grammar])
            real.append(f"{text}\n{text}\n" if grammar == "jsonl" else text)
    chosen = [*Random(1).sample(samples, len(samples))[: scaled(20)], *real[: scaled(60 if grammar == "sql" else 20)]]
    return [text for text in chosen if len(text) <= scaled(1500)]


@pytest.mark.slow
@pytest.mark.parametrize("vocabulary", NAMES)
@pytest.mark.parametrize("grammar", READERS)
def test_every_token_of_a_text_is_in_its_mask(
    grammar: str, vocabulary: str, scaled: Callable[[int], int], tally: Callable[..., None]
) -> None:
    """The tokens that the tokenizer itself takes, and the end token after them."""
    tokenizer = coded(vocabulary)
    for text in texts(grammar, scaled):
        if not tokenizer.spells(text):
            tally(texts_that_the_tokenizer_changes=1)
            continue
        tokens = tokenizer.encode(text)
        replay(over_tokens(grammar, vocabulary), tokens)
        tally(texts=1, tokens=len(tokens))


@pytest.mark.slow
@pytest.mark.parametrize("vocabulary", NAMES)
@pytest.mark.parametrize("grammar", READERS)
def test_walks_end_in_a_text_that_the_reference_reads(
    grammar: str, vocabulary: str, scaled: Callable[[int], int], tally: Callable[..., None], monkeypatch: Any
) -> None:
    """Two hundred random tokens of the mask, half of them short so that not all is names and strings; then
    `shortest_completion`."""
    if grammar == "json5":
        pytest.importorskip("json5", reason="the json5 package is the reference")
    known = coded(vocabulary).vocabulary
    short = np.array([text is not None and text.isascii() and len(text) < 3 for text in known.tokens])
    mask = np.zeros((1, (known.size + 31) // 32), np.int32)
    recursion = sys.getrecursionlimit()
    random = Random(grammar + vocabulary)
    for _ in range(scaled(2)):
        matcher = over_tokens(grammar, vocabulary).matcher(strip_leading_space=known.strip_leading_space)
        steps = 0
        while steps < STEPS:
            matcher.fill_bitmask(mask)
            allowed = np.unpackbits(mask.view(np.uint8), bitorder="little", count=known.size).astype(bool)
            allowed[list(known.eos_ids)] = False
            few = np.flatnonzero(allowed & short)
            choices = few if few.size and random.random() < 0.5 else np.flatnonzero(allowed)
            if not choices.size:
                break
            assert matcher.accept_token(int(random.choice(choices)))
            steps += 1
        text = (matcher._text() + matcher.shortest_completion()).decode()
        sys.setrecursionlimit(100_000)  # the references recurse
        try:
            assert READERS[grammar](text), text
        finally:
            sys.setrecursionlimit(recursion)
        tally(walks=1, tokens=steps)
