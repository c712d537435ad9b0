"""Constraints that are made as texts are read, compared with the whole along random walks."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

import pdacon
from pdacon import Grammar, Spelling, Vocabulary
from pdacon.front.compiled import Compiled
from pdacon.front.stages import compiled

TOKENS = [
    *(bytes([byte]) for byte in range(256)),
    *map(str.encode, [
        '": ', '", "', '{"', '"}', '}, {"', '": "', '":', ', "', '[]', '{}', '[{"', 'a"', 'ab"', 'abc": ', '"a": 1',
        'true', 'false', 'null', '12', '0.5', '1e', '"b', '\\"', '\\u00', 'é', '"é": ', '"ab": ', '": [', '], "',
        '": {"', '": true', '", ', '"], ', 'xyz', 'lorem ipsum', '-1', ': ', '"]', '"}]', ']}', '":"', '","', '":[',
        ' "', '\n', '\n  ', 'c"', '"cd"', '2024-01', '-01T',
    ]),
]  # fmt: skip
WORDS = Vocabulary.from_tokens([*TOKENS, None], eos_ids=[len(TOKENS)])


def forms(grammar: Grammar, vocabulary: Vocabulary) -> tuple[Compiled, Compiled]:
    """A grammar as `pdacon.compile` makes it, on demand where that may be, and compiled as a whole."""
    return pdacon.compile(grammar, vocabulary), compiled(grammar.data, vocabulary)


def both(schema: Any, vocabulary: Vocabulary, spelling: Spelling | None = None) -> tuple[Compiled, Compiled] | None:
    """A schema on demand and as a whole; None: it is none that is made on demand."""
    grammar = Grammar.from_json_schema(schema, spelling)
    made = pdacon.compile(grammar, vocabulary)
    if made._nested is None:
        return None
    return made, compiled(grammar.data, vocabulary)


def compare(demanded: Compiled, whole: Compiled, random: Random, steps: int) -> int:
    """Walk at random, by what is allowed, and compare all that both answer; how many masks were compared."""
    one, other = demanded.matcher(), whole.matcher()
    words, expected = demanded.new_bitmask(), whole.new_bitmask()
    for step in range(steps):
        assert one._is_nested()
        one.fill_bitmask(words)
        other.fill_bitmask(expected)
        assert np.array_equal(words, expected), (one.text, differing(words, expected))
        assert one.is_accepting() == other.is_accepting(), one.text
        if step % 4 == 0:
            assert one.forced_bytes() == other.forced_bytes(), one.text
        tokens = [token for token in one.allowed_tokens() if token < len(TOKENS)]
        if not tokens:
            return step + 1
        closing = [token for token in tokens if TOKENS[token][:1] in b'"}],:']
        token = random.choice(closing if closing and random.random() < 0.6 else tokens)
        assert one.is_allowed(token)
        assert one.accept_token(token)
        assert other.accept_token(token)
        refused = random.randrange(len(TOKENS))
        assert one.is_allowed(refused) == other.is_allowed(refused), (one.text, TOKENS[refused])
    return steps


def walk_within(schema: Any, vocabulary: Vocabulary, random: Random, steps: int) -> None:
    """Walk at random, mostly by long tokens that end no string, and compare the masks of both forms."""
    made = both(schema, vocabulary)
    assert made is not None
    words, expected = (constraint.new_bitmask() for constraint in made)
    one, other = (constraint.matcher() for constraint in made)
    for _ in range(steps):
        one.fill_bitmask(words)
        other.fill_bitmask(expected)
        assert np.array_equal(words, expected), (schema, one.text)
        texts = {token: text for token in one.allowed_tokens() if (text := vocabulary.tokens[token]) is not None}
        inside = [token for token, text in texts.items() if b'"' not in text and len(text) > 1]
        if not texts:
            return
        token = random.choice(inside if inside and random.random() < 0.8 else [*texts])
        assert one.accept_token(token)
        assert other.accept_token(token)


def differing(words: Any, expected: Any) -> list[bytes | None]:
    bits = np.unpackbits((words ^ expected).view(np.uint8), bitorder="little")
    return [WORDS.tokens[token] for token in np.flatnonzero(bits)[:9] if token < WORDS.size]
