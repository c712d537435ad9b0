"""Masks as rows of bools where the scores are, each unpacked or sent there once.

A step asks for a few masks out of a few that recur (free JSON over 131,072 tokens has some thirty). They are kept by
key on the device of the scores: as bools on the CPU, where unpacking 131,072 bits takes 15 us; as the words
themselves elsewhere, an eighth of the memory, shifted out where they lie, so that a step sends one integer per row.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

Fill = Callable[[NDArray[np.int32]], Any]  # writes one mask into int32[1, words], zeros before
KEPT_BYTES = 1 << 25


class MaskTable:
    """The masks that were asked for last.

    Parameters
    ----------
    columns : int
        The columns of the scores; bits behind the last word of a mask are 0.
    device : torch.device
        Where the scores are.
    capacity : int, optional
        How many masks are kept. Default: 32 MiB of them. One call may ask for more; then there are more.
    fixed : bool
        The memory is taken at once and stays where it is, as CUDA graphs need it. No call may ask for more then.
    """

    def __init__(self, columns: int, device: torch.device, capacity: int | None = None, *, fixed: bool = False) -> None:
        self.columns = columns
        self.device = device
        self._words = -(-columns // 32)
        width, self._dtype = (columns, torch.bool) if device.type == "cpu" else (self._words, torch.int32)
        bytes_each = width * (1 if device.type == "cpu" else 4)
        self._capacity = max(1, KEPT_BYTES // bytes_each) if capacity is None else capacity
        self._fixed = fixed
        self._table = torch.empty((self._capacity if fixed else 0, width), dtype=self._dtype, device=device)
        self._slots: OrderedDict[Hashable, int] = OrderedDict()  # the one used last is last

    def slots(self, masks: Sequence[tuple[Hashable, Fill]]) -> list[int]:
        """Return where each mask is in the table, having filled those that were not there.

        Parameters
        ----------
        masks : sequence of (key, fill)
            Equal keys mean equal masks. `fill` is called if the table does not have the key.
        """
        wanted = {key for key, _ in masks}
        slots = []
        for key, fill in masks:
            slot = self._slots.get(key)
            if slot is None:
                slot = self._free_slot(wanted)
                words = np.zeros((1, self._words), dtype=np.int32)
                fill(words)
                self._table[slot] = self._stored(words)
                self._slots[key] = slot
            self._slots.move_to_end(key)
            slots.append(slot)
        return slots

    def rows(self, masks: Sequence[tuple[Hashable, Fill]]) -> torch.Tensor:
        """Return the masks, True for allowed: bool[len(masks), columns] on the device, to be read at once."""
        slots = self.slots(masks)
        if len(set(slots)) == 1:  # nothing to copy
            return self.read(slots[0] + torch.zeros(1, dtype=torch.int64)).expand(len(slots), -1)
        return self.read(torch.tensor(slots))

    def read(self, slots: torch.Tensor) -> torch.Tensor:
        """Return the masks at some slots, an integer tensor: bool[len(slots), columns]."""
        if self._dtype is torch.bool:
            return self._table[int(slots)].unsqueeze(0) if len(slots) == 1 else self._table[slots]
        return shift_out(self._table[slots.to(self.device)], self.columns)

    def _stored(self, words: NDArray[np.int32]) -> torch.Tensor:
        if self._dtype is torch.bool:
            bits = np.unpackbits(words.view(np.uint8), axis=1, count=self.columns, bitorder="little")
            return torch.from_numpy(bits.view(np.bool_))[0]
        return torch.from_numpy(words)[0].to(self.device)

    def _free_slot(self, wanted: set[Hashable]) -> int:
        """Return a slot that is nobody's: a new one, or the one of the mask not asked for the longest."""
        if len(self._slots) >= self._capacity:
            oldest = next(iter(self._slots))
            if oldest not in wanted:
                return self._slots.pop(oldest)
        used = len(self._slots)
        if used == len(self._table):
            if self._fixed:
                raise ValueError(f"{len(wanted)} masks at once do not fit into the {self._capacity} of a fixed table")
            larger = torch.empty((max(4, 2 * used), self._table.shape[1]), dtype=self._dtype, device=self.device)
            larger[:used] = self._table
            self._table = larger
        return used


def shift_out(words: torch.Tensor, columns: int) -> torch.Tensor:
    """Return the bits of int32[rows, words] as bool[rows, columns]; token t is bit t%32 of word t//32."""
    places = torch.arange(32, dtype=torch.int32, device=words.device)
    return ((words.unsqueeze(-1) >> places) & 1).flatten(1)[:, :columns].bool()
