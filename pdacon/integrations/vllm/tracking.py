"""One answer in vLLM's scheduler: the tokens that it has, and which may come next.

What is raised here would end the engine, and an answer that goes on without its mask would be no answer. So an error
is kept: from then on only an end of the text is allowed, and the next token is refused, with which vLLM ends that
request alone.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from pdacon.constraint import Constraint

logger = logging.getLogger(__name__)


class TrackedAnswer:
    """What vLLM's ``StructuredOutputGrammar`` does, for one request.

    Parameters
    ----------
    constraint : Constraint
    max_rollback : int
        How many tokens a draft can have, which may be taken back.
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

    def accept_tokens(self, request_id: str, tokens: Sequence[int]) -> bool:
        """Go on with tokens that were chosen; False: not all of them are allowed, and the request has to end."""
        if self.failure is not None:
            return False
        try:
            return all(self._matcher.accept_token(token) for token in tokens)
        except Exception as error:
            self._fail(error)
            return False

    def validate_tokens(self, tokens: Sequence[int]) -> list[int]:
        """The first tokens of a draft that are allowed in turn; nothing changes."""
        if self.failure is not None:
            return []
        try:
            return list(tokens[: self._matcher.validate_tokens(_without_padding(tokens))])
        except Exception as error:
            self._fail(error)
            return []

    def rollback(self, num_tokens: int) -> None:
        """Take back the last tokens that were accepted."""
        if self.failure is not None:
            return
        try:
            self._matcher.rollback(num_tokens)
        except Exception as error:
            self._fail(error)

    def fill_bitmask(self, bitmask: Any, batch_index: int) -> None:
        """Write which tokens may come next into a row of a tensor on the CPU: int32[rows, ceil(V / 32)]."""
        if self.failure is None:
            try:
                self._matcher.fill_bitmask(bitmask.numpy(), batch_index)  # a tensor costs 3 µs more
                return
            except Exception as error:
                self._fail(error)
        row = bitmask[batch_index]
        row[:] = 0
        for token in self._ends:
            row[token // 32] |= _SIGN if token % 32 == 31 else 1 << token % 32

    def is_terminated(self) -> bool:
        """Always False: behind a True vLLM allows every token, and behind an end only an end may follow."""
        return False

    def reset(self) -> None:
        """Begin the text again."""
        if self.failure is None:
            self._matcher.reset()

    def _fail(self, error: Exception) -> None:
        self.failure = error
        logger.error("a constraint failed, and its request ends: %s", error, exc_info=error)


_SIGN = -(1 << 31)  # the highest bit of an int32


def _without_padding(tokens: Sequence[int]) -> Sequence[int]:
    """Tokens before the first -1, with which vLLM fills drafts up."""
    return tokens[: next((place for place, token in enumerate(tokens) if token < 0), len(tokens))]
