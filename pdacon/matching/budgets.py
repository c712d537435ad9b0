"""How soon a text has to end: what `max_tokens`, `max_bytes` and `soft` say together."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from pdacon.base.arguments import require_count


@dataclass(frozen=True, slots=True)
class Budget:
    """A limit of a text.

    Attributes
    ----------
    most : int
        Tokens or bytes, from 0.
    soft : int
        After how many of them nothing is begun any more.
    in_bytes : bool
    """

    most: int
    soft: int
    in_bytes: bool

    @classmethod
    def of(cls, caller: str, max_tokens: int | None, max_bytes: int | None, soft: int | None) -> Budget | None:
        """What arguments say; None: there is no limit.

        Raises
        ------
        ValueError, TypeError
        """
        if max_tokens is None and max_bytes is None:
            if soft is not None:
                raise ValueError(f"{caller}: soft is a part of a budget; give max_tokens or max_bytes as well")
            return None
        if max_tokens is not None and max_bytes is not None:
            raise ValueError(
                f"{caller}: the shortest way to an end in tokens need not be the one in bytes, so that nobody can keep "
                "within both; give one of max_tokens and max_bytes"
            )
        return cls.made(caller, max_tokens if max_bytes is None else max_bytes, soft, in_bytes=max_bytes is not None)

    @classmethod
    def made(cls, caller: str, most: int | None, soft: int | None, *, in_bytes: bool = False) -> Budget:
        """So many tokens, or bytes.

        Raises
        ------
        ValueError, TypeError
        """
        most = _count(caller, "max_bytes" if in_bytes else "max_tokens", most)
        return cls(most, most if soft is None else _count(caller, "soft", soft), in_bytes)

    @property
    def what(self) -> str:
        """What is counted."""
        return "bytes" if self.in_bytes else "tokens"

    @property
    def name(self) -> str:
        """The argument that says how many."""
        return f"max_{self.what}"

    @property
    def left(self) -> tuple[int, int, bool]:
        """How many may follow at the start, with how many left nothing is begun any more, and whether they are bytes.

        That number is negative where it is never so.
        """
        return self.most, self.most - self.soft if self.soft < self.most else -1, self.in_bytes


def _count(caller: str, name: str, given: object) -> int:
    count = require_count(caller, name, given)
    if count < 0:
        raise ValueError(f"{name} must not be negative, got {given}")
    return min(count, sys.maxsize)
