"""10,000 random batches of mixed constraints: what `DeviceMasks` leaves of the logits is what `fill_bitmask` says.

Each matcher of a batch has a twin, of a constraint compiled for itself, which takes the same tokens one by one and
writes its own mask. Logits are compared as bits, with everything beside them, so that a NaN that is allowed stays what
it is and nothing else is written.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from support.scaling import scaled

import pdacon
from pdacon.integrations.huggingface import PDALogitsProcessor
from pdacon.integrations.torch import DeviceMasks

BATCHES, SEEDS = 10_000, 10
SIZE = 262
PADDING, EOS = SIZE - 2, SIZE - 1
WORDS = -(-SIZE // 32)
KINDS = {torch.float32: torch.int32, torch.float16: torch.int16, torch.bfloat16: torch.int16}
LONGEST = 60  # tokens of a text, before the matchers start again

GRAMMARS = [
    pdacon.Grammar.builtin("json"),
    pdacon.Grammar.builtin("sql"),
    pdacon.Grammar.from_lark('start: "(" start ")" | /[a-f]+/ | start "," /[a-f]+/'),
    pdacon.Grammar.from_lark('start: (W "=" value ";")+\nvalue: W | "[" [value ("," value)*] "]"\nW: /[a-z]+/'),
    pdacon.Grammar.from_regex("[0-9]+(, [0-9]+)*"),
    pdacon.Grammar.from_choices(["red", "green", "greenish", "true", '{"']),
    pdacon.Grammar.from_json_schema(
        {"type": "object", "properties": {"a": {"enum": [1, "b", None]}, "c": {"type": "array"}}, "required": ["a"]}
    ),
    pdacon.Grammar.from_json_schema(
        {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer", "maximum": 20}}}}
    ),
    pdacon.Grammar.from_json_schema({"type": "array", "items": {"type": "string", "maxLength": 3}, "maxItems": 4}),
]

SHORT = [pdacon.Grammar.from_choices(["a", "bcd"]), pdacon.Grammar.from_regex("[ab]{0,6}")]


@pytest.fixture(scope="module")
def vocabulary() -> pdacon.Vocabulary:
    """All bytes, some longer tokens, one without text, and an end."""
    texts = [*(bytes([byte]) for byte in range(256)), b"]]", b'":', b"true", b'{"', None, None]
    return pdacon.Vocabulary.from_tokens(texts, eos_ids=[EOS])


class Pair:
    """A matcher that takes its tokens in batches, and its twin."""

    def __init__(self, rng: random.Random, constraint: pdacon.Constraint, other: pdacon.Constraint) -> None:
        self.goes_back = rng.random() < 0.3
        self.matcher = constraint.matcher(max_rollback=3 * self.goes_back, keep_text=rng.random() < 0.3)
        self.twin = other.matcher()
        self.token, self.length = -1, 0

    def allowed(self) -> NDArray[np.bool_]:
        """What the twin allows: bool[SIZE]."""
        if self.token >= 0:
            assert self.twin.accept_token(self.token)
        bitmask = np.zeros((1, WORDS), np.int32)
        self.twin.fill_bitmask(bitmask)
        return np.unpackbits(bitmask.view(np.uint8), bitorder="little")[:SIZE].astype(bool)

    def go_on(self, rng: random.Random, allowed: NDArray[np.bool_]) -> None:
        """Choose the next token, take the last one back, or start again."""
        self.length += 1
        if self.twin.is_terminated() or self.length > LONGEST:
            self.matcher.reset()
            self.twin.reset()
            self.token, self.length = -1, 0
        elif self.goes_back and self.token >= 0 and rng.random() < 0.1:
            self.matcher.rollback(1)
            self.twin.rollback(1)
            self.token = -1
        else:
            self.token = int(rng.choice(np.flatnonzero(allowed)))


def random_numbers() -> torch.Tensor:
    """Some of them no numbers, without bounds, or with a sign that is all they have."""
    numbers = torch.randn(12, SIZE + 64)
    for first, special in enumerate((float("nan"), float("inf"), -0.0)):
        numbers[:, first::11] = special
    return numbers


def random_logits(rng: random.Random, numbers: torch.Tensor, rows: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Some of the numbers, and a part of them, of so many rows, that are the logits."""
    columns = SIZE + rng.choice([0, 0, 1, 26, 27, 61])
    room = numbers[: 2 * rows, : columns + 3].clone(memory_format=torch.contiguous_format)
    return room, room[::2, 1 : 1 + columns] if rng.random() < 0.5 else room[:rows, :columns]


