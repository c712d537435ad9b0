"""The fused kernel of masks, by Triton's interpreter on the CPU, compared with the definition of a mask.

The interpreter runs the kernel's own source with NumPy. `test_devices.py` has the compiled one.
"""

from __future__ import annotations

import importlib
import random
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from support.scaling import scaled

import pdacon
from pdacon.integrations.torch import DeviceMasks

pytest.importorskip("triton", reason="Triton is not installed")

NAME = "pdacon.integrations.mask_kernel"
KINDS = [torch.float32, torch.float16, torch.bfloat16]


@pytest.fixture(scope="module")
def kernel() -> Iterator[Any]:
    """The module, imported anew so that Triton interprets it, and forgotten afterwards."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITON_INTERPRET", "1")
        sys.modules.pop(NAME, None)
        yield importlib.import_module(NAME)
    del sys.modules[NAME]


def masked(logits: torch.Tensor, masks: torch.Tensor, ids: list[int]) -> torch.Tensor:
    """The definition: token t is allowed iff bit t % 32 of word t // 32 is set; a negative id allows everything."""
    expected = logits.clone()
    for row, number in enumerate(ids):
        if number >= 0:
            words = masks[number].tolist() if number < len(masks) else []
            bits = [word >> bit & 1 for word in words for bit in range(32)][: logits.shape[1]]
            bits += [0] * (logits.shape[1] - len(bits))
            expected[row, torch.tensor(bits) == 0] = -torch.inf
    return expected


def random_masks(rng: random.Random, count: int, words: int) -> torch.Tensor:
    """Words of random bits, of one bit, of none and of all, in runs."""
    rows = []
    for _ in range(count):
        row: list[int] = []
        while len(row) < words:
            word = rng.choice([0, -1, rng.getrandbits(32) - (1 << 31), 1 << rng.randrange(31), -1 << 16, 0xFFFF])
            row += [word] * rng.choice([1, 1, 40])
        rows.append(row[:words])
    return torch.tensor(rows, dtype=torch.int64).to(torch.int32)


@pytest.mark.parametrize("seed", range(24))
def test_random_batches(kernel: Any, seed: int) -> None:
    rng = random.Random(seed)
    torch.manual_seed(seed)
    columns, rows = rng.choice([1, 31, 65, 2048, 2049, 3000, 4100]), rng.randrange(1, 5)
    words = max(1, -(-columns // 32) + rng.choice([0, 0, -1, 1]))  # fewer than the logits need, or more
    masks = random_masks(rng, 3, words)
    room = torch.randn(2 * rows, columns + 5).to(rng.choice(KINDS))
    room[:, ::7] = float("nan")
    logits = room[::2, 3 : 3 + columns] if rng.random() < 0.5 else room[:rows, :columns]
    ids = [rng.choice([0, 1, 2, -1, 3]) for _ in range(rows)]
    index = torch.tensor(ids, dtype=rng.choice([torch.int64, torch.int32]))
    around, expected = room.clone(), masked(logits, masks, ids)
    kernel.forbid(logits, masks, index)
    assert torch.equal(logits.isnan(), expected.isnan())
    assert torch.equal(logits.nan_to_num(), expected.nan_to_num())
    logits.fill_(0)  # nothing beside the logits was written
    assert torch.equal(room.nan_to_num() * (room != 0), around.nan_to_num() * (room != 0))


def test_a_bitmask_has_a_row_for_each(kernel: Any) -> None:
    masks = random_masks(random.Random(1), 3, 70)
    logits = torch.randn(3, 2230)
    expected = masked(logits, masks, [0, 1, 2])
    kernel.forbid(logits, masks)
    assert torch.equal(logits, expected)


@pytest.mark.parametrize("shape", [(0, 100), (3, 0)])
def test_nothing_to_mask(kernel: Any, shape: tuple[int, int]) -> None:
    kernel.forbid(torch.zeros(shape), torch.zeros((1, 4), dtype=torch.int32), torch.zeros(shape[0], dtype=torch.int64))


GRAMMARS = [
    pdacon.Grammar.builtin("json"),
    pdacon.Grammar.from_regex("[0-9]+(, [0-9]+)*"),
    pdacon.Grammar.from_lark('start: "(" start ")" | /[a-f]+/'),
    pdacon.Grammar.from_json_schema(
        {"type": "object", "properties": {"a": {"enum": [1, "b"]}, "c": {"type": "array"}}}
    ),
]


@pytest.fixture(scope="module")
def constraints() -> list[pdacon.Constraint]:
    texts = [*(bytes([byte]) for byte in range(256)), b"]]", b'":', b"true", b'{"', None, None]
    vocabulary = pdacon.Vocabulary.from_tokens(texts, eos_ids=[261])
    return [pdacon.compile(grammar, vocabulary) for grammar in GRAMMARS]


@pytest.mark.parametrize("seed", range(scaled(2)))
def test_batches_of_mixed_constraints(kernel: Any, constraints: list[pdacon.Constraint], seed: int) -> None:
    """Rows of one table by number, along random texts, against `fill_bitmask`: each dtype, rows apart, free rows."""
    rng = random.Random(seed)
    torch.manual_seed(seed)
    matchers = [constraint.matcher() for constraint in constraints * 3]
    masks = DeviceMasks(constraints[0].vocabulary, "cpu", rows=4)
    bitmask = np.zeros((1, 9), np.int32)
    for _ in range(20):
        batch = [*rng.sample(matchers, rng.randrange(1, 6)), *[None] * rng.randrange(2)]
        rng.shuffle(batch)
        allowed = []
        for matcher in batch:
            bits = torch.ones(262, dtype=torch.bool)
            if matcher is not None:
                matcher.fill_bitmask(bitmask)
                bits = torch.from_numpy(np.unpackbits(bitmask.view(np.uint8), bitorder="little")[:262].astype(bool))
            allowed.append(bits)
        columns = 262 + rng.choice([0, 0, 1, 26, 27, 61])
        room = torch.randn(2 * len(batch), columns + 3).to(rng.choice(KINDS))
        logits = room[::2, 1 : 1 + columns] if rng.random() < 0.5 else room[: len(batch), :columns]
        expected = logits.clone()
        for row, (matcher, bits) in enumerate(zip(batch, allowed, strict=True)):
            if matcher is not None:
                expected[row, :262][~bits] = -torch.inf
                expected[row, 262:] = -torch.inf
        ids = masks.ids(batch)
        kernel.forbid(logits, masks.table, ids)
        assert torch.equal(logits, expected)
        for matcher, bits in zip(batch, allowed, strict=True):
            if matcher is not None and (matcher.is_terminated() or len(matcher.text) > 60):
                matcher.reset()
            elif matcher is not None:
                assert matcher.accept_token(rng.choice(bits.nonzero().flatten().tolist()))
