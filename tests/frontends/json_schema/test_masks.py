"""Masks of schemas by brute force: the values of a finite set, which `jsonschema` sifts, say which tokens may come."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import jsonschema
import numpy as np
import pytest
from support.json_schemas import random_document

import pdacon
from pdacon import EmptyLanguageError, Grammar, UnsupportedSchemaError, Vocabulary

SCALARS: list[Any] = [None, True, False, 0, 1, 2, -3, 12, 2.5, "", "a", "b", "ab", 'a"', "é", "b\tb"]
UNIVERSE: list[Any] = [
    *SCALARS, [], {}, *([value] for value in SCALARS), *({name: value} for name in "abc" for value in SCALARS),
    *map(list, itertools.product([None, 1, 2, "a", "ab"], repeat=2)), {"a": [1]}, {"b": {"a": 2}}, [[1], {"a": None}],
]  # fmt: skip
"""Objects have one member at most, so that their order leaves nothing open."""

TEXTS = [json.dumps(value, ensure_ascii=False) for value in UNIVERSE]


def random_vocabulary(random: Random) -> Vocabulary:
    """All bytes, or not quite all, and pieces of the texts: within strings, across lexemes, whole texts."""
    tokens = [bytes([byte]) for byte in sorted({byte for text in TEXTS for byte in text.encode()})]
    pieces = set()
    for _ in range(60):
        text = random.choice(TEXTS).encode()
        first = random.randrange(len(text))
        pieces.add(text[first : first + random.randrange(2, 7)])
    if random.random() < 0.3:
        tokens = random.sample(tokens, len(tokens) * 3 // 4)
    return Vocabulary.from_tokens(
        [*tokens, *sorted(pieces - set(tokens)), None], eos_ids=[len(tokens) + len(pieces - set(tokens))]
    )


def spelled_prefixes(texts: list[bytes], vocabulary: Vocabulary) -> set[bytes]:
    """The beginnings of texts from which tokens spell the rest."""
    found = set()
    tokens = {text for text in vocabulary.tokens if text}
    for text in texts:
        good = {len(text)}
        for at in reversed(range(len(text))):
            if any(at + size in good and text[at : at + size] in tokens for size in range(1, len(text) - at + 1)):
                good.add(at)
        found |= {text[:at] for at in good}
    return found


def compare(seed: int) -> Counter[str]:
    random = Random(seed)
    schema = random_document(random, 2)
    if not isinstance(schema, dict) or {"enum", "const", "$ref"} & schema.keys():
        return Counter(others=1)
    schema = {**schema, "enum": UNIVERSE}
    valid = jsonschema.Draft202012Validator(schema).is_valid
    texts = [text.encode() for value, text in zip(UNIVERSE, TEXTS, strict=True) if valid(value)]
    vocabulary = random_vocabulary(random)
    live = spelled_prefixes(texts, vocabulary)
    try:
        constraint = pdacon.compile(Grammar.from_json_schema(schema), vocabulary)
    except EmptyLanguageError:
        assert b"" not in live, (seed, schema)
        return Counter(empty=1)
    except UnsupportedSchemaError:
        return Counter(refused=1)
    done = Counter(schemas=1)
    bitmask = constraint.new_bitmask()
    reached = [(b"", constraint.matcher())]
    seen = {b""}
    for text, matcher in reached:  # grows
        matcher.fill_bitmask(bitmask, 0)
        bits = np.unpackbits(bitmask.view(np.uint8), bitorder="little")
        for token, spelled in enumerate(vocabulary.tokens):
            expected = text in texts if spelled is None else text + spelled in live
            assert bool(bits[token]) == expected, (seed, json.dumps(schema), text, spelled)
            done["tokens"] += 1
            done["allowed"] += expected
            if expected and spelled and text + spelled not in seen and len(reached) < 120:
                seen.add(text + spelled)
                further = matcher.fork()
                assert further.accept_token(token)
                reached.append((text + spelled, further))
        done["masks"] += 1
    return done


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 120, 20))
def test_masks_are_what_the_values_say(first: int, tally: Callable[..., None]) -> None:
    done = sum((compare(seed) for seed in range(first, first + 20)), Counter[str]())
    assert done["masks"] > 100
    assert done["allowed"] > 200
    tally(**done)
