"""A batch in which nothing happens but that each row becomes a token longer: `SteadyBatch`."""

from __future__ import annotations

from collections.abc import Sequence

from pdacon.integrations.huggingface.masks import Asked
from pdacon.integrations.huggingface.rows import FreeRow, Row


class SteadyBatch:
    """What its rows may be followed by, which stays as long as matchers allow their tokens.

    The rows whose matchers take tokens are told of these when somebody asks for the rows, not in each step.

    Attributes
    ----------
    asked : tuple of Asked
        What each row may be followed by.
    apart : list of int
        The indices of rows whose matchers take no tokens. Whoever adds a token tells these rows.
    """

    __slots__ = ("_rows", "_untold", "apart", "asked")

    def __init__(self, rows: Sequence[Row]) -> None:
        self.asked = tuple([_asked(row) for row in rows])
        self.apart = [index for index, row in enumerate(rows) if not row.takes_tokens]
        self._rows = [(index, row) for index, row in enumerate(rows) if row.takes_tokens]
        self._untold: list[list[int]] = []  # the tokens of each step that the rows have not been told of

    def for_matchers(self, tokens: list[int]) -> list[int]:
        """The tokens that matchers are to take, of those of all rows: -1 where there is no such matcher."""
        if not self.apart:
            return tokens
        taken = tokens.copy()
        for index in self.apart:
            taken[index] = -1
        return taken

    def add(self, tokens: list[int]) -> None:
        """Add a token of each row, which the matchers have taken."""
        self._untold.append(tokens)

    def add_but(self, tokens: list[int], refused: Sequence[int]) -> None:
        """Add a token of each row but for some, whose matchers have not taken it: what is asked changes with that."""
        self.tell()
        for index, row in self._rows:
            if index not in refused:
                row.follow([tokens[index]])

    def tell(self) -> None:
        """Tell the rows which tokens their matchers have taken."""
        if self._untold:
            for index, row in self._rows:
                row.follow([tokens[index] for tokens in self._untold])
            self._untold.clear()


def _asked(row: Row) -> Asked:
    """What a row may be followed by."""
    if isinstance(row, FreeRow):
        return None
    if row.refusal is not None:
        return row.vocabulary.eos_ids
    if row.stopped and row.pad_id is not None and not row.matcher.is_terminated():
        return (row.pad_id,)
    return row.matcher
