"""The fused kernel of masks, by Triton's interpreter on the CPU, compared with the definition of a mask.

The interpreter runs the kernel's own source with NumPy. `test_devices.py` has the compiled one.
"""

from __future__ import annotations

import importlib
import random
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import torch

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
