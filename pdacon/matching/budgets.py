"""`Budget`: within how many tokens, or bytes, a text is to be a sentence."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from pdacon.base.arguments import require_count


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Within how much a text is to be a sentence, always: what would lead further is not allowed.

    Nothing else is forbidden (but see `Matcher.has_exact_budgets`): a token is allowed if and only if some sentence
    goes on from it within what is left. See docs/matcher.md.

    Attributes
    ----------
    tokens : int, optional
        So many tokens. An end token is not counted, so a host whose own count includes it has one token more.
    bytes : int, optional
        So many bytes of text, in place of tokens: exact, in grammars of any size without a postlex.
    soft : int, optional
        From when on an end is preferred: after so many tokens, or bytes, nothing is begun any more. A token is allowed
        then only if the end after it is no further than it is now: a string may go on, or be closed; a list may not
        get another element.

    Raises
    ------
    ValueError
        Both `tokens` and `bytes` are given, or neither is: the shortest way to an end in tokens need not be the one in
        bytes, so that nobody could keep within both. Or a number is negative.
    TypeError
        What is given is no whole number.
    """

    tokens: int | None = None
    bytes: int | None = None
    soft: int | None = None

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if (value := getattr(self, name)) is not None:
                count = require_count("Budget", name, value)
                if count < 0:
                    raise ValueError(f"Budget({name}=...) must not be negative, got {count}")
                object.__setattr__(self, name, min(count, sys.maxsize))
        if self.tokens is not None and self.bytes is not None:
            raise ValueError(
                "Budget: the shortest way to an end in tokens need not be the one in bytes, so that nobody can keep "
                "within both; give one of tokens and bytes"
            )
        if self.tokens is None and self.bytes is None:
            raise ValueError("Budget: give tokens or bytes, which say how many")

    @property
    def most(self) -> int:
        """How many tokens, or bytes."""
        return self.bytes or 0 if self.tokens is None else self.tokens

    @property
    def unit(self) -> str:
        """What is counted: ``"tokens"`` or ``"bytes"``."""
        return "bytes" if self.tokens is None else "tokens"

    def __str__(self) -> str:
        return f"{self.most} {self.unit[:-1] if self.most == 1 else self.unit}"


def left_at_start(budget: Budget | None) -> tuple[int, int, bool]:
    """How many may follow at the start, with how many left nothing is begun any more, and whether they are bytes.

    A number is negative where there is no such limit.
    """
    if budget is None:
        return -1, -1, False
    most, soft = budget.most, budget.soft
    return most, -1 if soft is None or soft >= most else most - soft, budget.unit == "bytes"
