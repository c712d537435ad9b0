"""Masks where the scores are, each unpacked or sent there once.

A step asks for a few masks out of a few that recur (free JSON over 131,072 tokens has some thirty). They are kept by
key on the device of the scores. On the CPU a mask is kept as bounds, +inf for allowed and -inf for the rest: the
minimum of scores and bounds is what `torch.where` selects, but for NaN, and takes 30 us for 131,072 tokens where
`torch.where` takes 200 to 1,000. Elsewhere the words themselves are kept, and applied where they lie: a step sends one
integer per row.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from pdacon.integrations.torch import apply_masks

Fill = Callable[[NDArray[np.int32]], Any]  # writes one mask into int32[1, words], zeros before
KEPT_BYTES = 1 << 26


def allowing(tokens: Sequence[int]) -> Fill:
    """Return what writes a mask that allows these tokens only."""

    def fill(words: NDArray[np.int32]) -> None:
        for token in tokens:
            words.view(np.uint32)[0, token // 32] |= np.uint32(1 << token % 32)

    return fill


class MaskTable:
    """The masks that were asked for last.

    Parameters
    ----------
    columns : int
        The columns of the scores; bits after the last word of a mask are 0.
    device : torch.device
        Where the scores are.
    dtype : torch.dtype
        Their type.
    capacity : int, optional
        How many masks are kept. Default: 64 MiB of them. One call may ask for more; then there are more.
    fixed : bool
        The memory is taken at once and stays where it is, as CUDA graphs need it. No call may ask for more then.
    least_bytes : int
        With more room than `capacity` has, more masks are kept.
    bounds : bool, optional
        Which of the two ways. Default: bounds on the CPU.
    """

    def __init__(
        self,
        columns: int,
        device: torch.device,
        dtype: torch.dtype = torch.float32,
        capacity: int | None = None,
        *,
        fixed: bool = False,
        least_bytes: int = 0,
        bounds: bool | None = None,
    ) -> None:
        self.columns, self.device, self.dtype = columns, device, dtype
        self._words = -(-columns // 32)
        self._bounds = device.type == "cpu" if bounds is None else bounds
        width, kept_as = (columns, dtype) if self._bounds else (self._words, torch.int32)
        size = width * kept_as.itemsize
        self._capacity = max(1, (KEPT_BYTES if capacity is None else least_bytes) // size, capacity or 0)
        self._fixed = fixed
        self._table = torch.empty((self._capacity if fixed else 0, width), dtype=kept_as, device=device)
        self._slots: OrderedDict[Hashable, int] = OrderedDict()  # the one used last is last

    def fits(self, scores: torch.Tensor) -> bool:
        """Whether the masks are for such scores."""
        return scores.shape[1] == self.columns and scores.device == self.device and scores.dtype == self.dtype

    def __contains__(self, key: Hashable) -> bool:
        """Whether the mask of a key is in the table."""
        return key in self._slots

    def slots(self, masks: Sequence[tuple[Hashable, Fill]]) -> list[int]:
        """Return where each mask is in the table, having filled those that were not there.

        ``masks``: equal keys mean equal masks. `fill` is called if the table does not have the key.
        """
        wanted = {key for key, _ in masks}
        if self._fixed and len(wanted) > self._capacity:
            raise ValueError(f"{len(wanted)} masks at once do not fit into the {self._capacity} of a fixed table")
        for key in wanted & self._slots.keys():  # what is in front of them may be forgotten
            self._slots.move_to_end(key)
        new = {key: fill for key, fill in masks if key not in self._slots}
        if new:
            # All at once: each call of PyTorch gives up Python's lock, and gets it back when others let it.
            words = np.zeros((len(new), self._words), dtype=np.int32)
            for row, fill in enumerate(new.values()):
                fill(words[row : row + 1])
            places = []
            for key in new:
                places.append(self._free_slot(wanted))
                self._slots[key] = places[-1]
            self._table[places] = self._stored(words)
            if self._fixed and self.device.type != "cpu":  # they will be read from another stream
                torch.get_device_module(self.device).synchronize()
        return [self._slots[key] for key, _ in masks]

    def apply(self, scores: torch.Tensor, slots: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return scores with -inf where the masks say no, and the best of each row.

        ``scores``, torch.Tensor of shape (rows, columns): not changed. ``slots``, torch.Tensor of shape (rows,),
        integer: where the masks are.
        """
        if not self._bounds:
            masked = apply_masks(scores.clone(), self._table, slots.to(self.device))
            return masked, masked.amax(dim=-1)
        masked = torch.empty_like(scores)
        for row, slot in enumerate(slots.tolist()):
            torch.minimum(scores[row], self._table[slot], out=masked[row])
        best = masked.amax(dim=-1)
        if best.isnan().any():  # it may be one that is not allowed
            masked = torch.where(self._table[slots] > 0, scores, -torch.inf)
            best = masked.amax(dim=-1)
        return masked, best

    def _stored(self, words: NDArray[np.int32]) -> torch.Tensor:
        if self._bounds:
            bits = np.unpackbits(words.view(np.uint8), axis=1, count=self.columns, bitorder="little")
            return torch.from_numpy(bits).to(self.dtype).sub_(0.5).mul_(torch.inf)
        return torch.from_numpy(words).to(self.device)

    def _free_slot(self, wanted: set[Hashable]) -> int:
        """Return a slot that is nobody's: a new one, or the one of the mask not asked for the longest."""
        if len(self._slots) >= self._capacity:
            oldest = next(iter(self._slots))
            if oldest not in wanted:
                return self._slots.pop(oldest)
        used = len(self._slots)
        if used == len(self._table):
            larger = torch.empty((max(4, 2 * used), self._table.shape[1]), dtype=self._table.dtype, device=self.device)
            larger[:used] = self._table
            self._table = larger
        return used
