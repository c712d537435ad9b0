"""Masks where the scores are: `MaskRows`, and how scores are copied under its rows.

On the CPU the masks that were used last are kept as bounds, too, +inf for allowed and -inf for the rest: the minimum of
scores and bounds is what `torch.where` selects, but for NaN, and takes 30 us for 131,072 tokens where `torch.where`
takes 200 to 1,000. Elsewhere the words themselves are applied where they lie: a step sends one integer per row.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from pdacon.integrations.mask_rows import MaskRows
from pdacon.integrations.torch import apply_masks, shift_out
from pdacon.matching import Matcher

Asked = Matcher | tuple[int, ...] | None
"""What a row may be followed by: what its matcher allows, these tokens only, or everything."""

KEPT_BYTES = 1 << 26
_FIRST_ROWS = 16


class ScoreMasks:
    """The masks that a batch's rows asked for last, any constraints'.

    Parameters
    ----------
    columns : int
        The columns of the scores; bits after the last word of a mask are 0.
    device : torch.device
        Where the scores are.
    dtype : torch.dtype
        Their type.
    most_rows : int, optional
        How many masks are kept. Default: 64 MiB of them. No call may ask for more.
    fixed : bool
        The memory is taken at once and stays where it is, as CUDA graphs need it.
    bounds : bool, optional
        Which of the two ways. Default: bounds on the CPU.
    """

    def __init__(
        self,
        columns: int,
        device: torch.device,
        dtype: torch.dtype = torch.float32,
        most_rows: int | None = None,
        *,
        fixed: bool = False,
        bounds: bool | None = None,
    ) -> None:
        self.columns, self.device, self.dtype = columns, device, dtype
        words = -(-columns // 32)
        self.most_rows = max(1, KEPT_BYTES // (4 * words)) if most_rows is None else most_rows
        self._rows = MaskRows(words, device, self.most_rows if fixed else _FIRST_ROWS, self.most_rows)
        self._fixed = fixed
        self._asked: tuple[Asked, ...] = ()  # those of the last call, and what they are
        self._matchers: tuple[Matcher | None, ...] = ()
        self._only: dict[tuple[int, ...], None] = {}
        self._bounds: OrderedDict[int, torch.Tensor] | None = None  # by row; the one used last is last
        if device.type == "cpu" if bounds is None else bounds:
            self._bounds = OrderedDict()

    @property
    def table(self) -> torch.Tensor:
        """The masks as words: int32[rows, words]."""
        return self._rows.table

    def fits(self, scores: torch.Tensor) -> bool:
        """Whether the masks are for such scores, and so many."""
        rows, columns = scores.shape
        same = columns == self.columns and scores.device == self.device and scores.dtype == self.dtype
        return same and rows <= self.most_rows

    def find(
        self, asked: Sequence[Asked], tokens: Sequence[int] | None = None, refused: list[int] | None = None
    ) -> NDArray[np.int32]:
        """Return the row of each mask in the table, -1 for everything: int32[rows], valid until the next call.

        ``tokens``, ``refused``: what matchers take first, and who does not allow it, as `MaskRows.find` has them.
        Raises what computing a mask does, and ValueError for more masks than there is room for.
        """
        asked = tuple(asked)
        if asked is not self._asked:
            self._asked = asked
            self._matchers = tuple([each if isinstance(each, Matcher) else None for each in asked])
            self._only = {each: None for each in asked if isinstance(each, tuple)}
        only = self._only
        try:
            others = self._allowing(list(only)) if only else None
            numbers, given = self._rows.find(self._matchers, tokens, others, refused)
        finally:
            if len(self._rows.written):
                self._forget(self._rows.written)
        if given:
            places = dict(zip(only, given, strict=True))
            for index, each in enumerate(asked):
                if isinstance(each, tuple):
                    numbers[index] = places[each]
        return numbers

    def empty(self, numbers: NDArray[np.int32]) -> list[int]:
        """The indices of rows whose masks allow nothing."""
        return self._rows.empty(numbers)

    def apply(self, scores: torch.Tensor, numbers: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        """Return scores with -inf where the masks say no, and the best of each row.

        ``scores``, torch.Tensor of shape (rows, columns): not changed. ``numbers``, torch.Tensor of shape (rows,),
        integer: the rows of their masks, on the same device. Default: those that were found last.
        """
        if numbers is None:
            numbers = self._rows.sent(scores.shape[0])
        if self._bounds is None:
            masked = apply_masks(scores.clone(), self._rows.table, numbers)
            return masked, masked.amax(dim=-1)
        masked = torch.empty_like(scores)
        rows = numbers.tolist()
        for index, row in enumerate(rows):
            if row < 0:
                masked[index] = scores[index]
            else:
                torch.minimum(scores[index], self._bounds_of(row), out=masked[index])
        best = masked.amax(dim=-1)
        if best.isnan().any():  # it may be one that is not allowed
            for index, row in enumerate(rows):
                if row >= 0:
                    masked[index] = torch.where(self._bounds_of(row) > 0, scores[index], -torch.inf)
            best = masked.amax(dim=-1)
        return masked, best

    def _allowing(self, only: Sequence[tuple[int, ...]]) -> NDArray[np.int32]:
        """Masks of these tokens only."""
        words = np.zeros((len(only), self._rows.words), dtype=np.uint32)
        for row, tokens in enumerate(only):
            for token in tokens:
                words[row, token // 32] |= np.uint32(1 << token % 32)
        return words.view(np.int32)

    def _forget(self, written: NDArray[np.int32]) -> None:
        """Forget what was made of rows that have other masks now."""
        if self._bounds is not None:
            for row in written.tolist():
                self._bounds.pop(row, None)
        if self._fixed and self.device.type != "cpu":  # they will be read from another stream
            torch.get_device_module(self.device).synchronize()

    def _bounds_of(self, row: int) -> torch.Tensor:
        assert self._bounds is not None
        bounds = self._bounds.get(row)
        if bounds is None:
            bits = shift_out(self._rows.table[row : row + 1], self.columns)[0]
            bounds = bits.to(self.dtype).sub_(0.5).mul_(torch.inf)
            while (len(self._bounds) + 1) * self.columns * self.dtype.itemsize > KEPT_BYTES and self._bounds:
                self._bounds.popitem(last=False)
            self._bounds[row] = bounds
        else:
            self._bounds.move_to_end(row)
        return bounds
