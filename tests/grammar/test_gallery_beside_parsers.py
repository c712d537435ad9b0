"""The gallery beside parsers that others wrote: its random sentences are read, edited texts get the same verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random

import numpy as np
import pytest
from support.builtin import over_bytes, over_tokens
from support.gallery import REFERENCES
from support.lark_oracle import accepts
from support.real_vocabularies import NAMES, coded, replay

from pdacon.front.sampling import sample

GRAMMARS = Path(__file__).parents[2] / "grammars"

WALKS = 3

Tally = Callable[..., None]


def samples(name: str) -> list[str]:
    return [path.read_bytes().decode() for path in sorted((GRAMMARS / name / "accept").iterdir())]


@cache
def random_sentences(name: str, count: int) -> list[str]:
    return list(islice(sample(over_bytes(name), 1, size=REFERENCES[name].size), count))


def edited(text: str, characters: str, random: Random) -> str:
    """One edit: a character or a few are left out, put in, replaced, doubled or swapped."""
    begin = random.randint(0, len(text))
    end = min(len(text), begin + random.choice([1, 1, 1, 2, 4, 8]))
    here = text[begin:end]
    there = random.choice(["", random.choice(characters), here + random.choice(characters), here * 2, here[::-1]])
    return text[:begin] + there + text[end:]


@pytest.mark.slow
@pytest.mark.parametrize("name", REFERENCES)
def test_random_sentences_are_read(name: str, scaled: Callable[[int], int], tally: Tally) -> None:
    reference = REFERENCES[name]
    pytest.importorskip(reference.module)
    counts: Counter[str] = Counter()
    unknown: list[str] = []
    for text in random_sentences(name, scaled(10)):
        assert accepts(over_bytes(name).grammar, text), text
        if reference.accepts(text):
            counts[name] += 1
        elif difference := reference.aside(text):
            counts[f"{name}: {difference}"] += 1
        else:
            counts[f"{name}: other"] += 1
            unknown.append(text)
    tally(**counts)
    assert len(unknown) <= (1 - reference.least) * scaled(10), unknown


@pytest.mark.slow
@pytest.mark.parametrize("name", REFERENCES)
def test_edited_texts_get_the_same_verdict(name: str, scaled: Callable[[int], int], tally: Tally) -> None:
    reference = REFERENCES[name]
    pytest.importorskip(reference.module)
    random = Random(2)
    texts = samples(name) + random_sentences(name, scaled(10))
    characters = "".join(sorted(set("".join(samples(name))) | set("\té\x00 ")))
    counts: Counter[str] = Counter()
    unknown: list[tuple[str, bool]] = []
    for _ in range(scaled(60)):
        text = edited(random.choice(texts), characters, random)
        ours = accepts(over_bytes(name).grammar, text)
        matcher = over_bytes(name).matcher()
        assert (matcher.accept_bytes(text.encode()) and matcher.is_accepting()) == ours, text
        if reference.accepts(text) == ours:
            counts[f"{name} {'accepted' if ours else 'rejected'}"] += 1
        else:
            difference = reference.aside(text)
            counts[f"{name}: {difference or 'other'}"] += 1
            if not difference:
                unknown.append((text, ours))
    tally(**counts)
    assert len(unknown) <= (1 - reference.least) * scaled(60), unknown


@pytest.mark.slow
@pytest.mark.parametrize("vocabulary", NAMES)
@pytest.mark.parametrize("name", REFERENCES)
def test_tokens_of_the_samples_are_in_their_masks_and_walks_end(name: str, vocabulary: str, tally: Tally) -> None:
    reference = REFERENCES[name]
    pytest.importorskip(reference.module)
    known = coded(vocabulary)
    tokens_of = {text: known.encode(text) for text in samples(name) if known.spells(text)}
    constraint = over_tokens(name, vocabulary)
    for tokens in tokens_of.values():
        replay(constraint, tokens)
    tally(texts=len(tokens_of), tokens=sum(map(len, tokens_of.values())), walks=WALKS)
    random = Random(4)
    mask = np.zeros((1, (known.vocabulary.size + 31) // 32), np.int32)
    for _ in range(WALKS):
        matcher = constraint.matcher()
        walked = b""
        for _ in range(random.randint(1, 20)):
            matcher.fill_bitmask(mask)
            allowed = np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little")[: known.vocabulary.size])
            token = int(random.choice(allowed))
            assert matcher.accept_token(token)
            if matcher.is_terminated():
                break
            walked += known.vocabulary.decode([token])
        text = (walked + matcher.shortest_completion()).decode()
        assert accepts(constraint.grammar, text)
        assert reference.accepts(text) or reference.aside(text), text