@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_batches(vocabulary: pdacon.Vocabulary, seed: int) -> None:
    rng = random.Random(seed)
    torch.manual_seed(seed)
    constraints, others = ([pdacon.compile(grammar, vocabulary) for grammar in GRAMMARS] for _ in range(2))
    pairs = [Pair(rng, *both) for both in zip(constraints, others, strict=True) for _ in range(3)]
    assert sum(pair.matcher._is_nested() for pair in pairs) == 9  # those of schemas, which are read on demand
    numbers = [random_numbers().to(kind) for kind in KINDS]
    masks = DeviceMasks(vocabulary, "cpu", rows=rng.choice([1, 64]), max_bytes=rng.choice([8 * 4 * WORDS, 1 << 20]))
    batch: list[Pair | None] = []
    for _ in range(scaled(BATCHES // SEEDS)):
        if not batch or rng.random() < 0.5:  # the same matchers again are a batch that is known
            batch = [*rng.sample(pairs, rng.randrange(1, 6)), *[None] * rng.randrange(2)]
            rng.shuffle(batch)
        matchers = [None if pair is None else pair.matcher for pair in batch]
        tokens = [-1 if pair is None else pair.token for pair in batch]
        room, logits = random_logits(rng, rng.choice(numbers), len(batch))
        wanted_room = room.clone()
        wanted = wanted_room.as_strided(logits.shape, logits.stride(), logits.storage_offset())
        masks_of_twins = [None if pair is None else pair.allowed() for pair in batch]
        forbidden = np.ones(logits.shape, dtype=bool)
        for row, allowed in enumerate(masks_of_twins):
            forbidden[row, :SIZE] = False if allowed is None else ~allowed
            forbidden[row, SIZE:] = allowed is not None
        wanted.masked_fill_(torch.from_numpy(forbidden), -torch.inf)
        assert masks.apply(logits, matchers, tokens) is logits
        bits = KINDS[room.dtype]
        assert torch.equal(room.view(bits), wanted_room.view(bits))
        for pair, allowed in zip(batch, masks_of_twins, strict=True):
            if pair is not None and allowed is not None:
                pair.go_on(rng, allowed)


@pytest.mark.parametrize("seed", range(scaled(20)))
def test_rows_of_a_processor(vocabulary: pdacon.Vocabulary, seed: int) -> None:
    """A processor of many rows leaves what one for each row leaves, where rows end, are filled up or go astray, too."""
    rng = random.Random(seed)
    torch.manual_seed(seed)
    chosen = [rng.choice([None, *GRAMMARS, *SHORT]) for _ in range(rng.randrange(1, 5))] + [rng.choice(SHORT)]
    constraints = [None if grammar is None else pdacon.compile(grammar, vocabulary) for grammar in chosen]
    options: dict[str, Any] = {"prompt_length": 1, "num_beams": 1, "pad_token_id": PADDING}
    together = PDALogitsProcessor(constraints, **options)
    alone = [None if one is None else PDALogitsProcessor(one, **options) for one in constraints]
    ids = torch.zeros((len(chosen), 1), dtype=torch.int64)
    for _ in range(40):
        scores = torch.randn(len(chosen), SIZE + 3)
        masked, said = masked_or_refused(together, ids, scores)
        if masked is None:
            row = int(said.partition(":")[0].removeprefix("row "))
            refused = masked_or_refused(alone[row], ids[row : row + 1], scores[row : row + 1])[1]
            assert refused.partition(":")[2] == said.partition(":")[2]
            return
        for row, one in enumerate(alone):
            wanted, _ = masked_or_refused(one, ids[row : row + 1], scores[row : row + 1])
            assert wanted is not None
            assert torch.equal(masked[row : row + 1], wanted)
        ids = torch.cat([ids, torch.tensor([[chosen_token(rng, row)] for row in masked])], dim=1)


def masked_or_refused(
    processor: PDALogitsProcessor | None, ids: Any, scores: torch.Tensor
) -> tuple[torch.Tensor | None, str]:
    """What a processor leaves, or why it refuses the ids; without one all of it."""
    if processor is None:
        return scores, ""
    try:
        return processor(ids, scores), ""
    except pdacon.MatcherError as error:
        return None, str(error)


def chosen_token(rng: random.Random, row: torch.Tensor) -> int:
    """One that is allowed; after an end mostly padding; now and then any."""
    allowed = row[:SIZE].isfinite().nonzero().flatten().tolist()
    if allowed == [EOS] and rng.random() < 0.5:
        return PADDING
    return rng.choice(allowed) if rng.random() < 0.998 else rng.choice([-1, 7, SIZE, SIZE + 2, 10**6])
