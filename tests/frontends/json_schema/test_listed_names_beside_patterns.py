"""Listed names that patterns match as well: they win over the names of a pattern, wherever they may come.

Where such a name must not come, nothing may begin like it that goes on in no other way.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from support.on_demand import both
from support.scaling import scaled

from pdacon import GrammarError, Spelling, Vocabulary

NAMES = ["x-a", "x-ab", "x-", "ab", "abc", "é", "x-é", 'q"', "x\\"]
PATTERNS = ["^x-", "b", "^[a-c]+$", "é$", "^x-a.*b", "^.{2,3}$", "^(ab|x.*)$", "^ab?c?$", "^x-a$", "^(é|ab|abc|abd)$"]
VALUES: list[Any] = [
    {"type": "integer"},
    {"enum": ["x-a"]},
    {"type": "null"},
    True,
    False,
    {"type": ["null", "object"]},
]
PIECES = [
    *"xabcé-",
    "x-",
    "x-a",
    "ab",
    '"',
    '": ',
    '":',
    ', "',
    '{"',
    "}",
    "1",
    "null",
    '"x-a',
    "\\",
    '\\"',
    "\\u00e9",
    " ",
]


def vocabulary() -> Vocabulary:
    random = Random(5)
    texts = ["".join(random.choices(PIECES, k=random.randrange(1, 7))).encode() for _ in range(2500)]
    tokens = [*(bytes([byte]) for byte in range(256)), *dict.fromkeys(text for text in texts if len(text) > 1)]
    return Vocabulary.from_tokens([*tokens, None], eos_ids=[len(tokens)])


TEXTS = vocabulary()


def drawn(random: Random) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object"}
    schema["properties"] = {name: random.choice(VALUES) for name in random.sample(NAMES, random.randrange(5))}
    schema["patternProperties"] = {
        pattern: random.choice(VALUES) for pattern in random.sample(PATTERNS, random.randrange(1, 3))
    }
    if random.random() < 0.5:
        schema["additionalProperties"] = random.choice(VALUES)
    if random.random() < 0.4:
        names = random.choice([NAMES, [*schema["properties"]]])
        schema["required"] = random.sample(names, min(len(names), random.randrange(1, 3)))
    if random.random() < 0.2:
        schema["propertyNames"] = {"pattern": random.choice(PATTERNS)}
    if random.random() < 0.2:
        schema["anyOf"] = [{"properties": {random.choice(NAMES): random.choice(VALUES)}} for _ in range(2)]
    return schema


def walk(schema: Any, spelling: Spelling, random: Random, steps: int) -> int:
    try:
        made = both(schema, TEXTS, spelling)
    except GrammarError:  # no value satisfies the schema, or it is too large as a whole
        return 0
    if made is None:
        return 0
    words, expected = (constraint.new_bitmask() for constraint in made)
    one, other = (constraint.matcher() for constraint in made)
    for step in range(steps):
        one.fill_bitmask(words)
        other.fill_bitmask(expected)
        assert np.array_equal(words, expected), (schema, one.text)
        allowed = [token for token in one.allowed_tokens() if TEXTS.tokens[token] is not None]
        if not allowed:
            return step
        long = [token for token in allowed if len(TEXTS.tokens[token] or b"") > 1]
        token = random.choice(long if long and random.random() < 0.8 else allowed)
        assert one.accept_token(token)
        assert other.accept_token(token)
    return steps


@pytest.mark.filterwarnings("ignore::pdacon.errors.GrammarWarning")
@pytest.mark.parametrize("spelling", [Spelling(), Spelling(escapes="ascii"), Spelling(order="any")])
def test_drawn_schemas(spelling: Spelling) -> None:
    walked = [walk(drawn(Random(seed)), spelling, Random(seed), 25) for seed in range(scaled(150))]
    assert sum(steps > 5 for steps in walked) > len(walked) // 4
