"""One answer in an engine's scheduler: the tokens that it has, and which may come next.

What is raised in a scheduler ends the engine with all its requests, and an answer that goes on without its mask would
be no answer. So an error is kept: from then on only an end of the text is allowed, and the next token is refused, with
which an engine ends that request alone.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from pdacon.front.constraint import Constraint
from pdacon.matching import fill_bitmasks

logger = logging.getLogger(__name__)

_SIGN = -(1 << 31)  # the highest bit of an int32


class HeldAnswer:
    """An answer that is held to a constraint, and never raises.

    Parameters
    ----------
    constraint : Constraint
    max_rollback : int
        How many tokens can be taken back, such as those of a draft.
    ends : sequence of int
        The ids that end a text.

    Attributes
    ----------
    failure : Exception or None
        Why nothing is accepted any more.
    """

    def __init__(self, constraint: Constraint, max_rollback: int, ends: Sequence[int]) -> None:
        self._matcher = constraint.matcher(max_rollback=max_rollback, keep_text=False)
        self._ends = tuple(ends)
        self.failure: Exception | None = None

    def accept(self, tokens: Sequence[int]) -> bool:
        """Go on with tokens that were chosen; False: not all of them are allowed, and the request has to end."""
        if self.failure is not None:
            return False
        try:
            for token in tokens:
                if not self._matcher.accept_token(token):
                    return False
        except Exception as error:
            self._fail(error)
            return False
        return True

    def count_valid(self, tokens: Sequence[int]) -> int:
        """How many of a draft's tokens are allowed in turn; nothing changes."""
        if self.failure is not None:
            return 0
        try:
            return self._matcher.validate_tokens(tokens)
        except Exception as error:
            self._fail(error)
            return 0

    def rollback(self, num_tokens: int) -> None:
        """Take back the last tokens that were accepted."""
        if self.failure is not None:
            return
        try:
            self._matcher.rollback(num_tokens)
        except Exception as error:
            self._fail(error)

    def fill_bitmask(self, bitmask: Any, row: int) -> None:
        """Write which tokens may come next into a row of a tensor on the CPU: int32[rows, ceil(V / 32)]."""
        if self.failure is None:
            try:
                self._matcher.fill_bitmask(bitmask.numpy(), row)  # a tensor costs 3 µs more
                return
            except Exception as error:
                self._fail(error)
        words = bitmask[row]
        words[:] = 0
        for token in self._ends:
            words[token // 32] |= _SIGN if token % 32 == 31 else 1 << token % 32

    @staticmethod
    def fill_bitmasks(answers: Sequence[HeldAnswer], bitmask: Any, rows: Sequence[int]) -> None:
        """The same for many answers, each with a row of its own, in one call of the core."""
        well = [place for place, answer in enumerate(answers) if answer.failure is None]
        try:
            fill_bitmasks([answers[place]._matcher for place in well], bitmask.numpy(), [rows[place] for place in well])
        except Exception:  # whoever it is about fails again alone
            well = []
        for place in set(range(len(answers))).difference(well):
            answers[place].fill_bitmask(bitmask, rows[place])

    def has_ended(self) -> bool:
        """Whether an end token was accepted."""
        return self.failure is None and self._matcher.is_terminated()

    def reset(self) -> None:
        """Begin the text again."""
        if self.failure is None:
            self._matcher.reset()

    def _fail(self, error: Exception) -> None:
        self.failure = error
        logger.error("a constraint failed, and its request ends: %s", error, exc_info=error)
