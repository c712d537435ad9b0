"""One fused kernel that sets to -inf what the masks of a batch do not allow, in Triton, which comes with PyTorch.

In: logits, masks as packed bits, perhaps the number of a mask for each row. Out: nothing; the logits are changed in
place. `pdacon.integrations.torch` imports it for logits on a CUDA or ROCm device.

A program has 2,048 columns of one row. It reads 16 bits at a time, which stand for 16 neighbouring logits: 32 or 64
bytes, one or two sectors of the device's memory. Where all 16 tokens are allowed, nothing is read or written; where
none is, -inf is written; only mixed groups are read first. So all loads and stores are of whole sectors and 16 bytes
wide. To store under single bits instead takes up to twice as long: memory has to fill the sectors that it gets in
part. Where most tokens are allowed, little is touched, and masking is faster than filling the logits with a number.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

_COLUMNS = 2048  # of a program; with 4 warps, the best or within 5 % of it from 32 to 512 rows, in float32 and bfloat16
_WARPS = 4


@triton.jit
def _kernel(  # type: ignore[no-untyped-def]  # Triton reads the source: the names of types mean nothing to it
    logits,
    row_stride,
    columns,
    blocks,
    masks,
    mask_stride,
    mask_count,
    groups,
    ids,
    BY_ID: tl.constexpr,  # noqa: N803
    COLUMNS: tl.constexpr,  # noqa: N803
):
    program = tl.program_id(0)
    row = (program // blocks).to(tl.int64)
    mask = tl.load(ids + row).to(tl.int64) if BY_ID else row
    if mask >= 0:
        group = (program % blocks) * (COLUMNS // 16) + tl.arange(0, COLUMNS // 16)
        reach = tl.where(mask < mask_count, groups, 0)  # a mask that is not there allows nothing
        bits = tl.load(masks + mask * mask_stride + group, mask=group < reach, other=0).to(tl.int32) & 0xFFFF
        column = group[:, None] * 16 + tl.arange(0, 16)[None, :]
        place = logits + row * row_stride + column
        within = column < columns
        mixed = (bits != 0) & (bits != 0xFFFF)
        scores = tl.load(place, mask=mixed[:, None] & within)  # elsewhere they are not used
        allowed = ((bits[:, None] >> tl.arange(0, 16)[None, :]) & 1) != 0
        nothing = tl.full([1, 1], float("-inf"), tl.float32).to(logits.dtype.element_ty)
        # Logits that are done leave the cache first: those of a large batch do not all fit.
        tl.store(
            place,
            tl.where(allowed, scores, nothing),
            mask=(bits != 0xFFFF)[:, None] & within,
            eviction_policy="evict_first",
        )


def forbid(logits: torch.Tensor, masks: torch.Tensor, ids: torch.Tensor | None = None) -> None:
    """Set to -inf, in place, what the masks do not allow, with one kernel. It can be captured in a CUDA graph.

    Parameters
    ----------
    logits : torch.Tensor, floating[n, columns]
        Columns beyond the bits of a mask are not allowed. Neighbours in a row lie beside each other; rows may be apart.
    masks : torch.Tensor, int32[m, words]
        Bit t % 32 of word t // 32 of a row is set iff token t is allowed. Words of a row lie beside each other.
    ids : torch.Tensor, integer[n], optional
        Which mask each row has: a negative one leaves the row as it is, one that `masks` does not have allows nothing.
        Default: row i has mask i.

    Notes
    -----
    All tensors are on one device. Nothing waits for it, and no memory is taken.
    """
    rows, columns = logits.shape
    if not rows or not columns:
        return
    halves = masks.view(torch.int16)
    blocks = -(-columns // _COLUMNS)
    _kernel[(rows * blocks,)](
        logits,
        logits.stride(0),
        columns,
        blocks,
        halves,
        halves.stride(0),
        halves.shape[0],
        halves.shape[1],
        ids,
        BY_ID=ids is not None,
        COLUMNS=_COLUMNS,
        num_warps=_WARPS,
    )
